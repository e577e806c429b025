#ifndef LSCFG_CONTEXT_H
#define LSCFG_CONTEXT_H

#include "forest/forest.h"
#include "inference/binding.h"

/* The outcomes of a rule, which has room for its target side and two more; returns how many. */
int32_t rule_outcomes(const lscfg_rules *, int64_t rule, int64_t *outcomes);

/* True if the source side contains words: then words far away are items too, except for the shape. */
int has_source_words(const lscfg_rules *, int64_t rule);

/* A rule application as the items see it. */
typedef struct {
  const int32_t *span;
  int32_t position[BAG]; /* of the words of kinds 0 to 7, from -1 to n; -2: no such word */
  int32_t length[2];     /* classes of the nonterminals' lengths, -1: none */
} surroundings;

/* gap: spans of the two nonterminals, NULL if there is none; n: words of the sentence. */
surroundings look_around(const int32_t *span, const int32_t *const gap[2], int32_t n);

/* Writes LSCFG_CONTEXT_... , in [-limit, limit], to features [applications][n_columns], for a model with a context.
 * column [LSCFG_N_FEATURES]: that of each feature, -1 if it is not wanted. LSCFG_OK or LSCFG_ENOMEM. */
int context_features(const lscfg_binding *, const lscfg_forest *, const int32_t *column, int32_t n_columns,
                     double limit, double *features);

#endif
