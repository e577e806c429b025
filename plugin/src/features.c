/* The decoder features of rule applications, from their marginals. */
#include "forest.h"
#include "model.h"

#include <math.h>

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
  if (binding_check_forest(b, f, error)) return LSCFG_EINPUT;
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
