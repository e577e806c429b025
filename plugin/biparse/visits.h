/* Results of visiting sentence pairs, until a model or counts take them. */
#ifndef LSCFG_BIPARSE_VISITS_H
#define LSCFG_BIPARSE_VISITS_H

#include "biparse/pair.h"

/* The difference between the expectations of a sparse feature given both sides and given the source. */
typedef struct {
  int32_t visit, kind; /* LSCFG_LINKED_WORDS ...; RULE_FEATURE: key is a rule of the model; NEW_RULE: of the visits */
  int64_t key;
  double value;
} gradient_entry;

enum { RULE_FEATURE = LSCFG_N_SPARSE, NEW_RULE = LSCFG_N_SPARSE + 1 };

/* A rule in the neighbour hypergraph. */
typedef struct {
  double score;           /* without features of the span; later its expectation */
  int32_t aligned, local; /* number in the model, or among the rules of the visits; -1 */
} neighbour_rule;

/* A source side of the pair: its rules are begin .. the next one's begin - 1. */
typedef struct {
  int32_t begin;
  double score, expected; /* logarithm of the sum over its rules; expected number of uses */
} neighbour_side;

typedef struct {
  int32_t i, j, side, tails[MOST_TAILS][2];
  double score, inside; /* of features of the span; and with everything below */
} neighbour_edge;

struct lscfg_biparse_visits {
  pair_work pair;
  ARRAY(lscfg_biparse_result) results;
  ARRAY(lscfg_biparse_rule) rules;
  ARRAY(int32_t) symbols, links;
  ARRAY(lscfg_biparse_edge) edges;
  ARRAY(lscfg_biparse_link) pair_links;
  ARRAY(gradient_entry) gradient;
  ARRAY(double) dense;
  /* of the pair at hand */
  int64_t first_rule;
  int_map local;                       /* fingerprint of an aligned rule -> 1 + number among the visits' */
  int_map side_numbers, features;      /* fingerprint of a source side -> 1 + number; feature -> 1 + gradient entry */
  ARRAY(neighbour_side) sides;
  ARRAY(neighbour_rule) targets;
  ARRAY(neighbour_edge) edges_of_source;
  ARRAY(double) inside, outside, span_mass; /* [n + 1][n + 1] */
  ARRAY(double) link_mass;             /* [n][m] */
  ARRAY(int32_t) order;                /* rules by source side */
};

/* Adds a value to the gradient of a feature of the current pair, or to those of the links of a rule. */
int visits_add(lscfg_biparse_visits *, int kind, int64_t key, double value);
int visits_add_links(lscfg_biparse_visits *, const lscfg_biparse_rule *, double value);
#endif
