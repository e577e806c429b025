/* Metrics of corpora from sums of sentence statistics, for the optimisers. */
#ifndef LSCFG_METRIC_H
#define LSCFG_METRIC_H

#include "lscfg/learn.h"

/* Score (0 to 100) of a corpus, from sums of statistics. */
double metric_score(int metric, const int64_t *sum);

/* Score (0 to 1) of the background and a hypothesis together, times the number of words of their references. */
double metric_gain(int metric, const double *background, const int32_t *stats);

#endif
