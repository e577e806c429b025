/* Visits a pair: it is parsed and pruned, and its edges become rules with expectations. */
#include "biparse/chart.h"
#include "biparse/costs.h"
#include "biparse/neighbours.h"

#include <math.h>

/* ---- rules ---- */

/* Positions of the symbols of an edge. */
typedef struct {
  int32_t k, l, n_tails;
  int32_t tail_k[MOST_TAILS], tail_l[MOST_TAILS];
} layout;

/* Adds the target side of an edge to the symbols; position[h] becomes the symbol of each target word of the rule. */
static void spell_target(lscfg_biparse_visits *v, const layout *at, int32_t *position, lscfg_biparse_rule *r) {
  const pair_work *p = &v->pair;
  int32_t *symbols = v->symbols.data + r->symbols + r->n_src;
  for (int32_t h = at->k; h < at->l; h++) {
    int t = 0;
    while (t < at->n_tails && !(h >= at->tail_k[t] && h < at->tail_l[t])) t++;
    position[h] = r->n_tgt;
    if (t == at->n_tails) {
      symbols[r->n_tgt++] = p->tgt[h];
      r->lexical[LSCFG_LEX_TARGET] += p->null_tgt.data[h]; /* until a link is found */
    } else {
      symbols[r->n_tgt++] = -1 - t;
      h = at->tail_l[t] - 1;
    }
  }
}

/* Adds the links of the source word that is symbol s. */
static void spell_links(lscfg_biparse_visits *v, int32_t g, int32_t s, word_set set, const int32_t *position,
                        double *sum, int32_t *times, lscfg_biparse_rule *r) {
  const pair_work *p = &v->pair;
  int32_t size = set_size(set);
  double mean = 0;
  for (word_set rest = set; set_any(rest);) {
    int32_t h = set_take(&rest), at = g * p->m + h;
    v->links.data[v->links.size++] = s;
    v->links.data[v->links.size++] = position[h];
    r->n_links++;
    r->weight[1] += p->linked.data[at];
    mean += p->prob_src.data[at];
    if (!times[h]++) r->lexical[LSCFG_LEX_TARGET] -= p->null_tgt.data[h];
    sum[h] += p->prob_tgt.data[at];
    if (size == 1) mean = exp(p->log_src.data[at]);
  }
  r->lexical[LSCFG_LEX_SOURCE] += size ? log(mean / size) : p->null_src.data[g];
}

/* Appends the rule of an edge; it may be known already. */
static int spell(lscfg_biparse_visits *v, const chart_edge *e, lscfg_biparse_rule *r) {
  const pair_work *p = &v->pair;
  const pattern *form = pattern_of(p, e);
  const chart_node *head = &p->nodes.data[e->node];
  layout at = {.k = head->k, .l = head->l};
  *r = (lscfg_biparse_rule){.visit = (int32_t)v->results.size, .n_src = form->n, .symbols = v->symbols.size,
                            .links = v->links.size};
  if (ARRAY_RESERVE(v->symbols, form->n + p->m) || ARRAY_RESERVE(v->links, 2 * MOST_SYMBOLS * p->m))
    return LSCFG_ENOMEM;
  for (int s = 0; s < form->n; s++) {
    int is_tail = form->tails >> s & 1;
    v->symbols.data[r->symbols + s] = is_tail ? -1 : p->src[head->i + form->at[s]];
    if (!is_tail) continue;
    at.tail_k[at.n_tails] = p->nodes.data[e->item[s]].k;
    at.tail_l[at.n_tails++] = p->nodes.data[e->item[s]].l;
  }
  r->arity = at.n_tails;
  int32_t position[MOST_WORDS], times[MOST_WORDS] = {0};
  double sum[MOST_WORDS] = {0};
  spell_target(v, &at, position, r);
  v->symbols.size += r->n_src + r->n_tgt;
  for (int s = 0; s < form->n; s++)
    if (!(form->tails >> s & 1))
      spell_links(v, head->i + form->at[s], s, p->items.data[e->item[s]].set, position, sum, times, r);
  for (int32_t h = at.k; h < at.l; h++)
    if (times[h]) r->lexical[LSCFG_LEX_TARGET] += log(sum[h] / times[h]);
  rule_fingerprints(v->symbols.data + r->symbols, r->n_src, r->n_tgt, v->links.data + r->links, r->n_links,
                    r->fingerprint);
  return LSCFG_OK;
}

