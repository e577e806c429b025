/* Tensor inside-outside over a forest (paper, Fig. 1).
 *
 * An inside or outside vector of [X] has one value per hidden state. Any other category, in particular the goal S, has
 * no states: its vectors have one value, and a rule [S] -> ... multiplies, for each [X] below it, C^S . inside(X). So a
 * glued derivation is a sequence of independent trees.
 *
 * Vectors are kept as value * 2^exponent with the largest value near 1, so that products of hundreds of parameters
 * neither vanish nor overflow. Parameters may be negative; no logarithm is taken before the end.
 *
 * The work is laid out in runs: the edges of one node with the same rules, such as [X,1] [X,2] over all positions at
 * which a span can be split. Work that depends on head and rules alone is done once for a run, and runs of one level of
 * the forest with the same rules are processed together, so that a tensor is read once for many of them. */
#include "inference/inside_outside.h"

#include "inference/layout.h"
#include "inference/low_rank.h"
#include "inference/marginals.h"

/* ---- inside ---- */

/* row = sum over the run's edges of the products of their tails' insides, [rank^arity]; its exponent, NONE for zero. */
static int64_t sum_tails(const pass *p, const run *r, int32_t arity, double *row) {
  int64_t largest = NONE;
  int32_t m = p->rank;
  for (int32_t k = r->begin; k < r->end; k++) {
    int64_t exponent = tails_exponent(p, p->edges[k]);
    if (exponent > largest) largest = exponent;
  }
  memset(row, 0, (size_t)(arity == 2 ? (int64_t)m * m : m) * sizeof *row);
  for (int32_t k = r->begin; k < r->end; k++) {
    int64_t exponent = tails_exponent(p, p->edges[k]);
    if (exponent == NONE) continue;
    const int32_t *tail = tails_of(p, p->edges[k], &arity);
    double factor = scaled(1, exponent - largest);
    if (arity == 1)
      p->loops->add(m, factor, inside_of(p, tail[0]), row);
    else
      p->loops->add_outer(m, factor, inside_of(p, tail[0]), inside_of(p, tail[1]), row);
  }
  return largest;
}

/* Inside of some runs of one level with the same rules, which have tails. */
static void inside_runs(pass *p, const int32_t *numbers, int32_t n) {
  const rule_set *set = &p->sets.data[p->runs.data[numbers[0]].set];
  int32_t m = p->rank, heads[BATCH], kept = 0;
  int64_t size = set->arity == 2 ? (int64_t)m * m : m, exponents[BATCH];
  if (!set->sum) return;
  for (int32_t i = 0; i < n; i++) {
    const run *r = &p->runs.data[numbers[i]];
    exponents[kept] = sum_tails(p, r, set->arity, p->rows + kept * size);
    heads[kept] = r->head;
    kept += exponents[kept] != NONE;
  }
  if (!kept) return;
  p->loops->project(kept, m, size, p->rows, set->sum, p->out);
  for (int32_t i = 0; i < kept; i++)
    accumulate(inside_of(p, heads[i]), &p->inside_exponent[heads[i]], p->out + (int64_t)i * m, exponents[i], m);
}

static double n_applications(const pass *p, int32_t edge) {
  return p->forest->edge_apps.data[edge + 1] - p->forest->edge_apps.data[edge];
}

typedef void (*batch_function)(pass *, const int32_t *numbers, int32_t n);

/* Calls a function for batches of runs with the same rules. */
static void in_batches(pass *p, const int32_t *numbers, int32_t n, batch_function work, batch_function low_rank) {
  for (int32_t k = 0, end; k < n; k = end) {
    int32_t set = p->runs.data[numbers[k]].set;
    for (end = k; end < n && end < k + p->batch && p->runs.data[numbers[end]].set == set;) end++;
    if (p->sets.data[set].first)
      low_rank(p, numbers + k, end - k);
    else if (p->sets.data[set].arity)
      work(p, numbers + k, end - k);
  }
}

static void inside_without_states(pass *p, int32_t q) {
  const lscfg_forest *f = p->forest;
  for (int32_t e = f->node_edges.data[q]; e < f->node_edges.data[q + 1]; e++) {
    double value;
    int64_t exponent = value_without_states(p, e, &value);
    value *= n_applications(p, e);
    if (exponent != NONE) accumulate(inside_of(p, q), &p->inside_exponent[q], &value, exponent, 1);
  }
}

