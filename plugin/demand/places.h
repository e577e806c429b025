/* The places of patterns in both texts. */
#ifndef LSCFG_DEMAND_PLACES_H
#define LSCFG_DEMAND_PLACES_H

#include "demand/index.h"

/* The number of a pattern, or a negative error code; a new pattern is looked up in both texts, at most at as many
 * places in the file as the table has samples, 0: all. */
int32_t find_pattern(lscfg_index *, int side, const int32_t *symbols, int32_t n, lscfg_error *);

#endif
