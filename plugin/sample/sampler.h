/* A chain of samples at work on one pair: its tree, the rules of some options for a part of it, and the choice.
 *
 * Each node has three variables: its edge, whether it is cut, and a hidden state, which is one of a rule's symbols if
 * the node is cut and else as if it were outside the tree. An option is the rules that it makes. Variables outside
 * the tree are independent of all else; they are drawn when a node is first looked at, and need not be stored. */
#ifndef LSCFG_SAMPLER_H
#define LSCFG_SAMPLER_H

#include "sample/forests.h"
#include "sample/fragments.h"
#include "sample/places.h"
#include "sample/restaurant.h"

/* A node on its way down, and the head of the rule that it is in, its own where it is cut. */
typedef struct {
  int32_t node, above;
} visit;

/* A token that was taken out, to be put back if need be. */
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
  double *log_ways; /* [nodes] of cut nodes: log of the derivations that their rules stand for, where these divide */
  double sum_of_ways;
  ARRAY(int64_t) kept;
  ARRAY(int64_t) kept_short;
  ARRAY(int32_t) places;
  ARRAY(int32_t) seat_list;
  lscfg_sample_state state;
  /* variables outside trees, where they are not uniform */
  double *edge_cost;    /* as first_tail: less the log of their probability */
  double *cut_rate;     /* [n_rates] by source words of the span */
  int64_t *cuts_seen;   /* [n_rates][2] in trees: not cut, cut */
  int32_t n_rates;
  const double *cost_of; /* of the pair at hand */
  place_index places_of; /* where cuts are drawn by type */
  visit *search;         /* [nodes] */
  /* of the pair at hand */
  int64_t number;
  const pair_begin *pair;
  const forest_node *nodes;
  const int32_t *first_tail, *tails, *words[2];
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
  double log_left; /* probability of those that were taken out, one after the other */
  int32_t *old_edge; /* [nodes] of a tree that may come back */
  uint8_t *old_cut, *old_state;
  fragment_table fragments;
};

/* ---- sampler.c: the memory of a chain, or a shard, beside the trees; after a failure there is what to release ---- */

int sampler_reserve_work(lscfg_sampler *);
void sampler_release_work(lscfg_sampler *);

/* ---- tree.c ---- */

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

/* Whether a node begins with a cut, where nothing is known of it. */
static inline uint8_t first_cut(const forest_node *at, int is_cut) {
  return (uint8_t)(at->must_cut ? !at->is_choice : is_cut);
}

/* The random numbers of a pair in a sweep. */
random_stream sampler_stream(const lscfg_sampler *, int32_t sweep, uint32_t number);
void sampler_open_pair(lscfg_sampler *, int64_t number, int32_t sweep);
/* The same, with the random numbers of another one. */
void sampler_view_pair(lscfg_sampler *, int64_t number);
/* A number below n, each as likely as another. */
int32_t sampler_draw_below(lscfg_sampler *, int32_t n);
/* A hidden state, each as likely as another. */
uint8_t sampler_draw_state(lscfg_sampler *);
/* Gives a node values as if it were outside the tree. */
void sampler_draw_variables(lscfg_sampler *, int32_t node);
/* Less the log of the probability of a node's values outside the tree. */
double sampler_log_values(const lscfg_sampler *, int32_t node);
/* Memory for variables outside trees that are not uniform. */
int sampler_init_informed(lscfg_sampler *);
/* The nodes of the current tree strictly below a node, into below; their number. Those without a value get one. */
int32_t sampler_list_below(lscfg_sampler *, int32_t node);
/* The same; all get the stamp of a new decision: they keep their values, and all other nodes below get new ones when
 * they are needed. */
int32_t sampler_mark_tree(lscfg_sampler *, int32_t node);
/* The spans of the nonterminals of the rule at a cut node, in source order, into child_spans, and their states into
 * child_states; their number. */
int32_t sampler_list_children(lscfg_sampler *, int32_t head);

/* Keeps all values of the pair, and puts them back. */
void sampler_save_tree(lscfg_sampler *);
void sampler_restore_tree(lscfg_sampler *);

/* ---- options.c ---- */

/* No option yet, and no token that was taken out. */
void sampler_begin_options(lscfg_sampler *);
/* The number of derivations of the forest that lead from a head to its children in child_spans, and have no other cut;
 * those of the nodes in between, into ways. A decoder sees one rule in all of them. */
double sampler_count_derivations(lscfg_sampler *, int32_t head, int32_t n_children);
/* Its log. */
double sampler_log_derivations(lscfg_sampler *, int32_t head, int32_t n_children);
/* Adds the rule at a node to the option, if it is cut: as it is spelt, or as it is known of the current tree. */
int sampler_spell(lscfg_sampler *, int32_t head);
int sampler_recall(lscfg_sampler *, int32_t head);
/* Adds the rules of the current tree, n_below of whose nodes below the root are listed, in either way. */
int sampler_add_tree(lscfg_sampler *, int32_t n_below, int known);
/* The option has all its rules; its weight is their probability with what else is given. */
void sampler_end_option(lscfg_sampler *, int32_t option, double log_density);
/* Log probability of some forms, each as if it were alone. */
double sampler_log_apart(const lscfg_sampler *, int64_t first, int64_t end);
/* One of the options, as likely as its weight. */
int32_t sampler_choose(lscfg_sampler *, int32_t n);
/* The rule at a node leaves the restaurants, if it is cut; so do all rules of the tree. */
void sampler_leave(lscfg_sampler *, int32_t head);
int sampler_leave_tree(lscfg_sampler *, int32_t n_below);
/* The rules of an option join the restaurants in place of those that left, which were the option current: 1, or 0 if
 * by their seats these return; LSCFG_ENOMEM. */
int sampler_take(lscfg_sampler *, int32_t option, int32_t current);

/* Metropolis and Hastings: whether a proposal is taken that is so much more probable, beside how it was proposed. */
int sampler_accepts(lscfg_sampler *, double log_ratio);
/* Ends a proposal of a whole tree, option 1, which was accepted or not, in place of the saved one, option 0. */
int sampler_settle(lscfg_sampler *, int accepted);

/* ---- the moves: new values for the pair at hand ---- */

int sampler_draw_nodes(lscfg_sampler *);
int sampler_draw_tree(lscfg_sampler *);
int sampler_draw_blocked(lscfg_sampler *);
/* The cut of a node with those of the same type, if there are other ones and not too many. */
int sampler_draw_type(lscfg_sampler *, int32_t node, int32_t above, int *done);
int sampler_init_places(lscfg_sampler *);

#endif
