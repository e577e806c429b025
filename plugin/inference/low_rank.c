/* Inside-outside with tensors of low rank (Cohen & Collins 2012): a rule of two nonterminals has
 *
 *   C^r = sum over k of u_k (x) v_k (x) w_k
 *
 * so that with l_k = v_k . inside(left) and r_k = w_k . inside(right) an edge adds the sum over k of l_k r_k u_k to the
 * inside of its head; with q_k = u_k . outside(head) it adds the sum of q_k r_k v_k to the outside of its left tail and
 * that of q_k l_k w_k to the right one's; and the marginal of a rule is the sum of q_k l_k r_k over its components.
 *
 * The components of all rules of an edge are processed together. The part that is linear in the number of states, l, r
 * and q and the ways back from them, is computed once for each node and set of rules, whatever the number of edges; the
 * cost of an edge is proportional to the number of components. */
#include "inference/low_rank.h"

enum { ROWS = 64 }; /* vectors that are multiplied with a set's factors together */

/* A node as left (side 0) or right tail (side 1) of edges with the same rules. */
typedef struct {
  int32_t node, set, side;
  int32_t known;    /* non-zero: projected is filled in */
  int64_t offset;   /* of its components in projected and back */
  int64_t exponent; /* of back */
} slot;

struct low_rank {
  ARRAY(slot) slots;
  int32_t *slot_of;  /* [edges][2], by index in pass.edges; only of sets with factors */
  int32_t *by_level; /* slots by the level of their nodes, in order */
  int32_t *first;    /* [n_levels + 1] */
  double *projected; /* l or r */
  double *back;      /* sum of q r or of q l over the edges */
  double *rows;      /* [ROWS][rank] */
  double *q;         /* [ROWS][components] */
  double *product;   /* [ROWS][components] */
  double *out;       /* [ROWS][rank] */
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

static int32_t components_of(const rule_set *set) { return set->first[set->n]; }

/* Finds the slots of all edges. mark [2][nodes]: the last slot of a node on either side. */
static int find_slots(pass *p, struct low_rank *l, int32_t *mark) {
  int64_t total = 0, n_nodes = p->forest->node_cat.size;
  for (int64_t q = 0; q < 2 * n_nodes; q++) mark[q] = -1;
  for (int64_t i = 0; i < p->runs.size; i++) {
    const run *r = &p->runs.data[i];
    const rule_set *set = &p->sets.data[r->set];
    for (int32_t k = r->begin; set->first && k < r->end; k++)
      for (int32_t side = 0; side < 2; side++) {
        int32_t node = p->forest->edge_tail.data[2 * (int64_t)p->edges[k] + side], *at = &mark[side * n_nodes + node];
        if (*at < 0 || l->slots.data[*at].set != r->set) {
          if (ARRAY_RESERVE(l->slots, 1)) return LSCFG_ENOMEM;
          *at = (int32_t)l->slots.size;
          l->slots.data[l->slots.size++] = (slot){node, r->set, side, 0, total, NONE};
          total += components_of(set);
        }
        l->slot_of[2 * (int64_t)k + side] = *at;
      }
  }
  l->projected = calloc((size_t)(2 * total + 1), sizeof *l->projected);
  if (!l->projected) return LSCFG_ENOMEM;
  l->back = l->projected + total;
  return LSCFG_OK;
}

static int sort_slots(const pass *p, struct low_rank *l) {
  int32_t n = (int32_t)l->slots.size, *first;
  l->by_level = calloc((size_t)n + (size_t)p->n_levels + 1, sizeof *l->by_level);
  if (!l->by_level) return LSCFG_ENOMEM;
  first = l->first = l->by_level + n;
  for (int32_t s = 0; s < n; s++) first[p->level[l->slots.data[s].node]]++;
  for (int32_t level = 1; level <= p->n_levels; level++) first[level] += first[level - 1];
  for (int32_t s = n - 1; s >= 0; s--) l->by_level[--first[p->level[l->slots.data[s].node]]] = s;
  return LSCFG_OK;
}

int low_rank_prepare(pass *p) {
  size_t m = (size_t)p->rank, k = 0;
  for (int64_t s = 0; s < p->sets.size; s++)
    if (p->sets.data[s].first && (size_t)components_of(&p->sets.data[s]) > k)
      k = (size_t)components_of(&p->sets.data[s]);
  struct low_rank *l = p->low_rank = calloc(1, sizeof *l);
  int32_t *mark = malloc((2 * (size_t)p->forest->node_cat.size + 1) * sizeof *mark);
  int code = LSCFG_ENOMEM;
  if (l && mark) {
    l->slot_of = malloc((2 * (size_t)p->forest->edge_head.size + 1) * sizeof *l->slot_of);
    l->rows = malloc((ROWS * 2 * (m + k) + CONTRACT_COLUMNS * k + 1) * sizeof *l->rows);
    if (l->slot_of && l->rows) {
      l->out = l->rows + ROWS * m;
      l->q = l->out + ROWS * m;
      l->product = l->q + ROWS * k;
      l->space = l->product + ROWS * k;
      code = find_slots(p, l, mark) || sort_slots(p, l) ? LSCFG_ENOMEM : LSCFG_OK;
    }
  }
  free(mark);
  return code;
}

void low_rank_free(pass *p) {
  if (!p->low_rank) return;
  free(p->low_rank->slots.data);
  free(p->low_rank->slot_of);
  free(p->low_rank->by_level);
  free(p->low_rank->projected);
  free(p->low_rank->rows);
  free(p->low_rank);
}

/* The factors u (part 0), v or w of the set's components, [components][rank]. */
static const double *factors_of(const pass *p, const rule_set *set, int32_t part) {
  return set->factors + (int64_t)part * components_of(set) * p->rank;
}

/* l->out = l->product x the factors. */
static void way_back(pass *p, const rule_set *set, int32_t part, int32_t n) {
  struct low_rank *l = p->low_rank;
  p->loops->contract_double(n, components_of(set), p->rank, p->rank, l->product, factors_of(p, set, part), NULL,
                            l->space, l->out);
}

static void project_slots(pass *p, const rule_set *set, int32_t side, const int32_t *slots, int32_t n) {
  struct low_rank *l = p->low_rank;
  int64_t components = components_of(set);
  for (int32_t i = 0; i < n; i++)
    memcpy(l->rows + (int64_t)i * p->rank, inside_of(p, l->slots.data[slots[i]].node),
           (size_t)p->rank * sizeof *l->rows);
  p->loops->project(n, (int32_t)components, p->rank, l->rows, factors_of(p, set, 1 + side), l->product);
  for (int32_t i = 0; i < n; i++)
    memcpy(l->projected + l->slots.data[slots[i]].offset, l->product + i * components,
           (size_t)components * sizeof *l->product);
}

/* Fills in what the tails' insides are projected to; where an inside is zero, so it is. */
static void project_tails(pass *p, const int32_t *numbers, int32_t n, int32_t side) {
  struct low_rank *l = p->low_rank;
  const rule_set *set = &p->sets.data[p->runs.data[numbers[0]].set];
  int32_t wanted[ROWS], n_wanted = 0;
  for (int32_t i = 0; i < n; i++)
    for (int32_t k = p->runs.data[numbers[i]].begin; k < p->runs.data[numbers[i]].end; k++) {
      slot *s = &l->slots.data[l->slot_of[2 * (int64_t)k + side]];
      if (s->known) continue;
      s->known = 1;
      if (p->inside_exponent[s->node] == NONE) continue;
      wanted[n_wanted++] = l->slot_of[2 * (int64_t)k + side];
      if (n_wanted < ROWS) continue;
      project_slots(p, set, side, wanted, n_wanted);
      n_wanted = 0;
    }
  if (n_wanted) project_slots(p, set, side, wanted, n_wanted);
}

static const double *projected(const pass *p, int32_t place, int32_t side) {
  const struct low_rank *l = p->low_rank;
  return l->projected + l->slots.data[l->slot_of[2 * (int64_t)place + side]].offset;
}

/* product = sum over the run's edges of l r; its exponent, NONE for zero. */
static int64_t sum_edges(const pass *p, const run *r, int32_t components, double *product) {
  int64_t largest = NONE;
  for (int32_t k = r->begin; k < r->end; k++) {
    int64_t exponent = tails_exponent(p, p->edges[k]);
    if (exponent > largest) largest = exponent;
  }
  memset(product, 0, (size_t)components * sizeof *product);
  for (int32_t k = r->begin; k < r->end; k++) {
    int64_t exponent = tails_exponent(p, p->edges[k]);
    if (exponent != NONE)
      p->loops->add_products(components, scaled(1, exponent - largest), projected(p, k, 0), projected(p, k, 1),
                             product);
  }
  return largest;
}

void low_rank_inside(pass *p, const int32_t *numbers, int32_t n) {
  struct low_rank *l = p->low_rank;
  const rule_set *set = &p->sets.data[p->runs.data[numbers[0]].set];
  int32_t components = components_of(set);
  if (!components) return;
  for (int32_t side = 0; side < 2; side++) project_tails(p, numbers, n, side);
  for (int32_t begin = 0; begin < n; begin += ROWS) {
    int32_t heads[ROWS], kept = 0;
    int64_t exponents[ROWS];
    for (int32_t i = begin; i < n && i < begin + ROWS; i++) {
      const run *r = &p->runs.data[numbers[i]];
      exponents[kept] = sum_edges(p, r, components, l->product + (int64_t)kept * components);
      heads[kept] = r->head;
      kept += exponents[kept] != NONE;
    }
    if (kept) way_back(p, set, 0, kept);
    for (int32_t i = 0; i < kept; i++)
      accumulate(inside_of(p, heads[i]), &p->inside_exponent[heads[i]], l->out + (int64_t)i * p->rank, exponents[i],
                 p->rank);
  }
}

void low_rank_finish_outside(pass *p, int32_t level) {
  struct low_rank *l = p->low_rank;
  for (int32_t begin = l->first[level], end; begin < l->first[level + 1]; begin = end) {
    const slot *first = &l->slots.data[l->by_level[begin]];
    const rule_set *set = &p->sets.data[first->set];
    int32_t components = components_of(set), kept = 0, slots[ROWS];
    for (end = begin; end < l->first[level + 1] && kept < ROWS; end++) {
      const slot *s = &l->slots.data[l->by_level[end]];
      if (s->set != first->set || s->side != first->side) break;
      if (s->exponent == NONE) continue;
      memcpy(l->product + (int64_t)kept * components, l->back + s->offset, (size_t)components * sizeof *l->product);
      slots[kept++] = l->by_level[end];
    }
    if (kept) way_back(p, set, 1 + first->side, kept);
    for (int32_t i = 0; i < kept; i++) {
      const slot *s = &l->slots.data[slots[i]];
      accumulate(outside_of(p, s->node), &p->outside_exponent[s->node], l->out + (int64_t)i * p->rank, s->exponent,
                 p->rank);
    }
  }
}

/* Contributions of an edge to its tails, and its marginals; q: the projected outside of its head. */
static void outside_edge(pass *p, const rule_set *set, int32_t place, int32_t head, const double *q) {
  struct low_rank *l = p->low_rank;
  int32_t edge = p->edges[place], components = components_of(set);
  const int32_t *tail = p->forest->edge_tail.data + 2 * (int64_t)edge;
  double *part = l->product, *marginal = p->marginals + p->forest->edge_apps.data[edge];
  for (int32_t side = 0; side < 2; side++) {
    slot *s = &l->slots.data[l->slot_of[2 * (int64_t)place + side]];
    const double *other = projected(p, place, 1 - side);
    for (int32_t k = 0; k < components; k++) part[k] = q[k] * other[k];
    if (p->inside_exponent[tail[1 - side]] != NONE)
      accumulate(l->back + s->offset, &s->exponent, part,
                 p->outside_exponent[head] + p->inside_exponent[tail[1 - side]], components);
  }
  int64_t exponent = tails_exponent(p, edge);
  const double *right = projected(p, place, 1);
  for (int32_t r = 0; r < set->n; r++) { /* part is now that of the right side: q l */
    double value = 0;
    for (int32_t k = set->first[r]; k < set->first[r + 1]; k++) value += part[k] * right[k];
    marginal[r] = exponent == NONE ? 0 : scaled(value / p->g, exponent + p->outside_exponent[head] - p->g_exponent);
  }
}

static void no_marginals(const pass *p, const run *r) {
  for (int32_t k = r->begin; k < r->end; k++) {
    int32_t begin = p->forest->edge_apps.data[p->edges[k]], end = p->forest->edge_apps.data[p->edges[k] + 1];
    memset(p->marginals + begin, 0, (size_t)(end - begin) * sizeof *p->marginals);
  }
}

void low_rank_outside(pass *p, const int32_t *numbers, int32_t n) {
  struct low_rank *l = p->low_rank;
  const rule_set *set = &p->sets.data[p->runs.data[numbers[0]].set];
  int32_t components = components_of(set);
  for (int32_t begin = 0; begin < n; begin += ROWS) {
    const run *runs[ROWS];
    int32_t kept = 0;
    for (int32_t i = begin; i < n && i < begin + ROWS; i++) {
      const run *r = &p->runs.data[numbers[i]];
      if (!components || p->outside_exponent[r->head] == NONE) {
        no_marginals(p, r);
        continue;
      }
      memcpy(l->rows + (int64_t)kept * p->rank, outside_of(p, r->head), (size_t)p->rank * sizeof *l->rows);
      runs[kept++] = r;
    }
    if (kept) p->loops->project(kept, components, p->rank, l->rows, factors_of(p, set, 0), l->q);
    for (int32_t i = 0; i < kept; i++)
      for (int32_t k = runs[i]->begin; k < runs[i]->end; k++)
        outside_edge(p, set, k, runs[i]->head, l->q + (int64_t)i * components);
  }
}
