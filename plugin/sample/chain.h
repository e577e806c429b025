/* A chain of samples and its workspace for one pair: its tree, the rules of the options for a part of it, and the
 * choice.
 *
 * Each node has three variables: its edge, whether it is cut, and a hidden state, which is one of a rule's symbols if
 * the node is cut and otherwise independent of the tree. An option is the set of its rules. Variables outside the tree
 * are independent of all others; they are sampled at first use, and need not be stored. */
#ifndef LSCFG_SAMPLE_CHAIN_H
#define LSCFG_SAMPLE_CHAIN_H

#include "sample/forests.h"
#include "sample/fragments.h"
#include "sample/sites.h"
#include "sample/restaurant.h"

/* A node on its way down, and the head of the rule that it is in, its own where it is cut. */
typedef struct {
  int32_t node, above;
} visit;

/* A removed token, which may return. */
typedef struct {
  int32_t head; /* node of all pairs */
  int32_t rule, seat;
  double log_ways;
} left_token;

struct lscfg_sampler {
  const lscfg_phrase_forests *forests;
  int64_t n_pairs; /* that are sampled: the first ones */
  restaurant rules;
  int32_t *edge, *rule; /* [nodes] of all pairs */
  uint8_t *cut, *node_state;
  double *log_ways; /* [nodes] of cut nodes: log of the derivations that their rules merge, if rules are divided by
                     * these */
  double sum_of_ways;
  ARRAY(int64_t) kept;
  ARRAY(int64_t) kept_short;
  ARRAY(int32_t) places;
  ARRAY(int32_t) seat_list;
  lscfg_sample_state state;
  /* variables outside trees, where they are not uniform */
  double *edge_cost;    /* as first_tail: minus the log of their probability */
  double *cut_rate;     /* [n_rates] by source words of the span */
  int64_t *cuts_seen;   /* [n_rates][2] in trees: not cut, cut */
  int32_t n_rates;
  const double *cost_of; /* of the pair at hand */
  site_index sites_of;   /* for cuts by type */
  visit *search;         /* [nodes] */
  /* of the pair at hand */
  int64_t number;
  const pair_begin *pair;
  const forest_node *nodes;
  const int32_t *first_tail, *tails, *words[2], *label;
  int32_t n_nodes, *edge_of, *rule_of;
  uint8_t *cut_of, *state_of;
  double *ways_of;
  random_stream random;
  double inverse_temperature;
  int32_t max_level;
  /* the tree */
  int32_t *seen;  /* [nodes] stamp of the decision in which a node got its values */
  uint8_t *fresh; /* [nodes] it got them by chance, outside the tree */
  int32_t stamp;
  int32_t *stack, *below, *child_at;
  visit *way;
  span_pair *child_spans;
  uint8_t *child_states;
  double *ways; /* [nodes] */
  /* the options */
  ARRAY(int32_t) symbols;
  ARRAY(rule_form) forms;
  int64_t *first_form; /* [options + 1] */
  double *weight;      /* [options] */
  double *log_rules;   /* [options] log probability of the rules of an option alone */
  ARRAY(left_token) left;
  double log_left;   /* probability of the removed tokens, one after the other */
  int32_t *old_edge; /* [nodes] of a tree that may come back */
  uint8_t *old_cut, *old_state;
  fragment_table fragments;
};

static inline const int32_t *tails_of(const lscfg_sampler *s, int32_t node, int32_t *n) {
  const int32_t *first = s->first_tail + s->nodes[node].first_edge + s->edge_of[node];
  *n = first[1] - first[0];
  return s->tails + first[0];
}

/* Pushes the tails of a node so that they come off in source order; returns the new height of the stack. */
static inline int32_t push_tails(const lscfg_sampler *s, int32_t node, int32_t *stack, int32_t height) {
  int32_t n;
  const int32_t *tails = tails_of(s, node, &n);
  while (n-- > 0) stack[height++] = tails[n];
  return height;
}

/* The cut of a node without other information. */
static inline uint8_t first_cut(const forest_node *at, int is_cut) {
  return (uint8_t)(at->must_cut ? !at->is_choice : is_cut);
}

#endif
