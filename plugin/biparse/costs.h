/* Opens a sentence pair: what its words cost. */
#ifndef LSCFG_BIPARSE_COSTS_H
#define LSCFG_BIPARSE_COSTS_H

#include "biparse/pair.h"

void pair_release(pair_work *);
/* Computes tables of costs for a pair of the model's text; first: with the initial weights. */
int pair_open(pair_work *, const lscfg_biparse_model *, int32_t pair, int first);
/* The sets of target words of all source words. */
int pair_word_items(pair_work *, int32_t most);

#endif
