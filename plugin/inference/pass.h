/* The workspace of one pass of tensor inside-outside. */
#ifndef LSCFG_PASS_H
#define LSCFG_PASS_H

#include "forest/forest.h"
#include "inference/binding.h"
#include "inference/contract.h"
#include "inference/scaled.h"

enum { BATCH = 96 }; /* maximum number of runs processed together */

/* The rules of some edges' applications. */
typedef struct {
  const int32_t *rules;
  int32_t n, arity;
  int32_t category;  /* of the heads, in the model's numbers */
  const double *sum; /* of their tensors; NULL: none of them has one, or they are of low rank */
  /* of low rank: for each rule the components first[k] .. first[k+1]-1 of factors [3][first[n]][rank]: u, v, w; else
   * NULL */
  const int32_t *first;
  const double *factors;
} rule_set;

/* Edges edges[begin] .. edges[end-1] with the same head and rules. */
typedef struct {
  int32_t set, head, begin, end;
} run;

typedef struct {
  const lscfg_binding *binding;
  const lscfg_forest *forest;
  const contraction *loops;
  int32_t rank, batch;      /* runs processed together: their results stay in the second-level cache */
  double *inside, *outside; /* [node][rank] */
  int64_t *inside_exponent, *outside_exponent;
  int32_t *level; /* [node] longest way down to a node without tails */
  int32_t *edges; /* runs with a head that has states, by rules, then in order */
  ARRAY(rule_set) sets;
  ARRAY(run) runs; /* in the order of edges */
  int32_t n_levels;
  int32_t *nodes_by_level, *runs_by_level; /* by level, then in order */
  int32_t *first_node, *first_run;         /* [n_levels + 1] where a level begins in them */
  double *rows;                            /* [batch][rank^2] what goes into a contraction */
  double *out;                             /* [batch][rank^2] what comes out */
  double *space;                           /* of the contraction */
  double *sum;                             /* [rank] */
  double *marginals;                       /* of applications; g and g_exponent: the sum over all derivations */
  double g;
  int64_t g_exponent;
  struct low_rank *low_rank;
  ARRAY(void *) owned; /* what belongs to the sets and not to the binding */
} pass;

/* The model's number of a node's category, -1: it has no states. */
static inline int32_t category_of(const pass *p, int32_t node) { return node_category(p->binding, p->forest, node); }

static inline int32_t states_of(const pass *p, int32_t node) { return category_of(p, node) >= 0 ? p->rank : 1; }

static inline double *inside_of(const pass *p, int32_t node) { return p->inside + (int64_t)node * p->rank; }
static inline double *outside_of(const pass *p, int32_t node) { return p->outside + (int64_t)node * p->rank; }

static inline const int32_t *tails_of(const pass *p, int32_t edge, int32_t *arity) {
  const int32_t *tail = p->forest->edge_tail.data + 2 * (int64_t)edge;
  *arity = (tail[0] >= 0) + (tail[1] >= 0);
  return tail;
}

/* Exponent of the product of the tails' insides; NONE if one of them is zero. */
static inline int64_t tails_exponent(const pass *p, int32_t edge) {
  int32_t arity;
  const int32_t *tail = tails_of(p, edge, &arity);
  int64_t exponent = 0;
  for (int32_t t = 0; t < arity; t++) {
    if (p->inside_exponent[tail[t]] == NONE) return NONE;
    exponent += p->inside_exponent[tail[t]];
  }
  return exponent;
}

/* Value of a node as a whole tree: C^S . inside, or the value itself for a category without states. */
static inline double as_tree(const pass *p, int32_t node) {
  const double *inside = inside_of(p, node);
  int32_t category = category_of(p, node);
  return category >= 0 ? p->loops->dot(p->rank, model_root(p->binding->model, category), inside) : inside[0];
}

/* Value of an edge whose head has no states: a product of whole trees, for one application; NONE for zero. */
static inline int64_t value_without_states(const pass *p, int32_t edge, double *value) {
  int32_t arity;
  const int32_t *tail = tails_of(p, edge, &arity);
  *value = 1;
  int64_t exponent = tails_exponent(p, edge);
  if (exponent == NONE) return NONE;
  for (int32_t t = 0; t < arity; t++) *value *= as_tree(p, tail[t]);
  return exponent;
}

#endif
