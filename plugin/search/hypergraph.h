#ifndef LSCFG_HYPERGRAPH_H
#define LSCFG_HYPERGRAPH_H

#include "search/items.h"

/* The max_edges edges of the best derivations, copied; see lscfg_search_hypergraph. */
int hypergraph_keep(const hypergraph *, int32_t max_edges, lscfg_hypergraph **, lscfg_error *);

#endif
