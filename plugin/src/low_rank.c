/* Inside-outside with tensors of low rank (Cohen & Collins 2012): a rule of two nonterminals has
 *
 *   C^r = sum over k of u_k (x) v_k (x) w_k
 *
 * so that with p_k = (v_k . inside(left)) (w_k . inside(right)) an edge adds sum over k of p_k u_k to the inside of its
 * head, and with q_k = u_k . outside(head) it adds q_k (w_k . inside(right)) v_k to the outside of its left tail, and so
 * on. The marginal of a rule is the sum of q_k p_k over its own components. All is linear in the number of states. The
 * components of all rules of an edge are worked on together. */
#include "inference.h"

enum { EDGES = 64 }; /* that are taken together */

/* Vectors of some edges with the same rules. */
struct chunk {
  int32_t n, edge[EDGES], head[EDGES], own_head[EDGES]; /* own_head: which of the n_heads rows of q is the edge's */
  int32_t n_heads;
  int64_t tails[EDGES]; /* exponent of the product of the tails' insides */
  double *rows;         /* [EDGES][rank] */
  double *left, *right; /* [EDGES][components] */
  double *q;            /* [EDGES][components] */
  double *product;      /* [EDGES][components] */
  double *out;          /* [EDGES][rank] */
  double *space;
};

int low_rank_factors(pass *p, rule_set *set, lscfg_error *error) {
  const lscfg_model *model = p->binding->model;
  int64_t m = p->rank, total = 0;
  int32_t *first = malloc(((size_t)set->n + 1) * sizeof *first);
  if (!first || ARRAY_RESERVE(p->owned, 2)) {
    free(first);
    return out_of_memory(error);
  }
  p->owned.data[p->owned.size++] = first;
  for (int32_t r = 0; r < set->n; r++) {
    int32_t row = binding_row(p->binding, set->rules[r]);
    first[r] = (int32_t)total;
    if (row >= 0) total += model->components[row + 1] - model->components[row];
    if (total > INT32_MAX / 2) return lscfg_fail(error, LSCFG_EINPUT, 0, "a source side has too many components");
  }
  first[set->n] = (int32_t)total;
  double *factors = malloc((size_t)(3 * total * m + 1) * sizeof *factors);
  if (!factors) return out_of_memory(error);
  p->owned.data[p->owned.size++] = factors;
  for (int32_t r = 0; r < set->n; r++) {
    int32_t row = binding_row(p->binding, set->rules[r]);
    if (row < 0) continue;
    const float *from = model->factors + 3 * m * model->components[row];
    for (int64_t k = first[r]; k < first[r + 1]; k++)
      for (int64_t part = 0; part < 3; part++, from += m)
        for (int64_t h = 0; h < m; h++) {
          if (!isfinite(from[h]))
            return lscfg_fail(error, LSCFG_EINPUT, 0, "the model has a component with a value that is not finite");
          factors[(part * total + k) * m + h] = (double)from[h];
        }
  }
  set->first = first;
  set->factors = factors;
  return LSCFG_OK;
}

int low_rank_prepare(pass *p) {
  size_t m = (size_t)p->rank, k = 0;
  for (int64_t s = 0; s < p->sets.size; s++)
    if (p->sets.data[s].first && (size_t)p->sets.data[s].first[p->sets.data[s].n] > k)
      k = (size_t)p->sets.data[s].first[p->sets.data[s].n];
  chunk *c = p->chunk = calloc(1, sizeof *c);
  if (!c) return LSCFG_ENOMEM;
  c->rows = malloc((EDGES * (2 * m + 4 * k) + CONTRACT_COLUMNS * k + 1) * sizeof *c->rows);
  if (!c->rows) return LSCFG_ENOMEM;
  c->out = c->rows + EDGES * m;
  c->left = c->out + EDGES * m;
  c->right = c->left + EDGES * k;
  c->q = c->right + EDGES * k;
  c->product = c->q + EDGES * k;
  c->space = c->product + EDGES * k;
  return LSCFG_OK;
}

void low_rank_free(pass *p) {
  if (p->chunk) free(p->chunk->rows);
  free(p->chunk);
}

/* out = rows x part 0, 1 or 2 of the components, over the states. */
static void project_part(const pass *p, const rule_set *set, int part, const chunk *c, int32_t n, double *out) {
  int32_t components = set->first[set->n];
  p->loops->project(n, components, p->rank, c->rows, set->factors + (int64_t)part * components * p->rank, out);
}

/* c->out = c->product x part, over the components. */
static void contract_part(const pass *p, const rule_set *set, int part, chunk *c) {
  int32_t components = set->first[set->n];
  p->loops->contract_double(c->n, components, p->rank, c->product,
                            set->factors + (int64_t)part * components * p->rank, NULL, c->space, c->out);
}

/* left and right: what v and w make of the tails' insides. */
static void project_tails(const pass *p, const rule_set *set, chunk *c) {
  for (int t = 0; t < 2; t++) {
    for (int32_t i = 0; i < c->n; i++)
      memcpy(c->rows + (int64_t)i * p->rank, inside_of(p, p->forest->edge_tail.data[2 * (int64_t)c->edge[i] + t]),
             (size_t)p->rank * sizeof *c->rows);
    project_part(p, set, 1 + t, c, c->n, t ? c->right : c->left);
  }
}

