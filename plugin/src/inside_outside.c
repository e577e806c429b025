/* Tensor inside-outside over a forest (paper, Fig. 1).
 *
 * An inside or outside vector of [X] has one value per hidden state. Any other category, the goal S above all, has no
 * states: its vectors have one value, and a rule [S] -> ... multiplies, for each [X] below it, C^S . inside(X). So a
 * glued derivation is a sequence of independent trees.
 *
 * Vectors are kept as value * 2^exponent with the largest value near 1, so that products of hundreds of parameters
 * neither vanish nor overflow. Parameters may be negative; no logarithm is taken before the end. */
#include "forest.h"
#include "model.h"

#include <math.h>

typedef struct {
  const lscfg_binding *binding;
  const lscfg_forest *forest;
  int32_t rank;
  double *inside, *outside; /* [node][rank] */
  int64_t *inside_exponent, *outside_exponent;
  int32_t *order;   /* edges by node, those with the same rules next to each other */
  int32_t *by_rule; /* edges by their rules, those of one node next to each other */
  double *outer;    /* [HEADS x longest run][rank^2]: products of the tails' insides */
  int64_t *outer_exponent;
  double *part; /* [HEADS][rank^2] */
  double *sum;  /* [rank] */
} pass;

/* Eight doubles that the compiler maps to registers of whatever width there is. */
enum { LANES = 8 };
typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));

enum { HEADS = 4 }; /* nodes for which a tensor is read once: the registers hold no more */
enum { NONE = INT32_MIN }; /* exponent of a vector that is still zero */

static int32_t states_of(const pass *p, int32_t node) {
  return p->forest->node_cat.data[node] == CATEGORY_X ? p->rank : 1;
}

/* into += term * 2^exponent, where into carries an exponent of its own. */
static void accumulate(double *into, int64_t *into_exponent, const double *term, int64_t exponent, int32_t n) {
  if (*into_exponent == NONE) {
    memcpy(into, term, (size_t)n * sizeof *into);
    *into_exponent = exponent;
  } else if (exponent > *into_exponent) {
    int64_t shift = *into_exponent - exponent;
    double factor = shift < -2000 ? 0.0 : ldexp(1.0, (int)shift);
    for (int32_t k = 0; k < n; k++) into[k] = into[k] * factor + term[k];
    *into_exponent = exponent;
  } else {
    int64_t shift = exponent - *into_exponent;
    double factor = shift < -2000 ? 0.0 : ldexp(1.0, (int)shift);
    for (int32_t k = 0; k < n; k++) into[k] += term[k] * factor;
  }
}

/* Moves a common power of two into the exponent. */
static void normalise(double *vector, int64_t *exponent, int32_t n) {
  double largest = 0;
  int shift;
  for (int32_t k = 0; k < n; k++) largest = fabs(vector[k]) > largest ? fabs(vector[k]) : largest;
  if (*exponent == NONE || largest == 0) {
    *exponent = NONE;
    return;
  }
  frexp(largest, &shift);
  for (int32_t k = 0; k < n; k++) vector[k] = ldexp(vector[k], -shift);
  *exponent += shift;
}

/* Two sums of eight lanes side by side; every instruction set adds in the same order and gives the same bits. */
VECTORISED static double dot(const double *a, const double *b, int64_t n) {
  lanes even = {0}, odd = {0}, x, y;
  double total = 0;
  int64_t k = 0;
  for (; k + 2 * LANES <= n; k += 2 * LANES) {
    memcpy(&x, a + k, sizeof x);
    memcpy(&y, b + k, sizeof y);
    even += x * y;
    memcpy(&x, a + k + LANES, sizeof x);
    memcpy(&y, b + k + LANES, sizeof y);
    odd += x * y;
  }
  for (; k < n; k++) total += a[k] * b[k];
  even += odd;
  return ((even[0] + even[4]) + (even[2] + even[6])) + ((even[1] + even[5]) + (even[3] + even[7])) + total;
}

/* into += factor * values */
VECTORISED static void add_multiple(double *into, double factor, const double *values, int64_t n) {
  for (int64_t k = 0; k < n; k++) into[k] += factor * values[k];
}