static void inside_pass(pass *p) {
  for (int32_t q = 0; q < p->forest->node_cat.size; q++) p->inside_exponent[q] = NONE;
  for (int32_t level = 0; level < p->n_levels; level++) {
    const int32_t *runs = p->runs_by_level + p->first_run[level];
    int32_t n = p->first_run[level + 1] - p->first_run[level];
    for (int32_t k = 0; k < n; k++) {
      const run *r = &p->runs.data[runs[k]];
      const rule_set *set = &p->sets.data[r->set];
      const double *tensor = set->arity ? NULL : leaf_tensor(p, set, r->head);
      for (int32_t e = r->begin; tensor && e < r->end; e++)
        accumulate(inside_of(p, r->head), &p->inside_exponent[r->head], tensor, 0, p->rank);
    }
    in_batches(p, runs, n, inside_runs, low_rank_inside);
    for (int32_t k = p->first_node[level]; k < p->first_node[level + 1]; k++) {
      int32_t q = p->nodes_by_level[k];
      if (category_of(p, q) < 0) inside_without_states(p, q);
      normalise(inside_of(p, q), &p->inside_exponent[q], states_of(p, q));
    }
  }
}

/* ---- outside ---- */

/* Adds p->sum * 2^exponent to a tail's outside. */
static void add_outside(pass *p, int32_t tail, int64_t exponent) {
  accumulate(outside_of(p, tail), &p->outside_exponent[tail], p->sum, exponent, states_of(p, tail));
}

/* matrix [rank][rank]: the head's outside times the tensor. */
static void outside_of_tails(pass *p, const run *r, const double *matrix) {
  int32_t arity, m = p->rank;
  for (int32_t k = r->begin; k < r->end; k++) {
    const int32_t *tail = tails_of(p, p->edges[k], &arity);
    int64_t exponent = p->outside_exponent[r->head];
    if (p->inside_exponent[tail[1]] != NONE) {
      const double *second = inside_of(p, tail[1]);
      p->loops->project(1, m, m, second, matrix, p->sum);
      add_outside(p, tail[0], exponent + p->inside_exponent[tail[1]]);
    }
    if (p->inside_exponent[tail[0]] != NONE) {
      p->loops->contract_double(1, m, m, m, inside_of(p, tail[0]), matrix, NULL, p->space, p->sum);
      add_outside(p, tail[1], exponent + p->inside_exponent[tail[0]]);
    }
  }
}

static void outside_runs(pass *p, const int32_t *numbers, int32_t n) {
  const rule_set *set = &p->sets.data[p->runs.data[numbers[0]].set];
  int32_t m = p->rank, arity, kept = 0;
  int64_t size = set->arity == 2 ? (int64_t)m * m : m;
  const run *runs[BATCH];
  if (!set->sum) return;
  for (int32_t i = 0; i < n; i++) {
    const run *r = &p->runs.data[numbers[i]];
    if (p->outside_exponent[r->head] == NONE) continue;
    memcpy(p->rows + (int64_t)kept * m, outside_of(p, r->head), (size_t)m * sizeof *p->rows);
    runs[kept++] = r;
  }
  if (!kept) return;
  p->loops->contract_double(kept, m, size, size, p->rows, set->sum, NULL, p->space, p->out);
  for (int32_t i = 0; i < kept; i++) {
    if (set->arity == 2) {
      outside_of_tails(p, runs[i], p->out + i * size);
      continue;
    }
    memcpy(p->sum, p->out + i * size, (size_t)m * sizeof *p->sum);
    for (int32_t k = runs[i]->begin; k < runs[i]->end; k++)
      add_outside(p, tails_of(p, p->edges[k], &arity)[0], p->outside_exponent[runs[i]->head]);
  }
}

static void outside_without_states(pass *p, int32_t edge, int32_t head) {
  int32_t arity;
  const int32_t *tail = tails_of(p, edge, &arity);
  for (int32_t t = 0; t < arity; t++) {
    int64_t exponent = p->outside_exponent[head];
    double value = outside_of(p, head)[0] * n_applications(p, edge);
    if (arity == 2) {
      if (p->inside_exponent[tail[1 - t]] == NONE) continue;
      exponent += p->inside_exponent[tail[1 - t]];
      value *= as_tree(p, tail[1 - t]);
    }
    int32_t n = states_of(p, tail[t]);
    int32_t category = category_of(p, tail[t]);
    const double *weight = category < 0 ? NULL : model_root(p->binding->model, category);
    for (int32_t h = 0; h < n; h++) p->sum[h] = weight ? value * weight[h] : value;
    add_outside(p, tail[t], exponent);
  }
}

