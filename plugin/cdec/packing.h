/* Replaces many entries of an edge's features by one, with cdec's weights: cdec copies the entries of every candidate
 * and is slow above seven. */
#ifndef LSCFG_CDEC_PACKING_H
#define LSCFG_CDEC_PACKING_H

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ff.h"
#include "settings.h"

class Packing {
 public:
  /* Null for kNone, and for kAuto where an output may show the features or the weights are not known; throws
   * ConfigError if the weights lack what kLatent or kAll need: one of these features, or the packed feature. */
  static std::unique_ptr<Packing> Make(Pack what, const DecoderSettings &decoder, const std::vector<int> &features);
  ~Packing() { last_ = nullptr; }
  Packing(const Packing &) = delete;

  /* The object of this process, null if there is none. */
  static Packing *Last() { return last_; }

  /* From now on what is packed is kept, for the edges of one sentence. */
  void Keep() { keep_ = true; }
  void Clear();
  /* Packs features of these values (of all, for NULL: 0), which replace those of the edge; with pack=all, its others,
   * too. */
  void Write(const double *values, SparseVector<double> *features);
  /* Restores the packed features instead of the packed one. */
  void Restore(SparseVector<double> *features) const;

 private:
  /* Weights by cdec's number. */
  Packing(bool all, int packed, const std::vector<int> &features, std::vector<double> weights);
  static std::unique_ptr<Packing> MakeUnseen(const DecoderSettings &decoder, const std::vector<int> &features);
  double Weight(int feature) const { return static_cast<size_t>(feature) < weights_.size() ? weights_[feature] : 0; }

  static Packing *last_;
  const bool all_;
  const std::vector<int> features_;
  const int packed_, number_; /* the feature of the sum; the one of weight 0 that identifies the edge */
  const std::vector<double> weights_;
  std::vector<double> others_; /* the same, 0 for features_ */
  bool keep_ = false;
  std::vector<std::pair<int, double>> kept_; /* what edge k had: from ends_[k - 1] to ends_[k], edges counted from 1 */
  std::vector<size_t> ends_;
};

/* Packs all existing features of an edge, without latent features. */
class PlainPacking : public FeatureFunction {
 public:
  /* Throws ConfigError. */
  explicit PlainPacking(const DecoderSettings &decoder) : packing_(Packing::Make(Pack::kAll, decoder, {})) {}

  void PrepareForInput(const SentenceMetadata &) override { packing_->Clear(); }

 protected:
  void TraversalFeaturesImpl(const SentenceMetadata &, const HG::Edge &, const std::vector<const void *> &,
                             SparseVector<double> *features, SparseVector<double> *, void *) const override {
    packing_->Write(nullptr, features);
  }

 private:
  const std::unique_ptr<Packing> packing_; /* what it keeps is of the sentence at hand */
};

/* Undoes the packing of an earlier pass, edge by edge, so that lists of hypotheses have all features. */
class Unpacking : public FeatureFunction {
 public:
  Unpacking(); /* throws ConfigError */

 protected:
  void TraversalFeaturesImpl(const SentenceMetadata &, const HG::Edge &, const std::vector<const void *> &,
                             SparseVector<double> *features, SparseVector<double> *, void *) const override {
    Packing::Last()->Restore(features);
  }
};

#endif
