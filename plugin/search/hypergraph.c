/* The part of a search's hypergraph that is given to the caller: pruned by max-marginals (Kumar et al. 2009, section 6:
 * an edge is as good as the best derivation that uses it) and copied, since the search's own ends with the search. */
#include <math.h>

#include "search/hypergraph.h"

#include "base/heap.h"

struct lscfg_hypergraph {
  ARRAY(int32_t) item_edges;
  ARRAY(int32_t) tail;
  ARRAY(int64_t) symbol;
  ARRAY(int32_t) symbols;
  ARRAY(int32_t) app;
  ARRAY(double) lm;
  ARRAY(int32_t) oov;
};

typedef struct {
  const hypergraph *graph;
  double *outside;  /* [items] score of the best derivation without the item's own part; -inf: not used */
  double *merit;    /* [edges] score of the best derivation that uses the edge */
  heap_entry *heap; /* [edges] */
  int32_t *number;  /* [items] -1: not kept */
} selection;

static double inside(const hypergraph *g, const item_edge *edge) {
  double score = edge->local;
  for (int t = 0; t < 2; t++)
    if (edge->tail[t] >= 0) score += g->items.data[edge->tail[t]].score;
  return score;
}

/* The merit of the last edge that may stay. */
static double find_threshold(selection *s, int32_t max_edges) {
  const hypergraph *g = s->graph;
  int64_t n = 0;
  for (int64_t i = 0; i < g->items.size; i++) s->outside[i] = -INFINITY;
  s->outside[g->goal] = 0;
  for (int32_t i = g->goal; i >= 0; i--) {
    if (s->outside[i] == -INFINITY) continue;
    for (int32_t e = g->items.data[i].edge; e >= 0; e = g->edges.data[e].next) {
      const item_edge *edge = g->edges.data + e;
      double merit = s->outside[i] + inside(g, edge);
      s->merit[e] = merit;
      s->heap[n++] = (heap_entry){merit, e};
      for (int t = 0; t < 2; t++) {
        if (edge->tail[t] < 0) continue;
        double without = merit - g->items.data[edge->tail[t]].score;
        if (without > s->outside[edge->tail[t]]) s->outside[edge->tail[t]] = without;
      }
    }
  }
  if (n <= max_edges) return -INFINITY;
  heap_build(s->heap, n);
  double merit = 0;
  for (int32_t k = 0; k < max_edges; k++, n--) merit = heap_pop(s->heap, n).score;
  return merit;
}

/* The best derivation of a needed item stays in any case: rounding may put its edge just below the threshold. */
static void mark(selection *s, double threshold) {
  const hypergraph *g = s->graph;
  for (int64_t i = 0; i < g->items.size; i++) s->number[i] = -1;
  s->number[g->goal] = 0;
  for (int32_t i = g->goal; i >= 0; i--) {
    if (s->number[i] < 0) continue;
    int32_t best = g->items.data[i].edge;
    for (int32_t e = best; e >= 0; e = g->edges.data[e].next)
      if (inside(g, g->edges.data + e) > inside(g, g->edges.data + best)) best = e;
    for (int32_t e = g->items.data[i].edge; e >= 0; e = g->edges.data[e].next) {
      const item_edge *edge = g->edges.data + e;
      if (e == best) s->merit[e] = INFINITY;
      if (s->merit[e] < threshold) continue;
      for (int t = 0; t < 2; t++)
        if (edge->tail[t] >= 0) s->number[edge->tail[t]] = 0;
    }
  }
}

static int copy_edge(const selection *s, const item_edge *edge, lscfg_hypergraph *out) {
  static const int32_t first_tail = -1;
  const hypergraph *g = s->graph;
  const int32_t *symbols = edge->app < 0 ? &first_tail : g->app_tgt[edge->app];
  int32_t length = edge->app < 0 ? 1 : g->app_length[edge->app];
  if (ARRAY_RESERVE(out->tail, 2) || ARRAY_RESERVE(out->symbol, 1) || ARRAY_RESERVE(out->symbols, length) ||
      ARRAY_RESERVE(out->app, 1) || ARRAY_RESERVE(out->lm, 1) || ARRAY_RESERVE(out->oov, 1))
    return LSCFG_ENOMEM;
  for (int t = 0; t < 2; t++) out->tail.data[out->tail.size++] = edge->tail[t] < 0 ? -1 : s->number[edge->tail[t]];
  for (int32_t k = 0; k < length; k++) out->symbols.data[out->symbols.size++] = symbols[k];
  out->symbol.data[out->symbol.size++] = out->symbols.size;
  out->app.data[out->app.size++] = edge->app;
  out->lm.data[out->lm.size++] = edge->lm;
  out->oov.data[out->oov.size++] = edge->oov;
  return LSCFG_OK;
}

static int copy(selection *s, double threshold, lscfg_hypergraph *out) {
  const hypergraph *g = s->graph;
  int32_t items = 0;
  if (ARRAY_RESERVE(out->item_edges, 1) || ARRAY_RESERVE(out->symbol, 1)) return LSCFG_ENOMEM;
  out->item_edges.data[out->item_edges.size++] = 0;
  out->symbol.data[out->symbol.size++] = 0;
  for (int32_t i = 0; i <= g->goal; i++) {
    if (s->number[i] < 0) continue;
    s->number[i] = items++;
    for (int32_t e = g->items.data[i].edge; e >= 0; e = g->edges.data[e].next)
      if (s->merit[e] >= threshold && copy_edge(s, g->edges.data + e, out)) return LSCFG_ENOMEM;
    if (ARRAY_RESERVE(out->item_edges, 1)) return LSCFG_ENOMEM;
    out->item_edges.data[out->item_edges.size++] = (int32_t)out->app.size;
  }
  return LSCFG_OK;
}

int hypergraph_keep(const hypergraph *graph, int32_t max_edges, lscfg_hypergraph **kept, lscfg_error *error) {
  selection s = {.graph = graph};
  lscfg_hypergraph *out = calloc(1, sizeof *out);
  size_t items = (size_t)graph->items.size + 1, edges = (size_t)graph->edges.size + 1;
  int code = LSCFG_ENOMEM;
  s.outside = malloc(items * sizeof *s.outside);
  s.number = malloc(items * sizeof *s.number);
  s.merit = malloc(edges * sizeof *s.merit);
  s.heap = malloc(edges * sizeof *s.heap);
  if (out && s.outside && s.number && s.merit && s.heap) {
    double threshold = find_threshold(&s, max_edges);
    mark(&s, threshold);
    code = copy(&s, threshold, out);
  }
  free(s.outside);
  free(s.number);
  free(s.merit);
  free(s.heap);
  if (code) {
    lscfg_hypergraph_free(out);
    return out_of_memory(error);
  }
  *kept = out;
  return LSCFG_OK;
}

void lscfg_hypergraph_free(lscfg_hypergraph *g) {
  if (!g) return;
  free(g->item_edges.data);
  free(g->tail.data);
  free(g->symbol.data);
  free(g->symbols.data);
  free(g->app.data);
  free(g->lm.data);
  free(g->oov.data);
  free(g);
}

void lscfg_hypergraph_get(const lscfg_hypergraph *g, lscfg_hypergraph_view *view) {
  *view = (lscfg_hypergraph_view){(int32_t)g->item_edges.size - 1,
                                  (int32_t)g->app.size,
                                  g->item_edges.data,
                                  g->tail.data,
                                  g->symbol.data,
                                  g->symbols.data,
                                  g->app.data,
                                  g->lm.data,
                                  g->oov.data};
}
