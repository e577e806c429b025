/* Families of decoder features. A family is a file that defines one, and a row of FEATURE_FAMILIES. Names, masks, start
 * weights, messages, the lists of Python and the table of docs/reference/features.md derive from it. */
#ifndef LSCFG_FAMILIES_H
#define LSCFG_FAMILIES_H

#include <math.h>

#include "forest/forest.h"
#include "inference/binding.h"

/* One row for each family. Families with the same function to compute them are neighbours. */
#define FEATURE_FAMILIES(ROW) \
  ROW(paper)                  \
  ROW(span)                   \
  ROW(ratios)                 \
  ROW(context)                \
  ROW(composed)               \
  ROW(sense)                  \
  ROW(ranks)                  \
  ROW(scores)                 \
  ROW(boundary)               \
  ROW(neural)                 \
  ROW(orientation)

/* The input of a family; marginals are those of lscfg_infer, NULL where no wanted family needs them. */
typedef struct {
  const lscfg_binding *binding;
  const lscfg_forest *forest;
  const double *app_marginals, *node_marginals;
  const lscfg_feature_options *options;
  int32_t column[LSCFG_N_FEATURES]; /* of each feature, -1 where it is not wanted */
  int32_t first_node, end_node;     /* the nodes whose applications are wanted in this call */
  int32_t first_app;                /* the first of these applications */
  double *features;                 /* [these applications][columns], 0 at first */
  const uint8_t *keep;              /* [applications] 0: no features are wanted; NULL: all are */
} feature_work;

/* True if features of an application of the edge are wanted. */
static inline int edge_is_wanted(const feature_work *w, int32_t edge) {
  if (!w->keep) return 1;
  for (int32_t a = w->forest->edge_apps.data[edge]; a < w->forest->edge_apps.data[edge + 1]; a++)
    if (w->keep[a]) return 1;
  return 0;
}

/* Fills spans [2][2] with those of the tails of an edge; 0 if it has more than two. */
static inline int tail_spans(const lscfg_forest *f, int32_t edge, int32_t spans[4]) {
  const int32_t *tail = f->edge_tail.data + 2 * (int64_t)edge;
  if (tail[0] >= 0 && tail[1] >= 0 && f->node_cat.data[tail[1]] == LSCFG_REST) return 0;
  for (int k = 0; k < 2; k++)
    if (tail[k] >= 0) memcpy(spans + 2 * k, f->node_span.data + 2 * (int64_t)tail[k], 2 * sizeof *spans);
  return 1;
}

/* The row of an application. */
static inline double *features_of_app(const feature_work *w, int32_t application) {
  return w->features + (int64_t)w->options->n_columns * (application - w->first_app);
}

static inline void put_feature(const feature_work *w, int32_t application, int32_t feature, double value) {
  int32_t column = w->column[feature];
  if (column >= 0) features_of_app(w, application)[column] = value;
}

typedef struct {
  const char *name;
  double start;     /* weight at the start of tuning */
  const char *help; /* one line for the user */
} feature_row;

enum { NEEDS_MARGINALS = 1 };

typedef struct {
  const char *name; /* on a decoder's line */
  int32_t first, n; /* numbers of its features: first .. first + n - 1 */
  int32_t needs;    /* NEEDS_MARGINALS or 0 */
  const feature_row *features; /* [n] */
  /* Writes its features. *kept, NULL at first, is what it keeps for the next call for the same forest. */
  int (*compute)(const feature_work *, void **kept, lscfg_error *);
  void (*release)(void *kept); /* frees it, which may be NULL; NULL where the family keeps nothing */
  int (*is_in)(const lscfg_model *); /* whether a model has the parameters of the family; NULL: every model has */
  const char *missing, *cure;        /* these parameters, and how to get them, for messages */
} feature_family;

#define DECLARE_FAMILY(name) extern const feature_family name##_family;
FEATURE_FAMILIES(DECLARE_FAMILY)
#undef DECLARE_FAMILY

#define N_ROWS(rows) (int32_t)(sizeof(rows) / sizeof *(rows))

/* False for a lattice, or a forest that a decoder has built of one. */
static inline int has_words_around(const lscfg_forest *f) {
  return f->origin != FOREST_LATTICE && f->node_span.data[2 * f->node_cat.size - 1] == f->n_words;
}

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