static void multiply(int64_t n, const double *a, const double *b, double *out) {
  for (int64_t k = 0; k < n; k++) out[k] = a[k] * b[k];
}

static void inside_chunk(pass *p, const rule_set *set, chunk *c) {
  project_tails(p, set, c);
  multiply((int64_t)c->n * set->first[set->n], c->left, c->right, c->product);
  contract_part(p, set, 0, c);
  for (int32_t i = 0; i < c->n; i++)
    accumulate(inside_of(p, c->head[i]), &p->inside_exponent[c->head[i]], c->out + (int64_t)i * p->rank, c->tails[i],
               p->rank);
}

static void marginals_of(const pass *p, const rule_set *set, const chunk *c, int32_t i) {
  int64_t components = set->first[set->n], exponent = c->tails[i] + p->outside_exponent[c->head[i]] - p->g_exponent;
  const double *q = c->q + c->own_head[i] * components, *part = c->product + i * components;
  double *marginal = p->marginals + p->forest->edge_apps.data[c->edge[i]];
  for (int32_t r = 0; r < set->n; r++) {
    double value = 0;
    for (int32_t k = set->first[r]; k < set->first[r + 1]; k++) value += q[k] * part[k];
    marginal[r] = scaled(value / p->g, exponent);
  }
}

static void outside_chunk(pass *p, const rule_set *set, chunk *c) {
  int64_t components = set->first[set->n];
  project_tails(p, set, c);
  for (int32_t i = 0; i < c->n; i++)
    memcpy(c->rows + (int64_t)c->own_head[i] * p->rank, outside_of(p, c->head[i]), (size_t)p->rank * sizeof *c->rows);
  project_part(p, set, 0, c, c->n_heads, c->q);
  multiply(c->n * components, c->left, c->right, c->product);
  for (int32_t i = 0; i < c->n; i++) marginals_of(p, set, c, i);
  for (int t = 0; t < 2; t++) {
    const double *other = t ? c->left : c->right;
    for (int32_t i = 0; i < c->n; i++)
      multiply(components, c->q + c->own_head[i] * components, other + i * components, c->product + i * components);
    contract_part(p, set, 1 + t, c);
    for (int32_t i = 0; i < c->n; i++) {
      const int32_t *tail = p->forest->edge_tail.data + 2 * (int64_t)c->edge[i];
      if (p->inside_exponent[tail[1 - t]] == NONE) continue;
      accumulate(outside_of(p, tail[t]), &p->outside_exponent[tail[t]], c->out + (int64_t)i * p->rank,
                 p->outside_exponent[c->head[i]] + p->inside_exponent[tail[1 - t]], p->rank);
    }
  }
}

static void no_marginals(const pass *p, int32_t edge) {
  int32_t begin = p->forest->edge_apps.data[edge], end = p->forest->edge_apps.data[edge + 1];
  memset(p->marginals + begin, 0, (size_t)(end - begin) * sizeof *p->marginals);
}

typedef void (*chunk_function)(pass *, const rule_set *, chunk *);

static void finish_chunk(pass *p, const rule_set *set, chunk *c, chunk_function work) {
  if (c->n) work(p, set, c);
  c->n = c->n_heads = 0;
}

static void add_edge(pass *p, const rule_set *set, int32_t edge, int32_t head, chunk_function work) {
  chunk *c = p->chunk;
  if (c->n == EDGES) finish_chunk(p, set, c, work);
  c->n_heads += !c->n || c->head[c->n - 1] != head;
  c->own_head[c->n] = c->n_heads - 1;
  c->edge[c->n] = edge;
  c->head[c->n] = head;
  c->tails[c->n++] = tails_exponent(p, edge);
}

void low_rank_inside(pass *p, const int32_t *numbers, int32_t n) {
  const rule_set *set = &p->sets.data[p->runs.data[numbers[0]].set];
  if (!set->first[set->n]) return;
  for (int32_t i = 0; i < n; i++) {
    const run *r = &p->runs.data[numbers[i]];
    for (int32_t k = r->begin; k < r->end; k++)
      if (tails_exponent(p, p->edges[k]) != NONE) add_edge(p, set, p->edges[k], r->head, inside_chunk);
  }
  finish_chunk(p, set, p->chunk, inside_chunk);
}

void low_rank_outside(pass *p, const int32_t *numbers, int32_t n) {
  const rule_set *set = &p->sets.data[p->runs.data[numbers[0]].set];
  for (int32_t i = 0; i < n; i++) {
    const run *r = &p->runs.data[numbers[i]];
    int zero = !set->first[set->n] || p->outside_exponent[r->head] == NONE;
    for (int32_t k = r->begin; k < r->end; k++)
      if (zero) no_marginals(p, p->edges[k]);
      else add_edge(p, set, p->edges[k], r->head, outside_chunk);
  }
  finish_chunk(p, set, p->chunk, outside_chunk);
}
