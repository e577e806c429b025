/* Maps from whole numbers to whole numbers. */
#ifndef LSCFG_INT_MAP_H
#define LSCFG_INT_MAP_H

#include "base/common.h"

typedef struct {
  int64_t key; /* >= 0; -1 where empty */
  int64_t value;
} int_entry;

/* Open addressing, at most half full; all zero: an empty map. It is no index_table: keys have 64 bits, and a slot
 * holds a key and its value. */
typedef struct {
  int_entry *entries;
  int64_t slots, size;
} int_map;

static inline int_entry *int_map_slot(const int_map *m, int64_t key) {
  int64_t at = (int64_t)(hash_mix((uint64_t)key + 0x9e3779b97f4a7c15u) & (uint64_t)(m->slots - 1));
  while (m->entries[at].key >= 0 && m->entries[at].key != key) at = (at + 1) & (m->slots - 1);
  return &m->entries[at];
}

/* Forgets all keys and keeps the room. */
static inline void int_map_clear(int_map *m) {
  for (int64_t k = 0; k < m->slots; k++) m->entries[k].key = -1;
  m->size = 0;
}

static inline int int_map_grow(int_map *m) {
  int_map bigger = {.slots = m->slots ? 2 * m->slots : 1 << 12};
  if (!(bigger.entries = malloc((size_t)bigger.slots * sizeof *bigger.entries))) return LSCFG_ENOMEM;
  int_map_clear(&bigger);
  for (int64_t k = 0; k < m->slots; k++)
    if (m->entries[k].key >= 0) *int_map_slot(&bigger, m->entries[k].key) = m->entries[k];
  bigger.size = m->size;
  free(m->entries);
  *m = bigger;
  return LSCFG_OK;
}

/* The value of a key, 0 if it is new, until the next call; NULL: no memory. */
static inline int64_t *int_map_at(int_map *m, int64_t key) {
  if (2 * (m->size + 1) > m->slots && int_map_grow(m)) return NULL;
  int_entry *entry = int_map_slot(m, key);
  if (entry->key < 0) {
    *entry = (int_entry){key, 0};
    m->size++;
  }
  return &entry->value;
}

#endif
