#include "settings.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#ifdef __APPLE__
#include <crt_externs.h>
#endif

using std::string;
using std::vector;

ReadFile OpenText(const string &path) {
  if (!FileExists(path) || DirectoryExists(path)) throw ConfigError("no file " + path);
  return ReadFile(path);
}

namespace {

/* Settings that cdec reads; the first value that is met wins, as in cdec, where the command line comes before the
 * files. */
class ConfigReader {
 public:
  void Add(const string &key, const string &value) {
    settings.only_best = settings.only_best && WritesNothing(key);
    settings.external += key.compare(0, 16, "feature_function") == 0 && value.compare(0, 8, "External") == 0;
    if (key == "grammar" || key == "formalism") settings.found = true;
    if (key == "grammar")
      settings.grammars.push_back(value);
    else if (!seen_.insert(key).second)
      return;
    else if (key == "formalism")
      settings.formalism = Lower(value);
    else if (key == "goal")
      settings.goal = value;
    else if (key == "scfg_default_nt")
      settings.default_nt = value;
    else if (key == "scfg_extra_glue_grammar")
      settings.extra_glue = value;
    else if (key == "scfg_max_span_limit")
      settings.max_span = atoi(value.c_str());
    else if (key == "scfg_no_hiero_glue_grammar")
      settings.glue = false;
    else if (key == "add_pass_through_rules")
      settings.pass_through = true;
    else if (key == "coarse_to_fine_beam_prune")
      settings.coarse_to_fine = true;
    else if (key == "weights")
      settings.weights = value;
    else if (key == "weights2" || key == "weights3")
      settings.later_weights = true;
    else if (key == "mr_mira_compat")
      settings.changing_weights = true;
  }

  void ReadCommandLine(const vector<string> &arguments) {
    if (arguments.empty()) return;
    if (IsCdec(arguments[0]))
      ReadOptions(arguments);
    else
      ReadLearner(arguments);
    for (size_t k = 0; k < files_.size(); ++k) ReadIni(files_[k]);
  }

  DecoderSettings settings;

 private:
  static constexpr const char *kSwitches = "PraZnJzGoL?";

  /* True for options that only determine which forest is searched, and how. */
  static bool WritesNothing(string key) {
    static const std::set<string> one_pass = {"formalism",
                                              "grammar",
                                              "goal",
                                              "input",
                                              "quiet",
                                              "unique_k_best",
                                              "scfg_default_nt",
                                              "scfg_max_span_limit",
                                              "scfg_no_hiero_glue_grammar",
                                              "add_pass_through_rules"};
    static const std::set<string> each_pass = {"weights",      "feature_function", "intersection_strategy",
                                               "cubepruning_pop_limit", "density_prune",    "beam_prune"};
    if (one_pass.count(key)) return true;
    if (!key.empty() && (key.back() == '2' || key.back() == '3')) key.pop_back();
    return each_pass.count(key) > 0;
  }

  /* Programs that learn weights have a decoder in them, too; their options have other meanings. */
  static bool IsCdec(const string &program) {
    return program.find("cdec", program.find_last_of('/') + 1) != string::npos;
  }

  /* Of those programs' options, only the one that names cdec's configuration matters. */
  void ReadLearner(const vector<string> &arguments) {
    settings.changing_weights = true;
    for (size_t k = 1; k < arguments.size(); ++k) {
      const string &token = arguments[k];
      for (const string name : {"-c", "--config", "--decoder_config"}) {
        if (token == name && k + 1 < arguments.size())
          files_.push_back(arguments[k + 1]);
        else if (token.compare(0, name.size() + 1, name + "=") == 0)
          files_.push_back(token.substr(name.size() + 1));
        else if (name == "-c" && token.size() > 2 && token.compare(0, 2, name) == 0)
          files_.push_back(token.substr(2));
      }
    }
  }

