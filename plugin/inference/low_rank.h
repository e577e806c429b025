/* Rules of low rank in a pass: see low_rank.c. */
#ifndef LSCFG_LOW_RANK_H
#define LSCFG_LOW_RANK_H

#include "inference/pass.h"

/* Fills in the factors of the set's rules. */
int low_rank_factors(pass *, rule_set *, lscfg_error *);
/* Reserves room for the largest set, after the factors of all sets are known. */
int low_rank_prepare(pass *);
void low_rank_free(pass *);
/* The inside of some runs of one level with the same rules. */
void low_rank_inside(pass *, const int32_t *runs, int32_t n);
/* Their contributions to the outside of their tails, and their marginals. */
void low_rank_outside(pass *, const int32_t *runs, int32_t n);
/* Completes the outside of the level's nodes; to be called when all higher levels are done. */
void low_rank_finish_outside(pass *, int32_t level);

#endif
