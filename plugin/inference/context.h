#ifndef LSCFG_CONTEXT_H
#define LSCFG_CONTEXT_H

#include "forest/forest.h"
#include "inference/binding.h"
#include "inference/families.h"

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

/* Values of a sentence's rules that many edges share, for a model with a context; NULL: no memory. */
typedef struct contexts contexts;
contexts *contexts_new(const lscfg_binding *, const lscfg_forest *, int compose);
void contexts_free(contexts *);
/* Writes LSCFG_CONTEXT_... , in [-limit, limit], of the wanted nodes' applications. LSCFG_OK or LSCFG_ENOMEM. */
int context_features(contexts *, const feature_work *, double limit);

#endif
