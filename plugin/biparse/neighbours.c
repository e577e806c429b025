/* The neighbour hypergraph of a pair: all derivations of its source side by known rules with the source sides of the
 * pair's rules (Xiao et al. 2012, Eq. 6). The targets of a source side are summed once, not at each position. */
#include <math.h>

#include "biparse/neighbours.h"

/* ---- rules ---- */

static int32_t side_number(lscfg_biparse_visits *v, int64_t fingerprint) {
  int64_t *place = int_map_at(&v->side_numbers, fingerprint);
  if (!place) return LSCFG_ENOMEM;
  if (!*place) {
    if (ARRAY_RESERVE(v->sides, 2)) return LSCFG_ENOMEM;
    v->sides.data[v->sides.size] = (neighbour_side){0};
    *place = ++v->sides.size;
  }
  return (int32_t)*place - 1;
}

static double score_known(const pair_work *p, const aligned_rule *a) {
  const lscfg_biparse_model *m = p->model;
  double score = rule_weight(m, p->scale, a->rule, p->same), words = 0;
  for (int64_t k = a[0].links; k < a[1].links; k++)
    words += m->sparse[LSCFG_LINKED_WORDS].of.weight.data[m->cache.links.data[k].weight];
  const rule_table *t = &m->cache.rules;
  int64_t length = t->offsets.data[a->rule + 1] - t->offsets.data[a->rule] - t->src_length.data[a->rule];
  return score + p->scale * words + p->weight[LSCFG_LEX_TARGET] * a->lexical[LSCFG_LEX_TARGET] +
         p->weight[LSCFG_LEX_SOURCE] * a->lexical[LSCFG_LEX_SOURCE] +
         p->weight[LSCFG_TARGET_WORDS] * (double)(length - t->arity.data[a->rule]);
}

static double score_own(const pair_work *p, const lscfg_biparse_rule *r) {
  return r->weight[0] + r->weight[1] + p->weight[LSCFG_LEX_TARGET] * r->lexical[LSCFG_LEX_TARGET] +
         p->weight[LSCFG_LEX_SOURCE] * r->lexical[LSCFG_LEX_SOURCE] +
         p->weight[LSCFG_TARGET_WORDS] * (r->n_tgt - r->arity);
}

static int add_target(lscfg_biparse_visits *v, double score, int32_t aligned, int32_t local) {
  if (ARRAY_RESERVE(v->targets, 1)) return LSCFG_ENOMEM;
  v->targets.data[v->targets.size++] = (neighbour_rule){score, aligned, local};
  return LSCFG_OK;
}

/* The pair's rule in a list, -1 if it is absent. */
static int64_t find_target(const lscfg_biparse_visits *v, int64_t begin, int64_t end, int32_t aligned) {
  for (int64_t k = begin; k < end; k++)
    if (v->targets.data[k].aligned == aligned) return k;
  return -1;
}

/* The rules of a source side: those that occur in most pairs, and the pair's rules first .. last - 1 of order. */
static int add_targets(lscfg_biparse_visits *v, neighbour_side *side, int64_t fingerprint, const int32_t *first,
                       const int32_t *last) {
  const lscfg_biparse_model *m = v->pair.model;
  int32_t known = find_number(&m->cache.side_places, fingerprint);
  side->begin = (int32_t)v->targets.size;
  if (known >= 0) {
    const target_list *list = &m->cache.sides.data[known];
    for (int32_t k = 0; k < list->n && k < m->options.max_targets; k++) {
      int32_t number = m->cache.targets.data[list->begin + k];
      if (add_target(v, score_known(&v->pair, &m->cache.aligned.data[number]), number, -1)) return LSCFG_ENOMEM;
    }
  }
  int64_t end = v->targets.size;
  for (const int32_t *at = first; at < last; at++) {
    const lscfg_biparse_rule *own = &v->rules.data[*at];
    int64_t there = own->known < 0 ? -1 : find_target(v, side->begin, end, own->known);
    if (there >= 0)
      v->targets.data[there].local = *at;
    else if (add_target(v, score_own(&v->pair, own), own->known, *at))
      return LSCFG_ENOMEM;
  }
  double best = -INFINITY, sum = 0;
  for (int64_t k = side->begin; k < v->targets.size; k++) best = fmax(best, v->targets.data[k].score);
  for (int64_t k = side->begin; k < v->targets.size; k++) sum += exp(v->targets.data[k].score - best);
  side->score = best + log(sum);
  return LSCFG_OK;
}

