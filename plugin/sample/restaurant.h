/* How probable rules are, given the others: the Chinese restaurants of the two models (Chung, Fang, Gildea &
 * Stefankovic 2014, sections 4 and 5). */
#ifndef LSCFG_SAMPLE_RESTAURANT_H
#define LSCFG_SAMPLE_RESTAURANT_H

#include "lscfg/sample.h"
#include "base/rule_table.h"

/* A rule as it is spelt, and its number if it is known. */
typedef struct {
  int64_t symbols; /* where they begin */
  int32_t n_src, n, arity;
  int32_t length;   /* words of both sides and scope */
  int32_t rule;     /* -1: it was never in a tree */
  int32_t n_rule;   /* tokens of it in the restaurants */
  int32_t head;     /* node at which it is */
  double new_table; /* change of the tables of its length, if it joins */
  double log_ways;  /* log of the derivations that it stands for at its head, where these divide; else 0 */
} rule_form;

typedef struct {
  lscfg_sample_options options;
  double log_types[2]; /* log of the numbers of words of each side: base of the Dirichlet process */
  rule_table rules;
  ARRAY(int32_t) count;
  ARRAY(int32_t) length;
  lscfg_length_counts *by_length; /* [max_length + 1] */
  double *log_length;       /* [max_length + 1] log of the Poisson probability */
  int32_t max_length;
  int64_t n_tokens, n_types;
  double powers[1024]; /* [n] n^discount */
} restaurant;

/* After a failure there is nothing to release. */
int restaurant_init(restaurant *, const lscfg_sample_options *, const int64_t n_types[2], int32_t max_length);
void restaurant_release(restaurant *);

/* Words of both sides and scope: adjacent nonterminals of the source side, and those at its ends. */
int32_t rule_length(const int32_t *symbols, int32_t n_src, int32_t n, int32_t arity);
/* Looks the form up in the table, which is not changed. */
void restaurant_find(const restaurant *, const int32_t *symbols, rule_form *);
/* The form of a rule in the table. */
rule_form restaurant_form(const restaurant *, int32_t rule, int32_t head);
/* Log probability of rules one after the other, each given the ones before it, too; sets their new_table. */
double restaurant_score(const restaurant *, const int32_t *symbols, rule_form *forms, int64_t n);
/* The number of a form's rule, new or known, which has one more token then; LSCFG_ENOMEM: no memory. */
int32_t restaurant_add(restaurant *, const int32_t *symbols, const rule_form *);
void restaurant_remove(restaurant *, int32_t rule);
/* Takes all tokens and rules out, and puts rules without tokens in, numbered from 0: LSCFG_OK, LSCFG_ENOMEM, or
 * LSCFG_EINPUT where two are the same, or one is no rule of that many words. */
int restaurant_restore(restaurant *, const lscfg_tables *, int32_t n_words);
/* Log probability of all tokens, rule by rule, in empty restaurants. */
double restaurant_log_joint(const restaurant *);

#endif
