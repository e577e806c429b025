/* The result of deriving a corpus, and the workspace of one sentence pair. */
#ifndef LSCFG_DERIVATIONS_H
#define LSCFG_DERIVATIONS_H

#include "extract/tables.h"

/* A phrase pair, a node of the tree. Spans are inclusive, over linked words only (see linked_words). */
typedef struct {
  int32_t src[2], tgt[2];
  int32_t first_child, next_sibling; /* in source order, -1 at the end */
} phrase;

/* An item of the shift-reduce stack: linked source words from begin to that of the next item. */
typedef struct {
  int32_t begin, tgt[2];
  int32_t first, last; /* the phrases in it, a list; both the phrase itself where the item is one */
  int32_t is_phrase;
} stack_item;

typedef struct {
  int32_t item, slot;
  int32_t parent; /* among the nodes of this tree, -1 at the root */
} pending_node;

/* A half-open span of each side, in words of the sentence. */
typedef int32_t span_pair[2][2];

struct lscfg_derivations {
  lscfg_derive_options options;
  corpus_tables tables;
  ARRAY(int64_t) rule_count; /* tokens of each rule */
  int64_t dropped[LSCFG_N_REASONS], n_above;
  /* nodes since the last flush */
  ARRAY(int64_t) trees; /* first node of each, and one more */
  ARRAY(int32_t) node_rule;
  ARRAY(int32_t) node_parent;
  ARRAY(int32_t) node_slot;
  ARRAY(int32_t) node_span;
  /* forests of the same pairs, if they are wanted; nodes and edges count from the very first ones */
  ARRAY(int64_t) forests; /* first node of each, and one more */
  ARRAY(int64_t) forest_edge; /* first edge of each node */
  ARRAY(int32_t) forest_rule; /* of each edge */
  ARRAY(int32_t) forest_tail; /* of all edges */
  ARRAY(int32_t) forest_span;
  int64_t n_forest_edges; /* flushed or not */
  struct decomposition *decomposed; /* work space; NULL where none are wanted */
  /* work space of one sentence pair, kept from pair to pair */
  sentence_pair pair;
  ARRAY(int32_t) work;
  ARRAY(int32_t) child_at; /* target position -> 1 + the child that begins there; 0 everywhere between two rules */
  ARRAY(int32_t) rule_symbols;
  ARRAY(phrase) phrases;
  ARRAY(stack_item) stack;
  ARRAY(pending_node) todo;
  ARRAY(int32_t) children;
  int32_t (*child_spans)[2][2];
  int64_t child_spans_capacity;
};


/* The number of the rule of n symbols, n_src of them on the source side, new or known; LSCFG_ENOMEM when memory is out.
 * */
int32_t derivations_rule(lscfg_derivations *, const int32_t *symbols, int32_t n_src, int32_t n, int32_t arity);

#endif
