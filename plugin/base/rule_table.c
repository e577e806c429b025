/* Interned rules. */
#include "base/rule_table.h"

int rule_table_init(rule_table *t) {
  memset(t, 0, sizeof *t);
  if (ARRAY_RESERVE(t->offsets, 1)) return LSCFG_ENOMEM;
  t->offsets.data[t->offsets.size++] = 0;
  return LSCFG_OK;
}

void rule_table_release(rule_table *t) {
  free(t->symbols.data);
  free(t->offsets.data);
  free(t->src_length.data);
  free(t->arity.data);
  index_release(&t->index);
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

static int32_t find(const rule_table *t, uint32_t hash, const int32_t *symbols, int32_t n_src, int32_t n) {
  int64_t at = -1;
  for (int32_t rule; (rule = index_next(&t->index, hash, &at)) >= 0;)
    if (same_rule(t, rule, symbols, n_src, n)) return rule;
  return -1;
}

int32_t rule_table_find(const rule_table *t, const int32_t *symbols, int32_t n_src, int32_t n) {
  return find(t, hash_rule(symbols, n_src, n), symbols, n_src, n);
}

int32_t rule_table_append(rule_table *t, const int32_t *symbols, int32_t n_src, int32_t n, int32_t arity) {
  int64_t rules = rule_table_size(t);
  if (rules == INT32_MAX || ARRAY_RESERVE(t->symbols, n + 1) || ARRAY_RESERVE(t->offsets, 1) ||
      ARRAY_RESERVE(t->src_length, 1) || ARRAY_RESERVE(t->arity, 1))
    return LSCFG_ENOMEM;
  /* room for n + 1, so that data is no null pointer even if all sides are empty */
  memcpy(t->symbols.data + t->symbols.size, symbols, (size_t)n * sizeof *symbols);
  t->symbols.size += n;
  t->offsets.data[t->offsets.size++] = t->symbols.size;
  t->src_length.data[t->src_length.size++] = n_src;
  t->arity.data[t->arity.size++] = arity;
  return (int32_t)rules;
}

int32_t rule_table_intern(rule_table *t, const int32_t *symbols, int32_t n_src, int32_t n, int32_t arity) {
  uint32_t hash = hash_rule(symbols, n_src, n);
  int32_t known = find(t, hash, symbols, n_src, n);
  if (known >= 0) return known;
  if (index_reserve(&t->index)) return LSCFG_ENOMEM;
  int32_t rule = rule_table_append(t, symbols, n_src, n, arity);
  if (rule >= 0) index_put(&t->index, hash, rule);
  return rule;
}
