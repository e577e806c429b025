/* The neighbour hypergraph of a pair. */
#ifndef LSCFG_BIPARSE_NEIGHBOURS_H
#define LSCFG_BIPARSE_NEIGHBOURS_H

#include "biparse/visits.h"

/* Parses the source side of the current pair with the rules of its source sides, and subtracts their expectations. */
int visits_neighbours(lscfg_biparse_visits *, lscfg_biparse_result *);

#endif
