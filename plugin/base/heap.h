/* A heap with four children to a node: best score on top, equal scores in order of their numbers. */
#ifndef LSCFG_HEAP_H
#define LSCFG_HEAP_H

#include "base/common.h"

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

#endif