  void ReadOptions(const vector<string> &arguments) {
    for (size_t k = 1; k < arguments.size(); ++k) {
      const string &token = arguments[k];
      if (token.compare(0, 2, "--") == 0) {
        const size_t equals = token.find('=');
        const string written = token.substr(2, equals == string::npos ? equals : equals - 2);
        const string key = FullName(written);
        if (key.empty()) {
          settings.only_best = settings.only_best && WritesNothing(written);
          continue;
        }
        if (IsSwitch(key))
          Take(key, "");
        else if (equals != string::npos)
          Take(key, token.substr(equals + 1));
        else if (k + 1 < arguments.size())
          Take(key, arguments[++k]);
      } else if (token.size() > 1 && token[0] == '-') {
        for (size_t c = 1; c < token.size(); ++c) { /* switches may be written together, as in -rk 100 */
          const string key = LongName(token[c]);
          settings.only_best = settings.only_best && (!key.empty() || strchr("riIK", token[c]));
          if (strchr(kSwitches, token[c])) {
            if (!key.empty()) Take(key, "");
            continue;
          }
          string value = token.substr(c + 1);
          if (value.empty() && k + 1 < arguments.size()) value = arguments[++k];
          if (!key.empty()) Take(key, value);
          break;
        }
      }
    }
  }

  static string Lower(string text) {
    for (char &c : text) c = static_cast<char>(tolower(c));
    return text;
  }

  static string LongName(char letter) {
    switch (letter) {
      case 'c': return "config";
      case 'f': return "formalism";
      case 'g': return "grammar";
      case 'w': return "weights";
      case 'F': return "feature_function";
      case 'd': return "scfg_default_nt";
      case 'S': return "scfg_max_span_limit";
      case 'n': return "scfg_no_hiero_glue_grammar";
      case 'P': return "add_pass_through_rules";
      default: return "";
    }
  }

  /* cdec takes an abbreviation for the option that it begins. */
  static string FullName(const string &name) {
    static const char *const names[] = {"config",
                                        "formalism",
                                        "grammar",
                                        "goal",
                                        "scfg_default_nt",
                                        "scfg_max_span_limit",
                                        "scfg_extra_glue_grammar",
                                        "scfg_no_hiero_glue_grammar",
                                        "add_pass_through_rules",
                                        "coarse_to_fine_beam_prune",
                                        "weights",
                                        "weights2",
                                        "weights3",
                                        "feature_function",
                                        "feature_function2",
                                        "feature_function3",
                                        "mr_mira_compat"};
    for (const char *full : names)
      if (name == full ||
          (name.size() >= 4 && string(full).compare(0, name.size(), name) == 0 && name != "scfg" && name != "scfg_"))
        return full;
    return "";
  }

  static bool IsSwitch(const string &key) {
    return key == "scfg_no_hiero_glue_grammar" || key == "add_pass_through_rules" || key == "mr_mira_compat";
  }

  void Take(const string &key, const string &value) {
    if (key == "config")
      files_.push_back(value);
    else
      Add(key, value);
  }

  void ReadIni(const string &path) {
    ReadFile file;
    try {
      file = OpenText(path);
    } catch (const std::exception &) {
      return;
    }
    for (string line; getline(*file, line);) {
      line = line.substr(0, line.find('#'));
      const size_t equals = line.find('=');
      if (equals == string::npos) continue;
      const string key = Trim(line.substr(0, equals)), value = Trim(line.substr(equals + 1));
      if (key == "decoder_config")
        files_.push_back(value);
      else
        Add(key, value);
    }
  }

  static string Trim(const string &text) {
    const char *blanks = " \t\r";
    const size_t begin = text.find_first_not_of(blanks);
    return begin == string::npos ? "" : text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
  }

