/* Marginals of applications: for each edge and each of its rules o^T T (a x b), the rule's tensor with the outside of
 * the head and the insides of both tails.
 *
 * The tensor is first multiplied by one of the three, in m^3 steps, and then by the other two, in m^2 for each edge.
 * Edges with the same rules share the m^3 steps if they share that node. In X -> [X,1] w [X,2] the heads are all spans
 * around the word, but the first tails only those that end before the word. So such edges are grouped by their heads or
 * by their first tails, whichever are fewer, and a tensor is read once for many groups. */
#include "inference/marginals.h"

#include "inference/layout.h"

/* Edges edges[begin] .. edges[end-1] of one set of rules, with the same head or the same first tail. */
typedef struct {
  int32_t node, begin, end;
} group;

typedef struct {
  const rule_set *set;
  int by_tail; /* non-zero: the groups are those of first tails */
  const int32_t *edges;
  const group *groups;
  int32_t n;
} grouping;

typedef struct {
  int32_t tail, edge;
} tail_key;

/* An edge's part in the marginals of all its applications. */
typedef struct {
  const double *first, *second; /* the vectors by which a rule's matrix is multiplied */
  double *values;               /* marginals of the applications */
  int64_t exponent;
  int alive; /* 0: all are 0 */
} placed_edge;

/* Room for the edges and the rules of any set. */
typedef struct {
  tail_key *keys;
  int32_t *edges;
  group *by_head, *by_tail;
  placed_edge *placed;
  tensor_room tensor[MAX_TENSOR_ARITY + 1];
  int32_t *first; /* [tensors of any arity] the first rule of the set with the tensor; -1 between two sets */
  int32_t *equal; /* [rules of any set] the first rule with an equal tensor */
} room;

static int by_first_tail(const void *a, const void *b) {
  const tail_key *x = a, *y = b;
  if (x->tail != y->tail) return x->tail < y->tail ? -1 : 1;
  return x->edge < y->edge ? -1 : x->edge > y->edge;
}

/* Groups the runs first .. end-1, which are those of one set. */
static grouping group_edges(const pass *p, const run *first, const run *end, room *space) {
  grouping found = {&p->sets.data[first->set], 0, p->edges, space->by_head, 0};
  for (const run *r = first; r < end; r++) space->by_head[found.n++] = (group){r->head, r->begin, r->end};
  if (found.set->arity < 2) return found;
  int32_t n = end[-1].end - first->begin, n_tails = 0;
  for (int32_t k = 0; k < n; k++) {
    int32_t edge = p->edges[first->begin + k];
    space->keys[k] = (tail_key){p->forest->edge_tail.data[2 * (int64_t)edge], edge};
  }
  qsort(space->keys, (size_t)n, sizeof *space->keys, by_first_tail);
  for (int32_t k = 0; k < n; k++) {
    space->edges[k] = space->keys[k].edge;
    if (!k || space->keys[k].tail != space->keys[k - 1].tail)
      space->by_tail[n_tails++] = (group){space->keys[k].tail, k, k};
    space->by_tail[n_tails - 1].end = k + 1;
  }
  return n_tails < found.n ? (grouping){found.set, 1, space->edges, space->by_tail, n_tails} : found;
}

/* Finds the rules of a set with equal tensors. */
static void find_equal(const pass *p, const rule_set *set, room *space) {
  const lscfg_model *model = p->binding->model;
  int packed = model->packing[set->arity].index != NULL;
  for (int32_t k = 0; k < set->n; k++) {
    int32_t row = binding_row(p->binding, set->rules[k]);
    space->equal[k] = k;
    if (!packed || row < 0) continue;
    int32_t *first = space->first + tensor_number(model, set->arity, row);
    if (*first < 0) *first = k;
    space->equal[k] = *first;
  }
  for (int32_t k = 0; packed && k < set->n; k++) {
    int32_t row = binding_row(p->binding, set->rules[k]);
    if (row >= 0) space->first[tensor_number(model, set->arity, row)] = -1;
  }
}

/* out[i] = rows[i] x tensor of the rule over the states of its left-hand side, or of its first tail; 0 if the model
 * lacks the rule. */
