/* Tensor inside-outside over a forest (paper, Fig. 1) and the decoder features that come of it.
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
  double *outer;   /* [rank^3]: outside of the head times insides of the tails */
  double *part;    /* [rank^2] */
  double *sum[2];  /* [rank] */
} pass;

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

static double dot(const double *a, const double *b, int64_t n) {
  double sum = 0;
  for (int64_t k = 0; k < n; k++) sum += a[k] * b[k];
  return sum;
}

/* A pass-through rule stands for an unknown word only where no rule translates the word alone. */
static int is_unknown_word(const pass *p, int32_t node) {
  const lscfg_forest *f = p->forest;
  for (int32_t e = f->node_edges.data[node]; e < f->node_edges.data[node + 1]; e++)
    if (f->edge_tail.data[2 * e] < 0 && f->app_rule.data[f->edge_apps.data[e]] < lscfg_grammar_size(p->binding->grammar))
      return 0;
  return 1;
}

/* Tensor of one rule application in an edge without states at the tails missing in the model: NULL means zero. */
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

/* head[h] of one edge = tensor x tails; the exponent of the result, NONE for zero. */
static int64_t edge_inside(pass *p, int32_t edge, double *head) {
  const int32_t *tail = p->forest->edge_tail.data + 2 * (int64_t)edge;
  int64_t exponent = 0;
  int32_t m = p->rank, arity = (tail[0] >= 0) + (tail[1] >= 0);
  for (int32_t t = 0; t < arity; t++) {
    if (p->inside_exponent[tail[t]] == NONE) return NONE;
    exponent += p->inside_exponent[tail[t]];
  }
  if (p->forest->node_cat.data[p->forest->edge_head.data[edge]] != CATEGORY_X) {
    head[0] = p->forest->edge_apps.data[edge + 1] - p->forest->edge_apps.data[edge];
    for (int32_t t = 0; t < arity; t++) head[0] *= as_tree(p, tail[t]);
    return exponent;
  }
  const double *tensor = edge_tensor(p, edge);
  if (!tensor) return NONE;
  const double *first = p->inside + (int64_t)(arity ? tail[0] : 0) * m;
  if (arity == 0) {
    memcpy(head, tensor, (size_t)m * sizeof *head);
  } else if (arity == 1) {
    for (int32_t h = 0; h < m; h++) head[h] = dot(tensor + (int64_t)h * m, first, m);
  } else {
    const double *second = p->inside + (int64_t)tail[1] * m;
    for (int32_t a = 0; a < m; a++)
      for (int32_t b = 0; b < m; b++) p->part[a * m + b] = first[a] * second[b];
    for (int32_t h = 0; h < m; h++) head[h] = dot(tensor + (int64_t)h * m * m, p->part, (int64_t)m * m);
  }
  return exponent;
}

static void inside_pass(pass *p) {
  const lscfg_forest *f = p->forest;
  for (int32_t q = 0; q < f->node_cat.size; q++) {
    double *inside = p->inside + (int64_t)q * p->rank;
    p->inside_exponent[q] = NONE;
    for (int32_t e = f->node_edges.data[q]; e < f->node_edges.data[q + 1]; e++) {
      int64_t exponent = edge_inside(p, e, p->sum[0]);
      if (exponent != NONE) accumulate(inside, &p->inside_exponent[q], p->sum[0], exponent, states_of(p, q));
    }
    normalise(inside, &p->inside_exponent[q], states_of(p, q));
  }
}

