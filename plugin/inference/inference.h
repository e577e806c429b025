#ifndef LSCFG_INFERENCE_H
#define LSCFG_INFERENCE_H

#include "contract.h"
#include "forest.h"
#include "model.h"

#include <math.h>

enum { BATCH = 96 };       /* runs that are taken together at most */
enum { NONE = INT32_MIN }; /* exponent of a vector that is still zero */

/* The rules of some edges' applications. */
typedef struct {
  const int32_t *rules;
  int32_t n, arity;
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
  int32_t rank, batch; /* runs that are taken together here: what they make stays in the second-level cache */
  double *inside, *outside; /* [node][rank] */
  int64_t *inside_exponent, *outside_exponent;
  int32_t *level;   /* [node] longest way down to a node without tails */
  int32_t *edges;   /* those with a head in X, by rules, then in order */
  ARRAY(rule_set) sets;
  ARRAY(run) runs;     /* in the order of edges */
  int32_t n_levels;
  int32_t *nodes_by_level, *runs_by_level;  /* by level, then in order */
  int32_t *first_node, *first_run; /* [n_levels + 1] where a level begins in them */
  double *rows; /* [batch][rank^2] what goes into a contraction */
  double *out;  /* [batch][rank^2] what comes out */
  double *space; /* of the contraction */
  double *sum;  /* [rank] */
  double *marginals; /* of applications; g and g_exponent: the sum over all derivations */
  double g;
  int64_t g_exponent;
  struct low_rank *low_rank;
  ARRAY(void *) owned; /* what belongs to the sets and not to the binding */
} pass;

static inline int32_t states_of(const pass *p, int32_t node) {
  return p->forest->node_cat.data[node] == CATEGORY_X ? p->rank : 1;
}

static inline double *inside_of(const pass *p, int32_t node) { return p->inside + (int64_t)node * p->rank; }
static inline double *outside_of(const pass *p, int32_t node) { return p->outside + (int64_t)node * p->rank; }

/* value * 2^exponent */
static inline double scaled(double value, int64_t exponent) {
  if (exponent > -1000 && exponent < 1000) {
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return value * power;
  }
  return ldexp(value, exponent > 4000 ? 4000 : exponent < -4000 ? -4000 : (int)exponent);
}

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

/* into += term * 2^exponent, where into carries an exponent of its own. */
void accumulate(double *into, int64_t *into_exponent, const double *term, int64_t exponent, int32_t n);

/* ---- rules of low rank: see low_rank.c ---- */

/* Fills in the factors of the set's rules. */
int low_rank_factors(pass *, rule_set *, lscfg_error *);
/* Room for the largest set; to be called after the factors of all sets are there. */
int low_rank_prepare(pass *);
void low_rank_free(pass *);
/* The inside of some runs of one level with the same rules. */
void low_rank_inside(pass *, const int32_t *runs, int32_t n);
/* What they give to the outside of their tails, and their marginals. */
void low_rank_outside(pass *, const int32_t *runs, int32_t n);
/* Completes the outside of the level's nodes; to be called when all higher levels are done. */
void low_rank_finish_outside(pass *, int32_t level);

#endif
