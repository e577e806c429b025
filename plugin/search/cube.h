/* The work of cube pruning on one sentence. */
#ifndef LSCFG_CUBE_H
#define LSCFG_CUBE_H

#include "base/heap.h"
#include "base/index.h"
#include "search/items.h"
#include "search/rank_set.h"

/* Of 64 bytes: the search goes through millions of them. */
typedef struct {
  double score, local, lm, left_score;
  int32_t app, tail[2], oov, right;
  int32_t rank[2]; /* tails by their rank in the lists of their nodes */
  uint8_t n_left, n_key, full;
} candidate;

/* Items of the node in hand, before they are sorted by score and get their final numbers. */
typedef struct {
  double score;
  int32_t candidate; /* the first, with the item's state */
  int32_t first_edge, last_edge;
  int32_t item; /* its number */
} draft;

typedef struct {
  lscfg_forest_view forest;
  lscfg_lm *lm;
  int32_t max_left; /* words of a left edge: order - 1 */
  lscfg_search_options options;
  const double *app_scores;
  int32_t *node_items; /* [n_nodes + 1]: a node's items, best first, are neighbours */
  hypergraph graph;
  /* of the node in hand */
  int rest; /* the node is the rest of an edge's tails */
  ARRAY(candidate) candidates;
  ARRAY(int32_t) left; /* stride words for each candidate */
  ARRAY(heap_entry) heap;
  ARRAY(draft) drafts;
  index_table states; /* drafts by state */
  rank_set visited;   /* candidates of two tails, by application */
} search;

/* Creates the items of a node after those of its tails: LSCFG_OK or a negative code. */
int search_node(search *, int32_t node);
/* Makes the item of whole sentences, when all nodes have theirs. */
int search_goal(search *);

#endif