static void begin_outside(pass *p) {
  int32_t root = (int32_t)p->forest->node_cat.size - 1, category = category_of(p, root);
  for (int32_t q = 0; q <= root; q++) p->outside_exponent[q] = NONE;
  p->outside_exponent[root] = 0;
  if (category >= 0)
    memcpy(outside_of(p, root), model_root(p->binding->model, category), (size_t)p->rank * sizeof *p->outside);
  else
    outside_of(p, root)[0] = 1;
  normalise(outside_of(p, root), &p->outside_exponent[root], states_of(p, root));
}

static void outside_pass(pass *p) {
  const lscfg_forest *f = p->forest;
  for (int32_t level = p->n_levels - 1; level >= 0; level--) {
    if (p->low_rank) low_rank_finish_outside(p, level);
    for (int32_t k = p->first_node[level]; k < p->first_node[level + 1]; k++) {
      int32_t q = p->nodes_by_level[k];
      normalise(outside_of(p, q), &p->outside_exponent[q], states_of(p, q));
      if (category_of(p, q) >= 0 || p->outside_exponent[q] == NONE) continue;
      for (int32_t e = f->node_edges.data[q]; e < f->node_edges.data[q + 1]; e++) outside_without_states(p, e, q);
    }
    in_batches(p, p->runs_by_level + p->first_run[level], p->first_run[level + 1] - p->first_run[level], outside_runs,
               low_rank_outside);
  }
}

static double node_value(const pass *p, int32_t q, int64_t *exponent) {
  if (p->inside_exponent[q] == NONE || p->outside_exponent[q] == NONE) return 0;
  *exponent = p->inside_exponent[q] + p->outside_exponent[q];
  return p->loops->dot(states_of(p, q), inside_of(p, q), outside_of(p, q));
}

/* The marginal of each state of a node, which add up to the node's; 0 where it has none. */
static void node_states(const pass *p, int32_t q, double *states) {
  int alive = category_of(p, q) >= 0 && p->inside_exponent[q] != NONE &&
              p->outside_exponent[q] != NONE;
  for (int32_t h = 0; h < p->rank; h++)
    states[h] = alive ? scaled(inside_of(p, q)[h] * outside_of(p, q)[h] / p->g,
                               p->inside_exponent[q] + p->outside_exponent[q] - p->g_exponent)
                      : 0;
}

static int infer(pass *p, double *node_marginals, double *states, lscfg_inference *result, lscfg_error *error) {
  const lscfg_forest *f = p->forest;
  int32_t n = (int32_t)f->node_cat.size;
  inside_pass(p);
  begin_outside(p);
  int shift;
  p->g = frexp(node_value(p, n - 1, &p->g_exponent), &shift); /* no quotient by it overflows */
  p->g_exponent += shift;
  *result = (lscfg_inference){p->g < 0 ? -1 : p->g > 0, 0,
                              p->g == 0 ? -INFINITY : log(fabs(p->g)) + p->g_exponent * log(2.0), 0};
  if (p->g == 0) { /* no derivation has a probability, so no edge has a marginal */
    memset(p->marginals, 0, (size_t)f->app_rule.size * sizeof *p->marginals);
    if (node_marginals) memset(node_marginals, 0, (size_t)n * sizeof *node_marginals);
    if (states) memset(states, 0, (size_t)n * (size_t)p->rank * sizeof *states);
    return LSCFG_OK;
  }
  outside_pass(p);
  if (application_marginals(p)) return out_of_memory(error);
  double total = 0;
  for (int32_t q = 0; node_marginals && q < n; q++) {
    int64_t exponent = 0;
    double value = node_value(p, q, &exponent);
    node_marginals[q] = scaled(value / p->g, exponent - p->g_exponent);
    total += fabs(node_marginals[q]);
  }
  for (int32_t q = 0; states && q < n; q++) node_states(p, q, states + (int64_t)q * p->rank);
  for (int64_t a = 0; a < f->app_rule.size; a++) total += fabs(p->marginals[a]);
  if (isfinite(result->log_g) && isfinite(total)) return LSCFG_OK;
  return lscfg_fail(error, LSCFG_EINPUT, 0,
                    "products of the model's parameters are not finite: the parameters are too large");
}

int inside_outside(const lscfg_binding *binding, const lscfg_forest *forest, double *app_marginals,
                   double *node_marginals, double *states, lscfg_inference *result, lscfg_error *error) {
  pass p;
  int code = pass_begin(&p, binding, forest, app_marginals, error);
  if (!code) code = infer(&p, node_marginals, states, result, error);
  pass_end(&p);
  return code;
}
