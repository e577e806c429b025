/* Tensor inside-outside over a forest (paper, Fig. 1).
 *
 * An inside or outside vector of [X] has one value per hidden state. Any other category, the goal S above all, has no
 * states: its vectors have one value, and a rule [S] -> ... multiplies, for each [X] below it, C^S . inside(X). So a
 * glued derivation is a sequence of independent trees.
 *
 * Vectors are kept as value * 2^exponent with the largest value near 1, so that products of hundreds of parameters
 * neither vanish nor overflow. Parameters may be negative; no logarithm is taken before the end.
 *
 * The work is laid out in runs: the edges of one node with the same rules, such as [X,1] [X,2] over all places where a
 * span can be split. What depends on head and rules alone is done once for a run, and runs with the same rules are
 * taken together, so that a tensor is read once for many of them: in the inside and outside pass those of one level of
 * the forest, among the marginals, which cost most, all of them. */
#include "inference/inside_outside.h"

#include "inference/low_rank.h"
#include "inference/pass.h"
#include "inference/sums.h"

/* Value of a node as a whole tree: C^S . inside for X, the value itself for a category without states. */
static double as_tree(const pass *p, int32_t node) {
  const double *inside = inside_of(p, node);
  return p->forest->node_cat.data[node] == CATEGORY_X ? p->loops->dot(p->rank, p->binding->model->root, inside)
                                                      : inside[0];
}

/* ---- layout ---- */

typedef struct {
  const int32_t *rules;
  int32_t n, edge;
} edge_key;

static int compare_rules(const edge_key *x, const edge_key *y) {
  if (x->rules[0] != y->rules[0]) return x->rules[0] < y->rules[0] ? -1 : 1;
  if (x->n != y->n) return x->n < y->n ? -1 : 1;
  return x->n == 1 ? 0 : memcmp(x->rules, y->rules, (size_t)x->n * sizeof *x->rules);
}

static int by_rules(const void *a, const void *b) {
  const edge_key *x = a, *y = b;
  int order = compare_rules(x, y);
  return order ? order : x->edge < y->edge ? -1 : x->edge > y->edge;
}

static int sort_edges(pass *p) {
  const lscfg_forest *f = p->forest;
  int32_t n = (int32_t)f->edge_head.size, sorted = 0;
  edge_key *keys = malloc(((size_t)n + 1) * sizeof *keys);
  if (!keys) return LSCFG_ENOMEM;
  for (int32_t e = 0; e < n; e++) {
    if (f->node_cat.data[f->edge_head.data[e]] != CATEGORY_X) continue;
    int32_t begin = f->edge_apps.data[e];
    keys[sorted++] = (edge_key){f->app_rule.data + begin, f->edge_apps.data[e + 1] - begin, e};
  }
  qsort(keys, (size_t)sorted, sizeof *keys, by_rules);
  for (int32_t k = 0; k < sorted; k++) {
    int32_t arity, head = f->edge_head.data[keys[k].edge];
    p->edges[k] = keys[k].edge;
    int fresh = !k || compare_rules(&keys[k - 1], &keys[k]);
    if (fresh) {
      tails_of(p, keys[k].edge, &arity);
      if (ARRAY_RESERVE(p->sets, 1)) goto failed;
      p->sets.data[p->sets.size++] = (rule_set){.rules = keys[k].rules, .n = keys[k].n, .arity = arity};
    }
    if (fresh || p->runs.data[p->runs.size - 1].head != head) {
      if (ARRAY_RESERVE(p->runs, 1)) goto failed;
      p->runs.data[p->runs.size++] = (run){(int32_t)p->sets.size - 1, head, k, k};
    }
    p->runs.data[p->runs.size - 1].end = k + 1;
  }
  free(keys);
  return LSCFG_OK;
failed:
  free(keys);
  return LSCFG_ENOMEM;
}

/* Puts 0 .. n-1 in order of level; first[l] is where level l begins, and first[n_levels] the end. */
static void count_levels(int32_t n, const int32_t *level_of, int32_t n_levels, int32_t *sorted, int32_t *first) {
  memset(first, 0, ((size_t)n_levels + 1) * sizeof *first);
  for (int32_t k = 0; k < n; k++) first[level_of[k]]++;
  for (int32_t l = 1; l <= n_levels; l++) first[l] += first[l - 1];
  for (int32_t k = n - 1; k >= 0; k--) sorted[--first[level_of[k]]] = k;
}

