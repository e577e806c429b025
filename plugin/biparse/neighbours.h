/* The neighbour hypergraph of a pair. */
#ifndef LSCFG_BIPARSE_NEIGHBOURS_H
#define LSCFG_BIPARSE_NEIGHBOURS_H

#include "biparse/visits.h"

/* Parses the source side of the pair at hand with the rules of its source sides, and adds expectations, taken away. */
int visits_neighbours(lscfg_biparse_visits *, lscfg_biparse_result *);

#endif