static int contract_rule(const pass *p, int32_t rule, int32_t next_rule, const grouping *g, int32_t n, room *space) {
  const lscfg_model *model = p->binding->model;
  int32_t row = binding_row(p->binding, rule), m = p->rank, arity = g->set->arity;
  int64_t size = tensor_length(m, arity) / m;
  const double *unk = model_unk(model, g->set->category);
  if (row == OOV_ROW)
    for (int32_t i = 0; i < n; i++) p->out[i] = p->loops->dot(m, p->rows + (int64_t)i * m, unk);
  if (row < 0) return row == OOV_ROW;
  int32_t next_row = next_rule >= 0 ? binding_row(p->binding, next_rule) : NO_ROW;
  const void *tensor = model_tensor(model, arity, row, &space->tensor[arity]);
  const void *next = next_row >= 0 && !space->tensor[arity].values ? stored_tensor(model, arity, next_row) : NULL;
  int32_t parts = g->by_tail ? m : 1; /* by tail: a matrix [first tail][second tail] for each state of the head */
  int64_t columns = size / parts;
  for (int32_t h = 0; h < parts; h++) {
    int64_t offset = h * (int64_t)m * m;
    double *out = p->out + h * columns;
    if (model->single)
      p->loops->contract_single(n, m, columns, size, p->rows, (const float *)tensor + offset,
                                next ? (const float *)next + offset : NULL, p->space, out);
    else
      p->loops->contract_double(n, m, columns, size, p->rows, (const double *)tensor + offset,
                                next ? (const double *)next + offset : NULL, p->space, out);
  }
  return 1;
}

/* Finds what the marginals of a group's edges have in common; alive: the group's node has a vector. Returns the number
 * of edges. */
static int32_t place_edges(const pass *p, const grouping *g, const group *edges, int alive, placed_edge *placed) {
  for (int32_t k = edges->begin; k < edges->end; k++) {
    int32_t arity, edge = g->edges[k], head = p->forest->edge_head.data[edge];
    const int32_t *tail = tails_of(p, edge, &arity);
    int64_t exponent = tails_exponent(p, edge);
    placed_edge *one = placed++;
    *one = (placed_edge){.values = p->marginals + p->forest->edge_apps.data[edge]};
    if (!alive || exponent == NONE || p->outside_exponent[head] == NONE) continue;
    one->alive = 1;
    one->exponent = exponent + p->outside_exponent[head] - p->g_exponent;
    if (arity) one->first = g->by_tail ? outside_of(p, head) : inside_of(p, tail[0]);
    if (arity == 2) one->second = inside_of(p, tail[1]);
  }
  return edges->end - edges->begin;
}

/* matrix [rank^arity]: a rule's tensor times the vector of the group's node; NULL: zero. Writes the marginal of each
 * edge's application number `application`. */
static void put_marginals(const pass *p, const placed_edge *edges, int32_t n, int32_t arity, int32_t application,
                          const double *matrix) {
  for (const placed_edge *edge = edges; edge < edges + n; edge++) {
    double value = 0;
    if (matrix && edge->alive) {
      value = arity == 0   ? matrix[0]
              : arity == 1 ? p->loops->dot(p->rank, matrix, edge->first)
                           : p->loops->bilinear(p->rank, matrix, edge->first, edge->second);
      value = scaled(value / p->g, edge->exponent);
    }
    edge->values[application] = value;
  }
}

/* Copies marginals of edges from the first of equal tensors to the others. */
static void copy_equal(const placed_edge *edges, int32_t n, const rule_set *set, const int32_t *equal) {
  for (int32_t k = 0; k < n; k++)
    for (int32_t i = 0; i < set->n; i++) edges[k].values[i] = edges[k].values[equal[i]];
}

/* The next rule of a set, after number k, whose tensor is not one of an earlier rule; -1: none. */
static int32_t next_different(const rule_set *set, const int32_t *equal, int32_t k) {
  for (k++; k < set->n; k++)
    if (equal[k] == k) return k;
  return -1;
}

