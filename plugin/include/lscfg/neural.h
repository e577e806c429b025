/* The neural model of target words: affiliation of target words with source words. See lscfg.h for general
 * conventions. */
#ifndef LSCFG_NEURAL_API_H
#define LSCFG_NEURAL_API_H

#include "lscfg/forest.h"

#ifdef __cplusplus
extern "C" {
#endif

/* [declarations] */

/* Rows of the network's words. Both tables begin with words that no text contains, then list the vocabulary. */
enum { LSCFG_ROW_SOURCE_UNKNOWN = 0, LSCFG_ROW_SOURCE_BEGIN = 1, LSCFG_ROW_SOURCE_END = 2, LSCFG_ROW_SOURCE_WORDS = 3 };
enum {
  LSCFG_ROW_TARGET_UNKNOWN = 0,
  LSCFG_ROW_TARGET_END = 1,
  LSCFG_ROW_TARGET_BEGIN = 2,
  LSCFG_ROW_TARGET_NONE = 3, /* a word that is not known yet */
  LSCFG_ROW_TARGET_WORDS = 4
};
enum { LSCFG_NEURAL_HISTORY = 3 };   /* maximum number of target words before the predicted one */
enum { LSCFG_NEURAL_FERTILITY = 4 }; /* classes: 0, 1, 2, and more linked target words */

/* Translation probabilities of linked words: pairs [n][2] of a source row, -1 for none, and a target row, ascending;
 * share [n]. */
typedef struct lscfg_links lscfg_links;
int lscfg_links_new(const int32_t *pairs, const float *share, int64_t n, lscfg_links **, lscfg_error *);
void lscfg_links_free(lscfg_links *);

/* Places of the target words of a rule over part of a sentence that begins at `begin`. Both sides as in grammars, with
 * rows instead of words; tails [nonterminals][2]: their source spans. place [n_tgt]: the affiliated source word,
 * counted from 0; that of a nonterminal is -1. fertility [n_src]: linked target words of each source word; 0 for
 * nonterminals.
 *
 * A target word is affiliated with the source word of the rule of the greatest translation probability, of equal ones
 * the left one. Without one, or if no word is more probable, it takes the place of the nearest linked word or
 * nonterminal on the target side, of equally near ones the right one: the first source word of a nonterminal on its
 * right, the last one of a nonterminal on its left. Otherwise it takes the first source word of the rule, or the
 * beginning of the span. */
void lscfg_affiliate(const lscfg_links *, const int32_t *src, int32_t n_src, const int32_t *tgt, int32_t n_tgt,
                     int32_t begin, const int32_t *tails, int32_t *place, int32_t *fertility);

/* Derivation trees, as in derivation files. */
typedef struct {
  int64_t n_trees, n_nodes;
  const int64_t *trees;  /* [n_trees + 1] first node of each */
  const int32_t *rule;   /* [n_nodes] */
  const int32_t *parent; /* [n_nodes] node, -1 at roots */
  const int32_t *span;   /* [n_nodes][4] */
} lscfg_node_table;

/* Affiliates all words of trees. row [n_words][2]: rows of each word of the rules on both sides. place: of each target
 * word of each tree, in order; fertility: of each source word. The caller has checked the trees. */
int lscfg_affiliate_trees(const lscfg_links *, const lscfg_rules *, const lscfg_node_table *, const int32_t *row,
                          int32_t *place, int32_t *fertility, lscfg_error *);

/* [end of declarations] */

#ifdef __cplusplus
}
#endif
#endif
