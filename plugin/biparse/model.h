/* Rules that were discovered, and the weights of features. */
#ifndef LSCFG_BIPARSE_MODEL_H
#define LSCFG_BIPARSE_MODEL_H

#include "biparse/space.h"
#include "base/rule_table.h"

/* Weights of features of one kind, and their gradients in a batch. */
typedef struct {
  ARRAY(double) weight, pending; /* of a common scale; the gradient of the batch so far */
  ARRAY(double) kept;            /* weights to go back to */
  ARRAY(float) squares;          /* of all gradients before */
  ARRAY(uint8_t) is_touched;
  ARRAY(int32_t) touched;        /* in this batch */
} weights;

/* Weights by pairs of words. */
typedef struct {
  int_map places; /* word_key -> 1 + index */
  ARRAY(int32_t) words;
  weights of;
} weight_table;

typedef struct {
  int32_t weight; /* its index in the table of linked words */
  uint8_t src, tgt;
} rule_link;

typedef struct {
  int32_t rule, side;
  int32_t shown, now; /* most pairs that showed it in one pass; in this pass */
  int64_t links;      /* where they begin; the next rule's is the end */
  double lexical[2];
} aligned_rule;

/* The aligned rules of a source side, those that occur in most pairs first: a part of targets. */
typedef struct {
  int64_t begin;
  int32_t n, room;
} target_list;

/* Weights by rules without their links. */
typedef struct {
  int_map places;      /* fingerprint -> 1 + number */
  ARRAY(int32_t) only; /* the pair, or the first one equal to it, of a rule that occurs in no other; else -1 */
  weights of;
} rule_weights;

/* The discovered rules, which only learning needs. */
typedef struct {
  rule_table rules;
  ARRAY(aligned_rule) aligned;
  ARRAY(rule_link) links;
  int_map aligned_places, side_places; /* fingerprint -> 1 + number */
  ARRAY(target_list) sides;
  ARRAY(int32_t) targets;
} rule_cache;

struct lscfg_biparse_model {
  const lscfg_bitexts *text;
  lscfg_biparse_options options;
  space space;
  rule_weights by_rule;
  rule_cache cache;
  weight_table sparse[LSCFG_N_SPARSE];
  double dense[LSCFG_N_DENSE], dense_pending[LSCFG_N_DENSE], dense_squares[LSCFG_N_DENSE], dense_kept[LSCFG_N_DENSE];
  double scale;    /* that all sparse weights have in common */
  int64_t visited; /* pairs of the batch */
  int is_settled;  /* learning is over, see lscfg_biparse_settle */
  int is_sum;      /* of shares of others, see lscfg_biparse_model_add */
  ARRAY(int32_t) link_view; /* what lscfg_biparse_model_get shows */
  ARRAY(int64_t) link_begin;
  ARRAY(int32_t) numbers[3];
  ARRAY(double) lexical;
  ARRAY(double) weight_view[1 + LSCFG_N_SPARSE];
};

/* A rule with its links, from a pair or from another model. */
typedef struct {
  const int32_t *symbols, *links;
  int32_t n_src, n_tgt, arity, n_links;
  int64_t fingerprint[3];
  double lexical[2];
} rule_spec;

static inline int32_t most_shown(const aligned_rule *a) { return a->now > a->shown ? a->now : a->shown; }

/* The number of a rule, new or known, that occurs in a pair, or the first one equal to it; of a rule with its links;
 * the index of a weight of two words. LSCFG_ENOMEM when memory or numbers are out. */
int32_t model_intern_rule(lscfg_biparse_model *, const rule_spec *, int32_t same);
int32_t model_intern_aligned(lscfg_biparse_model *, const rule_spec *, int32_t rule);
int32_t model_weight_place(weight_table *, int64_t key);
/* Brings the weights to a common scale of 1. */
void model_rescale(lscfg_biparse_model *);
/* Moves a rule forward in the list of its source side, past those that occur in fewer pairs. */
void model_move_up(lscfg_biparse_model *, int32_t number);

/* Refuses what would change a settled model. */
static inline int refuse_if_settled(const lscfg_biparse_model *m, lscfg_error *error) {
  return m->is_settled ? lscfg_fail(error, LSCFG_EINPUT, 0, "learning is over") : LSCFG_OK;
}

/* The number of a key, -1 if there is none. */
static inline int32_t find_number(const int_map *m, int64_t key) {
  if (!m->slots) return -1;
  const int_entry *entry = int_map_slot(m, key);
  return entry->key < 0 ? -1 : (int32_t)(entry->value - 1);
}

/* True if a rule has no weight for a pair: no rule has, or the rule occurs in no other pair. */
static inline int left_out(const lscfg_biparse_model *m, int32_t rule, int32_t same) {
  return !m->options.rule_weights || (m->options.leave_out && (rule < 0 || m->by_rule.only.data[rule] == same));
}

/* Weights, times a scale: the model's, or 0 for the beginning. */
static inline double rule_weight(const lscfg_biparse_model *m, double scale, int32_t rule, int32_t same) {
  return rule < 0 || left_out(m, rule, same) ? 0 : scale * m->by_rule.of.weight.data[rule];
}

static inline double sparse_weight(const lscfg_biparse_model *m, double scale, int kind, int32_t src, int32_t tgt) {
  int32_t place = find_number(&m->sparse[kind].places, word_key(src, tgt));
  return place < 0 ? 0 : scale * m->sparse[kind].of.weight.data[place];
}

/* The weights of a kind, rules being the last. */
static inline weights *weights_of_kind(lscfg_biparse_model *m, int kind) {
  return kind < LSCFG_N_SPARSE ? &m->sparse[kind].of : &m->by_rule.of;
}

/* The dense weights of the beginning. */
static inline void set_first_weights(double *dense) {
  dense[LSCFG_LEX_TARGET] = dense[LSCFG_LEX_SOURCE] = 1;
  dense[LSCFG_TARGET_WORDS] = 0;
}

#endif