/* Gives each edge its rule, and each rule its expectation. */
static int collect_rules(lscfg_biparse_visits *v) {
  pair_work *p = &v->pair;
  const lscfg_biparse_model *model = p->model;
  v->first_rule = v->rules.size;
  if (v->local.slots) int_map_clear(&v->local);
  for (int64_t k = 0; k < p->edges.size; k++) {
    chart_edge *e = &p->edges.data[k];
    if (ARRAY_RESERVE(v->rules, 1)) return LSCFG_ENOMEM;
    lscfg_biparse_rule *r = &v->rules.data[v->rules.size];
    if (spell(v, e, r)) return LSCFG_ENOMEM;
    int64_t *place = int_map_at(&v->local, r->fingerprint[2]);
    if (!place) return LSCFG_ENOMEM;
    if (*place) {
      v->symbols.size = r->symbols;
      v->links.size = r->links;
    } else {
      *place = ++v->rules.size;
      r->known = find_number(&model->cache.aligned_places, r->fingerprint[2]);
      r->weight[0] = rule_weight(model, p->scale, find_number(&model->by_rule.places, r->fingerprint[1]), p->same);
    }
    e->rule = (int32_t)*place - 1;
    v->rules.data[e->rule].expected += e->probability;
  }
  return LSCFG_OK;
}

/* ---- gradient ---- */

static int begin_gradient(lscfg_biparse_visits *v) {
  if (v->features.slots) int_map_clear(&v->features);
  int64_t spans = (int64_t)(v->pair.n + 1) * (v->pair.n + 1);
  if (ARRAY_RESERVE(v->dense, LSCFG_N_DENSE) || ARRAY_RESERVE(v->span_mass, spans)) return LSCFG_ENOMEM;
  memset(v->dense.data + v->dense.size, 0, LSCFG_N_DENSE * sizeof(double));
  v->dense.size += LSCFG_N_DENSE;
  memset(v->span_mass.data, 0, (size_t)spans * sizeof(double));
  return LSCFG_OK;
}

/* Expectations given both sides. */
static int add_pair_side(lscfg_biparse_visits *v) {
  const pair_work *p = &v->pair;
  double *dense = v->dense.data + v->dense.size - LSCFG_N_DENSE;
  for (int64_t k = 0; k < p->edges.size; k++) {
    const chart_edge *e = &p->edges.data[k];
    const chart_node *head = &p->nodes.data[e->node];
    v->span_mass.data[head->i * (p->n + 1) + head->j] += e->probability;
  }
  for (int64_t k = v->first_rule; k < v->rules.size; k++) {
    const lscfg_biparse_rule *r = &v->rules.data[k];
    for (int way = 0; way < 2; way++) dense[way] += r->expected * r->lexical[way];
    dense[LSCFG_TARGET_WORDS] += r->expected * (r->n_tgt - r->arity);
    if (visits_add_links(v, r, r->expected)) return LSCFG_ENOMEM;
  }
  return LSCFG_OK;
}