  vector<string> files_;
  std::set<string> seen_;
};

int ToCount(const string &key, const string &value) {
  char *rest;
  const long number = strtol(value.c_str(), &rest, 10);
  if (value.empty() || *rest || number < 1 || number > 1000000)
    throw ConfigError(key + "=" + value + ": expected a whole number above 0");
  return static_cast<int>(number);
}

Mode ToMode(const string &value) {
  if (value == "parse") return Mode::kParse;
  if (value == "record") return Mode::kRecord;
  if (value == "forest") return Mode::kForest;
  if (value == "pack") return Mode::kPack;
  if (value == "unpack") return Mode::kUnpack;
  if (value == "fold" || value == "unfold")
    throw ConfigError("mode=" + value + " is now mode=" + (value == "fold" ? "pack" : "unpack"));
  throw ConfigError("mode=" + value + ": expected parse, record, forest, pack or unpack");
}

Pack ToPack(const string &value) {
  if (value == "auto") return Pack::kAuto;
  if (value == "none") return Pack::kNone;
  if (value == "latent") return Pack::kLatent;
  if (value == "all") return Pack::kAll;
  throw ConfigError("pack=" + value + ": expected auto, none, latent or all");
}

/* As the reader of cdec.ini in lscfg/formats/ini.py. */
string ToCategory(const string &key, const string &value) {
  if (value.find_first_of("[]|") != string::npos)
    throw ConfigError(key + "=" + value + ": expected the name of a category without brackets");
  return value;
}

[[noreturn]] void Unknown(const string &token) {
  throw ConfigError("unknown option '" + token + "'; options are " + lscfg_options_usage() +
                    " mode=parse|record|forest|pack|unpack forests=DIR pack=auto|none|latent|all grammar=FILE "
                    "max_span=N glue=true|false pass_through=true|false goal=CATEGORY");
}

/* The words of the command that started this process, whose main() is not ours. */
vector<string> OwnCommandLine() {
#ifdef __APPLE__
  return vector<string>(*_NSGetArgv(), *_NSGetArgv() + *_NSGetArgc());
#else
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  vector<string> arguments;
  for (string argument; getline(file, argument, '\0');) arguments.push_back(argument);
  return arguments;
#endif
}

} // namespace

DecoderSettings ReadDecoderSettings() {
  ConfigReader reader;
  reader.ReadCommandLine(OwnCommandLine());
  /* Only the edges of a forest show its rules. */
  if (reader.settings.formalism == "rescore") reader.settings.pass_through = true;
  return reader.settings;
}

Settings ReadSettings(const string &arguments) {
  Settings s;
  s.decoder = ReadDecoderSettings();
  bool own_grammars = false;
  std::set<string> given;
  const char *rest = arguments.data();
  for (lscfg_option option; lscfg_option_next(&rest, arguments.data() + arguments.size(), &option);) {
    const string token(option.text, option.length);
    if (!option.key_length) Unknown(token);
    const string key = token.substr(0, option.key_length), value = token.substr(option.key_length + 1);
    if (key != "grammar" && !given.insert(key).second) throw ConfigError("option " + key + " is given twice");
    if (s.latent.Take(key, value)) continue;
    if (key == "mode")
      s.mode = ToMode(value);
    else if (key == "forests")
      s.forests = value;
    else if (key == "pack")
      s.pack = ToPack(value);
    else if (key == "fold")
      throw ConfigError("fold=" + value + " is now pack=" + value);
    else if (key == "max_span")
      s.decoder.max_span = ToCount(key, value);
    else if (key == "glue")
      s.decoder.glue = lscfg::ToBool(key, value);
    else if (key == "pass_through")
      s.decoder.pass_through = lscfg::ToBool(key, value);
    else if (key == "goal")
      s.decoder.goal = ToCategory(key, value);
    else if (key == "grammar") {
      if (!own_grammars) s.decoder.grammars.clear();
      own_grammars = s.decoder.found = true;
      s.decoder.grammars.push_back(value);
    } else
      Unknown(token);
  }
  if (!s.forests.empty() && s.mode != Mode::kRecord) throw ConfigError("forests= is for lines with mode=record");
  const bool computes = s.mode == Mode::kParse || s.mode == Mode::kForest;
  if (computes && !*s.latent.model) throw ConfigError("the line names no model; add model=FILE");
  return s;
}