/* A pass-through rule stands for an unknown word only where no rule translates the word alone. */
static int is_unknown_word(const pass *p, int32_t node) {
  const lscfg_forest *f = p->forest;
  for (int32_t e = f->node_edges.data[node]; e < f->node_edges.data[node + 1]; e++)
    if (f->edge_tail.data[2 * e] < 0 && f->app_rule.data[f->edge_apps.data[e]] < lscfg_grammar_size(p->binding->grammar))
      return 0;
  return 1;
}

/* Tensor of a rule that rewrites the node: NULL means zero, for rules that the model does not know. */
static const double *rule_tensor(const pass *p, int32_t rule, int32_t head) {
  int32_t n = lscfg_grammar_size(p->binding->grammar);
  if (rule < n) return p->binding->rule_tensor[rule];
  return rule == n + LSCFG_RULE_PASS && is_unknown_word(p, head) ? p->binding->model->unk : NULL;
}

/* Sum of the tensors of an edge's applications: known beforehand for a whole source side. */
static const double *edge_tensor(const pass *p, int32_t edge) {
  const lscfg_forest *f = p->forest;
  int32_t begin = f->edge_apps.data[edge], rule = f->app_rule.data[begin];
  if (rule < lscfg_grammar_size(p->binding->grammar) && f->edge_apps.data[edge + 1] - begin > 1)
    return p->binding->group_tensor[p->binding->rule_group[rule]];
  return rule_tensor(p, rule, f->edge_head.data[edge]);
}

/* Value of a node as a whole tree: C^S . inside for X, the value itself for a category without states. */
static double as_tree(const pass *p, int32_t node) {
  const double *inside = p->inside + (int64_t)node * p->rank;
  return p->forest->node_cat.data[node] == CATEGORY_X ? dot(p->binding->model->root, inside, p->rank) : inside[0];
}

/* ---- runs: edges of one node with the same rules, such as [X,1] [X,2] over all places where a span can be split.
 * What depends on head and rules alone is worked out once for all of them. ---- */

typedef struct {
  int64_t rule; /* the first, in the upper half; the edge in the lower one */
} edge_key;

static int by_key(const void *a, const void *b) {
  int64_t x = ((const edge_key *)a)->rule, y = ((const edge_key *)b)->rule;
  return (x > y) - (x < y);
}

static int same_rules(const lscfg_forest *f, int32_t e, int32_t d) {
  int32_t n = f->edge_apps.data[e + 1] - f->edge_apps.data[e];
  return n == f->edge_apps.data[d + 1] - f->edge_apps.data[d] &&
         f->app_rule.data[f->edge_apps.data[e]] == f->app_rule.data[f->edge_apps.data[d]];
}

/* One behind the last edge, in order, of the run that begins at position k of a node whose edges end at last. */
static int32_t run_end(const pass *p, int32_t k, int32_t last) {
  int32_t end = k + 1;
  if (p->forest->node_cat.data[p->forest->edge_head.data[p->order[k]]] != CATEGORY_X) return end;
  while (end < last && same_rules(p->forest, p->order[k], p->order[end])) end++;
  return end;
}

/* Fills order and by_rule; the length of the longest run, 0 when memory is out. */
static int32_t sort_edges(pass *p) {
  const lscfg_forest *f = p->forest;
  int32_t longest = 1, n = (int32_t)f->edge_head.size;
  edge_key *keys = malloc(((size_t)n + 1) * sizeof *keys);
  if (!keys) return 0;
  for (int32_t e = 0; e < n; e++) keys[e].rule = (int64_t)f->app_rule.data[f->edge_apps.data[e]] << 32 | e;
  qsort(keys, (size_t)n, sizeof *keys, by_key);
  for (int32_t k = 0; k < n; k++) p->by_rule[k] = (int32_t)(keys[k].rule & INT32_MAX);
  for (int32_t e = 0; e < n; e++) keys[e].rule = (int64_t)f->app_rule.data[f->edge_apps.data[e]] << 32 | e;
  for (int32_t q = 0; q < f->node_cat.size; q++) {
    int32_t begin = f->node_edges.data[q], end = f->node_edges.data[q + 1];
    qsort(keys + begin, (size_t)(end - begin), sizeof *keys, by_key);
    for (int32_t k = begin; k < end; k++) p->order[k] = (int32_t)(keys[k].rule & INT32_MAX);
    for (int32_t k = begin, next; k < end; k = next) {
      next = run_end(p, k, end);
      if (next - k > longest) longest = next - k;
    }
  }
  free(keys);
  return longest;
}

