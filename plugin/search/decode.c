/* From a forest and scores to k-best lists: cube pruning of its nodes, then extraction. */
#include <math.h>

#include "forest/forest.h"
#include "search/cube.h"
#include "search/hypergraph.h"
#include "search/kbest.h"
#include "search/targets.h"

static int run(search *s, lscfg_kbest **kbest, int32_t max_edges, lscfg_hypergraph **kept, lscfg_error *error) {
  int code = LSCFG_OK;
  s->node_items[0] = 0;
  for (int32_t q = 0; q < s->forest.n_nodes && !code; q++) {
    code = search_node(s, q);
    s->node_items[q + 1] = (int32_t)s->graph.items.size;
  }
  if (!code) code = search_goal(s);
  if (code == LSCFG_ECALLBACK) return lscfg_fail(error, code, 0, "the language model failed or gave an invalid answer");
  if (code) return out_of_memory(error);
  if ((code = kbest_extract(&s->graph, &s->options, kbest, error)) || !kept) return code;
  if (!(code = hypergraph_keep(&s->graph, max_edges, kept, error))) return LSCFG_OK;
  lscfg_kbest_free(*kbest);
  *kbest = NULL;
  return code;
}

static int check_input(const search *s, lscfg_error *error) {
  if (s->options.pop_limit < 1 || s->options.k < 1)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "pop limit and k must be 1 or more");
  if (!s->forest.n_nodes) return lscfg_fail(error, LSCFG_EINPUT, 0, "the forest has no nodes");
  if (!isfinite(s->options.lm_weight) || !isfinite(s->options.oov_weight))
    return lscfg_fail(error, LSCFG_EINPUT, 0, "a weight is not finite");
  for (int32_t a = 0; a < s->forest.n_apps; a++)
    if (!isfinite(s->app_scores[a]))
      return lscfg_fail(error, LSCFG_EINPUT, 0, "the score of application %ld is not finite", (long)a);
  return LSCFG_OK;
}

static int search_forest(const lscfg_forest *forest, const lscfg_grammar *grammar, lscfg_lm *lm,
                         const double *app_scores, const lscfg_search_options *options, lscfg_kbest **kbest,
                         int32_t max_edges, lscfg_hypergraph **kept, lscfg_error *error) {
  search s = {.lm = lm, .options = *options, .app_scores = app_scores};
  *kbest = NULL;
  lscfg_forest_get(forest, &s.forest);
  int code = check_input(&s, error);
  if (code) return code;
  s.max_left = lm ? lm->order - 1 : 0;
  s.graph.stride = s.max_left ? s.max_left : 1;
  size_t n_apps = (size_t)s.forest.n_apps;
  const int32_t **tgt = malloc((n_apps + 1) * sizeof *tgt);
  int32_t *length = malloc((n_apps + 1) * sizeof *length);
  s.node_items = malloc(((size_t)s.forest.n_nodes + 1) * sizeof *s.node_items);
  s.graph.app_tgt = tgt;
  s.graph.app_length = length;
  if (!tgt || !length || !s.node_items)
    code = out_of_memory(error);
  else if (!(code = collect_targets(forest, grammar, tgt, length, error)))
    code = run(&s, kbest, max_edges, kept, error);
  free(tgt);
  free(length);
  free(s.node_items);
  free(s.graph.items.data);
  free(s.graph.left.data);
  free(s.graph.edges.data);
  free(s.candidates.data);
  free(s.left.data);
  free(s.heap.data);
  free(s.drafts.data);
  index_release(&s.states);
  rank_set_release(&s.visited);
  return code;
}

int lscfg_search(const lscfg_forest *forest, const lscfg_grammar *grammar, lscfg_lm *lm, const double *app_scores,
                 const lscfg_search_options *options, lscfg_kbest **kbest, lscfg_error *error) {
  return search_forest(forest, grammar, lm, app_scores, options, kbest, 0, NULL, error);
}

int lscfg_search_hypergraph(const lscfg_forest *forest, const lscfg_grammar *grammar, lscfg_lm *lm,
                            const double *app_scores, const lscfg_search_options *options, int32_t max_edges,
                            lscfg_kbest **kbest, lscfg_hypergraph **kept, lscfg_error *error) {
  *kept = NULL;
  *kbest = NULL;
  if (max_edges < 1) return lscfg_fail(error, LSCFG_EINPUT, 0, "a hypergraph must keep 1 edge or more");
  return search_forest(forest, grammar, lm, app_scores, options, kbest, max_edges, kept, error);
}
