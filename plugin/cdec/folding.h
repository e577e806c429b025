/* One entry of an edge's features in the place of many, with the weights that cdec itself has: cdec copies the entries
 * of every candidate and is slow above seven. */
#ifndef LSCFG_CDEC_FOLDING_H
#define LSCFG_CDEC_FOLDING_H

#include <string>
#include <utility>
#include <vector>

#include "ff.h"
#include "settings.h"

class Folding {
 public:
  /* Throws ConfigError where the weights lack one of these features, or the one that all are folded to. */
  Folding(Fold what, const DecoderSettings &decoder, const std::vector<int> &features);
  ~Folding() { last_ = nullptr; }
  Folding(const Folding &) = delete;

  /* The one of this process, null if there is none. */
  static Folding *Last() { return last_; }

  /* From now on what is folded is kept, for the edges of one sentence. */
  void Keep() { keep_ = true; }
  void Clear();
  /* Folds features of these values (of all, for NULL: 0) and, with fold=all, what the edge has already. */
  void Write(const double *values, SparseVector<double> *features);
  /* What was folded, in the place of what it was folded to. */
  void Restore(SparseVector<double> *features) const;

 private:
  double Weight(int feature) const { return static_cast<size_t>(feature) < weights_.size() ? weights_[feature] : 0; }

  static Folding *last_;
  const bool all_;
  const std::vector<int> features_;
  const int folded_, number_;   /* the feature of the sum; the one of weight 0 that says which edge it was */
  std::vector<double> weights_; /* by cdec's number */
  bool keep_ = false;
  std::vector<std::pair<int, double>> kept_; /* what edge k had: from ends_[k - 1] to ends_[k], edges counted from 1 */
  std::vector<size_t> ends_;
};

/* Folds all that an edge has by then, where there are no latent features. */
class PlainFolding : public FeatureFunction {
 public:
  explicit PlainFolding(const DecoderSettings &decoder) : folding_(Fold::kAll, decoder, {}) {} /* throws ConfigError */

  void PrepareForInput(const SentenceMetadata &) override { folding_.Clear(); }

 protected:
  void TraversalFeaturesImpl(const SentenceMetadata &, const HG::Edge &, const std::vector<const void *> &,
                             SparseVector<double> *features, SparseVector<double> *, void *) const override {
    folding_.Write(nullptr, features);
  }

 private:
  mutable Folding folding_; /* what it keeps is of the sentence at hand */
};

/* Undoes the folding of an earlier pass, edge by edge, so that lists of hypotheses have all features. */
class Unfolding : public FeatureFunction {
 public:
  Unfolding(); /* throws ConfigError */

 protected:
  void TraversalFeaturesImpl(const SentenceMetadata &, const HG::Edge &, const std::vector<const void *> &,
                             SparseVector<double> *features, SparseVector<double> *, void *) const override {
    Folding::Last()->Restore(features);
  }
};

#endif