static int sort_levels(pass *p) {
  const lscfg_forest *f = p->forest;
  int32_t n = (int32_t)f->node_cat.size, n_runs = (int32_t)p->runs.size;
  for (int32_t q = 0; q < n; q++) {
    p->level[q] = 0;
    for (int32_t t = 2 * f->node_edges.data[q]; t < 2 * f->node_edges.data[q + 1]; t++) {
      int32_t tail = f->edge_tail.data[t];
      if (tail >= 0 && p->level[tail] >= p->level[q]) p->level[q] = p->level[tail] + 1;
    }
    if (p->level[q] >= p->n_levels) p->n_levels = p->level[q] + 1;
  }
  size_t levels = (size_t)p->n_levels + 1;
  p->nodes_by_level = malloc((2 * levels + (size_t)n + 2 * (size_t)n_runs) * sizeof *p->nodes_by_level);
  if (!p->nodes_by_level) return LSCFG_ENOMEM;
  p->runs_by_level = p->nodes_by_level + n;
  p->first_node = p->runs_by_level + n_runs;
  p->first_run = p->first_node + levels;
  int32_t *run_level = p->first_run + levels;
  for (int32_t r = 0; r < n_runs; r++) run_level[r] = p->level[p->runs.data[r].head];
  count_levels(n, p->level, p->n_levels, p->nodes_by_level, p->first_node);
  count_levels(n_runs, run_level, p->n_levels, p->runs_by_level, p->first_run);
  return LSCFG_OK;
}

/* ---- tensors of rules ---- */

/* A pass-through rule stands for an unknown word only where no rule translates the word alone. */
static int is_unknown_word(const pass *p, int32_t node) {
  const lscfg_forest *f = p->forest;
  for (int32_t e = f->node_edges.data[node]; e < f->node_edges.data[node + 1]; e++)
    if (f->edge_tail.data[2 * (int64_t)e] < 0 && f->app_rule.data[f->edge_apps.data[e]] < p->binding->n_rules) return 0;
  return 1;
}

static int is_pass(const pass *p, const rule_set *set) {
  return set->rules[0] == p->binding->n_rules + LSCFG_RULE_PASS;
}

/* Sum of the tensors that rewrite the head of a run without tails; NULL: zero. */
static const double *leaf_tensor(const pass *p, const run *r) {
  const rule_set *set = &p->sets.data[r->set];
  if (is_pass(p, set)) return is_unknown_word(p, r->head) ? p->binding->model->unk : NULL;
  return set->sum;
}

/* Looks up the sums of tensors, or makes those that the binding does not keep, and the factors of those of low rank. */
static int find_tensors(pass *p, lscfg_error *error) {
  for (int64_t s = 0; s < p->sets.size; s++) {
    rule_set *set = &p->sets.data[s];
    double *made = NULL;
    int low_rank = set->arity == 2 && p->binding->model->components;
    int code = low_rank ? low_rank_factors(p, set, error)
                        : binding_sum(p->binding, set->rules, set->n, set->arity, &set->sum, &made, error);
    if (code) return code;
    if (!made) continue;
    if (ARRAY_RESERVE(p->owned, 1)) {
      free(made);
      return out_of_memory(error);
    }
    p->owned.data[p->owned.size++] = made;
  }
  return p->binding->model->components && low_rank_prepare(p) ? out_of_memory(error) : LSCFG_OK;
}

/* out[i] = rows[i] x tensor of the rule over the states of its left-hand side; 0 if the model does not know the rule.
 * */
static int contract_rule(const pass *p, int32_t rule, int32_t next_rule, int32_t arity, int32_t n) {
  const lscfg_model *model = p->binding->model;
  int32_t row = binding_row(p->binding, rule);
  int64_t size = tensor_length(p->rank, arity) / p->rank;
  if (row == OOV_ROW)
    for (int32_t i = 0; i < n; i++) p->out[i] = p->loops->dot(p->rank, p->rows + (int64_t)i * p->rank, model->unk);
  if (row < 0) return row == OOV_ROW;
  int32_t next_row = next_rule >= 0 ? binding_row(p->binding, next_rule) : NO_ROW;
  const void *next = next_row >= 0 ? model_tensor(model, arity, next_row) : NULL;
  if (model->single)
    p->loops->contract_single(n, p->rank, size, p->rows, model_tensor(model, arity, row), next, p->space, p->out);
  else
    p->loops->contract_double(n, p->rank, size, p->rows, model_tensor(model, arity, row), next, p->space, p->out);
  return 1;
}

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

