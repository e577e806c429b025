#ifndef LSCFG_HYPERGRAPH_H
#define LSCFG_HYPERGRAPH_H

#include "search/items.h"

/* The max_edges edges of the best derivations, copied; see lscfg_search_hypergraph. */
int hypergraph_keep(const hypergraph *, int32_t max_edges, lscfg_hypergraph **, lscfg_error *);

/* True for an edge that joins the rest of the tails of another one: it has two tails and no target side. */
static inline int joins_rest(const lscfg_hypergraph_view *g, int32_t edge) {
  return g->tail[2 * (int64_t)edge + 1] >= 0 && g->symbol[edge] == g->symbol[edge + 1];
}

#endif
