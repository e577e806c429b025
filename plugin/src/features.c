/* The decoder features of rule applications, from their marginals. docs/FORMATS.md defines them for the user. */
#include "forest.h"
#include "model.h"

#include <math.h>

const char *lscfg_feature_name(int32_t feature) {
  static const char *const names[LSCFG_N_FEATURES] = {"LatentMarginal", "LatentEgivenF", "LatentFgivenE", "LatentSpan"};
  return feature >= 0 && feature < LSCFG_N_FEATURES ? names[feature] : NULL;
}

static double policy(double marginal, int32_t negative) {
  return negative == LSCFG_NEGATIVE_FLIP ? fabs(marginal) : marginal > 0 ? marginal : 0;
}

static double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

static double scaled(double value, const lscfg_feature_options *options) {
  if (!options->log) return value;
  return log(value > options->floor ? value : options->floor);
}

/* Number of the application's target side, equal for equal sides of one node; a word passed through is one of its own. */
static int32_t target_of(const lscfg_binding *b, int32_t rule) {
  int32_t n = lscfg_grammar_size(b->grammar);
  return rule < n ? b->rule_target[rule] : b->n_targets + rule - n;
}

int lscfg_features(const lscfg_binding *b, const lscfg_forest *f, const lscfg_inference *inference,
                   const double *app_marginals, const double *node_marginals, const lscfg_feature_options *options,
                   double *features, lscfg_error *error) {
  if (binding_check_forest(b, f, error)) return LSCFG_EINPUT;
  memset(features, 0, (size_t)f->app_rule.size * LSCFG_N_FEATURES * sizeof *features);
  if (inference->sign <= 0) return LSCFG_OK;
  double *by_target = calloc((size_t)b->n_targets + LSCFG_EXTRA_RULES, sizeof *by_target);
  if (!by_target) return out_of_memory(error);
  for (int32_t q = 0; q < f->node_cat.size; q++) {
    if (f->node_cat.data[q] != CATEGORY_X) continue; /* no states, nothing to say of it */
    int32_t begin = f->edge_apps.data[f->node_edges.data[q]], end = f->edge_apps.data[f->node_edges.data[q + 1]];
    double span = scaled(policy(node_marginals[q], options->negative), options);
    for (int32_t a = begin; a < end; a++)
      by_target[target_of(b, f->app_rule.data[a])] += policy(app_marginals[a], options->negative);
    for (int32_t e = f->node_edges.data[q]; e < f->node_edges.data[q + 1]; e++) {
      double by_source = 0;
      for (int32_t a = f->edge_apps.data[e]; a < f->edge_apps.data[e + 1]; a++)
        by_source += policy(app_marginals[a], options->negative);
      for (int32_t a = f->edge_apps.data[e]; a < f->edge_apps.data[e + 1]; a++) {
        double *row = features + (int64_t)LSCFG_N_FEATURES * a, marginal = policy(app_marginals[a], options->negative);
        row[LSCFG_MARGINAL] = scaled(marginal, options);
        row[LSCFG_E_GIVEN_F] = scaled(ratio(marginal, by_source), options);
        row[LSCFG_F_GIVEN_E] = scaled(ratio(marginal, by_target[target_of(b, f->app_rule.data[a])]), options);
        row[LSCFG_SPAN] = span;
      }
    }
    for (int32_t a = begin; a < end; a++) by_target[target_of(b, f->app_rule.data[a])] = 0;
  }
  free(by_target);
  return LSCFG_OK;
}
