/* Results of visiting sentence pairs: rules, expectations and gradients. */
#include "biparse/visits.h"
#include "biparse/costs.h"

lscfg_biparse_visits *lscfg_biparse_visits_new(void) { return calloc(1, sizeof(lscfg_biparse_visits)); }

void lscfg_biparse_visits_free(lscfg_biparse_visits *v) {
  if (!v) return;
  pair_release(&v->pair);
  void *const all[] = {v->results.data,    v->rules.data,    v->symbols.data,         v->links.data,
                       v->edges.data,      v->gradient.data, v->pair_links.data,      v->local.entries,
                       v->dense.data,      v->sides.data,    v->features.entries,     v->side_numbers.entries,
                       v->targets.data,    v->inside.data,   v->edges_of_source.data, v->outside.data,
                       v->span_mass.data,  v->order.data,    v->link_mass.data};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
  free(v);
}

int visits_add(lscfg_biparse_visits *v, int kind, int64_t key, double value) {
  int64_t *place = int_map_at(&v->features, key | (int64_t)kind << 60); /* words are fewer than 2^28 */
  if (!place) return LSCFG_ENOMEM;
  if (*place) {
    v->gradient.data[*place - 1].value += value;
    return LSCFG_OK;
  }
  if (ARRAY_RESERVE(v->gradient, 1)) return LSCFG_ENOMEM;
  v->gradient.data[v->gradient.size++] = (gradient_entry){(int32_t)v->results.size, kind, key, value};
  *place = v->gradient.size;
  return LSCFG_OK;
}

int visits_add_links(lscfg_biparse_visits *v, const lscfg_biparse_rule *r, double value) {
  const int32_t *symbols = v->symbols.data + r->symbols, *links = v->links.data + r->links;
  for (int32_t n = 0; n < r->n_links; n++) {
    int64_t key = word_key(symbols[links[2 * n]], symbols[r->n_src + links[2 * n + 1]]);
    if (visits_add(v, LSCFG_LINKED_WORDS, key, value)) return LSCFG_ENOMEM;
  }
  return LSCFG_OK;
}

void lscfg_biparse_visits_get(const lscfg_biparse_visits *v, lscfg_biparse_visits_view *view) {
  *view = (lscfg_biparse_visits_view){.n = v->results.size,
                                      .results = v->results.data,
                                      .n_rules = v->rules.size,
                                      .rules = v->rules.data,
                                      .symbols = v->symbols.data,
                                      .links = v->links.data,
                                      .n_edges = v->edges.size,
                                      .edges = v->edges.data,
                                      .n_links = v->pair_links.size,
                                      .pair_links = v->pair_links.data,
                                      .dense = v->dense.data};
}
