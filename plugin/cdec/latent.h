/* The latent features as a feature function of cdec's. */
#ifndef LSCFG_CDEC_LATENT_H
#define LSCFG_CDEC_LATENT_H

#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ff.h"
#include "packing.h"
#include "grammar.h"
#include "recorder.h"
#include "sentence.h"
#include "sentence_metadata.h"
#include "settings.h"

/* A state of four bytes identifies a node: its span if the sentence is parsed again, the recorded node otherwise. It
 * splits no node, since all edges into one have the same state. */
class LatentFeatures : public FeatureFunction {
 public:
  explicit LatentFeatures(const Settings &settings); /* throws ConfigError */
  ~LatentFeatures() override;

  void PrepareForInput(const SentenceMetadata &sentence) override;

 protected:
  void TraversalFeaturesImpl(const SentenceMetadata &sentence, const HG::Edge &edge,
                             const std::vector<const void *> &tails, SparseVector<double> *features,
                             SparseVector<double> *estimates, void *state) const override;

 private:
  void ReadGrammars();
  void CheckDecoder() const;
  void Parse(const SentenceMetadata &sentence);
  void UseRecorded(const SentenceMetadata &sentence);
  const BoundGrammar *GrammarOf(const SentenceMetadata &sentence, const std::vector<int32_t> &words);
  const BoundGrammar *GrammarOfRecorded(const std::vector<Recorder::Edge> &edges);
  void Infer(const BoundGrammar &grammar, const lscfg_forest *forest);
  const EdgeTable::Edge *Find(const HG::Edge &edge, uint32_t left, uint32_t right) const;
  const double *ValuesOf(const HG::Edge &edge, const std::vector<const void *> &tails, uint32_t *label) const;
  void Warn(const std::string &kind, const std::string &message) const;

  const Settings settings_;
  const std::vector<int> columns_; /* the feature of each column */
  const Recorder *const recorder_; /* of an earlier pass; later ones may have another */
  std::unique_ptr<lscfg_model, void (*)(lscfg_model *)> model_;
  std::unique_ptr<Words> words_;
  std::unique_ptr<BoundGrammar> grammar_, sentence_grammar_;
  std::vector<int> feature_ids_;     /* of the columns */
  std::unique_ptr<Packing> packing_; /* null: each feature is a separate entry */

  /* of the sentence at hand */
  bool neutral_ = true; /* no inference: all features are 0 */
  int sentence_id_ = 0;
  const BoundGrammar *current_ = nullptr;
  EdgeTable edges_;
  std::vector<double> values_; /* [applications][columns] */
  mutable PointerMap rules_;
  mutable std::vector<bool> seen_; /* by application */
  mutable std::set<std::tuple<const TRule *, int, int, uint32_t, uint32_t>> unmatched_edges_;

  mutable int64_t matched_ = 0, unmatched_ = 0;
  int64_t sentences_ = 0, neutral_sentences_ = 0;
  lscfg_improper improper_ = {};
  mutable std::set<std::string> warned_;
};

#endif
