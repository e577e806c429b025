/* The chart of a sentence pair: cube pruning over all source sides of each source span (Xiao et al. 2012, section 4).
 *
 * A point of a cube chooses a set of target words for each word of a source side and a node for each nonterminal. All
 * cubes of a span share one heap. Each point is reached from one other, in which the last choice that is not the first
 * one is better, so that none is met twice. */
#include <math.h>

#include "biparse/chart.h"
#include "biparse/costs.h"

/* The parser raises only choices after the last one that is not the first, so each point of a cube is reached once
 * without a table of visited points. */

/* ---- points ---- */

/* The combined choices of a point's symbols. */
typedef struct {
  word_set linked, tails, shared; /* target words: linked, below nonterminals, linked more than once */
  int32_t n_tails, k[MOST_TAILS], l[MOST_TAILS];
  double score;
  int conflict;
} chosen;

/* Shared target words have the mean of their probabilities, where the sets' own features have the sum of logarithms. */
static double correct_shared(const pair_work *p, int32_t i, const pattern *form, const cube_point *point,
                             word_set shared) {
  double change = 0;
  while (set_any(shared)) {
    int32_t h = set_take(&shared), times = 0;
    double sum = 0, logs = 0;
    for (int s = 0; s < form->n; s++) {
      int32_t g = i + form->at[s];
      if (form->tails >> s & 1) continue;
      if (!set_has(p->items.data[p->of_word[g].begin + point->choice[s]].set, h)) continue;
      sum += p->prob_tgt.data[g * p->m + h];
      logs += p->log_tgt.data[g * p->m + h];
      times++;
    }
    change += p->weight[LSCFG_LEX_TARGET] * (log(sum / times) - logs) - (times - 1) * p->weight[LSCFG_TARGET_WORDS];
  }
  return change;
}

static chosen choose(const pair_work *p, int32_t i, const pattern *form, const cube_point *point) {
  chosen c = {.score = 0};
  for (int s = 0; s < form->n; s++) {
    if (form->tails >> s & 1) {
      const choices *cell = &p->cells.data[(i + form->at[s]) * (p->n + 1) + i + form->at[s + 1]];
      const chart_node *node = &p->nodes.data[cell->begin + point->choice[s]];
      word_set span = set_between(node->k, node->l);
      c.conflict |= set_meets(c.tails, span);
      c.tails = set_or(c.tails, span);
      c.k[c.n_tails] = node->k;
      c.l[c.n_tails++] = node->l;
      c.score += node->inside;
    } else {
      const word_item *item = &p->items.data[p->of_word[i + form->at[s]].begin + point->choice[s]];
      c.shared = set_or(c.shared, set_and(c.linked, item->set));
      c.linked = set_or(c.linked, item->set);
      c.score += item->base;
    }
  }
  c.conflict |= set_meets(c.linked, c.tails);
  return c;
}

/* The fingerprint of a rule with a target side from k to l. */
static int64_t point_fingerprint(const pair_work *p, int32_t i, const pattern *form, const chosen *c, int32_t k,
                                 int32_t l) {
  const uint64_t *hash = p->tgt_hash.data;
  uint64_t h = 0;
  int second = c->n_tails == 2 && c->k[1] < c->k[0];
  for (int t = 0; t < c->n_tails; t++, second = !second) {
    int32_t end = c->k[second], length = end - k;
    h = h * p->powers[length] + hash[end] - hash[k] * p->powers[length];
    h = fingerprint_append(h, -1 - second);
    k = c->l[second];
  }
  h = h * p->powers[l - k] + hash[l] - hash[k] * p->powers[l - k];
  return fingerprint_key(fingerprint_join(pattern_fingerprint(form, p->src_codes.data + i, symbol_code(-1)), h));
}

