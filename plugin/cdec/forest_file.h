/* Recorded forests as files. */
#ifndef LSCFG_CDEC_FOREST_FILE_H
#define LSCFG_CDEC_FOREST_FILE_H

#include <string>
#include <vector>

#include "recorder.h"

/* A line of JSON (docs/reference/formats.md) that ends in a newline. Forests of no plain sentence have no words. Throws
 * std::out_of_range where a node has no edges. */
std::string ForestJson(const Recorder &recorder, int id, const std::vector<WordID> *words);

/* A compressed file under its final name once it is whole; throws ConfigError. */
void WriteCompressed(const std::string &path, const std::string &text);

#endif
