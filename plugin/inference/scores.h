/* Context scores of target sides, in few dimensions (thesis, section 4.1).
 *
 * Words around a span have vectors, by side and distance; the context is their sum. A score function compares the
 * context with the parameters of a rule; a sparse function has a weight of each rule for each word instead. A score
 * function is one file, and a row in map_scores.c. */
#ifndef LSCFG_SCORES_H
#define LSCFG_SCORES_H

#include "base/safetensors.h"
#include "lscfg/inference.h"

typedef struct score_function score_function;

/* The arrays of a model file; docs/reference/formats.md lists them. All but kind and hidden in the mapped file. */
typedef struct {
  const score_function *kind;
  int64_t base;         /* words of the vocabulary and three more, see below */
  int32_t window, bag;  /* words on each side; non-zero: wherever they stand */
  int64_t n_items, m;
  const int32_t *items; /* [n_items] ascending */
  const float *vectors; /* [n_items][m] */
  const float *shift;   /* [m], added to their sum */
  int64_t n_rows, width;
  const int32_t *row;   /* [rules of the context], -1: none */
  const float *rules;   /* [n_rows][width] */
  const float *bias;    /* [n_rows] */
  const int64_t *offsets; /* [n_rows + 1] of sparse kinds, which have neither vectors nor shift nor rules: */
  const int32_t *columns; /* those of a row are numbers of items, ascending, */
  const float *weights;   /* and their weights */
  int64_t n_hidden;     /* 0: the kind has no hidden layer */
  const float *hidden;  /* [n_hidden][m] */
  const float *hidden_bias, *out; /* [n_hidden] */
  const double *calibration;      /* [2]: weights of the logarithm of a rule's count, and of its score */
} context_scores;

/* Item = ((side * window) + distance - 1) * base + word; the ends of a sentence have distance 1. Side 2, at distance 1,
 * is the whole sentence, at any position. Four times base items follow, for the first and the last word of the first
 * gap, and those of the second one; and then the classes of length of either gap. */
enum {
  CONTEXT_BEGIN = LSCFG_CONTEXT_BEGIN,
  CONTEXT_END = LSCFG_CONTEXT_END,
  CONTEXT_UNKNOWN = LSCFG_CONTEXT_UNKNOWN,
  CONTEXT_EXTRA_WORDS = LSCFG_CONTEXT_EXTRA_WORDS
};

struct score_function {
  const char *name; /* as the file's metadata has it */
  int hidden;       /* non-zero: there is a hidden layer */
  /* numbers that the words around a span are reduced to: width of prepared */
  int64_t (*width)(const context_scores *);
  void (*prepare)(const context_scores *, const float *around, float *prepared);
  double (*score)(const context_scores *, const float *prepared, int64_t row);
  /* of sparse functions, instead of these three: the sum of the weights of items, by their numbers, for a row */
  double (*score_items)(const context_scores *, const int32_t *items, int32_t n, int64_t row);
};

extern const score_function dot_score, cosine_score, mlp_score, match_score, sparse_score;
extern const score_function joint_score; /* its scores are a part of those of the log-linear context model */

/* The first item of the gaps' words, that of their lengths, and the end of all. */
static inline int64_t first_gap_item(const context_scores *s) { return (2 * (int64_t)s->window + 1) * s->base; }
static inline int64_t first_length_item(const context_scores *s) { return first_gap_item(s) + 4 * s->base; }
static inline int64_t end_of_items(const context_scores *s) { return first_length_item(s) + 2 * LSCFG_CONTEXT_LENGTHS; }

/* The sum of products, in eight parts, which add up in the same order on every machine. */
static inline double inner_product(const float *a, const float *b, int64_t n) {
  float part[8] = {0};
  int64_t k = 0;
  for (; k + 8 <= n; k += 8)
    for (int i = 0; i < 8; i++) part[i] += a[k + i] * b[k + i];
  for (int i = 0; k < n; k++, i++) part[i] += a[k] * b[k];
  return (double)part[0] + part[1] + part[2] + part[3] + part[4] + part[5] + part[6] + part[7];
}

#endif
