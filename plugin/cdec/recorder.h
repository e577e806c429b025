/* The forest of one of cdec's passes, kept edge by edge for a later pass. */
#ifndef LSCFG_CDEC_RECORDER_H
#define LSCFG_CDEC_RECORDER_H

#include <string>
#include <vector>

#include "ff.h"
#include "hg.h"

/* A feature function without features and state. A pass whose features have no state (or with full intersection) builds
 * its output node by node in topological order and shows each edge once, in the order of its numbers. Nodes and edges
 * are those of the output, which is the input of the next pass. */
class Recorder : public FeatureFunction {
 public:
  struct Edge {
    TRulePtr rule;
    int i, j;
    int head;
    std::vector<int> tails;
    SparseVector<double> features; /* all that the edge has by then; only where forests are written */
  };
  struct Root {
    int node;
    SparseVector<double> features; /* of the goal edge above it, as those of an edge */
  };

  /* Writes each forest to FOLDER/ID.json.gz unless the folder is empty; throws ConfigError. */
  explicit Recorder(const std::string &folder);
  ~Recorder() override;

  /* The last recorder of this process, null if there is none. */
  static const Recorder *Last() { return last_; }

  void PrepareForInput(const SentenceMetadata &sentence) override;

  /* Ends the sentence. Whether what was seen is a forest; if not, the pass was pruned while it was built. */
  bool Finish() const;
  const std::vector<Edge> &edges() const { return edges_; }
  /* The nodes below cdec's own goal node, and below that of a forest from a file. */
  const std::vector<Root> &roots() const { return roots_; }

  void FinalTraversalFeatures(const void *context, SparseVector<double> *features) const override;

 protected:
  void TraversalFeaturesImpl(const SentenceMetadata &smeta, const HG::Edge &edge,
                             const std::vector<const void *> &ant_contexts, SparseVector<double> *features,
                             SparseVector<double> *estimated_features, void *context) const override;

 private:
  void CloseLastEdge(const HG::Edge &next) const;
  void Write();

  static Recorder *last_;
  const std::string folder_;
  mutable std::vector<Edge> edges_;
  mutable std::vector<Root> roots_;
  mutable bool in_order_ = true;
  int id_ = 0;
  bool plain_ = false, warned_ = false;
  std::vector<WordID> words_; /* of a plain sentence */
};

/* The rule above the root, [Goal] -> [S]. */
bool IsGoal(const TRule &rule);

/* True if the input is a sentence, not a lattice. */
bool IsPlain(const SentenceMetadata &sentence);

#endif