static const int32_t *tails_of(const pass *p, int32_t edge, int32_t *arity) {
  const int32_t *tail = p->forest->edge_tail.data + 2 * (int64_t)edge;
  *arity = (tail[0] >= 0) + (tail[1] >= 0);
  return tail;
}

/* outer = product of the tails' insides, [rank^arity]; its exponent, NONE for zero. */
static int64_t outer_product(const pass *p, int32_t edge, double *outer) {
  int32_t arity, m = p->rank;
  const int32_t *tail = tails_of(p, edge, &arity);
  int64_t exponent = 0;
  for (int32_t t = 0; t < arity; t++) {
    if (p->inside_exponent[tail[t]] == NONE) return NONE;
    exponent += p->inside_exponent[tail[t]];
  }
  const double *first = p->inside + (int64_t)tail[0] * m;
  if (arity == 1) memcpy(outer, first, (size_t)m * sizeof *outer);
  if (arity == 2) {
    memset(outer, 0, (size_t)m * (size_t)m * sizeof *outer);
    for (int32_t a = 0; a < m; a++) add_multiple(outer + (int64_t)a * m, first[a], p->inside + (int64_t)tail[1] * m, m);
  }
  return exponent;
}

/* Value of an edge whose head has no states: a product of whole trees, for one application; NONE for zero. */
static int64_t value_without_states(const pass *p, int32_t edge, double *value) {
  int32_t arity;
  const int32_t *tail = tails_of(p, edge, &arity);
  int64_t exponent = 0;
  *value = 1;
  for (int32_t t = 0; t < arity; t++) {
    if (p->inside_exponent[tail[t]] == NONE) return NONE;
    exponent += p->inside_exponent[tail[t]];
    *value *= as_tree(p, tail[t]);
  }
  return exponent;
}

/* ---- inside ---- */

static void inside_run(pass *p, int32_t begin, int32_t end, double *inside, int64_t *inside_exponent) {
  int32_t edge = p->order[begin], arity, m = p->rank;
  const double *tensor = edge_tensor(p, edge);
  int64_t size = m, exponent = NONE;
  tails_of(p, edge, &arity);
  if (!tensor) return;
  if (!arity) {
    for (int32_t k = begin; k < end; k++) accumulate(inside, inside_exponent, tensor, 0, m);
    return;
  }
  if (arity == 2) size *= m;
  for (int32_t k = begin; k < end; k++) {
    int64_t term = outer_product(p, p->order[k], p->outer);
    if (term != NONE) accumulate(p->part, &exponent, p->outer, term, (int32_t)size);
  }
  if (exponent == NONE) return;
  for (int32_t h = 0; h < m; h++) p->sum[h] = dot(tensor + h * size, p->part, size);
  accumulate(inside, inside_exponent, p->sum, exponent, m);
}

static void inside_pass(pass *p) {
  const lscfg_forest *f = p->forest;
  for (int32_t q = 0; q < f->node_cat.size; q++) {
    double *inside = p->inside + (int64_t)q * p->rank;
    int32_t last = f->node_edges.data[q + 1];
    p->inside_exponent[q] = NONE;
    for (int32_t k = f->node_edges.data[q], next; k < last; k = next) {
      next = run_end(p, k, last);
      if (f->node_cat.data[q] == CATEGORY_X) {
        inside_run(p, k, next, inside, &p->inside_exponent[q]);
        continue;
      }
      double value;
      int64_t exponent = value_without_states(p, p->order[k], &value);
      value *= f->edge_apps.data[p->order[k] + 1] - f->edge_apps.data[p->order[k]];
      if (exponent != NONE) accumulate(inside, &p->inside_exponent[q], &value, exponent, 1);
    }
    normalise(inside, &p->inside_exponent[q], states_of(p, q));
  }
}

/* ---- outside ---- */

/* part[i] = outside[i] x tensor over the head's states, [rank^arity], for n <= HEADS heads. With all heads each value of
 * the tensor is read once. */
