/* The hypergraph of one sentence's derivations: built node by node, then read-only. */
#include "forest/forest.h"

lscfg_forest *forest_new(const int32_t *words, int32_t n_words) {
  lscfg_forest *f = calloc(1, sizeof *f);
  if (!f) return NULL;
  f->n_words = n_words;
  f->words = malloc(((size_t)n_words + 1) * sizeof *f->words);
  if (!f->words || ARRAY_RESERVE(f->node_edges, 1) || ARRAY_RESERVE(f->edge_apps, 1)) {
    lscfg_forest_free(f);
    return NULL;
  }
  if (n_words) memcpy(f->words, words, (size_t)n_words * sizeof *words);
  f->node_edges.data[f->node_edges.size++] = 0;
  f->edge_apps.data[f->edge_apps.size++] = 0;
  return f;
}

void lscfg_forest_free(lscfg_forest *f) {
  if (!f) return;
  free(f->words);
  free(f->node_cat.data);
  free(f->node_span.data);
  free(f->node_edges.data);
  free(f->edge_head.data);
  free(f->edge_tail.data);
  free(f->edge_apps.data);
  free(f->app_rule.data);
  free(f->app_edge.data);
  free(f->edge_paths.data);
  free(f->paths.data);
  free(f->draft_nodes.data);
  free(f->draft_apps.data);
  free(f);
}

void lscfg_forest_get(const lscfg_forest *f, lscfg_forest_view *view) {
  *view = (lscfg_forest_view){f->n_words,
                              (int32_t)f->node_cat.size,
                              (int32_t)f->edge_head.size,
                              (int32_t)f->app_rule.size,
                              f->words,
                              f->node_cat.data,
                              f->node_span.data,
                              f->node_edges.data,
                              f->edge_head.data,
                              f->edge_tail.data,
                              f->edge_apps.data,
                              f->app_rule.data,
                              f->app_edge.data,
                              f->edge_paths.size ? f->edge_paths.data : NULL,
                              f->paths.data};
}

const int32_t *forest_passed_word(const lscfg_forest_view *f, int32_t edge) {
  if (!f->edge_paths) return &f->words[f->node_span[2 * (int64_t)f->edge_head[edge]]];
  int32_t k = f->edge_paths[edge];
  while (k + 1 < f->edge_paths[edge + 1] && f->words[f->paths[k]] == LSCFG_EPSILON) k++;
  return &f->words[f->paths[k]];
}

int32_t forest_n_tails(const lscfg_forest *f, int32_t edge) {
  const int32_t *tail = f->edge_tail.data + 2 * (int64_t)edge;
  int32_t n = (tail[0] >= 0) + (tail[1] >= 0);
  while (tail[1] >= 0 && f->node_cat.data[tail[1]] == LSCFG_REST) {
    tail = f->edge_tail.data + 2 * (int64_t)f->node_edges.data[tail[1]];
    n++;
  }
  return n;
}

int32_t forest_tails(const lscfg_forest_view *f, int32_t edge, int32_t *tails) {
  const int32_t *pair = f->edge_tail + 2 * (int64_t)edge;
  int32_t n = 0;
  for (;;) {
    if (pair[0] >= 0) tails[n++] = pair[0];
    if (pair[1] < 0) return n;
    if (f->node_cat[pair[1]] != LSCFG_REST) break;
    pair = f->edge_tail + 2 * (int64_t)f->node_edges[pair[1]];
  }
  tails[n++] = pair[1];
  return n;
}

int32_t forest_add_node(lscfg_forest *f, int32_t category, int32_t i, int32_t j) {
  if (ARRAY_RESERVE(f->node_cat, 1) || ARRAY_RESERVE(f->node_span, 2) || ARRAY_RESERVE(f->node_edges, 1))
    return LSCFG_ENOMEM;
  f->node_span.data[f->node_span.size++] = i;
  f->node_span.data[f->node_span.size++] = j;
  f->node_edges.data[f->node_edges.size++] = (int32_t)f->edge_head.size;
  f->node_cat.data[f->node_cat.size] = category;
  return (int32_t)f->node_cat.size++;
}

