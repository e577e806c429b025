/* All rules that a pair can have: for each node as a head, the sets of nodes at which its rule may end. */
#ifndef LSCFG_SAMPLE_FRAGMENTS_H
#define LSCFG_SAMPLE_FRAGMENTS_H

#include "base/index.h"

typedef struct {
  int64_t frontier; /* nodes, in source order */
  int32_t n;
  double derivations; /* that lead there */
  double weight;      /* log probability of its rule, and of all that may be below it */
} fragment;

typedef struct {
  ARRAY(fragment) all;
  ARRAY(int32_t) frontiers;
  ARRAY(int64_t) first;  /* [nodes + 1] of each head */
  ARRAY(double) inside;  /* [nodes] log of the sum over all that may be below a head */
  ARRAY(fragment) parts; /* of an edge, tail by tail */
  ARRAY(int32_t) part_frontiers;
  index_table index; /* fragments of the current head */
} fragment_table;

#endif