/* Fills target span and score of a point; returns its priority, higher is better. */
static double weigh(const pair_work *p, int32_t i, int32_t j, cube_point *point) {
  const pattern *form = &p->model->space.patterns.data[point->pattern];
  const lscfg_biparse_options *options = &p->model->options;
  int root = j - i == p->n;
  chosen c = choose(p, i, form, point);
  word_set all = set_or(c.linked, c.tails);
  int32_t k = set_first(all), l = set_end(all);
  point->is_edge = l && !c.conflict;
  if (root && l) {
    if (options->strict_root && (k || l < p->m)) point->is_edge = 0;
    k = 0;
    l = p->m;
  }
  word_set hull = set_between(k, l);
  if (set_size(set_without(hull, c.tails)) > options->max_target) point->is_edge = 0;
  for (word_set rest = set_without(hull, all); set_any(rest);)
    c.score += p->weight[LSCFG_LEX_TARGET] * p->null_tgt.data[set_take(&rest)] + p->weight[LSCFG_TARGET_WORDS];
  if (set_any(c.shared)) c.score += correct_shared(p, i, form, point, c.shared);
  if (point->is_edge && p->has_rules)
    c.score += rule_weight(p->model, p->scale,
                           find_number(&p->model->by_rule.places, point_fingerprint(p, i, form, &c, k, l)), p->same);
  point->k = (uint8_t)k;
  point->l = (uint8_t)l;
  point->score = c.score + p->boundary.data[i * (p->n + 1) + j];
  return point->score + (root ? 0 : pair_future(p, i, j, k, l));
}

static int push(pair_work *p, int32_t i, int32_t j, cube_point point) {
  double priority = weigh(p, i, j, &point);
  if (ARRAY_RESERVE(p->points, 1) || ARRAY_RESERVE(p->heap, 1)) return LSCFG_ENOMEM;
  heap_entry entry = {priority, (int32_t)p->points.size};
  p->points.data[p->points.size++] = point;
  p->heap.size++;
  heap_up(p->heap.data, p->heap.size - 1, entry);
  return LSCFG_OK;
}

static int32_t n_choices(const pair_work *p, int32_t i, const pattern *form, int s) {
  if (!(form->tails >> s & 1)) return p->of_word[i + form->at[s]].n;
  return p->cells.data[(i + form->at[s]) * (p->n + 1) + i + form->at[s + 1]].n;
}

static int push_corner(pair_work *p, int32_t i, int32_t j, int32_t number) {
  const pattern *form = &p->model->space.patterns.data[number];
  for (int s = 0; s < form->n; s++)
    if (!n_choices(p, i, form, s)) return LSCFG_OK;
  return push(p, i, j, (cube_point){.pattern = number});
}

static int push_next(pair_work *p, int32_t i, int32_t j, cube_point point) {
  const pattern *form = &p->model->space.patterns.data[point.pattern];
  for (int s = point.last; s < form->n; s++) {
    cube_point next = point;
    next.last = (uint8_t)s;
    if (++next.choice[s] < n_choices(p, i, form, s) && push(p, i, j, next)) return LSCFG_ENOMEM;
  }
  return LSCFG_OK;
}

/* ---- edges and nodes ---- */

static int32_t node_of(pair_work *p, int32_t i, int32_t j, int32_t k, int32_t l) {
  int32_t *place = &p->grid.data[k * (p->m + 1) + l];
  if (*place) return *place - 1;
  if (ARRAY_RESERVE(p->nodes, 1)) return LSCFG_ENOMEM;
  *place = (int32_t)++p->nodes.size;
  p->nodes.data[*place - 1] = (chart_node){.i = i, .j = j, .k = k, .l = l, .inside = -INFINITY};
  return *place - 1;
}

