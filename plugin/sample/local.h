/* A move: new values for each node of the pair at hand, one after the other. */
#ifndef LSCFG_SAMPLE_LOCAL_H
#define LSCFG_SAMPLE_LOCAL_H

#include "sample/chain.h"

int sampler_move_nodes(lscfg_sampler *);

#endif