int32_t forest_add_edge(lscfg_forest *f, int32_t tail0, int32_t tail1, const int32_t *rules, int32_t n_rules) {
  if (f->edge_head.size == INT32_MAX || f->app_rule.size > INT32_MAX - n_rules || ARRAY_RESERVE(f->edge_head, 1) ||
      ARRAY_RESERVE(f->edge_tail, 2) || ARRAY_RESERVE(f->edge_apps, 1) || ARRAY_RESERVE(f->app_rule, n_rules) ||
      ARRAY_RESERVE(f->app_edge, n_rules))
    return LSCFG_ENOMEM;
  int32_t edge = (int32_t)f->edge_head.size++;
  f->edge_head.data[edge] = (int32_t)f->node_cat.size - 1;
  f->edge_tail.data[f->edge_tail.size++] = tail0;
  f->edge_tail.data[f->edge_tail.size++] = tail1;
  for (int32_t k = 0; k < n_rules; k++) {
    f->app_rule.data[f->app_rule.size++] = rules[k];
    f->app_edge.data[f->app_edge.size++] = edge;
  }
  f->edge_apps.data[f->edge_apps.size++] = (int32_t)f->app_rule.size;
  f->node_edges.data[f->node_edges.size - 1] = (int32_t)f->edge_head.size;
  return edge;
}

int forest_keep_reachable(lscfg_forest *f, int32_t root) {
  int32_t *renumbered = malloc(((size_t)root + 1) * sizeof *renumbered); /* new number; -1 where unreachable */
  if (!renumbered) return LSCFG_ENOMEM;
  memset(renumbered, 0xff, ((size_t)root + 1) * sizeof *renumbered);
  renumbered[root] = 0;
  for (int32_t q = root; q >= 0; q--) {
    if (renumbered[q] < 0) continue;
    for (int32_t e = f->node_edges.data[q]; e < f->node_edges.data[q + 1]; e++)
      for (int t = 0; t < 2; t++)
        if (f->edge_tail.data[2 * (int64_t)e + t] >= 0) renumbered[f->edge_tail.data[2 * (int64_t)e + t]] = 0;
  }
  int32_t nodes = 0, edges = 0, apps = 0, steps = 0; /* kept so far */
  for (int32_t q = 0; q <= root; q++) {
    int32_t first = f->node_edges.data[q], last = f->node_edges.data[q + 1];
    if (renumbered[q] < 0) continue;
    renumbered[q] = nodes;
    f->node_cat.data[nodes] = f->node_cat.data[q];
    for (int end = 0; end < 2; end++)
      f->node_span.data[2 * (int64_t)nodes + end] = f->node_span.data[2 * (int64_t)q + end];
    f->node_edges.data[nodes] = edges;
    for (int32_t e = first; e < last; e++, edges++) {
      int32_t first_app = f->edge_apps.data[e], last_app = f->edge_apps.data[e + 1];
      f->edge_head.data[edges] = nodes;
      for (int t = 0; t < 2; t++) {
        int32_t tail = f->edge_tail.data[2 * (int64_t)e + t];
        f->edge_tail.data[2 * (int64_t)edges + t] = tail < 0 ? -1 : renumbered[tail];
      }
      if (f->edge_paths.size) {
        int32_t first_step = f->edge_paths.data[e], last_step = f->edge_paths.data[e + 1];
        f->edge_paths.data[edges] = steps;
        for (int32_t k = first_step; k < last_step; k++) f->paths.data[steps++] = f->paths.data[k];
      }
      f->edge_apps.data[edges] = apps;
      for (int32_t a = first_app; a < last_app; a++, apps++) {
        f->app_rule.data[apps] = f->app_rule.data[a];
        f->app_edge.data[apps] = edges;
      }
    }
    nodes++;
  }
  f->node_edges.data[nodes] = edges;
  f->edge_apps.data[edges] = apps;
  if (f->edge_paths.size) {
    f->edge_paths.data[edges] = steps;
    f->edge_paths.size = edges + 1;
    f->paths.size = steps;
  }
  f->node_cat.size = nodes;
  f->node_span.size = 2 * (int64_t)nodes;
  f->node_edges.size = nodes + 1;
  f->edge_head.size = edges;
  f->edge_tail.size = 2 * (int64_t)edges;
  f->edge_apps.size = edges + 1;
  f->app_rule.size = f->app_edge.size = apps;
  free(renumbered);
  return LSCFG_OK;
}