/* Value of an edge whose head has no states: a product of whole trees, for one application; NONE for zero. */
static int64_t value_without_states(const pass *p, int32_t edge, double *value) {
  int32_t arity;
  const int32_t *tail = tails_of(p, edge, &arity);
  *value = 1;
  int64_t exponent = tails_exponent(p, edge);
  if (exponent == NONE) return NONE;
  for (int32_t t = 0; t < arity; t++) *value *= as_tree(p, tail[t]);
  return exponent;
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
      const double *tensor = p->sets.data[r->set].arity ? NULL : leaf_tensor(p, r);
      for (int32_t e = r->begin; tensor && e < r->end; e++)
        accumulate(inside_of(p, r->head), &p->inside_exponent[r->head], tensor, 0, p->rank);
    }
    in_batches(p, runs, n, inside_runs, low_rank_inside);
    for (int32_t k = p->first_node[level]; k < p->first_node[level + 1]; k++) {
      int32_t q = p->nodes_by_level[k];
      if (p->forest->node_cat.data[q] != CATEGORY_X) inside_without_states(p, q);
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
      p->loops->contract_double(1, m, m, inside_of(p, tail[0]), matrix, NULL, p->space, p->sum);
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
  p->loops->contract_double(kept, m, size, p->rows, set->sum, NULL, p->space, p->out);
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
  const lscfg_forest *f = p->forest;
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
    int has_states = f->node_cat.data[tail[t]] == CATEGORY_X;
    for (int32_t h = 0; h < n; h++) p->sum[h] = has_states ? value * p->binding->model->root[h] : value;
    add_outside(p, tail[t], exponent);
  }
}

static void begin_outside(pass *p) {
  int32_t root = (int32_t)p->forest->node_cat.size - 1;
  for (int32_t q = 0; q <= root; q++) p->outside_exponent[q] = NONE;
  p->outside_exponent[root] = 0;
  if (p->forest->node_cat.data[root] == CATEGORY_X)
    memcpy(outside_of(p, root), p->binding->model->root, (size_t)p->rank * sizeof *p->outside);
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
      if (f->node_cat.data[q] == CATEGORY_X || p->outside_exponent[q] == NONE) continue;
      for (int32_t e = f->node_edges.data[q]; e < f->node_edges.data[q + 1]; e++) outside_without_states(p, e, q);
    }
    in_batches(p, p->runs_by_level + p->first_run[level], p->first_run[level + 1] - p->first_run[level], outside_runs,
               low_rank_outside);
  }
}

/* ---- marginals ---- */

static void marginals_without_states(pass *p, int32_t head) {
  const lscfg_forest *f = p->forest;
  for (int32_t e = f->node_edges.data[head]; e < f->node_edges.data[head + 1]; e++) {
    double value;
    int64_t exponent = value_without_states(p, e, &value);
    value = exponent == NONE || p->outside_exponent[head] == NONE
                ? 0
                : scaled(value * outside_of(p, head)[0] / p->g, exponent + p->outside_exponent[head] - p->g_exponent);
    for (int32_t a = f->edge_apps.data[e]; a < f->edge_apps.data[e + 1]; a++) p->marginals[a] = value;
  }
}

/* matrix [rank^arity]: the head's outside times a rule's tensor; NULL: zero. Writes the marginal of each edge's
 * application number `application`. */
static void run_marginals(pass *p, const run *r, int32_t application, const double *matrix) {
  for (int32_t k = r->begin; k < r->end; k++) {
    int32_t arity, edge = p->edges[k];
    const int32_t *tail = tails_of(p, edge, &arity);
    double *value = p->marginals + p->forest->edge_apps.data[edge] + application;
    int64_t exponent = tails_exponent(p, edge);
    *value = 0;
    if (!matrix || exponent == NONE) continue;
    *value = arity == 0   ? matrix[0]
             : arity == 1 ? p->loops->dot(p->rank, matrix, inside_of(p, tail[0]))
                          : p->loops->bilinear(p->rank, matrix, inside_of(p, tail[0]), inside_of(p, tail[1]));
    *value = scaled(*value / p->g, exponent + p->outside_exponent[r->head] - p->g_exponent);
  }
}

static void pass_marginals(pass *p, const run *r) {
  const double *tensor = leaf_tensor(p, r);
  double value =
      tensor && p->outside_exponent[r->head] != NONE ? p->loops->dot(p->rank, tensor, outside_of(p, r->head)) : 0;
  run_marginals(p, r, 0, value != 0 ? &value : NULL);
}

/* Marginals of all edges, rule by rule: a tensor is read once for a batch of heads. Those of low rank are there
 * already. */
