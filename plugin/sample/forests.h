/* The phrase-decomposition forests of a corpus, or given forests, in arrays of all pairs. */
#ifndef LSCFG_SAMPLE_FORESTS_H
#define LSCFG_SAMPLE_FORESTS_H

#include "lscfg/sample.h"
#include "extract/decomposition.h"
#include "sample/labels.h"

/* Nodes, edges and tails are numbered from the first of their pair. */
typedef struct {
  span_pair span;
  int32_t first_edge, n_edges;
  int32_t level;    /* minimal edges below it, in any tree (lemma 3) */
  int32_t must_cut; /* the root and long phrases */
  int32_t is_choice; /* a root whose edges lead to those of several alignments: it is not cut and has no rule */
  int32_t is_plain; /* it has one tree */
  double log_values; /* log of the number of values of its variables: edges, and cuts if it is free */
} forest_node;

typedef struct {
  int64_t node, edge, tail, word[2]; /* the first of each */
} pair_begin;

struct lscfg_phrase_forests {
  int32_t max_cut;
  lscfg_derivations *text; /* words, links, and the pair that was read last; it has no trees */
  ARRAY(pair_begin) pairs; /* one more than there are */
  ARRAY(forest_node) nodes;
  ARRAY(int32_t) first_tail; /* of each edge, and one more at the end of each pair */
  ARRAY(int32_t) tails;
  ARRAY(int32_t) words[2];
  ARRAY(uint8_t) linked; /* [source words] bit k: by alignment k of the pair */
  int64_t n_edges, n_bare, n_types[2]; /* types: words of each side */
  ARRAY(uint8_t) on_side;              /* [words] bit s: it is on side s */
  int32_t max_level, max_nodes, max_words[2], max_edges; /* of a pair, of a node */
  int64_t dropped[LSCFG_N_REASONS];
  decomposition work;
  label_table labels;    /* of given forests */
  ARRAY(int32_t) label;  /* as first_tail: of each edge of these */
};

#endif
