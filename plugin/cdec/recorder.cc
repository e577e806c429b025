#include "recorder.h"

#include <cstddef>

Recorder* Recorder::last_ = nullptr;

/* An edge is shown before its head is known; once the next one is there, the head can be read from the vector of edges
 * in which both lie. */
void Recorder::CloseLastEdge(const HG::Edge& next) const {
  if (!edges_.empty()) edges_.back().head = (&next - 1)->head_node_;
}

void Recorder::TraversalFeaturesImpl(const SentenceMetadata&, const HG::Edge& edge, const std::vector<const void*>&,
                                     SparseVector<double>*, SparseVector<double>*, void*) const {
  in_order_ = in_order_ && edge.id_ == static_cast<int>(edges_.size()) && roots_.empty();
  if (!in_order_) return;
  CloseLastEdge(edge);
  Edge e = {edge.rule_.get(), edge.i_, edge.j_, -1, {-1, -1}, static_cast<int>(edge.tail_nodes_.size())};
  for (int k = 0; k < e.n_tails && k < 2; ++k) e.tails[k] = edge.tail_nodes_[k];
  edges_.push_back(e);
}

void Recorder::FinalTraversalFeatures(const void*, SparseVector<double>* features) const {
  /* The features are those of an edge of the output, too. */
  const HG::Edge& goal =
      *reinterpret_cast<const HG::Edge*>(reinterpret_cast<const char*>(features) - offsetof(HG::Edge, feature_values_));
  in_order_ = in_order_ && goal.id_ == static_cast<int>(edges_.size() + roots_.size()) && goal.tail_nodes_.size() == 1;
  if (!in_order_) return;
  if (roots_.empty()) CloseLastEdge(goal);
  roots_.push_back(goal.tail_nodes_[0]);
}
