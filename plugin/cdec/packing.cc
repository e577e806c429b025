#include "packing.h"

#include <cmath>
#include <cstdlib>
#include <map>

#include "fdict.h"

/* cdec stores up to seven features inline; beyond that each copy is a hash map, and cube pruning copies a
 * candidate's features several times, so three constant features double its time. A pass before the search
 * therefore packs the features of each edge into one entry; a second entry of weight 0 numbers the edge, and a
 * pass after the search restores the features. */

using std::string;
using std::vector;

namespace {

const char kPacked[] = "Packed", kNumber[] = "PackedEdge";

/* One name and value per line, separated by blanks, the last tab or "=". The number is read with the same function and
 * locale as in cdec, so that both have the same weights. */
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

/* Weights by cdec's number of their feature. */
vector<double> ByNumber(const std::map<string, double> &named) {
  vector<double> weights;
  for (const auto &weight : named) {
    const size_t feature = FD::Convert(weight.first);
    if (feature >= weights.size()) weights.resize(feature + 1);
    weights[feature] = weight.second;
  }
  return weights;
}

} // namespace

Packing *Packing::last_ = nullptr;

Packing::Packing(bool all, int packed, const vector<int> &features, vector<double> weights)
    : all_(all), features_(features), packed_(packed), number_(FD::Convert(kNumber)), weights_(std::move(weights)) {
  others_ = weights_;
  for (const int feature : features)
    if (static_cast<size_t>(feature) < others_.size()) others_[feature] = 0;
  last_ = this;
}

std::unique_ptr<Packing> Packing::Make(Pack what, const DecoderSettings &decoder, const vector<int> &features) {
  if (what == Pack::kNone) return nullptr;
  if (what == Pack::kAuto) return MakeUnseen(decoder, features);
  if (last_) throw ConfigError("pack= occurs in two lines; keep one of them");
  if (decoder.changing_weights)
    throw ConfigError("pack= needs weights that stay as they are, but here they are learned; take it out of the line");
  if (decoder.weights.empty())
    throw ConfigError("pack= needs tuned weights, but cdec is given none; name them with -w FILE");
  if (decoder.later_weights) throw ConfigError("pack= needs one set of weights, but later passes have their own");
  const string &path = decoder.weights;
  const std::map<string, double> named = ReadWeights(path);
  for (int feature : features)
    if (!named.count(FD::Convert(feature)))
      throw ConfigError(path + ": no weight of " + FD::Convert(feature) +
                        ", which is to be packed; tune without pack= first");
  if (named.count(kNumber)) throw ConfigError(path + ": " + kNumber + " must have no weight; remove it");
  const auto packed = named.find(kPacked);
  if (packed == named.end() || packed->second == 0 || !std::isfinite(packed->second))
    throw ConfigError(path + ": pack= needs a weight of " + kPacked + "; add the line '" + kPacked + " 1'");
  return std::unique_ptr<Packing>(
      new Packing(what == Pack::kAll, FD::Convert(kPacked), features, ByNumber(named)));
}

/* Without a weight of Packed, the latent feature of the largest weight takes the sum. */
std::unique_ptr<Packing> Packing::MakeUnseen(const DecoderSettings &decoder, const vector<int> &features) {
  if (!decoder.only_best || decoder.external != 1 || decoder.changing_weights || decoder.later_weights) return nullptr;
  if (decoder.weights.empty() || !FileExists(decoder.weights)) return nullptr;
  const std::map<string, double> named = ReadWeights(decoder.weights);
  int largest = -1;
  double size = 0;
  for (int feature : features) {
    const auto weight = named.find(FD::Convert(feature));
    if (weight == named.end() || !std::isfinite(weight->second) || std::fabs(weight->second) <= size) continue;
    largest = feature;
    size = std::fabs(weight->second);
  }
  if (largest < 0) return nullptr;
  return std::unique_ptr<Packing>(new Packing(true, largest, features, ByNumber(named)));
}

void Packing::Clear() {
  kept_.clear();
  ends_.assign(1, 0);
}

void Packing::Write(const double *values, SparseVector<double> *features) {
  double sum = 0;
  if (all_) {
    sum = features->dot(others_);
    for (const int feature : features_)
      if (keep_ && features->value(feature) != 0) features->set_value(feature, 0);
    if (keep_)
      for (const auto &entry : *features) kept_.emplace_back(entry.first, entry.second);
    features->clear();
  } else {
    for (const int feature : features_)
      if (features->value(feature) != 0) features->set_value(feature, 0);
  }
  for (size_t k = 0; values && k < features_.size(); ++k) {
    sum += Weight(features_[k]) * values[k];
    if (keep_ && values[k] != 0) kept_.emplace_back(features_[k], values[k]);
  }
  features->set_value(packed_, sum / Weight(packed_));
  if (!keep_) return;
  ends_.push_back(kept_.size());
  features->set_value(number_, static_cast<double>(ends_.size() - 1));
}

void Packing::Restore(SparseVector<double> *features) const {
  const size_t edge = static_cast<size_t>(features->value(number_));
  if (!edge) return;
  features->erase(packed_);
  features->erase(number_);
  for (size_t k = ends_[edge - 1]; k < ends_[edge]; ++k) features->set_value(kept_[k].first, kept_[k].second);
}

Unpacking::Unpacking() {
  if (!Packing::Last())
    throw ConfigError("mode=unpack needs a line with pack=latent, pack=all or mode=pack in an earlier pass");
  Packing::Last()->Keep();
}