VECTORISED static void contract_heads(const double *const *outside, int32_t n, const double *tensor, int32_t m,
                                      int64_t size, double *part) {
  int64_t k = 0;
  for (; n == HEADS && k + LANES <= size; k += LANES) {
    lanes sum0 = {0}, sum1 = {0}, sum2 = {0}, sum3 = {0}, values;
    for (int32_t h = 0; h < m; h++) {
      memcpy(&values, tensor + h * size + k, sizeof values);
      sum0 += values * outside[0][h];
      sum1 += values * outside[1][h];
      sum2 += values * outside[2][h];
      sum3 += values * outside[3][h];
    }
    memcpy(part + k, &sum0, sizeof sum0);
    memcpy(part + size + k, &sum1, sizeof sum1);
    memcpy(part + 2 * size + k, &sum2, sizeof sum2);
    memcpy(part + 3 * size + k, &sum3, sizeof sum3);
  }
  for (int32_t i = 0; i < n && k < size; i++) {
    int64_t x = k;
    for (; x + 2 * LANES <= size; x += 2 * LANES) {
      lanes sum0 = {0}, sum1 = {0}, values;
      for (int32_t h = 0; h < m; h++) {
        memcpy(&values, tensor + h * size + x, sizeof values);
        sum0 += values * outside[i][h];
        memcpy(&values, tensor + h * size + x + LANES, sizeof values);
        sum1 += values * outside[i][h];
      }
      memcpy(part + i * size + x, &sum0, sizeof sum0);
      memcpy(part + i * size + x + LANES, &sum1, sizeof sum1);
    }
    for (; x < size; x++) {
      double sum = 0;
      for (int32_t h = 0; h < m; h++) sum += outside[i][h] * tensor[h * size + x];
      part[i * size + x] = sum;
    }
  }
}

/* Adds p->sum * 2^exponent to a tail's outside. */
static void add_outside(pass *p, int32_t tail, int64_t exponent) {
  accumulate(p->outside + (int64_t)tail * p->rank, &p->outside_exponent[tail], p->sum, exponent, states_of(p, tail));
}

static void outside_run(pass *p, int32_t begin, int32_t end, int32_t head) {
  int32_t arity, m = p->rank;
  const double *tensor = edge_tensor(p, p->order[begin]);
  tails_of(p, p->order[begin], &arity);
  if (!tensor || !arity) return;
  const double *outside = p->outside + (int64_t)head * m;
  contract_heads(&outside, 1, tensor, m, arity == 1 ? m : (int64_t)m * m, p->part);
  for (int32_t k = begin; k < end; k++) {
    const int32_t *tail = tails_of(p, p->order[k], &arity);
    int64_t exponent = p->outside_exponent[head];
    if (arity == 1) {
      memcpy(p->sum, p->part, (size_t)m * sizeof *p->sum);
      add_outside(p, tail[0], exponent);
      continue;
    }
    const double *first = p->inside + (int64_t)tail[0] * m, *second = p->inside + (int64_t)tail[1] * m;
    if (p->inside_exponent[tail[1]] != NONE) {
      for (int32_t a = 0; a < m; a++) p->sum[a] = dot(p->part + (int64_t)a * m, second, m);
      add_outside(p, tail[0], exponent + p->inside_exponent[tail[1]]);
    }
    if (p->inside_exponent[tail[0]] != NONE) {
      memset(p->sum, 0, (size_t)m * sizeof *p->sum);
      for (int32_t a = 0; a < m; a++) add_multiple(p->sum, first[a], p->part + (int64_t)a * m, m);
      add_outside(p, tail[1], exponent + p->inside_exponent[tail[0]]);
    }
  }
}

