/* Items of context scores (scores.h) around the edges of a forest, and in their gaps. */
#ifndef LSCFG_AROUND_H
#define LSCFG_AROUND_H

#include "forest/forest.h"
#include "inference/binding.h"
#include "inference/scores.h"

enum { MOST_IN_GAPS = 6 };

/* The sentence by its boundaries: items to the left and to the right of each, and then those of the whole sentence. */
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
  int64_t left, right, whole;  /* boundaries of its span in n_items, and the entry of the whole sentence */
  int32_t in_gaps[MOST_IN_GAPS], n_in_gaps; /* its items of gaps */
} words_around;

/* For a model with context scores. LSCFG_OK or LSCFG_ENOMEM; stop_around releases the memory in either case. */
int start_around(words_around *, const lscfg_binding *, const lscfg_forest *);
void stop_around(words_around *);

/* Selects an edge; 0 if no item around it or in its gaps is known. */
int take_edge(words_around *, int32_t edge);

/* The score of a row around the edge in hand; sums of finite numbers that are too large are 0. */
double score_around(const words_around *, int64_t row);

#endif
