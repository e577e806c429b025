/* The phrase-decomposition forest of a word-aligned sentence pair (Chung, Fang, Gildea & Stefankovic 2014, section 3),
 * without rules. */
#ifndef LSCFG_DECOMPOSITION_H
#define LSCFG_DECOMPOSITION_H

#include "extract/pair.h"

typedef struct {
  span_pair span; /* in words of the sentence */
  int32_t first_edge;
} phrase_node;

/* Nodes in an order with tails before heads, the root last. The edges of node n are nodes[n].first_edge to that of the
 * next node; the tails of edge e, in source order, are tails[first_tail[e]] to that of the next edge. */
typedef struct decomposition {
  ARRAY(phrase_node) nodes;
  ARRAY(int32_t) first_tail;
  ARRAY(int32_t) tails;
  ARRAY(int32_t) work;
} decomposition;

void decomposition_release(decomposition *);
/* The number of an edge's tails, whose spans go to d->child_spans; LSCFG_ENOMEM when memory is out. */
int32_t decomposition_tails(const decomposition *, lscfg_derivations *d, int64_t edge, const int32_t **tails);
/* Replaces the contents by the forest of the pair that d has read and c describes: LSCFG_OK or LSCFG_ENOMEM. */
int decomposition_build(decomposition *, const lscfg_derivations *d, const linked_words *c);

static inline int32_t decomposition_last_edge(const decomposition *f, int64_t node) {
  return node + 1 < f->nodes.size ? f->nodes.data[node + 1].first_edge : (int32_t)f->first_tail.size;
}

static inline int32_t decomposition_last_tail(const decomposition *f, int64_t edge) {
  return edge + 1 < f->first_tail.size ? f->first_tail.data[edge + 1] : (int32_t)f->tails.size;
}

#endif
