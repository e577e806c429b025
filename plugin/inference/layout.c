/* The layout of a pass: edges by their rules, nodes and runs by level, and the tensors of the rules. */
#include "inference/layout.h"

#include "inference/low_rank.h"
#include "inference/sums.h"

/* ---- edges and levels ---- */

typedef struct {
  const int32_t *rules;
  int32_t n, edge, category;
} edge_key;

static int compare_rules(const edge_key *x, const edge_key *y) {
  if (x->rules[0] != y->rules[0]) return x->rules[0] < y->rules[0] ? -1 : 1;
  if (x->n != y->n) return x->n < y->n ? -1 : 1;
  return x->n == 1 ? 0 : memcmp(x->rules, y->rules, (size_t)x->n * sizeof *x->rules);
}

/* Only an unknown word can be of several categories. */
static int compare_keys(const edge_key *x, const edge_key *y) {
  int order = compare_rules(x, y);
  return order ? order : (x->category > y->category) - (x->category < y->category);
}

static int by_rules(const void *a, const void *b) {
  const edge_key *x = a, *y = b;
  int order = compare_keys(x, y);
  return order ? order : x->edge < y->edge ? -1 : x->edge > y->edge;
}

static int sort_edges(pass *p) {
  const lscfg_forest *f = p->forest;
  int32_t n = (int32_t)f->edge_head.size, sorted = 0;
  edge_key *keys = malloc(((size_t)n + 1) * sizeof *keys);
  if (!keys) return LSCFG_ENOMEM;
  for (int32_t e = 0; e < n; e++) {
    int32_t category = category_of(p, f->edge_head.data[e]), begin = f->edge_apps.data[e];
    if (category < 0) continue;
    keys[sorted++] = (edge_key){f->app_rule.data + begin, f->edge_apps.data[e + 1] - begin, e, category};
  }
  qsort(keys, (size_t)sorted, sizeof *keys, by_rules);
  for (int32_t k = 0; k < sorted; k++) {
    int32_t arity, head = f->edge_head.data[keys[k].edge];
    p->edges[k] = keys[k].edge;
    int fresh = !k || compare_keys(&keys[k - 1], &keys[k]);
    if (fresh) {
      tails_of(p, keys[k].edge, &arity);
      if (ARRAY_RESERVE(p->sets, 1)) goto failed;
      p->sets.data[p->sets.size++] = (rule_set){
          .rules = keys[k].rules, .n = keys[k].n, .arity = arity, .category = keys[k].category};
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

/* A pass-through rule is an unknown word only if no rule translates the word alone. */
static int is_unknown_word(const pass *p, int32_t node) {
  const lscfg_forest *f = p->forest;
  for (int32_t e = f->node_edges.data[node]; e < f->node_edges.data[node + 1]; e++)
    if (f->edge_tail.data[2 * (int64_t)e] < 0 && f->app_rule.data[f->edge_apps.data[e]] < p->binding->n_rules) return 0;
  return 1;
}

int is_pass(const pass *p, const rule_set *set) { return set->rules[0] == p->binding->n_rules + LSCFG_RULE_PASS; }

const double *leaf_tensor(const pass *p, const rule_set *set, int32_t head) {
  if (is_pass(p, set)) return is_unknown_word(p, head) ? model_unk(p->binding->model, set->category) : NULL;
  return set->sum;
}

/* Looks up the sums of tensors, computes those that the binding does not keep, and finds the factors of low rank. */
static int find_tensors(pass *p, lscfg_error *error) {
  for (int64_t s = 0; s < p->sets.size; s++) {
    rule_set *set = &p->sets.data[s];
    double *made = NULL;
    int low_rank = set->arity == 2 && p->binding->model->components;
    int code = low_rank ? low_rank_factors(p, set, error)
                        : binding_sum(p->binding, set->rules, set->n, set->arity, set->category, &set->sum, &made,
                                      error);
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

int pass_begin(pass *p, const lscfg_binding *binding, const lscfg_forest *forest, double *marginals,
               lscfg_error *error) {
  int32_t rank = binding->model->rank, batch = 65536 / (rank * rank);
  *p = (pass){.binding = binding, .forest = forest, .loops = binding->loops, .rank = rank, .marginals = marginals};
  p->batch = batch > BATCH ? BATCH : batch < 12 ? 12 : batch;
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

void pass_end(pass *p) {
  for (int64_t k = 0; k < p->owned.size; k++) free(p->owned.data[k]);
  free(p->owned.data);
  low_rank_free(p);
  free(p->sets.data);
  free(p->runs.data);
  free(p->nodes_by_level);
  free(p->level);
  free(p->inside_exponent);
  free(p->inside);
}
