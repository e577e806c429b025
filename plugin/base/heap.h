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

/* Sorts entries, best first, that are nearly in order: each moves past those that are worse. If that takes too many
 * moves, a heap sorts them. */
static inline void heap_sort_nearly(heap_entry *entries, int64_t n) {
  int64_t moves = 0;
  for (int64_t i = 1; i < n; i++) {
    heap_entry entry = entries[i];
    int64_t k = i;
    for (; k > 0 && heap_before(entry, entries[k - 1]); k--) entries[k] = entries[k - 1];
    entries[k] = entry;
    if ((moves += i - k) <= 32 * n) continue;
    heap_build(entries, n);
    for (int64_t left = n; left > 1; left--) { /* the best moves to the end */
      heap_entry best = entries[0];
      heap_down(entries, left - 1, 0, entries[left - 1]);
      entries[left - 1] = best;
    }
    for (int64_t low = 0, high = n - 1; low < high; low++, high--) {
      heap_entry best = entries[high];
      entries[high] = entries[low];
      entries[low] = best;
    }
    return;
  }
}

#endif
