/* A set of pairs of ranks, each with the number of what the ranks belong to: a derivation of two tails can be reached
 * on two ways, from that before it in either tail's list. */
#ifndef LSCFG_RANK_SET_H
#define LSCFG_RANK_SET_H

#include "base/index.h"

typedef struct {
  int32_t owner, rank[2];
} owned_ranks;

/* All zero: an empty set. */
typedef struct {
  index_table places; /* numbers of elements by their hash */
  ARRAY(owned_ranks) elements;
} rank_set;

/* Adds an element: 1 if the set had it already, else LSCFG_OK or LSCFG_ENOMEM. */
int rank_set_add(rank_set *, int32_t owner, const int32_t rank[2]);
/* Forgets all elements and keeps the room. */
void rank_set_clear(rank_set *);
void rank_set_release(rank_set *);

#endif
