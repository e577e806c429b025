/* Forests that are given with labels on their edges, instead of those of sentence pairs. */
#include <math.h>

#include "sample/forests.h"

int lscfg_phrase_forests_label(lscfg_phrase_forests *f, int32_t n_labels, const int32_t *category,
                               const double *log_weight, lscfg_error *error) {
  label_table *l = &f->labels;
  if (n_labels < 1 || l->n_categories || f->pairs.size > 1)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "labels precede all forests, once");
  if (ARRAY_RESERVE(l->category, n_labels) || ARRAY_RESERVE(l->weight, n_labels)) return out_of_memory(error);
  for (int32_t k = 0; k < n_labels; k++)
    if (category[k] < 0 || category[k] >= n_labels || !(log_weight[k] <= 0) || isinf(log_weight[k]))
      return lscfg_fail(error, LSCFG_EINPUT, 0, "label %d has no category or no probability", k);
  for (int32_t k = 0; k < n_labels; k++) {
    l->category.data[l->category.size++] = category[k];
    l->weight.data[l->weight.size++] = log_weight[k];
    if (category[k] >= l->n_categories) l->n_categories = category[k] + 1;
  }
  return LSCFG_OK;
}

/* True if the tails of an edge are nodes before the head, side by side within its span: then no tree can contain a node
 * twice. */
static int tails_fit(const lscfg_given_forest *g, int32_t head, int32_t edge) {
  int32_t end = g->span[head][0];
  for (int32_t k = g->first_tail[edge]; k < g->first_tail[edge + 1]; k++) {
    int32_t tail = g->tails[k];
    if (tail < 0 || tail >= head || g->span[tail][0] < end) return 0;
    end = g->span[tail][1];
  }
  return end <= g->span[head][1];
}

/* The fault of a node; NULL if it is sound. */
static const char *fault_of(const label_table *l, const lscfg_given_forest *g, int32_t node) {
  int32_t first = g->first_edge[node], end = g->first_edge[node + 1];
  if (g->span[node][0] < 0 || g->span[node][0] >= g->span[node][1]) return "an empty span";
  if (first >= end) return "no edge";
  for (int32_t e = first; e < end; e++) {
    if (g->label[e] < 0 || g->label[e] >= l->category.size) return "an edge with an unknown label";
    if (l->category.data[g->label[e]] != l->category.data[g->label[first]]) return "edges of several categories";
    if (!tails_fit(g, node, e)) return "tails that do not lie side by side within its span, or do not precede it";
  }
  return NULL;
}

/* Converts a node after those before it. Its level is that of the tree with most edges. */
static forest_node convert_node(const lscfg_phrase_forests *f, const lscfg_given_forest *g, int32_t node,
                                const forest_node *before) {
  forest_node made = {.first_edge = g->first_edge[node]};
  made.n_edges = g->first_edge[node + 1] - made.first_edge;
  for (int32_t e = made.first_edge; e < g->first_edge[node + 1]; e++) {
    int32_t level = 1;
    for (int32_t k = g->first_tail[e]; k < g->first_tail[e + 1]; k++) level += before[g->tails[k]].level;
    if (level > made.level) made.level = level;
  }
  made.span[SRC][1] = made.level; /* cut rates go by it */
  made.must_cut = node + 1 == g->n_nodes || made.level > f->max_cut;
  made.log_values = log(made.n_edges * (made.must_cut ? 1.0 : 2.0));
  return made;
}

/* Whether offsets grow: only then do they lie within their arrays, as the last one does. */
static int in_order(const int32_t *offsets, int32_t n) {
  for (int32_t k = 0; k < n; k++)
    if (offsets[k] > offsets[k + 1]) return 0;
  return 1;
}

int lscfg_phrase_forests_give(lscfg_phrase_forests *f, const lscfg_given_forest *g, lscfg_error *error) {
  if (!f->labels.n_categories || g->n_nodes < 1 || g->first_edge[0] || g->first_tail[0])
    return lscfg_fail(error, LSCFG_EINPUT, 0, "a forest without labels or nodes");
  if (!in_order(g->first_edge, g->n_nodes) || !in_order(g->first_tail, g->first_edge[g->n_nodes]))
    return lscfg_fail(error, LSCFG_EINPUT, 0, "a forest whose edges or tails are not in order");
  for (int32_t node = 0; node < g->n_nodes; node++) {
    const char *fault = fault_of(&f->labels, g, node);
    if (fault) return lscfg_fail(error, LSCFG_EINPUT, 0, "node %d has %s", node, fault);
  }
  int32_t n_edges = g->first_edge[g->n_nodes], n_tails = g->first_tail[n_edges];
  if (ARRAY_RESERVE(f->nodes, g->n_nodes) || ARRAY_RESERVE(f->first_tail, n_edges + 1) ||
      ARRAY_RESERVE(f->label, n_edges + 1) || ARRAY_RESERVE(f->tails, n_tails + 1) || ARRAY_RESERVE(f->pairs, 1))
    return out_of_memory(error);
  forest_node *nodes = f->nodes.data + f->nodes.size;
  pair_begin at = f->pairs.data[f->pairs.size - 1];
  for (int32_t k = 0; k < g->n_nodes; k++) {
    nodes[k] = convert_node(f, g, k, nodes);
    if (nodes[k].n_edges > f->max_edges) f->max_edges = nodes[k].n_edges;
  }
  f->nodes.size += g->n_nodes;
  for (int32_t e = 0; e <= n_edges; e++) { /* and the end of the last one */
    f->first_tail.data[f->first_tail.size++] = g->first_tail[e];
    f->label.data[f->label.size++] = e < n_edges ? g->label[e] : CUT_TAIL;
  }
  for (int32_t k = 0; k < n_tails; k++) f->tails.data[f->tails.size++] = g->tails[k];
  int32_t level = nodes[g->n_nodes - 1].level;
  for (int32_t k = 0; k < g->n_nodes; k++) /* nodes that no tree contains, too */
    if (nodes[k].level > level) level = nodes[k].level;
  if (level > f->max_level) f->max_level = f->max_words[SRC] = level;
  if (g->n_nodes > f->max_nodes) f->max_nodes = g->n_nodes;
  f->n_edges += n_edges;
  f->n_bare += g->n_nodes == 1;
  at.node = f->nodes.size;
  at.edge = f->first_tail.size;
  at.tail = f->tails.size;
  f->pairs.data[f->pairs.size++] = at;
  return LSCFG_OK;
}
