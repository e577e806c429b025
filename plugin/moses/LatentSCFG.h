/* The latent features as a feature function of Moses' chart decoder. */
#ifndef LSCFG_MOSES_LATENT_SCFG_H
#define LSCFG_MOSES_LATENT_SCFG_H

#include <atomic>
#include <fstream>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "RuleTables.h"
#include "moses/FF/StatelessFeatureFunction.h"

namespace Moses {

/* [feature] LatentSCFG name=NAME model=FILE [features=NAME,NAME] [log=true|false] [floor=X] [negative=flip|clamp]
 * [improper=zero|keep] [unknown=compose|zero|oov] [path=FILE,FILE] [trace=FILE] [pack=auto|none]
 *
 * The kernel parses a sentence before Moses looks up its rules, in the same thread; from then on each application of a
 * rule finds its features by rule and spans. Where no output shows features, their weighted sum is the only one. Any
 * error in a sentence leaves its features 0. A sentence without a derivation gets an empty line: Moses alone writes
 * none, and delays all lines after it. */
class LatentSCFG : public StatelessFeatureFunction {
 public:
  explicit LatentSCFG(const std::string &line);
  ~LatentSCFG();

  /* Replaces the features by their sum with these weights, as the only feature, before Moses counts features; false and
   * nothing for pack=none. */
  bool Pack(const std::vector<float> &weights);

  void SetParameter(const std::string &key, const std::string &value) override;
  void Load(AllOptions::ptr const &options) override;
  bool IsUseable(const FactorMask &) const override { return true; }

  void Setup(TranslationTask const &task) const override;
  void InitializeForInput(ttasksptr const &task) override;
  void CleanUpAfterSentenceProcessing(ttasksptr const &task) override;

  void EvaluateInIsolation(const Phrase &, const TargetPhrase &, ScoreComponentCollection &,
                           ScoreComponentCollection &) const override {}
  void EvaluateWithSourceContext(const InputType &input, const InputPath &path, const TargetPhrase &phrase,
                                 const StackVec *tails, ScoreComponentCollection &scores,
                                 ScoreComponentCollection *estimates) const override;
  void EvaluateTranslationOptionListWithSourceContext(const InputType &, const TranslationOptionList &) const override {
  }
  void EvaluateWhenApplied(const Hypothesis &, ScoreComponentCollection *) const override {}
  void EvaluateWhenApplied(const ChartHypothesis &hypothesis, ScoreComponentCollection *) const override;
  void EvaluateWhenApplied(const Syntax::SHyperedge &, ScoreComponentCollection *) const override {}

 private:
  struct Sentence;

  void Prepare() const; /* throws lscfg::ConfigError */
  Sentence &Here() const;
  void Infer(const InputType &source, Sentence *sentence) const;
  void AddEdges(Sentence *sentence) const;
  struct Place;
  int32_t FindApplication(Sentence *sentence, const TargetPhrase &phrase, const Place &place, bool *dead) const;
  int32_t FindRule(const Sentence &sentence, const TargetPhrase &phrase, const Place &place) const;
  void Trace(Sentence *sentence, int32_t application, const InputType &input) const;
  void Warn(const std::string &kind, const std::string &message) const;

  const size_t number_; /* of this object among all of its class */
  bool made_;           /* the number of features is settled */
  bool pack_;           /* pack=auto */
  std::vector<double> packed_; /* weights of packed features, else empty */
  lscfg::LatentOptions latent_;
  std::vector<int> columns_; /* the feature of each column */
  std::vector<std::string> tables_;
  std::string trace_path_;

  std::unique_ptr<lscfg_model, void (*)(lscfg_model *)> model_;
  mutable std::once_flag prepared_;
  mutable std::unique_ptr<lscfg::RuleTables> rules_;
  mutable std::unique_ptr<lscfg_binding, void (*)(lscfg_binding *)> binding_;

  mutable std::mutex mutex_; /* of what follows */
  mutable std::ofstream trace_;
  mutable std::set<std::string> warned_;
  mutable lscfg_improper improper_;
  mutable std::atomic<int64_t> sentences_, neutral_, matched_, unmatched_;
};

} // namespace Moses

#endif
