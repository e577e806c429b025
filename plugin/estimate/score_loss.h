/* Losses of context scores; see lscfg/estimate.h. */
#ifndef LSCFG_SCORE_LOSS_H
#define LSCFG_SCORE_LOSS_H

#include "lscfg/estimate.h"
#include "base/common.h"

/* Turns the scores of a token's n options, with these counts, into the gradient of the loss, and returns the loss. Not
 * for LSCFG_LOSS_MATCH. targets has room for n. */
double score_gradient(int32_t loss, const double *counts, int64_t n, int64_t right, double *scores, double *targets);

#endif
