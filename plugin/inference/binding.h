/* The mapping from the rules of a grammar to a model. */
#ifndef LSCFG_BINDING_H
#define LSCFG_BINDING_H

#include "forest/forest.h"
#include "inference/contract.h"
#include "inference/model.h"

typedef struct group_sums group_sums;   /* see sums.h */
typedef struct composition composition; /* see compose.h */

/* Numbers of a part of the model for the words of both sides that the grammar knew, -1: none. The grammar learns the
 * words of the target side after those of the source side, whose array is shorter. */
typedef struct {
  int32_t *number[2]; /* [n] of each side */
  int32_t n[2];
} side_words;

/* The mapping from the rules of a grammar to a model. */
struct lscfg_binding {
  const lscfg_model *model;
  const lscfg_grammar *grammar;
  const contraction *loops;
  int32_t n_rules; /* the grammar's, without the extra ones */
  int32_t n_known; /* those with their own tensor */
  int32_t *rule_row; /* [n_rules] row among the model's tensors of the rule's arity, or NO_ROW, OOV_ROW; for a composed
                  * rule, set by binding_compose */
  const int32_t *rule_group; /* the grammar's */
  int32_t *category;         /* [n_categories] the model's number of each category of the grammar; -1: no states */
  int32_t n_categories;
  int32_t *context_rule; /* [n_rules] the rule of the model's context, -1: none; NULL where the model has no context */
  int32_t *word_in_context; /* [n_vocab] the context's number of a word that the grammar knew, -1: none */
  int32_t n_vocab;
  int32_t *word_in_boundary; /* [n_boundary_vocab] the same of words at borders of spans; NULL: the model has none */
  int32_t n_boundary_vocab;
  side_words neural, orientation; /* of these parts of the model */
  group_sums *sums;
  lscfg_binding_options options;
  composition *composition; /* NULL if no rule is composed */
  /* The binding of expanded forests: the grammar's rules, the OOV rule, the model's rules. NULL in itself. */
  lscfg_binding *inner;
  lscfg_binding *one_state; /* the same for the model with one state; NULL if the file lacks it, and in itself */
};

enum { NO_ROW = -1, OOV_ROW = -2 }; /* no tensor; the tensor of the OOV rule */

/* The model's number of a category of the grammar, -1: its nodes have no states. */
static inline int32_t binding_category(const lscfg_binding *b, int32_t category) {
  return category >= 0 && category < b->n_categories ? b->category[category] : -1;
}

/* The same of the category of a node. */
static inline int32_t node_category(const lscfg_binding *b, const lscfg_forest *f, int32_t node) {
  return binding_category(b, f->node_cat.data[node]);
}

/* The row of a word on a side in the tables of a part of the model. */
static inline int32_t row_of_word(const side_words *words, int side, int32_t word) {
  if (word < 0 || word >= words->n[side] || words->number[side][word] < 0)
    return side ? LSCFG_ROW_TARGET_UNKNOWN : LSCFG_ROW_SOURCE_UNKNOWN;
  return words->number[side][word] + (side ? LSCFG_ROW_TARGET_WORDS : LSCFG_ROW_SOURCE_WORDS);
}

/* The same of all symbols of a rule, the source side first; nonterminals stay as they are. */
static inline void rows_of_rule(const lscfg_binding *b, const side_words *words, const grammar_rule *rule,
                                int32_t *rows) {
  for (int32_t k = 0; k < rule->n_src + rule->n_tgt; k++) {
    int32_t symbol = b->grammar->symbols.data[rule->src + k]; /* the target side follows the source side */
    rows[k] = symbol < 0 ? symbol : row_of_word(words, k >= rule->n_src, symbol);
  }
}

static inline int32_t binding_row(const lscfg_binding *b, int32_t rule) {
  return rule < b->n_rules ? b->rule_row[rule] : NO_ROW;
}

#endif
