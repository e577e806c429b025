/* The forest of a pass of cdec's, kept edge by edge for a later pass. */
#ifndef LSCFG_CDEC_RECORDER_H
#define LSCFG_CDEC_RECORDER_H

#include <cstdint>
#include <vector>

#include "ff.h"
#include "hg.h"

/* A feature function without features and state. A pass whose features have no state at all (or with full intersection)
 * builds its output node by node in topological order and shows each edge once, in the order of its numbers. Nodes and
 * edges are those of the output, which is the input of the next pass. */
class Recorder : public FeatureFunction {
 public:
  struct Edge {
    const TRule* rule; /* lives as long as the sentence is being decoded */
    int i, j;
    int head;
    int tails[2], n_tails; /* of more than two tails only the first two are kept */
  };

  Recorder() { last_ = this; }
  ~Recorder() override {
    if (last_ == this) last_ = nullptr;
  }

  /* The recorder of this process that was made last, null if there is none. */
  static const Recorder* Last() { return last_; }

  void PrepareForInput(const SentenceMetadata&) override {
    edges_.clear();
    roots_.clear();
    in_order_ = true;
  }

  /* Whether what was seen is a forest; if not, the pass was pruned while it was built. */
  bool complete() const { return in_order_ && !roots_.empty(); }
  const std::vector<Edge>& edges() const { return edges_; }
  /* The nodes below cdec's own goal node. */
  const std::vector<int>& roots() const { return roots_; }

  void FinalTraversalFeatures(const void* context, SparseVector<double>* features) const override;

 protected:
  void TraversalFeaturesImpl(const SentenceMetadata& smeta, const HG::Edge& edge,
                             const std::vector<const void*>& ant_contexts, SparseVector<double>* features,
                             SparseVector<double>* estimated_features, void* context) const override;

 private:
  void CloseLastEdge(const HG::Edge& next) const;

  static Recorder* last_;
  mutable std::vector<Edge> edges_;
  mutable std::vector<int> roots_;
  mutable bool in_order_ = false;
};

#endif
