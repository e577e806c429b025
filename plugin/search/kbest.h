#ifndef LSCFG_KBEST_H
#define LSCFG_KBEST_H

#include "search/items.h"

/* The best derivations, best first (Huang and Chiang 2005, algorithm 3). */
int kbest_extract(const hypergraph *, const lscfg_search_options *, lscfg_kbest **, lscfg_error *);

#endif
