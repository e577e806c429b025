/* A hash table of numbers, open addressing, at most half full. The user compares the objects behind the numbers. */
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

/* Reserves room for one more entry, or for a total number of entries: LSCFG_OK or LSCFG_ENOMEM. */
int index_reserve(index_table *);
int index_reserve_all(index_table *, int64_t entries);
/* Forgets all entries and keeps the room. */
void index_clear(index_table *);
void index_release(index_table *);

/* The next number of this hash after slot *at, which is -1 at first; -1: no more numbers. Numbers of a hash come in no
 * particular order. */
static inline int32_t index_next(const index_table *t, uint32_t hash, int64_t *at) {
  if (!t->count) return -1;
  for (int64_t i = *at < 0 ? hash & (t->count - 1) : (*at + 1) & (t->count - 1); t->slots[i].id >= 0;
       i = (i + 1) & (t->count - 1))
    if (t->slots[i].hash == hash) {
      *at = i;
      return t->slots[i].id;
    }
  return -1;
}

/* Fetches the slot of a hash from memory. */
static inline void index_prefetch(const index_table *t, uint32_t hash) {
  if (t->count) __builtin_prefetch(t->slots + (hash & (t->count - 1)));
}

static inline void index_put(index_table *t, uint32_t hash, int32_t id) {
  int64_t i = hash & (t->count - 1);
  while (t->slots[i].id >= 0) i = (i + 1) & (t->count - 1);
  t->slots[i] = (index_slot){hash, id};
  t->used++;
}

#endif
