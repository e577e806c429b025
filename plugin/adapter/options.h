/* What a line of a decoder's configuration says of the latent features, alike for all decoders. C++11, nothing of a
 * decoder. */
#ifndef LSCFG_ADAPTER_OPTIONS_H
#define LSCFG_ADAPTER_OPTIONS_H

#include <cmath>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "lscfg/inference.h"

namespace lscfg
{

/* One line for the user; the decoder ends with it. */
struct ConfigError : std::runtime_error {
  explicit ConfigError(const std::string &message) : std::runtime_error("[lscfg] " + message) {}
};

inline bool ToBool(const std::string &key, const std::string &value)
{
  if (value == "true") return true;
  if (value == "false") return false;
  throw ConfigError(key + "=" + value + ": expected true or false");
}

inline std::vector<std::string> SplitNames(const std::string &list)
{
  std::vector<std::string> names;
  std::istringstream stream(list);
  for (std::string name; std::getline(stream, name, ',');) names.push_back(name);
  return names;
}

struct LatentOptions {
  std::string model;
  std::vector<int> columns; /* of lscfg_features */
  lscfg_feature_options features;

  LatentOptions()
  {
    features.log = 1;
    features.negative = LSCFG_NEGATIVE_FLIP;
    features.floor = 1e-6;
    SetColumns("paper");
    SetUnknown("compose");
  }

  static const char *Usage()
  {
    return "model=FILE features=NAME,NAME log=true|false floor=X negative=flip|clamp unknown=compose|zero|oov";
  }

  const lscfg_binding_options &Binding() const { return unknown_; }

  /* Whether the option is one of these; throws ConfigError for a bad value. */
  bool Take(const std::string &key, const std::string &value)
  {
    if (key == "model") model = value;
    else if (key == "features") SetColumns(value);
    else if (key == "log") features.log = ToBool(key, value);
    else if (key == "floor") SetFloor(value);
    else if (key == "negative") SetNegative(value);
    else if (key == "unknown") SetUnknown(value);
    else return false;
    return true;
  }

private:
  lscfg_binding_options unknown_;

  void SetColumns(const std::string &value)
  {
    columns.clear();
    features.wanted = 0;
    for (const std::string &name : SplitNames(value)) {
      const uint32_t found = lscfg_feature_set(name.data(), name.size());
      if (!found) {
        std::string known;
        for (int k = 0; k < LSCFG_N_FEATURES; ++k) known += lscfg_feature_name(k) + std::string(", ");
        throw ConfigError("there is no feature '" + name + "'; there are " + known + "paper, ratios and context");
      }
      if (found & features.wanted) throw ConfigError("features=" + value + " names a feature twice");
      for (int k = 0; k < LSCFG_N_FEATURES; ++k)
        if (found >> k & 1) columns.push_back(k);
      features.wanted |= found;
    }
    if (columns.empty()) throw ConfigError("features= names no feature");
  }

  void SetFloor(const std::string &value)
  {
    char *rest;
    features.floor = strtod(value.c_str(), &rest);
    if (value.empty() || *rest || !(features.floor > 0) || !std::isfinite(features.floor))
      throw ConfigError("floor=" + value + ": expected a number above 0");
  }

  void SetNegative(const std::string &value)
  {
    if (value != "flip" && value != "clamp") throw ConfigError("negative=" + value + ": expected flip or clamp");
    features.negative = value == "flip" ? LSCFG_NEGATIVE_FLIP : LSCFG_NEGATIVE_CLAMP;
  }

  void SetUnknown(const std::string &value)
  {
    if (value != "zero" && value != "compose" && value != "oov")
      throw ConfigError("unknown=" + value + ": expected zero, compose or oov");
    unknown_.compose = value != "zero";
    unknown_.oov = unknown_.oov_parts = value == "oov";
  }
};

}

#endif