static int add_edge(pair_work *p, int32_t i, int32_t j, const cube_point *point) {
  const pattern *form = &p->model->space.patterns.data[point->pattern];
  int32_t node = node_of(p, i, j, point->k, point->l);
  if (node < 0 || ARRAY_RESERVE(p->edges, 1)) return LSCFG_ENOMEM;
  chart_edge *e = &p->edges.data[p->edges.size++];
  *e = (chart_edge){.node = node, .pattern = point->pattern, .score = point->score, .rule = -1};
  for (int s = 0; s < form->n; s++) {
    int32_t begin = form->tails >> s & 1 ? p->cells.data[(i + form->at[s]) * (p->n + 1) + i + form->at[s + 1]].begin
                                         : p->of_word[i + form->at[s]].begin;
    e->item[s] = begin + point->choice[s];
    if (form->tails >> s & 1) e->score -= p->nodes.data[e->item[s]].inside;
  }
  if (point->score > p->nodes.data[node].inside) p->nodes.data[node].inside = point->score;
  return LSCFG_OK;
}

static int pop_edges(pair_work *p, int32_t i, int32_t j, const beams *b) {
  int64_t edges = 0;
  for (int64_t tries = 0; p->heap.size && edges < b->pops && tries < b->tries; tries++) {
    cube_point point = p->points.data[heap_pop(p->heap.data, p->heap.size--).id];
    if (push_next(p, i, j, point)) return LSCFG_ENOMEM;
    if (!point.is_edge) continue;
    if (add_edge(p, i, j, &point)) return LSCFG_ENOMEM;
    edges++;
  }
  p->heap.size = p->points.size = 0;
  return LSCFG_OK;
}

/* Sorts the nodes from first on, best first, and drops those beyond the beam with their edges. */
static int rank_nodes(pair_work *p, int32_t first, int64_t first_edge, int32_t most) {
  int32_t n = (int32_t)p->nodes.size - first, m = p->m;
  chart_node *nodes = p->nodes.data + first;
  if (ARRAY_RESERVE(p->order, 2 * n + 1)) return LSCFG_ENOMEM;
  int32_t *order = p->order.data, *place = order + n;
  for (int32_t a = 0; a < n; a++) {
    chart_node *node = &nodes[a];
    node->total = node->inside + (node->j - node->i == p->n ? 0 : pair_future(p, node->i, node->j, node->k, node->l));
    p->grid.data[node->k * (m + 1) + node->l] = 0;
    int32_t at = a;
    for (; at > 0 && nodes[order[at - 1]].total < node->total; at--) order[at] = order[at - 1];
    order[at] = a;
  }
  for (int32_t rank = 0; rank < n; rank++) place[order[rank]] = rank;
  if (ARRAY_RESERVE(p->nodes, n)) return LSCFG_ENOMEM; /* a second copy after it */
  nodes = p->nodes.data + first;
  if (n) memcpy(nodes + n, nodes, (size_t)n * sizeof *nodes);
  for (int32_t a = 0; a < n; a++) nodes[place[a]] = nodes[n + a];
  int32_t kept = n < most ? n : most;
  p->nodes.size = first + kept;
  int64_t to = first_edge;
  for (int64_t e = first_edge; e < p->edges.size; e++) {
    int32_t rank = place[p->edges.data[e].node - first];
    if (rank >= kept) continue;
    p->edges.data[to] = p->edges.data[e];
    p->edges.data[to++].node = first + rank;
  }
  p->edges.size = to;
  return LSCFG_OK;
}

static int parse_span(pair_work *p, int32_t i, int32_t j, const beams *b) {
  const space *space = &p->model->space;
  int32_t first_node = (int32_t)p->nodes.size;
  int64_t first_edge = p->edges.size;
  for (int32_t number = space->first[j - i]; number < space->first[j - i + 1]; number++) {
    if (push_corner(p, i, j, number)) return LSCFG_ENOMEM;
    if (p->model->options.each_cube && pop_edges(p, i, j, b)) return LSCFG_ENOMEM;
  }
  if (pop_edges(p, i, j, b) || rank_nodes(p, first_node, first_edge, b->nodes)) return LSCFG_ENOMEM;
  p->cells.data[i * (p->n + 1) + j] = (choices){first_node, (int32_t)p->nodes.size - first_node};
  return LSCFG_OK;
}

