/* An index over rules without a copy of their symbols. */
#include "inference/rule_index.h"

enum { AHEAD = 16 }; /* rules whose slots are fetched while another is indexed */

static rule_query query_of(const rule_index *x, int64_t rule) {
  int64_t begin = x->rules.offsets[rule];
  int32_t n_src = x->rules.src_length[rule], n = (int32_t)(x->rules.offsets[rule + 1] - begin);
  return (rule_query){x->rules.symbols + begin, n_src, x->sources ? n_src : n, x->lhs ? x->lhs[rule] : 0};
}

static uint32_t hash_of(const rule_index *x, rule_query q) {
  uint64_t lhs = x->lhs ? (uint64_t)q.lhs + 1 : 0;
  return (uint32_t)hash_ints(q.symbols, q.n, (uint64_t)q.n_src | lhs << 32);
}

static int is_same(const rule_index *x, int32_t rule, rule_query q) {
  rule_query own = query_of(x, rule);
  return own.n_src == q.n_src && own.n == q.n && (!x->lhs || own.lhs == q.lhs) &&
         !memcmp(own.symbols, q.symbols, (size_t)q.n * sizeof *q.symbols);
}

static int32_t find(const rule_index *x, uint32_t hash, rule_query q) {
  int64_t at = -1;
  for (int32_t rule; (rule = index_next(&x->numbers, hash, &at)) >= 0;)
    if (is_same(x, rule, q)) return rule;
  return -1;
}

int rule_index_build(rule_index *x, const lscfg_rules *rules, const int32_t *lhs, int sources, int64_t same[2]) {
  uint32_t hashes[AHEAD];
  *x = (rule_index){.rules = *rules, .lhs = lhs, .sources = sources};
  same[0] = same[1] = -1;
  if (index_reserve_all(&x->numbers, rules->n)) return LSCFG_ENOMEM;
  for (int64_t next = 0; next < rules->n + AHEAD; next++) {
    int64_t rule = next - AHEAD;
    if (rule >= 0) {
      uint32_t hash = hashes[rule % AHEAD];
      int32_t known = find(x, hash, query_of(x, rule));
      if (known < 0)
        index_put(&x->numbers, hash, (int32_t)rule);
      else if (same[0] < 0)
        same[0] = known, same[1] = rule;
    }
    if (next < rules->n) {
      hashes[next % AHEAD] = hash_of(x, query_of(x, next));
      index_prefetch(&x->numbers, hashes[next % AHEAD]);
    }
  }
  return LSCFG_OK;
}

void rule_index_release(rule_index *x) { index_release(&x->numbers); }

int32_t rule_index_find(const rule_index *x, rule_query q) { return find(x, hash_of(x, q), q); }

void rule_index_find_all(const rule_index *x, const rule_query *queries, int32_t n, int32_t *found) {
  uint32_t hashes[RULES_AT_ONCE];
  for (int32_t k = 0; k < n; k++) {
    hashes[k] = hash_of(x, queries[k]);
    index_prefetch(&x->numbers, hashes[k]);
  }
  for (int32_t k = 0; k < n; k++) {
    int64_t at = -1;
    found[k] = index_next(&x->numbers, hashes[k], &at);
    if (found[k] < 0) continue;
    __builtin_prefetch(x->rules.offsets + found[k]);
    __builtin_prefetch(x->rules.src_length + found[k]);
  }
  for (int32_t k = 0; k < n; k++)
    if (found[k] >= 0) __builtin_prefetch(x->rules.symbols + x->rules.offsets[found[k]]);
  for (int32_t k = 0; k < n; k++)
    if (found[k] >= 0) found[k] = find(x, hashes[k], queries[k]);
}
