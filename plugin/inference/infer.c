/* Inference over any forest that a binding's grammar has: rules are composed, the forest is expanded where it has
 * composed rules or lacks some rules of a source side, and negative marginals are counted. */
#include <math.h>
#include <string.h>

#include "forest/forest.h"
#include "inference/bind.h"
#include "inference/compose.h"
#include "inference/expand.h"
#include "inference/inside_outside.h"

/* The marginals of the forest are sums over those of its expansion. */
static int infer_expanded(const lscfg_binding *b, const lscfg_forest *f, double *app_marginals, double *node_marginals,
                          double *states, lscfg_inference *result, lscfg_error *error) {
  expansion x;
  if (expansion_make(b, f, &x)) return out_of_memory(error);
  size_t n = (size_t)x.forest->node_cat.size, m = states ? (size_t)b->model->rank : 0;
  double *apps = malloc(((size_t)x.app.size + 1) * sizeof *apps);
  double *nodes = malloc((n * (1 + m) + 1) * sizeof *nodes), *inner_states = states && nodes ? nodes + n : NULL;
  int code = apps && nodes ? inside_outside(b->inner, x.forest, apps, nodes, inner_states, result, error)
                           : out_of_memory(error);
  if (!code) {
    for (int64_t a = 0; a < f->app_rule.size; a++) app_marginals[a] = 0;
    for (int64_t a = 0; a < x.app.size; a++)
      if (x.app.data[a] >= 0) app_marginals[x.app.data[a]] += apps[a];
    for (int64_t q = 0; node_marginals && q < f->node_cat.size; q++) node_marginals[q] = nodes[x.node[q]];
    for (int64_t q = 0; states && q < f->node_cat.size; q++)
      memcpy(states + (size_t)q * m, inner_states + (size_t)x.node[q] * m, m * sizeof *states);
  }
  free(apps);
  free(nodes);
  expansion_release(&x);
  return code;
}

static void count_negative(const double *marginals, int64_t n, lscfg_inference *result) {
  double total = 0, negative = 0;
  for (int64_t a = 0; a < n; a++) {
    total += fabs(marginals[a]);
    if (marginals[a] >= 0) continue;
    result->negative++;
    negative -= marginals[a];
  }
  result->negative_mass = total > 0 ? negative / total : 0;
}

int lscfg_infer(const lscfg_binding *binding, const lscfg_forest *forest, double *app_marginals, double *node_marginals,
                lscfg_inference *result, lscfg_error *error) {
  return lscfg_infer_states(binding, forest, app_marginals, node_marginals, NULL, result, error);
}

int lscfg_infer_states(const lscfg_binding *binding, const lscfg_forest *forest, double *app_marginals,
                       double *node_marginals, double *states, lscfg_inference *result, lscfg_error *error) {
  if (binding_check_forest(binding, forest, error)) return LSCFG_EINPUT;
  int composed = 0;
  if (binding->composition && binding_compose(binding, forest->app_rule.data, forest->app_rule.size, &composed))
    return out_of_memory(error);
  int expanded = binding->inner && (composed || forest->origin != FOREST_PARSED);
  int code = (expanded ? infer_expanded : inside_outside)(binding, forest, app_marginals, node_marginals, states,
                                                          result, error);
  if (!code) count_negative(app_marginals, forest->app_rule.size, result);
  return code;
}
