/* Interned rules. */
#include "base/rule_table.h"

int rule_table_init(rule_table *t) {
  memset(t, 0, sizeof *t);
  t->slots = 1024;
  t->table = malloc((size_t)t->slots * sizeof *t->table);
  if (!t->table || ARRAY_RESERVE(t->offsets, 1)) {
    rule_table_release(t);
    return LSCFG_ENOMEM;
  }
  memset(t->table, 0xff, (size_t)t->slots * sizeof *t->table);
  t->offsets.data[t->offsets.size++] = 0;
  return LSCFG_OK;
}

void rule_table_release(rule_table *t) {
  free(t->symbols.data);
  free(t->offsets.data);
  free(t->src_length.data);
  free(t->arity.data);
  free(t->table);
  memset(t, 0, sizeof *t);
}

static uint32_t hash_rule(const int32_t *symbols, int32_t n_src, int32_t n) {
  return (uint32_t)hash_ints(symbols, n, (uint64_t)n_src);
}

static int same_rule(const rule_table *t, int32_t rule, const int32_t *symbols, int32_t n_src, int32_t n) {
  int64_t begin = t->offsets.data[rule];
  return t->src_length.data[rule] == n_src && t->offsets.data[rule + 1] - begin == n &&
         !memcmp(t->symbols.data + begin, symbols, (size_t)n * sizeof *symbols);
}

/* The slot that holds the rule, or the empty one where it belongs. */
static rule_slot *find_slot(const rule_table *t, uint32_t hash, const int32_t *symbols, int32_t n_src, int32_t n) {
  int64_t slot = (int64_t)hash & (t->slots - 1);
  while (t->table[slot].rule >= 0 &&
         (t->table[slot].hash != hash || !same_rule(t, t->table[slot].rule, symbols, n_src, n)))
    slot = (slot + 1) & (t->slots - 1);
  return &t->table[slot];
}

static int grow_table(rule_table *t) {
  int64_t slots = 2 * t->slots;
  rule_slot *table = malloc((size_t)slots * sizeof *table);
  if (!table) return LSCFG_ENOMEM;
  memset(table, 0xff, (size_t)slots * sizeof *table);
  for (int64_t k = 0; k < t->slots; k++) {
    if (t->table[k].rule < 0) continue;
    int64_t slot = (int64_t)t->table[k].hash & (slots - 1);
    while (table[slot].rule >= 0) slot = (slot + 1) & (slots - 1);
    table[slot] = t->table[k];
  }
  free(t->table);
  t->table = table;
  t->slots = slots;
  return LSCFG_OK;
}

int32_t rule_table_find(const rule_table *t, const int32_t *symbols, int32_t n_src, int32_t n) {
  return find_slot(t, hash_rule(symbols, n_src, n), symbols, n_src, n)->rule;
}

int32_t rule_table_intern(rule_table *t, const int32_t *symbols, int32_t n_src, int32_t n, int32_t arity) {
  int64_t rules = rule_table_size(t);
  if (2 * (rules + 1) > t->slots && grow_table(t)) return LSCFG_ENOMEM;
  uint32_t hash = hash_rule(symbols, n_src, n);
  rule_slot *slot = find_slot(t, hash, symbols, n_src, n);
  if (slot->rule >= 0) return slot->rule;
  if (rules == INT32_MAX || ARRAY_RESERVE(t->symbols, n + 1) || ARRAY_RESERVE(t->offsets, 1) ||
      ARRAY_RESERVE(t->src_length, 1) || ARRAY_RESERVE(t->arity, 1))
    return LSCFG_ENOMEM;
  /* the room of n + 1 is so that data is no null pointer even where all sides are empty */
  memcpy(t->symbols.data + t->symbols.size, symbols, (size_t)n * sizeof *symbols);
  t->symbols.size += n;
  t->offsets.data[t->offsets.size++] = t->symbols.size;
  t->src_length.data[t->src_length.size++] = n_src;
  t->arity.data[t->arity.size++] = arity;
  *slot = (rule_slot){(int32_t)rules, hash};
  return (int32_t)rules;
}
