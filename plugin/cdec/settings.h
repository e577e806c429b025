/* Settings of the plug-in: its own arguments, and the configuration of the cdec around it. */
#ifndef LSCFG_CDEC_SETTINGS_H
#define LSCFG_CDEC_SETTINGS_H

#include <string>
#include <vector>

#include "filelib.h"
#include "options.h"

using lscfg::ConfigError;

/* The part of cdec's configuration that decides which forest a sentence has; the values are cdec's defaults. */
struct DecoderSettings {
  bool found = false; /* some configuration was read, so an empty list of grammars is final */
  std::string formalism, goal = "S", default_nt = "X", extra_glue, weights;
  std::vector<std::string> grammars;
  int max_span = 10;
  bool glue = true, pass_through = false, coarse_to_fine = false;
  bool later_weights = false;    /* later passes have separate weights */
  bool changing_weights = false; /* sentences bring changes to the weights, or the program is one that learns */
  bool only_best = true;         /* nothing but the best translation is written: no lists, no forests */
  int external = 0;              /* number of feature functions in libraries */
};

/* From the command line of this process and the files that its -c options name. Never fails: what cannot be read is
 * cdec's to complain about. */
DecoderSettings ReadDecoderSettings();

enum class Mode {
  kParse,  /* parse each sentence again */
  kRecord, /* keep the forest of this pass */
  kForest, /* use the forest that was kept in an earlier pass */
  kPack,   /* pack what edges have by then, without a model */
  kUnpack  /* restore the features that an earlier pass has packed */
};

/* kAuto: kAll where no output shows the features, else kNone. */
enum class Pack { kAuto, kNone, kLatent, kAll };

struct Settings {
  Mode mode = Mode::kParse;
  Pack pack = Pack::kAuto;
  std::string forests; /* where recorded forests are written, empty: nowhere */
  lscfg::LatentOptions latent;
  DecoderSettings decoder;
};

/* Settings of a line such as "model=FILE log=true"; throws ConfigError. */
Settings ReadSettings(const std::string &arguments);

/* A file of lines, .gz allowed; throws ConfigError if there is none. */
ReadFile OpenText(const std::string &path);

#endif
