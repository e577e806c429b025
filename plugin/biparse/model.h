/* Rules that were discovered, and the weights of features. */
#ifndef LSCFG_BIPARSE_MODEL_H
#define LSCFG_BIPARSE_MODEL_H

#include "biparse/space.h"
#include "base/rule_table.h"

/* Weights by pairs of words. */
typedef struct {
  int_map places; /* word_key -> 1 + place */
  ARRAY(double) weight;
  ARRAY(int32_t) words;
} weight_table;

typedef struct {
  int32_t weight; /* its place in the table of linked words */
  uint8_t src, tgt;
} rule_link;

typedef struct {
  int32_t rule, side;
  int32_t shown, now; /* most pairs that showed it in one pass; in this pass */
  int64_t links;      /* where they begin; the next rule's is the end */
  double lexical[2];
} aligned_rule;

/* The aligned rules of a source side, those that most pairs have shown first: a part of targets. */
typedef struct {
  int64_t begin;
  int32_t n, room;
} target_list;

struct lscfg_biparse_model {
  const lscfg_bitexts *text;
  lscfg_biparse_options options;
  space space;
  rule_table rules;
  ARRAY(double) rule_weight;
  ARRAY(int32_t) only;
  ARRAY(aligned_rule) aligned;
  ARRAY(rule_link) links;
  int_map rule_places, aligned_places, side_places; /* fingerprint -> 1 + number */
  ARRAY(target_list) sides;
  ARRAY(int32_t) targets;
  weight_table sparse[LSCFG_N_SPARSE];
  double dense[LSCFG_N_DENSE];
  double scale; /* that all sparse weights have in common */
  ARRAY(int32_t) link_view; /* what lscfg_biparse_model_get shows */
  ARRAY(int64_t) link_begin;
  ARRAY(int32_t) numbers[3];
  ARRAY(double) lexical;
  ARRAY(double) weights[1 + LSCFG_N_SPARSE];
};

/* The number behind a key, -1 if there is none. */
static inline int32_t find_number(const int_map *m, int64_t key) {
  if (!m->slots) return -1;
  const int_entry *entry = int_map_slot(m, key);
  return entry->key < 0 ? -1 : (int32_t)(entry->value - 1);
}

/* Whether a rule has no weight for a pair, since no other one has shown it. */
static inline int left_out(const lscfg_biparse_model *m, int32_t rule, int32_t same) {
  return m->options.leave_out && (rule < 0 || m->only.data[rule] == same);
}

static inline double rule_weight(const lscfg_biparse_model *m, int32_t rule, int32_t same) {
  return rule < 0 || left_out(m, rule, same) ? 0 : m->scale * m->rule_weight.data[rule];
}

static inline double sparse_weight(const lscfg_biparse_model *m, int kind, int32_t src, int32_t tgt) {
  int32_t place = find_number(&m->sparse[kind].places, word_key(src, tgt));
  return place < 0 ? 0 : m->scale * m->sparse[kind].weight.data[place];
}

#endif
