#include "recorder.h"

#include <unistd.h>

#include <cstddef>
#include <iostream>
#include <map>
#include <set>

#include "filelib.h"
#include "forest_file.h"
#include "sentence_metadata.h"
#include "settings.h"
#include "tdict.h"

Recorder *Recorder::last_ = nullptr;

bool IsGoal(const TRule &rule) {
  static const WordID kGoal = -TD::Convert("Goal");
  return rule.lhs_ == kGoal;
}

bool IsPlain(const SentenceMetadata &sentence) {
  static const WordID kEpsilon = TD::Convert("*EPS*");
  if (sentence.GetSourceLattice().empty()) return false;
  for (const auto &arcs : sentence.GetSourceLattice())
    if (arcs.size() != 1 || arcs[0].dist2next != 1 || arcs[0].label == kEpsilon) return false;
  return true;
}

Recorder::Recorder(const std::string &folder) : folder_(folder) {
  if (!folder_.empty() && (!DirectoryExists(folder_) || access(folder_.c_str(), W_OK | X_OK)))
    throw ConfigError("forests=" + folder_ + ": no folder that can be written to; make it first");
  last_ = this;
}

Recorder::~Recorder() {
  if (last_ == this) last_ = nullptr;
  Write();
}

void Recorder::PrepareForInput(const SentenceMetadata &sentence) {
  Write(); /* the last sentence was never closed */
  edges_.clear();
  roots_.clear();
  words_.clear();
  in_order_ = true;
  id_ = sentence.GetSentenceId();
  plain_ = IsPlain(sentence);
  for (size_t k = 0; plain_ && k < sentence.GetSourceLattice().size(); ++k)
    words_.push_back(sentence.GetSourceLattice()[k][0].label);
}

bool Recorder::Finish() const {
  if (!in_order_ || roots_.empty()) return false;
  if (edges_.empty() || !IsGoal(*edges_.back().rule)) return true;
  std::map<int, SparseVector<double>> roots; /* and the features above them */
  for (const Root &root : roots_) roots[root.node] = root.features;
  for (; !edges_.empty() && IsGoal(*edges_.back().rule); edges_.pop_back()) {
    const Edge &edge = edges_.back();
    const auto above = roots.find(edge.head);
    if (above == roots.end()) continue;
    roots[edge.tails[0]] = above->second + edge.features;
  }
  /* what is no longer there was a goal node */
  std::set<int> heads;
  for (const Edge &edge : edges_) heads.insert(edge.head);
  roots_.clear();
  for (const auto &root : roots)
    if (heads.count(root.first)) roots_.push_back({root.first, root.second});
  return !roots_.empty();
}

/* A forest that cannot be written costs a warning, never the translations. */
void Recorder::Write() {
  if (folder_.empty() || (edges_.empty() && in_order_)) return;
  std::string fault =
      "the pass with mode=record must have no feature function with a state (a language model, for one) or "
      "intersection_strategy=full";
  try {
    if (Finish()) {
      const std::string json = ForestJson(*this, id_, plain_ ? &words_ : nullptr);
      WriteCompressed(folder_ + "/" + std::to_string(id_) + ".json.gz", json);
      return;
    }
  } catch (const std::exception &error) {
    fault = lscfg::Reason(error);
  }
  if (!warned_)
    std::cerr << "[lscfg] warning: the forest of sentence " << id_ + 1 << " is not written: " << fault << std::endl;
  warned_ = true;
}

/* An edge is shown before its head is set; with the next edge, the head can be read from the vector of both edges. */
void Recorder::CloseLastEdge(const HG::Edge &next) const {
  if (!edges_.empty()) edges_.back().head = (&next - 1)->head_node_;
}

void Recorder::TraversalFeaturesImpl(const SentenceMetadata &, const HG::Edge &edge, const std::vector<const void *> &,
                                     SparseVector<double> *, SparseVector<double> *, void *) const {
  in_order_ = in_order_ && edge.id_ == static_cast<int>(edges_.size()) && roots_.empty();
  if (!in_order_) return;
  CloseLastEdge(edge);
  edges_.push_back({edge.rule_, edge.i_, edge.j_, -1, {edge.tail_nodes_.begin(), edge.tail_nodes_.end()}, {}});
  if (!folder_.empty()) edges_.back().features = edge.feature_values_;
}

void Recorder::FinalTraversalFeatures(const void *, SparseVector<double> *features) const {
  /* The features are those of an edge of the output, too. */
  const HG::Edge &goal = *reinterpret_cast<const HG::Edge *>(reinterpret_cast<const char *>(features) -
                                                             offsetof(HG::Edge, feature_values_));
  in_order_ = in_order_ && goal.id_ == static_cast<int>(edges_.size() + roots_.size()) && goal.tail_nodes_.size() == 1;
  if (!in_order_) return;
  if (roots_.empty()) CloseLastEdge(goal);
  roots_.push_back({goal.tail_nodes_[0], {}});
  if (!folder_.empty()) roots_.back().features = *features;
}
