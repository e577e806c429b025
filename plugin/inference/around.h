/* What a scorer (scores.h) sees of the words around the edges of a forest, and in their gaps. */
#ifndef LSCFG_AROUND_H
#define LSCFG_AROUND_H

#include "forest/forest.h"
#include "inference/binding.h"
#include "inference/scores.h"

enum { MOST_IN_GAPS = 6 };

/* The sentence by its boundaries: what is to the left of each, and what is to its right; and behind them as a whole. */
typedef struct {
  const lscfg_binding *binding;
  const lscfg_forest *forest;
  const context_scores *model;
  int32_t n;
  int64_t most;     /* items on one side */
  int32_t *items;   /* [2][n + 1][most], [n]: numbers of the model's items */
  int32_t *n_items; /* [2][n + 1], [1] */
  float *sums;      /* [2][n + 1][m], [m] of their vectors; the last one with the shift */
  int32_t *gap_items;          /* [4][n] of the words as the first or the last one of either gap, -1: none; or NULL */
  float *around, *prepared;    /* of the edge in hand */
  int64_t left, right, whole;  /* boundaries of its span in n_items, and what stands for the sentence there */
  int32_t in_gaps[MOST_IN_GAPS], n_in_gaps; /* its items of gaps */
} words_around;

/* The model has a scorer. LSCFG_OK or LSCFG_ENOMEM; stop_around frees what there is in either case. */
int start_around(words_around *, const lscfg_binding *, const lscfg_forest *);
void stop_around(words_around *);

/* Takes an edge in hand; 0 if nothing around it and in its gaps is known. */
int take_edge(words_around *, int32_t edge);

/* The score of a row around the edge in hand; sums of finite numbers that are too large are 0. */
double score_around(const words_around *, int64_t row);

#endif