static void all_marginals(pass *p) {
  const lscfg_forest *f = p->forest;
  int32_t m = p->rank;
  for (int32_t q = 0; q < f->node_cat.size; q++)
    if (f->node_cat.data[q] != CATEGORY_X) marginals_without_states(p, q);
  for (int64_t first = 0, end; first < p->runs.size; first = end) {
    const rule_set *set = &p->sets.data[p->runs.data[first].set];
    const run *runs[BATCH];
    int32_t kept = 0;
    end = first + 1;
    if (set->first) continue;
    if (is_pass(p, set)) {
      pass_marginals(p, &p->runs.data[first]);
      continue;
    }
    for (end = first; end < p->runs.size && kept < p->batch && &p->sets.data[p->runs.data[end].set] == set; end++) {
      const run *r = &p->runs.data[end];
      if (p->outside_exponent[r->head] == NONE) {
        for (int32_t k = 0; k < set->n; k++) run_marginals(p, r, k, NULL);
        continue;
      }
      memcpy(p->rows + (int64_t)kept * m, outside_of(p, r->head), (size_t)m * sizeof *p->rows);
      runs[kept++] = r;
    }
    int64_t size = tensor_length(m, set->arity) / m;
    for (int32_t k = 0; k < set->n && kept; k++) {
      int known = contract_rule(p, set->rules[k], k + 1 < set->n ? set->rules[k + 1] : -1, set->arity, kept);
      for (int32_t i = 0; i < kept; i++) run_marginals(p, runs[i], k, known ? p->out + i * size : NULL);
    }
  }
}

static double node_value(const pass *p, int32_t q, int64_t *exponent) {
  if (p->inside_exponent[q] == NONE || p->outside_exponent[q] == NONE) return 0;
  *exponent = p->inside_exponent[q] + p->outside_exponent[q];
  return p->loops->dot(states_of(p, q), inside_of(p, q), outside_of(p, q));
}

/* The marginal of each state of a node, which add up to the node's; 0 where it has none. */
static void node_states(const pass *p, int32_t q, double *states) {
  int alive = p->forest->node_cat.data[q] == CATEGORY_X && p->inside_exponent[q] != NONE &&
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
  p->g = frexp(node_value(p, n - 1, &p->g_exponent), &shift); /* nothing that is divided by it overflows */
  p->g_exponent += shift;
  *result = (lscfg_inference){p->g < 0 ? -1 : p->g > 0, 0,
                              p->g == 0 ? -INFINITY : log(fabs(p->g)) + p->g_exponent * log(2.0), 0};
  if (p->g == 0) { /* no derivation has a probability: nothing can be said of any edge */
    memset(p->marginals, 0, (size_t)f->app_rule.size * sizeof *p->marginals);
    if (node_marginals) memset(node_marginals, 0, (size_t)n * sizeof *node_marginals);
    if (states) memset(states, 0, (size_t)n * (size_t)p->rank * sizeof *states);
    return LSCFG_OK;
  }
  outside_pass(p);
  all_marginals(p);
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
  return lscfg_fail(error, LSCFG_EINPUT, 0, "the model has parameters so large that their products are not finite");
}

static int prepare(pass *p, lscfg_error *error) {
  size_t m = (size_t)p->rank, n = (size_t)p->forest->node_cat.size, edges = (size_t)p->forest->edge_head.size;
  size_t widest = p->binding->model->components ? m : m * m;
  p->inside = calloc(2 * n * m + 2 * (size_t)p->batch * widest + m * CONTRACT_COLUMNS + m, sizeof *p->inside);
  p->inside_exponent = malloc(2 * n * sizeof *p->inside_exponent);
  p->level = malloc((n + edges + 1) * sizeof *p->level);
  if (!p->inside || !p->inside_exponent || !p->level) return out_of_memory(error);
  p->outside = p->inside + n * m;
  p->rows = p->outside + n * m;
  p->out = p->rows + (size_t)p->batch * widest;
  p->space = p->out + (size_t)p->batch * widest;
  p->sum = p->space + m * CONTRACT_COLUMNS;
  p->outside_exponent = p->inside_exponent + n;
  p->edges = p->level + n;
  if (sort_edges(p) || sort_levels(p)) return out_of_memory(error);
  return find_tensors(p, error);
}

int inside_outside(const lscfg_binding *binding, const lscfg_forest *forest, double *app_marginals,
                   double *node_marginals, double *states, lscfg_inference *result, lscfg_error *error) {
  int32_t m = binding->model->rank, batch = 65536 / (m * m);
  pass p = {.binding = binding, .forest = forest, .loops = binding->loops, .rank = m, .marginals = app_marginals};
  p.batch = batch > BATCH ? BATCH : batch < 12 ? 12 : batch;
  int code = prepare(&p, error);
  if (!code) code = infer(&p, node_marginals, states, result, error);
  for (int64_t k = 0; k < p.owned.size; k++) free(p.owned.data[k]);
  free(p.owned.data);
  low_rank_free(&p);
  free(p.sets.data);
  free(p.runs.data);
  free(p.nodes_by_level);
  free(p.level);
  free(p.inside_exponent);
  free(p.inside);
  return code;
}
