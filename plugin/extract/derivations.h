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

/* The linked words of both sides, renumbered without the others. */
typedef struct {
  int32_t n[2];
  int32_t *position[2]; /* [n] renumbered -> position in the sentence */
  int32_t *low, *high;  /* [n[SRC]] hull of each source word's links */
  int32_t *links_to[2]; /* [n + 1] links of the words in front of each */
  int32_t *last;        /* [n[TGT]] last source word that each target word is linked to */
} linked_words;

/* ---- derivations.c ---- */

/* The number of the rule of n symbols, n_src of them on the source side, new or known; LSCFG_ENOMEM when memory is out.
 * */
int32_t derivations_rule(lscfg_derivations *, const int32_t *symbols, int32_t n_src, int32_t n, int32_t arity);

/* ---- pair.c: of the pair that was read last ---- */

/* Renumbers its linked words; LSCFG_OK or LSCFG_ENOMEM. */
int pair_condense(lscfg_derivations *, linked_words *);
/* Half-open span, in words of the sentence, of the linked words first .. last of a side. */
static inline void pair_span(const linked_words *c, int side, int32_t first, int32_t last, int32_t *span) {
  span[0] = c->position[side][first];
  span[1] = c->position[side][last] + 1;
}
/* Whether the target words first .. last have no links but those of the source words begin .. end. */
static inline int pair_closed(const linked_words *c, int32_t begin, int32_t end, const int32_t tgt[2]) {
  return c->links_to[TGT][tgt[1] + 1] - c->links_to[TGT][tgt[0]] == c->links_to[SRC][end + 1] - c->links_to[SRC][begin];
}
/* The symbols of the rule that rewrites a node of these spans into its children (in source order) and the words between
 * them, into out, which has room for as many as the spans have words; returns their number. child_at: of each target
 * word, all 0 before and after. */
int32_t pair_spell(const int32_t *const words[2], const span_pair span, const span_pair *children, int32_t arity,
                   int32_t *child_at, int32_t *out, int32_t *n_src);
/* The number of the rule that rewrites a node of these spans into its children (in source order) and the words between
 * them; a negative code when memory is out. */
int32_t pair_rule(lscfg_derivations *, const span_pair span, const span_pair *children, int32_t arity);
/* Room for the spans of n children. */
int pair_reserve_children(lscfg_derivations *, int64_t n);

/* ---- derive_forests.c ---- */

/* LSCFG_OK or LSCFG_ENOMEM; what is there is to be released in either case. */
int forests_init(lscfg_derivations *);
void forests_release(lscfg_derivations *);
/* Appends the forest of the pair that was read last: LSCFG_OK or LSCFG_ENOMEM. */
int forests_append(lscfg_derivations *, const linked_words *);
/* Most nodes that the forest of a pair of n source words has. */
static inline int64_t forests_most_nodes(int64_t n) { return n * (n + 1) / 2 + 1; }
/* Appends those of another one, whose rules have these numbers here. */
int forests_merge(lscfg_derivations *, const lscfg_derivations *other, const int32_t *number);
/* Forgets all but the numbers that go on. */
void forests_flush(lscfg_derivations *);

#endif
