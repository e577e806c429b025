/* One sentence pair: the costs of its words, its chart, and its best derivations. */
#ifndef LSCFG_BIPARSE_PAIR_H
#define LSCFG_BIPARSE_PAIR_H

#include "biparse/model.h"
#include "base/heap.h"

/* Beams of one try. */
typedef struct {
  int64_t pops, tries;
  int32_t nodes, word_items;
} beams;

/* A set of target words for a source word. */
typedef struct {
  word_set set;
  double base, total; /* its own features; and an estimate of all outside */
} word_item;

typedef struct {
  int32_t i, j, k, l;       /* source and target span */
  double inside, total;     /* the best derivation; and an estimate of all outside */
  double outside;           /* the best rest of a derivation of the pair */
  double ratio, marginal;   /* sum over best; probability that a derivation uses it; over edges that stay */
} chart_node;

typedef struct {
  int32_t node, pattern;    /* -1: the node was dropped */
  int32_t item[MOST_SYMBOLS]; /* of words: word items; of nonterminals: nodes */
  int32_t rule;             /* among the rules of the visits */
  double score, probability;
} chart_edge;

/* A point of a cube: which choice of each symbol. */
typedef struct {
  int32_t pattern;
  uint16_t choice[MOST_SYMBOLS];
  uint8_t last, k, l, is_edge; /* the last symbol whose choice is not the first; the target span */
  double score;
} cube_point;

/* The choices of a span, best first: word items of a word, nodes of a span. */
typedef struct {
  int32_t begin, n;
} choices;

typedef struct {
  const lscfg_biparse_model *model;
  int32_t pair, same, n, m;
  const int32_t *src, *tgt;
  double weight[LSCFG_N_DENSE], scale; /* of dense features, and what all other weights are multiplied by */
  int has_rules;                       /* non-zero: some rule has a weight */
  /* by source and target word, [n][m], and of single words with NULL */
  ARRAY(double) log_tgt, log_src, prob_tgt, prob_src, linked;
  ARRAY(double) null_tgt, null_src;
  ARRAY(double) boundary;               /* [n + 1][n + 1] of source spans */
  ARRAY(double) past_src, past_tgt;     /* see costs.c */
  ARRAY(double) best_src, best_tgt;
  ARRAY(uint64_t) src_codes, tgt_hash;  /* codes of words; fingerprints of the first target words */
  uint64_t powers[MOST_WORDS + 1];
  ARRAY(word_item) items;
  choices of_word[MOST_WORDS];
  /* the chart */
  ARRAY(chart_node) nodes;
  ARRAY(chart_edge) edges;
  ARRAY(choices) cells;                 /* [n + 1][n + 1] */
  ARRAY(int32_t) grid;                  /* [m + 1][m + 1] 1 + node of the span at hand */
  ARRAY(cube_point) points;
  ARRAY(heap_entry) heap;
  ARRAY(int32_t) order;
  int32_t root;                         /* node, -1: no parse */
} pair_work;

/* An estimate of the best that is outside of a source and a target span. */
static inline double pair_future(const pair_work *p, int32_t i, int32_t j, int32_t k, int32_t l) {
  const double *src = p->past_src.data + (int64_t)(k * (p->m + 1) + l) * (p->n + 1);
  const double *tgt = p->past_tgt.data + (int64_t)(i * (p->n + 1) + j) * (p->m + 1);
  return src[p->n] - (src[j] - src[i]) + tgt[p->m] - (tgt[l] - tgt[k]);
}

static inline const pattern *pattern_of(const pair_work *p, const chart_edge *e) {
  return &p->model->space.patterns.data[e->pattern];
}

#endif
