/* The steps of a trie, from a node along a symbol to its child. They have a separate table and not an index_table:
 * steps are the most frequent operation of a parser, and one slot here holds key and child. */
#ifndef LSCFG_TRIE_H
#define LSCFG_TRIE_H

#include "base/common.h"

typedef struct {
  int32_t node, symbol, child; /* node -1 where empty */
} trie_step;

/* Open addressing, at most half full. */
typedef struct {
  trie_step *steps;
  int64_t count, used; /* count is a power of two */
} trie;

/* To be called first: LSCFG_OK or LSCFG_ENOMEM. */
int trie_init(trie *);
void trie_release(trie *);
/* Adds a step that is not there yet: LSCFG_OK or LSCFG_ENOMEM. */
int trie_add(trie *, int32_t node, int32_t symbol, int32_t child);

/* The slot of the step, or the empty slot for it. */
static inline trie_step *trie_place(const trie *t, int32_t node, int32_t symbol) {
  uint64_t mask = (uint64_t)t->count - 1, k = hash_mix((uint64_t)(uint32_t)node << 32 | (uint32_t)symbol) & mask;
  while (t->steps[k].node >= 0 && (t->steps[k].node != node || t->steps[k].symbol != symbol)) k = (k + 1) & mask;
  return &t->steps[k];
}

/* The child along the symbol, -1 if there is none. */
static inline int32_t trie_child(const trie *t, int32_t node, int32_t symbol) {
  return trie_place(t, node, symbol)->child;
}

#endif
