/* The marginal of an application's span: of all derivations that have an [X] there. */
#include "inference/families.h"

static int compute(const feature_work *w, void **kept, lscfg_error *error) {
  const lscfg_forest *f = w->forest;
  (void)kept;
  (void)error;
  for (int32_t q = w->first_node; q < w->end_node; q++) {
    if (node_category(w->binding, f, q) < 0) continue;
    double span = feature_value(marginal_policy(w->node_marginals[q], w->options->negative), w->options);
    int32_t begin = f->edge_apps.data[f->node_edges.data[q]], end = f->edge_apps.data[f->node_edges.data[q + 1]];
    for (int32_t a = begin; a < end; a++) put_feature(w, a, LSCFG_SPAN, span);
  }
  return LSCFG_OK;
}

static const feature_row rows[] = {{"LatentSpan", 0, "marginal probability of the span"}};
const feature_family span_family = {"span",  LSCFG_SPAN, N_ROWS(rows), NEEDS_MARGINALS, rows,
                                    compute, NULL,       NULL,         NULL,            NULL};