/* Sorts the pair's rules by source side and lists the rules of each. */
static int open_sides(lscfg_biparse_visits *v) {
  if (v->side_numbers.slots) int_map_clear(&v->side_numbers);
  v->sides.size = v->targets.size = 0;
  int64_t n = v->rules.size - v->first_rule;
  if (ARRAY_RESERVE(v->order, 3 * n + 2)) return LSCFG_ENOMEM;
  int32_t *side_of = v->order.data, *sorted = side_of + n, *end = sorted + n;
  for (int64_t k = 0; k < n; k++)
    if ((side_of[k] = side_number(v, v->rules.data[v->first_rule + k].fingerprint[0])) < 0) return LSCFG_ENOMEM;
  memset(end, 0, (size_t)(v->sides.size + 1) * sizeof *end);
  for (int64_t k = 0; k < n; k++) end[side_of[k] + 1]++;
  for (int64_t s = 0; s < v->sides.size; s++) end[s + 1] += end[s];
  for (int64_t k = 0; k < n; k++) sorted[end[side_of[k]]++] = (int32_t)(v->first_rule + k);
  for (int64_t s = 0; s < v->sides.size; s++) {
    const int32_t *first = sorted + (s ? end[s - 1] : 0), *last = sorted + end[s];
    if (add_targets(v, &v->sides.data[s], v->rules.data[*first].fingerprint[0], first, last)) return LSCFG_ENOMEM;
  }
  v->sides.data[v->sides.size].begin = (int32_t)v->targets.size; /* there is room for two */
  return LSCFG_OK;
}

/* ---- the source parse ---- */

/* Finds the edges of a span and its inside value. */
static int parse_span(lscfg_biparse_visits *v, int32_t i, int32_t j) {
  const pair_work *p = &v->pair;
  const space *space = &p->model->space;
  int32_t row = p->n + 1;
  int64_t first = v->edges_of_source.size;
  uint64_t tail_code = symbol_code(-1);
  double best = -INFINITY, sum = 0;
  for (int32_t number = space->first[j - i]; number < space->first[j - i + 1]; number++) {
    const pattern *form = &space->patterns.data[number];
    int64_t key = fingerprint_key(pattern_fingerprint(form, p->src_codes.data + i, tail_code));
    int32_t side = find_number(&v->side_numbers, key), n_tails = 0;
    if (side < 0) continue;
    neighbour_edge e = {.i = i, .j = j, .side = side, .tails = {{-1, -1}, {-1, -1}}};
    e.score = p->boundary.data[i * row + j];
    e.inside = e.score + v->sides.data[side].score;
    for (int s = 0; s < form->n; s++) {
      if (!(form->tails >> s & 1)) continue;
      e.tails[n_tails][0] = i + form->at[s];
      e.tails[n_tails++][1] = i + form->at[s + 1];
      e.inside += v->inside.data[(i + form->at[s]) * row + i + form->at[s + 1]];
    }
    if (e.inside == -INFINITY) continue;
    if (ARRAY_RESERVE(v->edges_of_source, 1)) return LSCFG_ENOMEM;
    v->edges_of_source.data[v->edges_of_source.size++] = e;
    best = fmax(best, e.inside);
  }
  for (int64_t k = first; k < v->edges_of_source.size; k++) sum += exp(v->edges_of_source.data[k].inside - best);
  v->inside.data[i * row + j] = sum > 0 ? best + log(sum) : -INFINITY;
  return LSCFG_OK;
}

/* Probabilities of spans, which go to their features, and of source sides. */
static void expect(lscfg_biparse_visits *v) {
  int32_t n = v->pair.n, row = n + 1;
  double *marginal = v->outside.data;
  memset(marginal, 0, (size_t)row * (size_t)row * sizeof *marginal);
  marginal[n] = 1;
  for (int64_t k = v->edges_of_source.size; k-- > 0;) {
    const neighbour_edge *e = &v->edges_of_source.data[k];
    double probability = marginal[e->i * row + e->j] * exp(e->inside - v->inside.data[e->i * row + e->j]);
    v->sides.data[e->side].expected += probability;
    v->span_mass.data[e->i * row + e->j] -= probability;
    for (int t = 0; t < MOST_TAILS; t++)
      if (e->tails[t][0] >= 0) marginal[e->tails[t][0] * row + e->tails[t][1]] += probability;
  }
}

