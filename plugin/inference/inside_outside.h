#ifndef LSCFG_INSIDE_OUTSIDE_H
#define LSCFG_INSIDE_OUTSIDE_H

#include "inference/binding.h"

/* The marginals of a forest whose edges have whole groups of rules, or one rule each; as lscfg_infer, without counting
 * negative marginals. states [nodes][rank], unless NULL: as lscfg_infer_states. */
int inside_outside(const lscfg_binding *, const lscfg_forest *, double *app_marginals, double *node_marginals,
                   double *states, lscfg_inference *, lscfg_error *);

#endif