/* Features of spans: what is left of their mass. */
static int add_spans(lscfg_biparse_visits *v) {
  const pair_work *p = &v->pair;
  for (int32_t i = 0; i < p->n; i++)
    for (int32_t j = i + 1; j <= p->n; j++) {
      double mass = v->span_mass.data[i * (p->n + 1) + j];
      if (mass == 0) continue;
      int64_t sides = word_key(i ? p->src[i - 1] : -1, j < p->n ? p->src[j] : -1);
      if (visits_add(v, LSCFG_SPAN_ENDS, word_key(p->src[i], p->src[j - 1]), mass) ||
          visits_add(v, LSCFG_SPAN_SIDES, sides, mass))
        return LSCFG_ENOMEM;
    }
  return LSCFG_OK;
}

/* ---- links and the best derivation ---- */

static int add_links(lscfg_biparse_visits *v) {
  const pair_work *p = &v->pair;
  int64_t cells = (int64_t)p->n * p->m;
  if (ARRAY_RESERVE(v->link_mass, cells)) return LSCFG_ENOMEM;
  memset(v->link_mass.data, 0, (size_t)cells * sizeof(double));
  for (int64_t k = 0; k < p->edges.size; k++) {
    const chart_edge *e = &p->edges.data[k];
    const pattern *form = pattern_of(p, e);
    int32_t i = p->nodes.data[e->node].i;
    for (int s = 0; s < form->n; s++)
      if (!(form->tails >> s & 1))
        for (word_set rest = p->items.data[e->item[s]].set; set_any(rest);)
          v->link_mass.data[(i + form->at[s]) * p->m + set_take(&rest)] += e->probability;
  }
  if (ARRAY_RESERVE(v->pair_links, cells)) return LSCFG_ENOMEM;
  for (int32_t at = 0; at < cells; at++)
    if (v->link_mass.data[at] > 0)
      v->pair_links.data[v->pair_links.size++] = (lscfg_biparse_link){
          (int32_t)v->results.size, at / p->m, at % p->m, 0, v->link_mass.data[at]};
  return LSCFG_OK;
}

/* The first of the best edges of each node, in order. */
static int best_edges(lscfg_biparse_visits *v) {
  pair_work *p = &v->pair;
  if (ARRAY_RESERVE(v->order, p->nodes.size)) return LSCFG_ENOMEM;
  for (int64_t q = 0; q < p->nodes.size; q++) {
    v->order.data[q] = -1;
    p->nodes.data[q].total = -INFINITY;
  }
  for (int64_t k = 0; k < p->edges.size; k++) {
    const chart_edge *e = &p->edges.data[k];
    const pattern *form = pattern_of(p, e);
    double score = e->score;
    for (int s = 0; s < form->n; s++)
      if (form->tails >> s & 1) score += p->nodes.data[e->item[s]].inside;
    if (score <= p->nodes.data[e->node].total) continue;
    p->nodes.data[e->node].total = score;
    v->order.data[e->node] = (int32_t)k;
  }
  return LSCFG_OK;
}

static void mark_best_links(lscfg_biparse_visits *v, const chart_edge *e, int64_t first_link) {
  const pair_work *p = &v->pair;
  const pattern *form = pattern_of(p, e);
  int32_t i = p->nodes.data[e->node].i;
  for (int64_t k = first_link; k < v->pair_links.size; k++) {
    lscfg_biparse_link *link = &v->pair_links.data[k];
    for (int s = 0; s < form->n; s++)
      if (!(form->tails >> s & 1) && i + form->at[s] == link->source)
        link->best |= set_has(p->items.data[e->item[s]].set, link->target);
  }
}