/* ---- restriction ---- */

/* True if the edge has an application to keep and derivations of all tails. */
static int edge_is_kept(const lscfg_forest *f, const uint8_t *keep, const int32_t *number, int32_t e) {
  for (int t = 0; t < 2; t++) {
    int32_t tail = f->edge_tail.data[2 * (int64_t)e + t];
    if (tail >= 0 && number[tail] < 0) return 0;
  }
  for (int32_t a = f->edge_apps.data[e]; a < f->edge_apps.data[e + 1]; a++)
    if (keep[a]) return 1;
  return 0;
}

/* number [n_nodes]: 0 for nodes that the root's remaining derivations use, else -1. */
static void mark_nodes(const lscfg_forest *f, const uint8_t *keep, int32_t *number) {
  int32_t n = (int32_t)f->node_cat.size;
  if (n < 1) return;
  for (int32_t q = 0; q < n; q++) {
    number[q] = -1;
    for (int32_t e = f->node_edges.data[q]; e < f->node_edges.data[q + 1] && number[q] < 0; e++)
      if (edge_is_kept(f, keep, number, e)) number[q] = 1;
  }
  if (number[n - 1] > 0) number[n - 1] = 0;
  for (int32_t q = n - 1; q >= 0; q--) {
    if (number[q] > 0) number[q] = -1; /* no node above uses it */
    if (number[q]) continue;
    for (int32_t e = f->node_edges.data[q]; e < f->node_edges.data[q + 1]; e++) {
      if (!edge_is_kept(f, keep, number, e)) continue;
      for (int t = 0; t < 2; t++)
        if (f->edge_tail.data[2 * (int64_t)e + t] >= 0) number[f->edge_tail.data[2 * (int64_t)e + t]] = 0;
    }
  }
}

static int copy_kept(const lscfg_forest *f, const uint8_t *keep, int32_t *number, lscfg_forest *part, int32_t *rules,
                     int32_t *app_of) {
  int32_t apps = 0;
  for (int32_t q = 0; q < f->node_cat.size; q++) {
    if (number[q] < 0) continue;
    const int32_t *span = f->node_span.data + 2 * (int64_t)q;
    if ((number[q] = forest_add_node(part, f->node_cat.data[q], span[0], span[1])) < 0) return LSCFG_ENOMEM;
    for (int32_t e = f->node_edges.data[q]; e < f->node_edges.data[q + 1]; e++) {
      int32_t tails[2], n = 0;
      if (!edge_is_kept(f, keep, number, e)) continue;
      for (int t = 0; t < 2; t++) {
        int32_t tail = f->edge_tail.data[2 * (int64_t)e + t];
        tails[t] = tail < 0 ? -1 : number[tail];
      }
      for (int32_t a = f->edge_apps.data[e]; a < f->edge_apps.data[e + 1]; a++) {
        if (!keep[a]) continue;
        rules[n++] = f->app_rule.data[a];
        app_of[apps++] = a;
      }
      if (forest_add_edge(part, tails[0], tails[1], rules, n) < 0) return LSCFG_ENOMEM;
    }
  }
  return LSCFG_OK;
}

int lscfg_forest_restrict(const lscfg_forest *f, const uint8_t *keep, lscfg_forest **part, int32_t *app_of,
                          lscfg_error *error) {
  size_t nodes = (size_t)f->node_cat.size, apps = (size_t)f->app_rule.size;
  *part = NULL;
  if (f->origin != FOREST_PARSED)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "only the forest of a parsed sentence can be restricted");
  int32_t *number = malloc((nodes + apps + 1) * sizeof *number);
  lscfg_forest *made = forest_new(f->words, f->n_words);
  int code = LSCFG_ENOMEM;
  if (number && made) {
    mark_nodes(f, keep, number);
    code = !nodes || number[nodes - 1] < 0 ? LSCFG_NO_PARSE
                                           : copy_kept(f, keep, number, made, number + nodes, app_of);
  }
  free(number);
  if (code != LSCFG_OK) {
    lscfg_forest_free(made);
    return code == LSCFG_ENOMEM ? out_of_memory(error) : code;
  }
  *part = made;
  return LSCFG_OK;
}
