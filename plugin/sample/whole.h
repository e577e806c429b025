/* A move: a new tree for the pair at hand, proposed as a whole. */
#ifndef LSCFG_SAMPLE_WHOLE_H
#define LSCFG_SAMPLE_WHOLE_H

#include "sample/chain.h"

int sampler_move_tree(lscfg_sampler *);

#endif
