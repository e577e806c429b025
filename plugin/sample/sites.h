/* Positions of the rules in the trees, to find all sites at which the same two rules could be one. */
#ifndef LSCFG_SAMPLE_SITES_H
#define LSCFG_SAMPLE_SITES_H

#include "base/common.h"

/* A node that may be cut, and the head of the rule above it. */
typedef struct {
  int64_t pair;
  int32_t above, node;
  uint8_t cut, was_cut;
  double log_odds; /* of the cut, beyond the rules */
} site;

typedef struct {
  int32_t *next, *previous; /* [nodes] of all pairs: heads of the same rule, in no particular order; -1 at the ends */
  int32_t *pair;            /* [nodes] */
  ARRAY(int32_t) first;     /* [rules] */
  ARRAY(int64_t) candidates; /* pairs */
  ARRAY(site) sites;
  double *sums; /* for weighing how many are cut */
} site_index;

void sites_release(site_index *);
/* Reserves memory for this number of rules; new ones have no sites. */
int sites_reserve(site_index *, int64_t n_rules);
void sites_add(site_index *, int32_t rule, int32_t node);
void sites_remove(site_index *, int32_t rule, int32_t node);

#endif
