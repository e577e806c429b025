/* A move: a new tree for the pair at hand, from all rules that the pair can have. */
#ifndef LSCFG_SAMPLE_BLOCKED_H
#define LSCFG_SAMPLE_BLOCKED_H

#include "sample/chain.h"

int sampler_move_blocked(lscfg_sampler *);
void fragments_release(fragment_table *);

#endif