int pair_parse(pair_work *p, const beams *b) {
  p->nodes.size = p->edges.size = p->heap.size = p->points.size = 0;
  p->root = -1;
  memset(p->grid.data, 0, (size_t)(p->m + 1) * (size_t)(p->m + 1) * sizeof *p->grid.data);
  if (pair_word_items(p, b->word_items)) return LSCFG_ENOMEM;
  for (int32_t length = 1; length <= p->n; length++)
    for (int32_t i = 0; i + length <= p->n; i++)
      if (parse_span(p, i, i + length, b)) return LSCFG_ENOMEM;
  const choices *top = &p->cells.data[p->n];
  if (top->n) p->root = top->begin;
  return LSCFG_OK;
}

/* ---- the best derivations ---- */

/* Sum of the best insides below an edge, and product of the ratios of sums to these. */
static double below(const pair_work *p, const chart_edge *e, double *ratio) {
  const pattern *form = pattern_of(p, e);
  double sum = 0;
  *ratio = 1;
  for (int s = 0; s < form->n; s++) {
    if (!(form->tails >> s & 1)) continue;
    sum += p->nodes.data[e->item[s]].inside;
    *ratio *= p->nodes.data[e->item[s]].ratio;
  }
  return sum;
}

/* Edges lie in order of their spans' lengths, so tails come before heads. */
static void best_outsides(pair_work *p) {
  for (int64_t q = 0; q < p->nodes.size; q++) p->nodes.data[q].outside = -INFINITY;
  p->nodes.data[p->root].outside = 0;
  for (int64_t k = p->edges.size; k-- > 0;) {
    const chart_edge *e = &p->edges.data[k];
    const pattern *form = pattern_of(p, e);
    double unused, whole = p->nodes.data[e->node].outside + e->score + below(p, e, &unused);
    for (int s = 0; s < form->n; s++) {
      if (!(form->tails >> s & 1)) continue;
      chart_node *tail = &p->nodes.data[e->item[s]];
      if (whole - tail->inside > tail->outside) tail->outside = whole - tail->inside;
    }
  }
}

#define ROUNDING 1e-9 /* of sums of scores; the best derivation has to stay */

static void drop_edges(pair_work *p, double beam) {
  double least = p->nodes.data[p->root].inside - beam - ROUNDING, unused;
  int64_t to = 0;
  for (int64_t k = 0; k < p->edges.size; k++) {
    const chart_edge *e = &p->edges.data[k];
    double outside = p->nodes.data[e->node].outside;
    if (outside > -INFINITY && outside + e->score + below(p, e, &unused) >= least) p->edges.data[to++] = *e;
  }
  p->edges.size = to;
}

double pair_prune(pair_work *p, double beam) {
  best_outsides(p);
  drop_edges(p, beam);
  for (int64_t q = 0; q < p->nodes.size; q++) p->nodes.data[q].ratio = p->nodes.data[q].marginal = 0;
  for (int64_t k = 0; k < p->edges.size; k++) { /* the edge's part in its node, for now */
    chart_edge *e = &p->edges.data[k];
    double ratio, inside = below(p, e, &ratio);
    e->probability = exp(e->score + inside - p->nodes.data[e->node].inside) * ratio;
    p->nodes.data[e->node].ratio += e->probability;
  }
  p->nodes.data[p->root].marginal = 1;
  for (int64_t k = p->edges.size; k-- > 0;) {
    chart_edge *e = &p->edges.data[k];
    const pattern *form = pattern_of(p, e);
    e->probability *= p->nodes.data[e->node].marginal / p->nodes.data[e->node].ratio;
    for (int s = 0; s < form->n; s++)
      if (form->tails >> s & 1) p->nodes.data[e->item[s]].marginal += e->probability;
  }
  return p->nodes.data[p->root].inside + log(p->nodes.data[p->root].ratio);
}
