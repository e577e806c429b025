/* Posterior pruning: which applications of a forest a search may do without. */
#include <math.h>

#include "forest/forest.h"

/* The application into a node with the largest absolute marginal, the first of equal ones. */
static int32_t best_application(const lscfg_forest *f, int32_t node, const double *marginals) {
  int32_t first = f->edge_apps.data[f->node_edges.data[node]], end = f->edge_apps.data[f->node_edges.data[node + 1]];
  int32_t best = first;
  for (int32_t a = first + 1; a < end; a++)
    if (fabs(marginals[a]) > fabs(marginals[best])) best = a;
  return best;
}

/* Keeps the best application of each node that the best derivation uses; used [nodes]. Tails come before heads. */
static void keep_best_derivation(const lscfg_forest *f, const double *marginals, uint8_t *used, uint8_t *keep) {
  int32_t root = (int32_t)f->node_cat.size - 1;
  memset(used, 0, (size_t)root + 1);
  used[root] = 1;
  for (int32_t q = root; q >= 0; q--) {
    if (!used[q]) continue;
    int32_t a = best_application(f, q, marginals);
    keep[a] = 1;
    for (int t = 0; t < 2; t++) {
      int32_t tail = f->edge_tail.data[2 * (int64_t)f->app_edge.data[a] + t];
      if (tail >= 0) used[tail] = 1;
    }
  }
}

int lscfg_forest_keep(const lscfg_forest *f, const double *app_marginals, const double *node_marginals, double least,
                      double least_of_node, uint8_t *keep, lscfg_error *error) {
  if (!f->node_cat.size) return lscfg_fail(error, LSCFG_EINPUT, 0, "the forest has no nodes, or is not finished");
  uint8_t *used = malloc((size_t)f->node_cat.size);
  if (!used) return out_of_memory(error);
  for (int64_t a = 0; a < f->app_rule.size; a++) {
    int32_t head = f->edge_head.data[f->app_edge.data[a]];
    double marginal = fabs(app_marginals[a]);
    keep[a] = marginal > 0 ? marginal >= least
                           : f->node_cat.data[head] == LSCFG_REST || fabs(node_marginals[head]) >= least_of_node;
  }
  keep_best_derivation(f, app_marginals, used, keep);
  free(used);
  return LSCFG_OK;
}
