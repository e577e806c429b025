#ifndef LSCFG_CONTEXT_H
#define LSCFG_CONTEXT_H

#include "model.h"

/* Context items. Kinds of words: item = kind * (words + 2) + word; behind the words of the vocabulary come the ends of
 * the sentence. Behind all of those, the lengths of the first and the second nonterminal. docs/FORMATS.md lists them. */
enum { WORD_KINDS = LSCFG_CONTEXT_WORD_KINDS, BAG = WORD_KINDS - 1, N_LENGTHS = LSCFG_CONTEXT_LENGTHS };

static inline int64_t context_items(int64_t n_words) { return WORD_KINDS * (n_words + 2) + 2 * N_LENGTHS; }

/* The class of a nonterminal's length, counted from 0. */
static inline int32_t length_class(int32_t length) { return length < N_LENGTHS ? length - 1 : N_LENGTHS - 1; }

/* Weights belong to outcomes: the rules, the words of their target sides, and the shapes of rules with nonterminals. */
enum { N_SHAPES = LSCFG_CONTEXT_SHAPES };

static inline int64_t context_outcomes(const context_model *context) {
  return context->n_rules + context->n_words + N_SHAPES;
}

/* Where words stand beside the nonterminals, on both sides, and whether two of these change places: 0 .. N_SHAPES-1; -1:
 * a rule without nonterminals. */
int32_t rule_shape(const int32_t *symbols, int32_t n_src, int32_t n);

/* Adds LSCFG_CONTEXT_... of the wanted kinds to features [applications][LSCFG_N_FEATURES], in [-limit, limit]; the model
 * has a context. LSCFG_OK or LSCFG_ENOMEM. */
int context_features(const lscfg_binding *, const lscfg_forest *, uint32_t wanted, double limit, double *features);

#endif