static void outside_without_states(pass *p, int32_t edge, int32_t head) {
  const lscfg_forest *f = p->forest;
  int32_t arity;
  const int32_t *tail = tails_of(p, edge, &arity);
  for (int32_t t = 0; t < arity; t++) {
    int64_t exponent = p->outside_exponent[head];
    double value = p->outside[(int64_t)head * p->rank] * (f->edge_apps.data[edge + 1] - f->edge_apps.data[edge]);
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

static void outside_pass(pass *p) {
  const lscfg_forest *f = p->forest;
  int32_t root = (int32_t)f->node_cat.size - 1;
  double *outside = p->outside + (int64_t)root * p->rank;
  for (int32_t q = 0; q <= root; q++) p->outside_exponent[q] = NONE;
  p->outside_exponent[root] = 0;
  if (f->node_cat.data[root] == CATEGORY_X)
    memcpy(outside, p->binding->model->root, (size_t)p->rank * sizeof *outside);
  else
    outside[0] = 1;
  for (int32_t q = root; q >= 0; q--) {
    int32_t last = f->node_edges.data[q + 1];
    normalise(p->outside + (int64_t)q * p->rank, &p->outside_exponent[q], states_of(p, q));
    if (p->outside_exponent[q] == NONE) continue;
    for (int32_t k = f->node_edges.data[q], next; k < last; k = next) {
      next = run_end(p, k, last);
      if (f->node_cat.data[q] == CATEGORY_X)
        outside_run(p, k, next, q);
      else
        outside_without_states(p, p->order[k], q);
    }
  }
}

/* ---- marginals ---- */

/* value * 2^exponent with the exponent in a safe range. */
static double scaled(double value, int64_t exponent) {
  return ldexp(value, exponent > 4000 ? 4000 : exponent < -4000 ? -4000 : (int)exponent);
}

static void marginals_without_states(pass *p, int32_t edge, int32_t head, double g, int64_t g_exponent, double *marginal) {
  const lscfg_forest *f = p->forest;
  double value;
  int64_t exponent = value_without_states(p, edge, &value);
  value = exponent == NONE || p->outside_exponent[head] == NONE
              ? 0
              : scaled(value * p->outside[(int64_t)head * p->rank] / g,
                       exponent + p->outside_exponent[head] - g_exponent);
  for (int32_t a = f->edge_apps.data[edge]; a < f->edge_apps.data[edge + 1]; a++) marginal[a] = value;
}

/* Up to HEADS runs with the same rules: run i is by_rule[first[i]] .. by_rule[first[i + 1] - 1]. */
typedef struct {
  int32_t n, first[HEADS + 1];
} run_group;

static void group_marginals(pass *p, const run_group *group, double g, int64_t g_exponent, double *marginal) {
  const lscfg_forest *f = p->forest;
  int32_t arity, m = p->rank, begin = group->first[0], end = group->first[group->n], edge = p->by_rule[begin];
  int32_t n_rules = f->edge_apps.data[edge + 1] - f->edge_apps.data[edge];
  const double *outside[HEADS];
  tails_of(p, edge, &arity);
  int64_t size = arity == 2 ? (int64_t)m * m : m;
  for (int32_t i = 0; i < group->n; i++)
    outside[i] = p->outside + (int64_t)f->edge_head.data[p->by_rule[group->first[i]]] * m;
  for (int32_t k = begin; k < end; k++) {
    int64_t exponent = arity ? outer_product(p, p->by_rule[k], p->outer + (k - begin) * size) : 0;
    int64_t above = p->outside_exponent[f->edge_head.data[p->by_rule[k]]];
    p->outer_exponent[k - begin] = exponent == NONE || above == NONE ? NONE : exponent + above - g_exponent;
  }
  for (int32_t r = 0; r < n_rules; r++) {
    int32_t rule = f->app_rule.data[f->edge_apps.data[edge] + r];
    const double *tensor = rule_tensor(p, rule, f->edge_head.data[edge]);
    if (tensor && arity) contract_heads(outside, group->n, tensor, m, size, p->part);
    for (int32_t i = 0; i < group->n; i++)
      for (int32_t k = group->first[i]; k < group->first[i + 1]; k++) {
        double *value = marginal + f->edge_apps.data[p->by_rule[k]] + r;
        *value = 0;
        if (!tensor || p->outer_exponent[k - begin] == NONE) continue;
        *value = arity ? dot(p->part + i * size, p->outer + (k - begin) * size, size) : dot(outside[i], tensor, m);
        *value = scaled(*value / g, p->outer_exponent[k - begin]);
      }
  }
}

/* Marginals of all edges, rule by rule, so that a tensor is in the cache for all places where it is needed. */
static void all_marginals(pass *p, double g, int64_t g_exponent, double *marginal) {
  const lscfg_forest *f = p->forest;
  int32_t n = (int32_t)f->edge_head.size;
  for (int32_t k = 0; k < n;) {
    int32_t edge = p->by_rule[k], head = f->edge_head.data[edge];
    if (f->node_cat.data[head] != CATEGORY_X) {
      marginals_without_states(p, edge, head, g, g_exponent, marginal);
      k++;
      continue;
    }
    run_group group = {0, {k}};
    /* whether a pass-through rule has a tensor depends on its node: each stands alone */
    int32_t heads = f->app_rule.data[f->edge_apps.data[edge]] < lscfg_grammar_size(p->binding->grammar) ? HEADS : 1;
    while (group.n < heads && k < n && same_rules(f, edge, p->by_rule[k]) &&
           f->node_cat.data[f->edge_head.data[p->by_rule[k]]] == CATEGORY_X) {
      head = f->edge_head.data[p->by_rule[k]];
      while (k < n && f->edge_head.data[p->by_rule[k]] == head && same_rules(f, edge, p->by_rule[k])) k++;
      group.first[++group.n] = k;
    }
    group_marginals(p, &group, g, g_exponent, marginal);
  }
}

static double node_value(const pass *p, int32_t q, int64_t *exponent) {
  if (p->inside_exponent[q] == NONE || p->outside_exponent[q] == NONE) return 0;
  *exponent = p->inside_exponent[q] + p->outside_exponent[q];
  return dot(p->inside + (int64_t)q * p->rank, p->outside + (int64_t)q * p->rank, states_of(p, q));
}

static void write_marginals(pass *p, double *app_marginals, double *node_marginals, lscfg_inference *result) {
  const lscfg_forest *f = p->forest;
  int64_t g_exponent = 0, exponent = 0;
  double g = node_value(p, (int32_t)f->node_cat.size - 1, &g_exponent), total = 0, negative = 0;
  *result = (lscfg_inference){g < 0 ? -1 : g > 0, 0, g == 0 ? -INFINITY : log(fabs(g)) + g_exponent * log(2.0), 0};
  if (g == 0) { /* no derivation has a probability: nothing can be said of any edge */
    memset(app_marginals, 0, (size_t)f->app_rule.size * sizeof *app_marginals);
    if (node_marginals) memset(node_marginals, 0, (size_t)f->node_cat.size * sizeof *node_marginals);
    return;
  }
  all_marginals(p, g, g_exponent, app_marginals);
  for (int32_t q = 0; node_marginals && q < f->node_cat.size; q++) {
    double value = node_value(p, q, &exponent);
    node_marginals[q] = scaled(value / g, exponent - g_exponent);
  }
  for (int64_t a = 0; a < f->app_rule.size; a++) {
    total += fabs(app_marginals[a]);
    if (app_marginals[a] >= 0) continue;
    result->negative++;
    negative -= app_marginals[a];
  }
  result->negative_mass = total > 0 ? negative / total : 0;
}

int lscfg_infer(const lscfg_binding *binding, const lscfg_forest *forest, double *app_marginals, double *node_marginals,
                lscfg_inference *result, lscfg_error *error) {
  if (binding_check_forest(binding, forest, error)) return LSCFG_EINPUT;
  if (binding->inner && (binding->composition || forest->origin != FOREST_PARSED))
    return infer_expanded(binding, forest, app_marginals, node_marginals, result, error);
  int64_t m = binding->model->rank, n = forest->node_cat.size;
  pass p = {.binding = binding, .forest = forest, .rank = (int32_t)m};
  double *numbers = NULL;
  int64_t *exponents = NULL;
  int code = LSCFG_ENOMEM;
  int32_t longest = 0;
  if ((p.order = malloc((2 * (size_t)forest->edge_head.size + 1) * sizeof *p.order))) {
    p.by_rule = p.order + forest->edge_head.size;
    longest = sort_edges(&p);
  }
  if (longest) {
    numbers = calloc((size_t)(2 * n * m + (longest + 1) * HEADS * m * m + m), sizeof *numbers);
    exponents = malloc((size_t)(2 * n + HEADS * longest) * sizeof *exponents);
  }
  if (numbers && exponents) {
    p.inside = numbers;
    p.outside = p.inside + n * m;
    p.outer = p.outside + n * m;
    p.part = p.outer + longest * HEADS * m * m;
    p.sum = p.part + HEADS * m * m;
    p.inside_exponent = exponents;
    p.outside_exponent = exponents + n;
    p.outer_exponent = exponents + 2 * n;
    inside_pass(&p);
    outside_pass(&p);
    write_marginals(&p, app_marginals, node_marginals, result);
    code = LSCFG_OK;
  }
  free(p.order);
  free(numbers);
  free(exponents);
  return code ? out_of_memory(error) : LSCFG_OK;
}
