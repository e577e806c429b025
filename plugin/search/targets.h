/* The target sides of a forest's applications. */
#ifndef LSCFG_SEARCH_TARGETS_H
#define LSCFG_SEARCH_TARGETS_H

#include "forest/forest.h"

/* The target side of each application, as it was added to the grammar or follows from an extra rule; none of an
 * application that joins the rest of an edge's tails. tgt, length: [n_apps]. */
int collect_targets(const lscfg_forest *, const lscfg_grammar *, const int32_t **tgt, int32_t *length, lscfg_error *);

#endif
