#ifndef LSCFG_FOREST_H
#define LSCFG_FOREST_H

#include "lscfg/forest.h"
#include "base/common.h"

/* Additions of a decoder, before lscfg_forest_finish. */
typedef struct {
  int32_t category, i, j;
} draft_node;

typedef struct {
  int32_t head, rule, tail[2];
} draft_app;

enum { FOREST_PARSED = 0, FOREST_DRAFT = 1, FOREST_BUILT = 2, FOREST_LATTICE = 3 };

/* See lscfg_forest_view; all arrays are owned by the forest. */
struct lscfg_forest {
  int32_t n_words;
  int32_t *words;
  ARRAY(int32_t) node_cat;
  ARRAY(int32_t) node_span;
  ARRAY(int32_t) node_edges;
  ARRAY(int32_t) edge_head;
  ARRAY(int32_t) edge_tail;
  ARRAY(int32_t) edge_apps;
  ARRAY(int32_t) app_rule;
  ARRAY(int32_t) app_edge;
  ARRAY(int32_t) edge_paths; /* of a lattice: edge -> first of its arcs in paths, one more than there are edges */
  ARRAY(int32_t) paths;
  int32_t origin; /* FOREST_... */
  ARRAY(draft_node) draft_nodes;
  ARRAY(draft_app) draft_apps;
};

/* An empty forest over a copy of the words, NULL when memory is out. */
lscfg_forest *forest_new(const int32_t *words, int32_t n_words);
/* A node without edges; edges that are added next belong to it. Returns its number or LSCFG_ENOMEM. */
int32_t forest_add_node(lscfg_forest *, int32_t category, int32_t i, int32_t j);
/* An edge into the last node with one application for each of the rules. Returns its number or a negative code. */
int32_t forest_add_edge(lscfg_forest *, int32_t tail0, int32_t tail1, const int32_t *rules, int32_t n_rules);
/* Tails of an edge, including those of its chain for the rest. */
int32_t forest_n_tails(const lscfg_forest *, int32_t edge);
/* The same, and their nodes in source order; tails has room for MAX_ARITY. */
int32_t forest_tails(const lscfg_forest_view *, int32_t edge, int32_t *tails);
/* The word that a pass-through rule passes in this edge. */
const int32_t *forest_passed_word(const lscfg_forest_view *, int32_t edge);
/* Keeps what some derivation of the root uses, in the same order, the root last. */
int forest_keep_reachable(lscfg_forest *, int32_t root);

#endif
