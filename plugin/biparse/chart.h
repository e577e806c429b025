/* Parses a sentence pair that is open. */
#ifndef LSCFG_BIPARSE_CHART_H
#define LSCFG_BIPARSE_CHART_H

#include "biparse/pair.h"

int pair_parse(pair_work *, const beams *);
/* Drops edges far below the best derivation and computes the probabilities of the others; returns the logarithm of
 * their sum. */
double pair_prune(pair_work *, double beam);

#endif
