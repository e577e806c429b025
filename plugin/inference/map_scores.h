/* The scores of a context model in a model file. */
#ifndef LSCFG_INFERENCE_MAP_SCORES_H
#define LSCFG_INFERENCE_MAP_SCORES_H

#include "inference/scores.h"

/* The score function of that name, NULL if it is unknown. */
const score_function *find_score_function(const char *name, size_t length);

/* Maps and checks the arrays, for these numbers of rules and words; all 0 if the file has none. */
int map_scores(const tensor_file *, int64_t n_rules, int64_t n_words, context_scores *, lscfg_error *);

/* The number of an item, -1: none. */
int64_t find_item(const context_scores *, int64_t item);

#endif