static void set_marginals(pass *p, const grouping *g, room *space) {
  const double *vectors = g->by_tail ? p->inside : p->outside;
  const int64_t *exponents = g->by_tail ? p->inside_exponent : p->outside_exponent;
  int32_t m = p->rank;
  int64_t size = tensor_length(m, g->set->arity) / m;
  find_equal(p, g->set, space);
  for (int32_t at = 0; at < g->n;) {
    int32_t kept = 0, begin[BATCH + 1] = {0}; /* the edges of each group in space->placed */
    for (; at < g->n && kept < p->batch; at++) {
      int32_t node = g->groups[at].node;
      placed_edge *placed = space->placed + begin[kept];
      int32_t n = place_edges(p, g, &g->groups[at], exponents[node] != NONE, placed);
      if (exponents[node] == NONE) {
        for (int32_t k = 0; k < g->set->n; k++) put_marginals(p, placed, n, g->set->arity, k, NULL);
        continue;
      }
      memcpy(p->rows + (int64_t)kept * m, vectors + (int64_t)node * m, (size_t)m * sizeof *p->rows);
      begin[kept + 1] = begin[kept] + n;
      kept++;
    }
    for (int32_t k = 0, next; k >= 0 && kept; k = next) {
      next = next_different(g->set, space->equal, k);
      int known = contract_rule(p, g->set->rules[k], next >= 0 ? g->set->rules[next] : -1, g, kept, space);
      for (int32_t i = 0; i < kept; i++)
        put_marginals(p, space->placed + begin[i], begin[i + 1] - begin[i], g->set->arity, k,
                      known ? p->out + i * size : NULL);
    }
    copy_equal(space->placed, begin[kept], g->set, space->equal);
  }
}

static void pass_through_marginals(pass *p, const grouping *g, room *space) {
  for (int32_t i = 0; i < g->n; i++) {
    const double *tensor = leaf_tensor(p, g->set, g->groups[i].node);
    double value = tensor ? p->loops->dot(p->rank, tensor, outside_of(p, g->groups[i].node)) : 0;
    int32_t n = place_edges(p, g, &g->groups[i], value != 0, space->placed);
    put_marginals(p, space->placed, n, 0, 0, &value);
  }
}

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

/* Reserves room for the pass; to be freed by free_room, whatever comes back. */
static int make_room(const pass *p, room *space) {
  const lscfg_model *model = p->binding->model;
  size_t n = (size_t)p->forest->edge_head.size + 1, tensors = 1, rules = 1;
  *space = (room){malloc(n * sizeof *space->keys), malloc(n * sizeof *space->edges),
                  malloc(n * sizeof *space->by_head), malloc(n * sizeof *space->by_tail),
                  malloc(n * sizeof *space->placed), {{0}}, NULL, NULL};
  int made = space->keys && space->edges && space->by_head && space->by_tail && space->placed;
  int code = made ? LSCFG_OK : LSCFG_ENOMEM;
  for (int32_t arity = 0; arity <= MAX_TENSOR_ARITY; arity++) {
    if ((size_t)model->packing[arity].n_tensors > tensors) tensors = (size_t)model->packing[arity].n_tensors;
    if (!needs_room(model, arity)) continue;
    size_t values = (size_t)tensor_length(p->rank, arity);
    space->tensor[arity] = (tensor_room){calloc(values, sizeof(double)), -1}; /* of either precision */
    if (!space->tensor[arity].values) code = LSCFG_ENOMEM;
  }
  for (int64_t s = 0; s < p->sets.size; s++)
    if ((size_t)p->sets.data[s].n > rules) rules = (size_t)p->sets.data[s].n;
  space->first = malloc(tensors * sizeof *space->first);
  space->equal = malloc(rules * sizeof *space->equal);
  if (!space->first || !space->equal) return LSCFG_ENOMEM;
  memset(space->first, 0xff, tensors * sizeof *space->first);
  return code;
}

static void free_room(room *space) {
  free(space->keys);
  free(space->edges);
  free(space->by_head);
  free(space->by_tail);
  free(space->placed);
  for (int32_t arity = 0; arity <= MAX_TENSOR_ARITY; arity++) free(space->tensor[arity].values);
  free(space->first);
  free(space->equal);
}

int application_marginals(pass *p) {
  const lscfg_forest *f = p->forest;
  room space;
  int code = make_room(p, &space);
  for (int32_t q = 0; !code && q < f->node_cat.size; q++)
    if (category_of(p, q) < 0) marginals_without_states(p, q);
  const run *runs = p->runs.data, *all = runs + p->runs.size;
  for (const run *first = runs, *end = runs; !code && first < all; first = end) {
    while (end < all && end->set == first->set) end++;
    if (p->sets.data[first->set].first) continue; /* low rank: already computed */
    grouping g = group_edges(p, first, end, &space);
    if (is_pass(p, g.set))
      pass_through_marginals(p, &g, &space);
    else
      set_marginals(p, &g, &space);
  }
  free_room(&space);
  return code;
}
