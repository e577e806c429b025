#include "folding.h"

#include <cmath>
#include <cstdlib>
#include <map>

#include "fdict.h"

using std::string;
using std::vector;

namespace {

const char kFolded[] = "Folded", kNumber[] = "FoldedEdge";

/* A name and a value a line, as cdec reads it: separated by blanks, the last tab or "=". The number is read with the
 * same function and locale as in cdec, so that both have the same weights. */
std::map<string, double> ReadWeights(const string &path) {
  std::map<string, double> weights;
  ReadFile file = OpenText(path);
  for (string line; getline(*file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t mark = line.find_last_of("=\t");
    if (mark != string::npos && mark > 0) line[mark] = ' ';
    const size_t end = line.find(' ');
    if (end != string::npos) weights[line.substr(0, end)] = strtod(line.c_str() + end, nullptr);
  }
  return weights;
}

} // namespace

Folding *Folding::last_ = nullptr;

Folding::Folding(Fold what, const DecoderSettings &decoder, const vector<int> &features)
    : all_(what == Fold::kAll), features_(features), folded_(FD::Convert(kFolded)), number_(FD::Convert(kNumber)) {
  if (last_) throw ConfigError("fold= stands in two lines; one is enough");
  if (decoder.changing_weights)
    throw ConfigError("fold= needs weights that stay as they are, but here they are learned; take it out of the line");
  if (decoder.weights.empty())
    throw ConfigError("fold= needs tuned weights, but cdec is given none; name them with -w FILE");
  if (decoder.later_weights) throw ConfigError("fold= needs one set of weights, but later passes have their own");
  const string &path = decoder.weights;
  const std::map<string, double> named = ReadWeights(path);
  for (int feature : features)
    if (!named.count(FD::Convert(feature)))
      throw ConfigError(path + ": no weight of " + FD::Convert(feature) +
                        ", which is to be folded; tune without fold= first");
  if (named.count(kNumber)) throw ConfigError(path + ": " + kNumber + " must have no weight; remove it");
  for (const auto &weight : named) {
    const size_t feature = FD::Convert(weight.first);
    if (feature >= weights_.size()) weights_.resize(feature + 1);
    weights_[feature] = weight.second;
  }
  if (Weight(folded_) == 0 || !std::isfinite(Weight(folded_)))
    throw ConfigError(path + ": fold= needs a weight of " + kFolded + "; add the line '" + kFolded + " 1'");
  last_ = this;
}

void Folding::Clear() {
  kept_.clear();
  ends_.assign(1, 0);
}

void Folding::Write(const double *values, SparseVector<double> *features) {
  double sum = 0;
  if (all_) {
    sum = features->dot(weights_);
    if (keep_)
      for (const auto &entry : *features) kept_.emplace_back(entry.first, entry.second);
    features->clear();
  }
  for (size_t k = 0; values && k < features_.size(); ++k) {
    sum += Weight(features_[k]) * values[k];
    if (keep_ && values[k] != 0) kept_.emplace_back(features_[k], values[k]);
  }
  features->set_value(folded_, sum / Weight(folded_));
  if (!keep_) return;
  ends_.push_back(kept_.size());
  features->set_value(number_, static_cast<double>(ends_.size() - 1));
}

void Folding::Restore(SparseVector<double> *features) const {
  const size_t edge = static_cast<size_t>(features->value(number_));
  if (!edge) return;
  features->erase(folded_);
  features->erase(number_);
  for (size_t k = ends_[edge - 1]; k < ends_[edge]; ++k) features->set_value(kept_[k].first, kept_[k].second);
}

Unfolding::Unfolding() {
  if (!Folding::Last())
    throw ConfigError("mode=unfold needs a line with fold=latent, fold=all or mode=fold in an earlier pass");
  Folding::Last()->Keep();
}
