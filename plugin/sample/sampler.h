/* The memory of a chain, or a shard, other than its trees. */
#ifndef LSCFG_SAMPLE_SAMPLER_H
#define LSCFG_SAMPLE_SAMPLER_H

#include "sample/chain.h"

/* After a failure, sampler_release_work releases what was reserved. */
int sampler_reserve_work(lscfg_sampler *);
void sampler_release_work(lscfg_sampler *);

#endif
