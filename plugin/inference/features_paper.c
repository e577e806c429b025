/* The paper's three features: the edge marginal, P(e|f) and P(f|e) in the context of the whole sentence. */
#include "inference/families.h"

static double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

/* The features of an edge's applications; by_target: sums over the node by target side. */
static void edge_features(const feature_work *w, int32_t edge, const double *by_target) {
  const lscfg_binding *b = w->binding;
  const int32_t *rule = w->forest->app_rule.data, n = lscfg_grammar_size(b->grammar);
  int32_t begin = w->forest->edge_apps.data[edge], end = w->forest->edge_apps.data[edge + 1];
  double by_source = 0;
  for (int32_t a = begin; a < end; a++) by_source += marginal_policy(w->app_marginals[a], w->options->negative);
  for (int32_t a = begin; a < end; a++) {
    double marginal = marginal_policy(w->app_marginals[a], w->options->negative);
    /* a word passed through, or a rule outside the grammar, has its own target side */
    double target = rule[a] < n ? by_target[b->rule_target[rule[a]]] : marginal;
    if (w->column[LSCFG_MARGINAL] >= 0) put_feature(w, a, LSCFG_MARGINAL, feature_value(marginal, w->options));
    if (w->column[LSCFG_E_GIVEN_F] >= 0)
      put_feature(w, a, LSCFG_E_GIVEN_F, feature_value(ratio(marginal, by_source), w->options));
    if (w->column[LSCFG_F_GIVEN_E] >= 0)
      put_feature(w, a, LSCFG_F_GIVEN_E, feature_value(ratio(marginal, target), w->options));
  }
}

static int compute(const feature_work *w, void **kept, lscfg_error *error) {
  const lscfg_binding *b = w->binding;
  const lscfg_forest *f = w->forest;
  const int32_t *rule = f->app_rule.data, n = lscfg_grammar_size(b->grammar);
  if (!*kept) *kept = calloc((size_t)b->n_targets + 1, sizeof(double));
  double *by_target = *kept;
  if (!by_target) return out_of_memory(error);
  for (int32_t q = w->first_node; q < w->end_node; q++) {
    if (node_category(b, f, q) < 0) continue; /* no states, hence no features */
    int32_t begin = f->edge_apps.data[f->node_edges.data[q]], end = f->edge_apps.data[f->node_edges.data[q + 1]];
    for (int32_t a = begin; a < end; a++)
      if (rule[a] < n) by_target[b->rule_target[rule[a]]] += marginal_policy(w->app_marginals[a], w->options->negative);
    for (int32_t e = f->node_edges.data[q]; e < f->node_edges.data[q + 1]; e++) edge_features(w, e, by_target);
    for (int32_t a = begin; a < end; a++)
      if (rule[a] < n) by_target[b->rule_target[rule[a]]] = 0;
  }
  return LSCFG_OK;
}

static const feature_row rows[] = {
    {"LatentMarginal", 0, "marginal probability of the rule application, given the sentence"},
    {"LatentEgivenF", 0, "share of the marginal among the target sides of the same source side, span and tails"},
    {"LatentFgivenE", 0, "share of the marginal among the applications of the span with the same target side"},
};
const feature_family paper_family = {"paper", LSCFG_MARGINAL, N_ROWS(rows), NEEDS_MARGINALS, rows, compute,
                                     free,   NULL,    NULL,           NULL};
