/* A table of numbers by hash, open addressing, at most half full. What a number means is the user's to compare. */
#ifndef LSCFG_INDEX_H
#define LSCFG_INDEX_H

#include "base/common.h"


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

#endif
