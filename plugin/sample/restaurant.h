/* Probabilities of rules, given the others: the Chinese restaurants of the two models (Chung, Fang, Gildea &
 * Stefankovic 2014, sections 4 and 5). */
#ifndef LSCFG_SAMPLE_RESTAURANT_H
#define LSCFG_SAMPLE_RESTAURANT_H

#include "lscfg/sample.h"
#include "base/random.h"
#include "extract/tables.h"
#include "sample/labels.h"
#include "sample/lexical.h"
#include "sample/seats.h"

/* A rule as it is spelt, and its number if it is known. */
typedef struct {
  int64_t symbols; /* where they begin */
  int32_t n_src, n, arity;
  int32_t length;   /* words of both sides and scope; edges of a fragment */
  int32_t group;    /* its restaurant */
  int32_t rule;     /* -1: it was never in a tree */
  int32_t n_rule;   /* tokens of it in the restaurants */
  int32_t head;     /* its node, counted over all pairs */
  double tables;    /* of these tokens */
  double new_table; /* change of the tables of its restaurant, if it joins */
  double log_base;  /* log of its base probability */
  double log_ways;  /* log of the derivations that the rule merges at its head, if rules are divided by these; else 0 */
} rule_form;

/* A separate restaurant for each length of rules, or one for all, number 0: no rule is as short. With hidden states
 * there are as many for each state of the head, and with labels for each category of the head. With states, the symbols
 * of a rule carry these: a nonterminal of the source side is -1 - its state, and a mark, -1 - the state of the head,
 * follows the target side. */
typedef struct restaurant restaurant;

struct restaurant {
  const restaurant *base; /* of a shard: what it began with, which stays; its own table has the rules that are new */
  int32_t n_base;         /* rules of the base */
  lscfg_sample_options options;
  int seated;          /* tokens sit at tables */
  double log_types[2]; /* log of the numbers of words of each side: uniform base */
  rule_table rules;
  ARRAY(int32_t) count;
  ARRAY(int32_t) length;
  ARRAY(int32_t) group;
  lexical_weights lexical; /* if the base distribution has lexical weights */
  const label_table *labels; /* if rules are fragments of given forests; else NULL */
  ARRAY(double) weight;    /* of each rule, in logs */
  seat_table seats;
  int32_t n_marks;    /* of a rule: 1 with states */
  double log_states;  /* log of their number */
  int32_t n_groups;   /* max_length + 1 for each state */
  lscfg_length_counts *groups; /* [n_groups] */
  lscfg_process *processes;    /* [n_groups] */
  double *log_length;          /* [max_length + 1] log of the probability of a length */
  int32_t max_length;
  int64_t n_tokens, n_types;
  double powers[1024]; /* [n] n^discount */
  double *log_listed;  /* [n_groups] of the possible rules of a restaurant, if these are listed */
};

/* For rules of these tables, which must outlive the restaurant; labels: NULL, or those of given forests. After a
 * failure nothing is allocated. */
int restaurant_init(restaurant *, const lscfg_sample_options *, const corpus_tables *, const label_table *labels,
                    const int64_t n_types[2], int32_t max_length);
void restaurant_release(restaurant *);
/* Another mean of the distribution of lengths. */
void restaurant_set_mean(restaurant *, double mean);

/* Words of both sides and scope: adjacent nonterminals of the source side, and those at its ends. */
int32_t rule_length(const int32_t *symbols, int32_t n_src, int32_t n, int32_t arity);
/* Looks the form up in the table, which is not changed. */
void restaurant_find(const restaurant *, const int32_t *symbols, rule_form *);
/* The form of a rule in the table. */
rule_form restaurant_form(const restaurant *, int32_t rule, int32_t head);
/* Log probability of a form given all tokens. */
double restaurant_log_probability(const restaurant *, const rule_form *);
/* Log probability of rules one after the other, each given the ones before it; sets their new_table. With tables, a new
 * rule is assumed to open one, all others none. */
double restaurant_score(const restaurant *, const int32_t *symbols, rule_form *forms, int64_t n);
/* True if two forms are the same rule; compares the symbols of new rules. */
int restaurant_same(const int32_t *symbols, const rule_form *, const rule_form *);
/* sums[k]: log probability of k tokens of the form one after the other, k = 0 .. n, without the number of tokens of its
 * restaurant by which each is divided. */
void restaurant_log_run(const restaurant *, const rule_form *, int32_t n, double *sums);
/* The number of a form's rule, new or known, with room for a token of it; LSCFG_ENOMEM: no memory. */
int32_t restaurant_intern(restaurant *, const int32_t *symbols, const rule_form *);

/* ---- a token comes or goes; its seat is the size of its table with it, 0 where there are no tables ---- */

/* The table of a new token; the table of a token of the rule, sampled uniformly. */
int32_t restaurant_new_seat(const restaurant *, int32_t rule, random_stream *);
int32_t restaurant_any_seat(const restaurant *, int32_t rule, random_stream *);
void restaurant_add(restaurant *, int32_t rule, int32_t seat);
void restaurant_remove(restaurant *, int32_t rule, int32_t seat);

/* ---- a shard goes its own way, and what it has changed comes back ---- */

/* Counts and rules of the base, which must not change while the shard lives. */
int restaurant_init_shard(restaurant *, const restaurant *base);
/* So many tokens of a rule more, or fewer; not where tokens sit at tables. */
void restaurant_change(restaurant *, int32_t rule, int32_t tokens);

/* Takes all tokens and rules out, and puts rules without tokens in, numbered from 0: LSCFG_OK, LSCFG_ENOMEM, or
 * LSCFG_EINPUT where two are the same, or one is no rule of that many words. */
int restaurant_restore(restaurant *, const lscfg_tables *, int32_t n_words);
/* Log probability of all tokens, and of their seats where they sit at tables. */
double restaurant_log_joint(const restaurant *);

/* Log of x (x + step) (x + 2 step) ... of n factors. */
double log_rising(double x, double step, double n);

#endif