/* Adds to the outsides of the tails of one edge. */
static void edge_outside(pass *p, int32_t edge) {
  const int32_t *tail = p->forest->edge_tail.data + 2 * (int64_t)edge;
  int32_t head = p->forest->edge_head.data[edge], m = p->rank, arity = (tail[0] >= 0) + (tail[1] >= 0);
  const double *outside = p->outside + (int64_t)head * m;
  if (!arity || p->outside_exponent[head] == NONE) return;
  for (int32_t t = 0; t < arity; t++) {
    int32_t other = arity == 2 ? tail[1 - t] : -1;
    int64_t exponent = p->outside_exponent[head];
    if (other >= 0) {
      if (p->inside_exponent[other] == NONE) continue;
      exponent += p->inside_exponent[other];
    }
    if (p->forest->node_cat.data[head] != CATEGORY_X) {
      double value = outside[0] * (other >= 0 ? as_tree(p, other) : 1.0) *
                     (p->forest->edge_apps.data[edge + 1] - p->forest->edge_apps.data[edge]);
      int32_t n = states_of(p, tail[t]);
      for (int32_t h = 0; h < n; h++)
        p->sum[0][h] = p->forest->node_cat.data[tail[t]] == CATEGORY_X ? value * p->binding->model->root[h] : value;
    } else {
      const double *tensor = edge_tensor(p, edge);
      if (!tensor) return;
      int64_t block = arity == 1 ? m : (int64_t)m * m;
      if (t == 0) { /* part = outside(head) x tensor, shared by both tails */
        memset(p->part, 0, (size_t)block * sizeof *p->part);
        for (int32_t h = 0; h < m; h++)
          for (int64_t k = 0; k < block; k++) p->part[k] += outside[h] * tensor[h * block + k];
      }
      if (arity == 1) {
        memcpy(p->sum[0], p->part, (size_t)m * sizeof *p->part);
      } else if (t == 0) {
        const double *second = p->inside + (int64_t)other * m;
        for (int32_t a = 0; a < m; a++) p->sum[0][a] = dot(p->part + (int64_t)a * m, second, m);
      } else {
        const double *first = p->inside + (int64_t)other * m;
        memset(p->sum[0], 0, (size_t)m * sizeof *p->sum[0]);
        for (int32_t a = 0; a < m; a++)
          for (int32_t b = 0; b < m; b++) p->sum[0][b] += first[a] * p->part[a * m + b];
      }
    }
    accumulate(p->outside + (int64_t)tail[t] * m, &p->outside_exponent[tail[t]], p->sum[0], exponent, states_of(p, tail[t]));
  }
}

static void outside_pass(pass *p) {
  const lscfg_forest *f = p->forest;
  int32_t root = (int32_t)f->node_cat.size - 1;
  double *outside = p->outside + (int64_t)root * p->rank;
  for (int32_t q = 0; q <= root; q++) p->outside_exponent[q] = NONE;
  p->outside_exponent[root] = 0;
  if (f->node_cat.data[root] == CATEGORY_X) memcpy(outside, p->binding->model->root, (size_t)p->rank * sizeof *outside);
  else outside[0] = 1;
  for (int32_t q = root; q >= 0; q--) {
    normalise(p->outside + (int64_t)q * p->rank, &p->outside_exponent[q], states_of(p, q));
    for (int32_t e = f->node_edges.data[q]; e < f->node_edges.data[q + 1]; e++) edge_outside(p, e);
  }
}

/* value * 2^exponent with the exponent in a safe range. */
static double scaled(double value, int64_t exponent) {
  return ldexp(value, exponent > 4000 ? 4000 : exponent < -4000 ? -4000 : (int)exponent);
}

/* outer = outside(head) x insides of the tails; its length, 0 for zero. */
static int64_t outer_product(pass *p, int32_t edge, int64_t *exponent) {
  const int32_t *tail = p->forest->edge_tail.data + 2 * (int64_t)edge;
  int32_t head = p->forest->edge_head.data[edge], m = p->rank;
  int64_t n = m;
  if ((*exponent = p->outside_exponent[head]) == NONE) return 0;
  memcpy(p->outer, p->outside + (int64_t)head * m, (size_t)m * sizeof *p->outer);
  for (int32_t t = 0; t < 2 && tail[t] >= 0; t++, n *= m) {
    const double *inside = p->inside + (int64_t)tail[t] * m;
    if (p->inside_exponent[tail[t]] == NONE) return 0;
    *exponent += p->inside_exponent[tail[t]];
    for (int64_t k = n - 1; k >= 0; k--) {
      double value = p->outer[k]; /* written in place from the end, where nothing is needed any more */
      for (int32_t h = m - 1; h >= 0; h--) p->outer[k * m + h] = value * inside[h];
    }
  }
  return n;
}