static int add_tree(lscfg_biparse_visits *v, int32_t node, int32_t parent, int32_t slot, int64_t first_link) {
  const pair_work *p = &v->pair;
  const chart_edge *e = &p->edges.data[v->order.data[node]];
  const pattern *form = pattern_of(p, e);
  const chart_node *head = &p->nodes.data[node];
  if (ARRAY_RESERVE(v->edges, 1)) return LSCFG_ENOMEM;
  int32_t number = (int32_t)v->edges.size++, n_tails = 0;
  lscfg_biparse_edge edge = {.visit = (int32_t)v->results.size, .rule = e->rule, .parent = parent, .slot = slot,
                             .span = {head->i, head->j, head->k, head->l}, .tails = {{-1, -1}, {-1, -1}}};
  mark_best_links(v, e, first_link);
  for (int s = 0; s < form->n; s++) {
    if (!(form->tails >> s & 1)) continue;
    edge.tails[n_tails][0] = p->nodes.data[e->item[s]].i;
    edge.tails[n_tails][1] = p->nodes.data[e->item[s]].j;
    if (add_tree(v, e->item[s], number, n_tails++, first_link)) return LSCFG_ENOMEM;
  }
  v->edges.data[number] = edge;
  return LSCFG_OK;
}

/* ---- visits ---- */

/* Parses with wider and wider beams; negative result->tries if all fail. */
static int parse(lscfg_biparse_visits *v, lscfg_biparse_result *result) {
  const lscfg_biparse_options *o = &v->pair.model->options;
  int64_t wide = 1;
  for (int32_t again = 0; again <= o->retries; again++, wide *= 4) {
    beams b = {.pops = wide * o->pops, .tries = 10 * wide * o->pops};
    b.nodes = (int32_t)(wide * o->nodes < INT32_MAX ? wide * o->nodes : INT32_MAX);
    b.word_items = (int32_t)(wide * o->word_items < UINT16_MAX ? wide * o->word_items : UINT16_MAX);
    if (pair_parse(&v->pair, &b)) return LSCFG_ENOMEM;
    result->tries = v->pair.root < 0 ? -1 - again : 1 + again;
    if (v->pair.root >= 0) return LSCFG_OK;
  }
  return LSCFG_OK;
}

static int visit(const lscfg_biparse_model *model, lscfg_biparse_visits *v, int32_t pair, int32_t what) {
  lscfg_biparse_result result = {.pair = pair};
  if (pair_open(&v->pair, model, pair, what & LSCFG_VISIT_FIRST) || begin_gradient(v)) return LSCFG_ENOMEM;
  if (v->pair.n && parse(v, &result)) return LSCFG_ENOMEM;
  if (result.tries > 0) {
    int64_t first_link = v->pair_links.size;
    result.nodes = (int32_t)v->pair.nodes.size;
    result.edges = (int32_t)v->pair.edges.size;
    result.viterbi = v->pair.nodes.data[v->pair.root].inside;
    result.log_pair = pair_prune(&v->pair, model->options.beam);
    result.kept = (int32_t)v->pair.edges.size;
    if (collect_rules(v) || ((what & LSCFG_VISIT_LINKS) && add_links(v))) return LSCFG_ENOMEM;
    if ((what & LSCFG_VISIT_TREE) && (best_edges(v) || add_tree(v, v->pair.root, -1, 0, first_link)))
      return LSCFG_ENOMEM;
    if (what & LSCFG_VISIT_NEIGHBOURS)
      if (add_pair_side(v) || visits_neighbours(v, &result) || add_spans(v)) return LSCFG_ENOMEM;
  }
  if (ARRAY_RESERVE(v->results, 1)) return LSCFG_ENOMEM;
  v->results.data[v->results.size++] = result;
  return LSCFG_OK;
}

int lscfg_biparse_visit(const lscfg_biparse_model *model, lscfg_biparse_visits *v, const int32_t *pairs, int64_t n,
                        int32_t what, lscfg_error *error) {
  v->results.size = v->rules.size = v->symbols.size = v->links.size = v->edges.size = v->pair_links.size = 0;
  v->gradient.size = v->dense.size = 0;
  for (int64_t k = 0; k < n; k++) {
    if (pairs[k] < 0 || pairs[k] >= model->text->same.size)
      return lscfg_fail(error, LSCFG_EINPUT, 0, "no sentence pair %ld", (long)pairs[k]);
    if (visit(model, v, pairs[k], what)) return out_of_memory(error);
  }
  return LSCFG_OK;
}
