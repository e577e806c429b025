/* A part of the pairs that is swept in parallel to others: it begins with the rules of all pairs, and sees only its own
 * changes (Newman, Asuncion, Smyth & Welling 2009, approximate distributed sampling). All changes are added
 * afterwards. */
#include "sample/sampler.h"

typedef struct {
  int32_t rule, tokens;
} rule_change;

struct lscfg_shard {
  lscfg_sampler work; /* the trees are those of the whole sampler */
  ARRAY(rule_change) changes;
  ARRAY(int32_t) numbers; /* of rules that are new */
  int64_t first, last;
};

lscfg_shard *lscfg_shard_new(const lscfg_sampler *whole, int64_t first, int64_t last) {
  lscfg_shard *shard = calloc(1, sizeof *shard);
  if (!shard) return NULL;
  lscfg_sampler *s = &shard->work;
  s->forests = whole->forests;
  s->n_pairs = whole->n_pairs;
  s->edge = whole->edge;
  s->rule = whole->rule;
  s->cut = whole->cut;
  s->node_state = whole->node_state;
  s->log_ways = whole->log_ways;
  s->edge_cost = whole->edge_cost;
  s->cut_rate = whole->cut_rate;
  shard->first = first;
  shard->last = last;
  if (!restaurant_init_shard(&s->rules, &whole->rules) && !sampler_reserve_work(s)) return shard;
  lscfg_shard_free(shard);
  return NULL;
}

void lscfg_shard_free(lscfg_shard *shard) {
  if (!shard) return;
  sampler_release_work(&shard->work);
  free(shard->changes.data);
  free(shard->numbers.data);
  free(shard);
}

int lscfg_shard_sweep(lscfg_shard *shard, int32_t sweep, int32_t max_level, double temperature, lscfg_error *error) {
  restaurant *r = &shard->work.rules;
  int code = lscfg_sampler_sweep(&shard->work, sweep, shard->first, shard->last, max_level, temperature, error);
  if (code) return code;
  for (int32_t rule = 0; rule < r->count.size; rule++) {
    int32_t tokens = r->count.data[rule] - (rule < r->n_base ? r->base->count.data[rule] : 0);
    if (!tokens) continue;
    if (ARRAY_RESERVE(shard->changes, 1)) return out_of_memory(error);
    shard->changes.data[shard->changes.size++] = (rule_change){rule, tokens};
  }
  return LSCFG_OK;
}

/* Numbers of the shard's new rules in the whole. */
static int number_rules(lscfg_sampler *whole, lscfg_shard *shard) {
  const restaurant *r = &shard->work.rules;
  int64_t n = rule_table_size(&r->rules);
  if (ARRAY_RESERVE(shard->numbers, n + 1)) return LSCFG_ENOMEM;
  for (int32_t k = 0; k < n; k++) {
    rule_form f = restaurant_form(r, r->n_base + k, 0);
    f.symbols = r->rules.offsets.data[k];
    f.rule = -1;
    int32_t number = restaurant_intern(&whole->rules, r->rules.symbols.data, &f);
    if (number < 0) return LSCFG_ENOMEM;
    shard->numbers.data[shard->numbers.size++] = number;
  }
  return LSCFG_OK;
}

int lscfg_sampler_join(lscfg_sampler *whole, lscfg_shard *shard, lscfg_error *error) {
  const lscfg_sampler *s = &shard->work;
  int32_t n_base = s->rules.n_base;
  if (number_rules(whole, shard)) return out_of_memory(error);
  for (int64_t k = 0; k < shard->changes.size; k++) {
    rule_change c = shard->changes.data[k];
    restaurant_change(&whole->rules, c.rule < n_base ? c.rule : shard->numbers.data[c.rule - n_base], c.tokens);
  }
  const pair_begin *pairs = whole->forests->pairs.data;
  for (int64_t node = pairs[shard->first].node; node < pairs[shard->last].node; node++)
    if (whole->rule[node] >= n_base) whole->rule[node] = shard->numbers.data[whole->rule[node] - n_base];
  whole->sum_of_ways += s->sum_of_ways;
  whole->state.edges_drawn += s->state.edges_drawn;
  whole->state.edges_moved += s->state.edges_moved;
  whole->state.cuts_drawn += s->state.cuts_drawn;
  whole->state.cuts_moved += s->state.cuts_moved;
  whole->state.trees_drawn += s->state.trees_drawn;
  whole->state.trees_moved += s->state.trees_moved;
  return LSCFG_OK;
}
