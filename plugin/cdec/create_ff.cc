/* The entry point of a library of feature functions for cdec. */
#include <iostream>

#include "packing.h"
#include "latent.h"
#include "recorder.h"
#include "settings.h"

extern "C" __attribute__((visibility("default"))) FeatureFunction *create_ff(const std::string &arguments) {
  try {
    const Settings settings = ReadSettings(arguments);
    if (settings.mode == Mode::kRecord) return new Recorder(settings.forests);
    if (settings.mode == Mode::kPack) return new PlainPacking(settings.decoder);
    if (settings.mode == Mode::kUnpack) return new Unpacking;
    return new LatentFeatures(settings);
  } catch (const ConfigError &error) {
    std::cerr << error.what() << std::endl;
    throw;
  }
}
