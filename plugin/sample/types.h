/* A move: the cut of a node with those of the same type. */
#ifndef LSCFG_SAMPLE_TYPES_H
#define LSCFG_SAMPLE_TYPES_H

#include "sample/chain.h"

/* Samples the cut of a node with those of the same type, if others exist and are not too many. */
int sampler_move_type(lscfg_sampler *, int32_t node, int32_t above, int *done);
int sampler_init_sites(lscfg_sampler *);

#endif
