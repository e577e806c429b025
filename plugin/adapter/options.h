/* Options for latent features on a decoder's line, the same for all decoders. C++11, independent of any decoder. */
#ifndef LSCFG_ADAPTER_OPTIONS_H
#define LSCFG_ADAPTER_OPTIONS_H

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "lscfg/inference.h"

namespace lscfg {

/* One line for the user; the decoder ends with it. */
struct ConfigError : std::runtime_error {
  explicit ConfigError(const std::string &message) : std::runtime_error("[lscfg] " + message) {}
};

/* The text of an error, for a message that names lscfg already. */
inline std::string Reason(const std::exception &error) {
  const std::string text = error.what(), mark = "[lscfg] ";
  return text.compare(0, mark.size(), mark) ? text : text.substr(mark.size());
}

inline bool ToBool(const std::string &key, const std::string &value) {
  if (value == "true") return true;
  if (value == "false") return false;
  throw ConfigError(key + "=" + value + ": expected true or false");
}

inline std::vector<std::string> SplitNames(const std::string &list) {
  std::vector<std::string> names;
  std::istringstream stream(list);
  for (std::string name; std::getline(stream, name, ',');) names.push_back(name);
  return names;
}

/* The kernel's options in C++. */
struct LatentOptions : lscfg_options {
  LatentOptions() { lscfg_options_init(this); }

  /* The features that are wanted, in the order of the columns of lscfg_features. */
  std::vector<int> Columns() const { return std::vector<int>(features.columns, features.columns + features.n_columns); }

  /* True if the option is one of these; throws ConfigError for a bad value. */
  bool Take(const std::string &key, const std::string &value) {
    lscfg_error error;
    const int code = lscfg_options_set(this, key.data(), key.size(), value.data(), value.size(), &error);
    if (code < 0) throw ConfigError(error.message);
    if (prune > 0) throw ConfigError(key + "=" + value + ": only lscfg's own decoder can prune; remove this option");
    return code == LSCFG_OK;
  }
};

/* The warning about sums that are not probabilities; empty without any. */
inline std::string ImproperText(const lscfg_improper &counts, const lscfg_feature_options &features) {
  char text[400];
  lscfg_improper_text(&counts, &features, text, sizeof text);
  return text;
}

} // namespace lscfg

#endif