static void edge_marginals(pass *p, int32_t edge, double g, int64_t g_exponent, double *marginal) {
  const lscfg_forest *f = p->forest;
  int32_t head = f->edge_head.data[edge], begin = f->edge_apps.data[edge], end = f->edge_apps.data[edge + 1];
  int64_t exponent, n;
  if (f->node_cat.data[head] != CATEGORY_X) {
    int64_t inside = edge_inside(p, edge, p->sum[0]);
    double value = 0;
    if (inside != NONE && p->outside_exponent[head] != NONE)
      value = scaled(p->sum[0][0] / (end - begin) * p->outside[(int64_t)head * p->rank] / g,
                     inside + p->outside_exponent[head] - g_exponent);
    for (int32_t a = begin; a < end; a++) marginal[a] = value;
    return;
  }
  n = outer_product(p, edge, &exponent);
  for (int32_t a = begin; a < end; a++) {
    const double *tensor = rule_tensor(p, f->app_rule.data[a], head);
    marginal[a] = n && tensor ? scaled(dot(p->outer, tensor, n) / g, exponent - g_exponent) : 0;
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
  for (int32_t e = 0; e < f->edge_head.size; e++) edge_marginals(p, e, g, g_exponent, app_marginals);
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

/* Refuses a forest of another rule table, such as one that lscfg_decompose made of rules that the grammar has not. */
static int check_forest(const lscfg_binding *b, const lscfg_forest *f, lscfg_error *error) {
  int32_t n = lscfg_grammar_size(b->grammar) + LSCFG_EXTRA_RULES;
  for (int64_t a = 0; a < f->app_rule.size; a++)
    if (f->app_rule.data[a] < 0 || f->app_rule.data[a] >= n)
      return lscfg_fail(error, LSCFG_EINPUT, 0, "the forest is not one of this grammar: it has a rule %ld",
                        (long)f->app_rule.data[a]);
  return LSCFG_OK;
}

int lscfg_infer(const lscfg_binding *binding, const lscfg_forest *forest, double *app_marginals, double *node_marginals,
                lscfg_inference *result, lscfg_error *error) {
  if (check_forest(binding, forest, error)) return LSCFG_EINPUT;
  int64_t m = binding->model->rank, n = forest->node_cat.size;
  pass p = {.binding = binding, .forest = forest, .rank = (int32_t)m};
  double *numbers = calloc((size_t)(2 * n * m + m * m * m + m * m + 2 * m), sizeof *numbers);
  int64_t *exponents = malloc((size_t)(2 * n) * sizeof *exponents);
  if (numbers && exponents) {
    p.inside = numbers;
    p.outside = p.inside + n * m;
    p.outer = p.outside + n * m;
    p.part = p.outer + m * m * m;
    p.sum[0] = p.part + m * m;
    p.sum[1] = p.sum[0] + m;
    p.inside_exponent = exponents;
    p.outside_exponent = exponents + n;
    inside_pass(&p);
    outside_pass(&p);
    write_marginals(&p, app_marginals, node_marginals, result);
  }
  int code = numbers && exponents ? LSCFG_OK : out_of_memory(error);
  free(numbers);
  free(exponents);
  return code;
}

/* ---- features ---- */

static double policy(double marginal, int32_t negative) {
  return negative == LSCFG_NEGATIVE_FLIP ? fabs(marginal) : marginal > 0 ? marginal : 0;
}

static double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

/* Number of the application's target side, equal for equal sides of one node; a word passed through is one of its own. */
static int32_t target_of(const lscfg_binding *b, int32_t rule) {
  int32_t n = lscfg_grammar_size(b->grammar);
  return rule < n ? b->rule_target[rule] : b->n_targets + rule - n;
}

int lscfg_features(const lscfg_binding *b, const lscfg_forest *f, const double *app_marginals,
                   const lscfg_feature_options *options, double *features, lscfg_error *error) {
  if (check_forest(b, f, error)) return LSCFG_EINPUT;
  double *by_target = calloc((size_t)b->n_targets + LSCFG_EXTRA_RULES, sizeof *by_target);
  if (!by_target) return out_of_memory(error);
  for (int32_t q = 0; q < f->node_cat.size; q++) {
    int32_t begin = f->edge_apps.data[f->node_edges.data[q]], end = f->edge_apps.data[f->node_edges.data[q + 1]];
    for (int32_t a = begin; a < end; a++)
      by_target[target_of(b, f->app_rule.data[a])] += policy(app_marginals[a], options->negative);
    for (int32_t e = f->node_edges.data[q]; e < f->node_edges.data[q + 1]; e++) {
      double by_source = 0;
      for (int32_t a = f->edge_apps.data[e]; a < f->edge_apps.data[e + 1]; a++)
        by_source += policy(app_marginals[a], options->negative);
      for (int32_t a = f->edge_apps.data[e]; a < f->edge_apps.data[e + 1]; a++) {
        double *row = features + (int64_t)LSCFG_N_FEATURES * a, marginal = policy(app_marginals[a], options->negative);
        row[LSCFG_MARGINAL] = marginal;
        row[LSCFG_E_GIVEN_F] = ratio(marginal, by_source);
        row[LSCFG_F_GIVEN_E] = ratio(marginal, by_target[target_of(b, f->app_rule.data[a])]);
        for (int k = 0; options->log && k < LSCFG_N_FEATURES; k++) row[k] = log(row[k] > options->floor ? row[k] : options->floor);
      }
    }
    for (int32_t a = begin; a < end; a++) by_target[target_of(b, f->app_rule.data[a])] = 0;
  }
  free(by_target);
  return LSCFG_OK;
}
