/* What cube pruning builds and k-best extraction reads: the hypergraph of items with language-model state (Chiang 2007,
 * section 5.3), and the two containers that both need. */
#ifndef LSCFG_SEARCH_H
#define LSCFG_SEARCH_H

#include "lm.h"

/* ---- heap with four children to a node, best score on top, equal scores in order of their numbers ---- */

typedef struct {
  double score;
  int32_t id;
} heap_entry;

static inline int heap_before(heap_entry a, heap_entry b) {
  return a.score > b.score || (a.score == b.score && a.id < b.id);
}

static inline void heap_up(heap_entry *heap, int64_t i, heap_entry entry) {
  while (i > 0 && heap_before(entry, heap[(i - 1) / 4])) {
    heap[i] = heap[(i - 1) / 4];
    i = (i - 1) / 4;
  }
  heap[i] = entry;
}

static inline void heap_down(heap_entry *heap, int64_t n, int64_t i, heap_entry entry) {
  for (int64_t child; (child = 4 * i + 1) < n; i = child) {
    int64_t last = child + 4 < n ? child + 4 : n;
    for (int64_t c = child + 1; c < last; c++)
      if (heap_before(heap[c], heap[child])) child = c;
    if (!heap_before(heap[child], entry)) break;
    heap[i] = heap[child];
  }
  heap[i] = entry;
}

static inline void heap_build(heap_entry *heap, int64_t n) {
  for (int64_t i = (n + 2) / 4; i-- > 0;) heap_down(heap, n, i, heap[i]);
}

/* Takes the best of n > 0 entries off. */
static inline heap_entry heap_pop(heap_entry *heap, int64_t n) {
  heap_entry best = heap[0];
  if (n > 1) heap_down(heap, n - 1, 0, heap[n - 1]);
  return best;
}

/* ---- table of numbers by hash, open addressing; what a number stands for the user compares ---- */

typedef struct {
  uint32_t hash;
  int32_t id; /* -1 where empty */
} index_slot;

typedef struct {
  index_slot *slots;
  int64_t count, used; /* count is a power of two, or 0 before the first index_reserve */
} index_table;

/* Room for one more entry. */
int index_reserve(index_table *);
void index_clear(index_table *);

static inline void index_put(index_table *t, uint32_t hash, int32_t id) {
  int64_t i = hash & (t->count - 1);
  while (t->slots[i].id >= 0) i = (i + 1) & (t->count - 1);
  t->slots[i] = (index_slot){hash, id};
  t->used++;
}

/* ---- the hypergraph ---- */

/* A forest node with a language-model state. */
typedef struct {
  double score;      /* of the best derivation */
  double left_score; /* of the left words: their log10 p as they were counted, with no word before them */
  int32_t right;     /* state of the automaton behind the last word */
  int32_t n_left;    /* words kept of the left edge; hypergraph.left holds them */
  int32_t n_key;     /* of these, how many a word in front of the item can matter to; equal states agree in them */
  int32_t full;      /* a word in front does not reach behind the left words: they need not be all of the item's */
  int32_t edge;      /* first incoming edge */
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
  int32_t stride; /* places for an item's left words, at least 1 */
  ARRAY(item) items;
  ARRAY(int32_t) left;
  ARRAY(item_edge) edges;
  int32_t goal; /* the item of whole sentences */
  const int32_t **app_tgt;
  const int32_t *app_length;
} hypergraph;

/* The max_edges edges of the best derivations, copied; see lscfg_search_hypergraph. */
int hypergraph_keep(const hypergraph *, int32_t max_edges, lscfg_hypergraph **, lscfg_error *);
int kbest_extract(const hypergraph *, const lscfg_search_options *, lscfg_kbest **, lscfg_error *);

#endif
