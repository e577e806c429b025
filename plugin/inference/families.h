/* Families of decoder features: each is a file that defines one and a row in features.c.
 *
 * A family has features of neighbouring numbers. It says what it needs of the model, and computes those that are wanted
 * for all applications of a forest. */
#ifndef LSCFG_FAMILIES_H
#define LSCFG_FAMILIES_H

#include <math.h>

#include "forest/forest.h"
#include "inference/binding.h"

enum { NEEDS_MARGINALS = 1, NEEDS_ONE_STATE = 2, NEEDS_CONTEXT = 4, NEEDS_SENSE = 8, NEEDS_BOUNDARY = 16 };

/* What features are made from; marginals are those of lscfg_infer, NULL where no wanted family needs them. */
typedef struct {
  const lscfg_binding *binding;
  const lscfg_forest *forest;
  const double *app_marginals, *node_marginals;
  const lscfg_feature_options *options;
  int32_t column[LSCFG_N_FEATURES]; /* of each feature, -1 where it is not wanted */
  double *features;                 /* [applications][columns], 0 at first */
} feature_work;

static inline void put_feature(const feature_work *w, int32_t application, int32_t feature, double value) {
  int32_t column = w->column[feature];
  if (column >= 0) w->features[(int64_t)w->options->n_columns * application + column] = value;
}

typedef struct {
  const char *name; /* on a decoder's line; NULL: its features are asked for one by one */
  int32_t first, n;
  uint32_t needs;
  const char *const *names; /* [n] */
  const double *start;      /* [n] weights where tuning begins */
  int (*compute)(const feature_work *, lscfg_error *); /* neighbours that share it are computed at once */
} feature_family;

extern const feature_family paper_family, span_family, ratio_family, context_family, composed_family;
extern const feature_family sense_family, thesis_family, score_family, boundary_family;

/* The largest logarithm of a ratio: a search should not hang on one doubtful estimate. */
static const double largest_log_ratio = 4;

/* A marginal as features see it: see LSCFG_NEGATIVE_... . */
static inline double marginal_policy(double marginal, int32_t negative) {
  return negative == LSCFG_NEGATIVE_FLIP ? fabs(marginal) : marginal > 0 ? marginal : 0;
}

/* A value as a feature: its logarithm, unless the options say otherwise. */
static inline double feature_value(double value, const lscfg_feature_options *options) {
  if (!options->log) return value;
  return log(value > options->floor ? value : options->floor);
}

#endif