/* ---- gradient ---- */

static int add_rule_feature(lscfg_biparse_visits *v, int32_t rule, int32_t local, double value) {
  if (left_out(v->pair.model, rule, v->pair.same)) return LSCFG_OK;
  return rule >= 0 ? visits_add(v, RULE_FEATURE, rule, value) : visits_add(v, NEW_RULE, local, value);
}

/* Takes the expectations of a known rule away. */
static int subtract_known(lscfg_biparse_visits *v, const aligned_rule *a, double expected) {
  const lscfg_biparse_model *m = v->pair.model;
  const rule_table *t = &m->cache.rules;
  double *dense = v->dense.data + v->dense.size - LSCFG_N_DENSE;
  for (int way = 0; way < 2; way++) dense[way] -= expected * a->lexical[way];
  int64_t length = t->offsets.data[a->rule + 1] - t->offsets.data[a->rule] - t->src_length.data[a->rule];
  dense[LSCFG_TARGET_WORDS] -= expected * (double)(length - t->arity.data[a->rule]);
  for (int64_t k = a[0].links; k < a[1].links; k++) {
    const int32_t *words = m->sparse[LSCFG_LINKED_WORDS].words.data + 2 * (int64_t)m->cache.links.data[k].weight;
    if (visits_add(v, LSCFG_LINKED_WORDS, word_key(words[0], words[1]), -expected)) return LSCFG_ENOMEM;
  }
  return LSCFG_OK;
}

static int subtract_own(lscfg_biparse_visits *v, const lscfg_biparse_rule *r, double expected) {
  double *dense = v->dense.data + v->dense.size - LSCFG_N_DENSE;
  for (int way = 0; way < 2; way++) dense[way] -= expected * r->lexical[way];
  dense[LSCFG_TARGET_WORDS] -= expected * (r->n_tgt - r->arity);
  return visits_add_links(v, r, -expected);
}

static int subtract(lscfg_biparse_visits *v) {
  const lscfg_biparse_model *m = v->pair.model;
  for (int64_t s = 0; s < v->sides.size; s++) {
    const neighbour_side *side = &v->sides.data[s];
    for (int32_t k = side[0].begin; k < side[1].begin; k++) {
      const neighbour_rule *target = &v->targets.data[k];
      double expected = side->expected * exp(target->score - side->score), value = -expected;
      const lscfg_biparse_rule *own = target->local < 0 ? NULL : &v->rules.data[target->local];
      int32_t rule = target->aligned >= 0 ? m->cache.aligned.data[target->aligned].rule
                                          : find_number(&m->by_rule.places, own->fingerprint[1]);
      if (own) value += own->expected;
      if (target->aligned >= 0 ? subtract_known(v, &m->cache.aligned.data[target->aligned], expected)
                               : subtract_own(v, own, expected))
        return LSCFG_ENOMEM;
      if (add_rule_feature(v, rule, target->local, value)) return LSCFG_ENOMEM;
    }
  }
  return LSCFG_OK;
}

int visits_neighbours(lscfg_biparse_visits *v, lscfg_biparse_result *result) {
  int32_t n = v->pair.n;
  int64_t spans = (int64_t)(n + 1) * (n + 1);
  if (open_sides(v) || ARRAY_RESERVE(v->inside, spans) || ARRAY_RESERVE(v->outside, spans)) return LSCFG_ENOMEM;
  v->edges_of_source.size = 0;
  for (int32_t length = 1; length <= n; length++)
    for (int32_t i = 0; i + length <= n; i++)
      if (parse_span(v, i, i + length)) return LSCFG_ENOMEM;
  expect(v);
  result->log_source = v->inside.data[n];
  result->sides = (int32_t)v->sides.size;
  result->targets = (int32_t)v->targets.size;
  result->neighbour_edges = (int32_t)v->edges_of_source.size;
  return subtract(v);
}
