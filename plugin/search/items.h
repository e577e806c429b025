/* The result of cube pruning, and the input of k-best extraction: the hypergraph of items with language-model state
 * (Chiang 2007, section 5.3). */
#ifndef LSCFG_ITEMS_H
#define LSCFG_ITEMS_H

#include "search/lm.h"

/* A forest node with a language-model state; of 32 bytes. */
typedef struct {
  double score;      /* of the best derivation */
  double left_score; /* of the left words: their log10 p as they were counted, with no word before them */
  int32_t right;     /* state of the automaton after the last word */
  int32_t edge;      /* first incoming edge */
  uint8_t n_left;    /* words kept of the left edge; hypergraph.left holds them */
  uint8_t n_key;     /* of these, the number to which a word before the item can matter; equal states agree in them */
  uint8_t full;      /* non-zero: a word before does not reach past the left words, which may be fewer than all of
                      * the item's */
} item;

typedef struct {
  double local; /* score of the application itself: without its tails */
  double lm;    /* what it adds to the sum of log10 p */
  int32_t oov;
  int32_t app; /* of the forest; -1: the last step, from a root item to the sentence */
  int32_t tail[2];
  int32_t head;
  int32_t next; /* incoming edge of the same item, -1 at the end */
} item_edge;

typedef struct {
  int32_t stride; /* room for an item's left words, at least 1 */
  ARRAY(item) items;
  ARRAY(int32_t) left;
  ARRAY(item_edge) edges;
  int32_t goal; /* the item of whole sentences */
  const int32_t **app_tgt;
  const int32_t *app_length;
} hypergraph;

/* True if an edge joins all tails of another except its first: it has no target side, and its item has no words and no
 * state. Such an item is a choice of the items of these tails, and this is its only edge. */
static inline int is_rest(const hypergraph *g, const item_edge *edge) {
  return edge->tail[1] >= 0 && edge->app >= 0 && !g->app_length[edge->app];
}

#endif
