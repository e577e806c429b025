/* From word-aligned text to derivations and rules. See lscfg.h for general conventions. */
#ifndef LSCFG_EXTRACT_API_H
#define LSCFG_EXTRACT_API_H

#include "lscfg/forest.h"

#ifdef __cplusplus
extern "C" {
#endif

/* [declarations] */

/* ---- word-aligned sentence pairs: what is refused, and what is collected from them ---- */

/* The lines of a sentence pair. */
enum { LSCFG_SRC = 0, LSCFG_TGT = 1, LSCFG_LINKS = 2 };

/* Reasons for refusing a sentence pair. */
enum {
  LSCFG_PAIR_GOOD = 0,
  LSCFG_PAIR_EMPTY = 1,       /* no word on a side */
  LSCFG_PAIR_CONTROL = 2,     /* a control or invisible character, or a space other than the blank */
  LSCFG_PAIR_RESERVED = 3,    /* a word like ||| or [X] */
  LSCFG_PAIR_TOO_LONG = 4,    /* more words than max_words */
  LSCFG_PAIR_BAD_LINK = 5,    /* a link that is not i-j */
  LSCFG_PAIR_LINK_BEYOND = 6, /* a link beyond the end of a sentence */
  LSCFG_N_REASONS = 7
};

/* The reason to refuse a line for one of its words, which blanks separate: LSCFG_PAIR_CONTROL, LSCFG_PAIR_RESERVED, or
 * LSCFG_PAIR_GOOD, also for an empty line; the error explains it. */
int lscfg_check_words(const char *line, size_t length, lscfg_error *);

/* The first code point, beginning with from, that no word may contain, except the blank; -1 if there is none. */
int32_t lscfg_refused_character(int32_t from);

/* Number of links between two words; -1: no word, that is, the other word is unaligned. */
typedef struct {
  int32_t src, tgt;
  int64_t count;
} lscfg_word_pair;

/* Rule r's symbols are its source side (every nonterminal -1) and then its target side (-1-k). */
typedef struct {
  int64_t n_rules, n_symbols;
  const int32_t *symbols;    /* [n_symbols] */
  const int64_t *offsets;    /* [n_rules + 1] */
  const int32_t *src_length; /* [n_rules] */
  const int32_t *arity;      /* [n_rules] */
  int64_t n_words, n_vocab_bytes;
  const char *vocab_bytes;      /* [n_vocab_bytes] the words, concatenated */
  const int64_t *vocab_offsets; /* [n_words + 1] */
  int64_t n_pairs;
  const lscfg_word_pair *pairs; /* [n_pairs] */
} lscfg_tables;

/* ---- derivations: the minimal derivation tree of each word-aligned sentence pair ---- */

typedef struct lscfg_derivations lscfg_derivations;

enum { LSCFG_BRACKET_NORMAL = 0, LSCFG_BRACKET_LEFT = 1, LSCFG_BRACKET_RIGHT = 2, LSCFG_BRACKET_BALANCED = 3 };

typedef struct {
  int32_t bracketing; /* LSCFG_BRACKET_...: of sequences of phrases; the normal form is to the left */
  int32_t max_arity;  /* >= 0: maximum number of nonterminals of a rule for estimation and grammar */
  int32_t binarise;   /* non-zero: no rule has more; the smallest children become terminals of their parent's rule */
  int32_t max_words;  /* pairs with a longer side are dropped; 0: no limit */
  int32_t drop;       /* non-zero: every other bad pair is dropped too, zero: it is an error */
  int32_t forests;    /* non-zero: also all minimal derivations of each pair; memory and time are cubic in its words */
} lscfg_derive_options;

/* Trees and nodes are those since the last flush. Nodes are in preorder, children in source order, trees concatenated;
 * a dropped pair has a tree without nodes. A forest contains all minimal derivations of a pair: its nodes are the tight
 * phrase pairs and the root; an edge has as many tails as its rule has nonterminals, in source order, and its head is a
 * node before them. */
typedef struct {
  int64_t n_trees, n_nodes;
  const int64_t *trees;       /* [n_trees + 1]: first node of each tree, counted from the first of all nodes */
  const int32_t *node_rule;   /* [n_nodes] */
  const int32_t *node_parent; /* [n_nodes], counted from the first of all nodes; -1 at roots */
  const int32_t *node_slot;   /* [n_nodes]: index among the children of its parent, in source order */
  const int32_t *node_span;   /* [n_nodes][4]: source i, j, target i, j */
  int64_t n_forests, n_forest_nodes, n_forest_edges, n_forest_tails;
  int64_t all_forest_edges;   /* since the beginning */
  const int64_t *forests;     /* [n_forests + 1]: first node of each, the root; counted from the first of all nodes */
  const int64_t *forest_edge; /* [n_forest_nodes]: first edge of each, counted from the first of all edges */
  const int32_t *forest_rule; /* [n_forest_edges]; the table contains rules of no tree, uncounted */
  const int32_t *forest_tail; /* [n_forest_tails]: tails of all edges, counted from the first of all nodes */
  const int32_t *forest_span; /* [n_forest_nodes][4] */
  const int64_t *rule_count;  /* [rules] nodes of all trees */
  int64_t n_above;            /* trees with a rule of more than max_arity nonterminals */
  int64_t dropped[7];         /* pairs by LSCFG_PAIR_... */
  lscfg_tables tables;
} lscfg_derivations_view;

lscfg_derivations *lscfg_derivations_new(const lscfg_derive_options *);
void lscfg_derivations_free(lscfg_derivations *);
/* Adds the tree of one sentence pair: words separated by blanks, links "i-j" counted from 0, source first. Bad input
 * adds nothing; *stream locates it: 0 source, 1 target, 2 links. */
int lscfg_derive(lscfg_derivations *, const char *src, size_t src_length, const char *tgt, size_t tgt_length,
                 const char *links, size_t links_length, int32_t *stream, lscfg_error *);
/* The same for n_pairs lines of three texts (0 source, 1 target, 2 links). Lines end in LF or CR LF, the last one also
 * at the end of the text; missing lines are empty. The error's line counts from 1. */
int lscfg_derive_lines(lscfg_derivations *, const char *const text[3], const size_t length[3], int64_t n_pairs,
                       int32_t *stream, lscfg_error *);
/* Adds everything that another object has collected, as if its pairs had been derived here, with the same numbers of
 * words, rules and nodes. */
int lscfg_derivations_merge(lscfg_derivations *, const lscfg_derivations *other, lscfg_error *);
/* Clears trees and nodes, so that memory is bounded by the tables of rules and words. */
void lscfg_derivations_flush(lscfg_derivations *);
/* Valid until the next call that changes the derivations. */
void lscfg_derivations_get(const lscfg_derivations *, lscfg_derivations_view *);

/* ---- derivation trees in arrays, as files have them ---- */

/* As in lscfg_derivations_view. */
typedef struct {
  int64_t n_trees, n_nodes;
  const int64_t *trees;  /* [n_trees + 1] */
  const int32_t *rule;   /* [n_nodes] */
  const int32_t *parent; /* [n_nodes] */
  const int32_t *slot;   /* [n_nodes] */
  const int32_t *span;   /* [n_nodes][4] */
} lscfg_trees;

/* Checks that these are trees over whole sentences: nodes in preorder, each with as many children as its rule has
 * nonterminals, and with the span that its rule and its children fill. The caller checks only that the rules' offsets
 * are in order, and source lengths in range. The concatenated words of all sentences go to src and tgt, unless NULL,
 * which need room for the spans of all roots. */
int lscfg_trees_read(const lscfg_trees *, const lscfg_rules *, int32_t *src, int32_t *tgt, lscfg_error *);

/* ---- Hiero: the rules of word-aligned sentence pairs by the heuristics of Chiang (2007) ---- */

typedef struct lscfg_hiero lscfg_hiero;

typedef struct {
  int32_t max_phrase;        /* words of the source side of an initial phrase pair, >= 1 */
  int32_t max_target_phrase; /* the same of its target side; 0: no limit */
  int32_t max_symbols;       /* symbols of the source side of a rule, >= 1 */
  int32_t max_arity;         /* nonterminals of a rule, 0 to 2 */
  int32_t places;            /* non-zero: keeps the positions of each rule */
  int32_t part, parts;       /* parts > 1: keeps only the rules of a part of the source sides, one of 0 .. parts - 1 */
  int32_t loose;             /* non-zero: words at the borders of an initial phrase pair may be unaligned */
  int32_t min_hole;          /* minimum number of source words of a phrase pair that becomes a nonterminal; 0 counts
                              * as 1 */
} lscfg_hiero_options;

/* An initial phrase pair has count 1, divided equally among its possible rules. */
typedef struct {
  int64_t n_sentences;
  int64_t n_phrases;     /* initial phrase pairs */
  int64_t n_used;        /* those that gave a rule: the sum of all counts */
  const double *count;   /* [rules] */
  const int64_t *tokens; /* [rules]: number of rule tokens, each with a share of 1 */
  int64_t n_places;      /* the sum of all tokens, if positions are kept */
  const int32_t *places; /* [n_places][8]: rule, sentence pair, source span, source spans of its nonterminals or -1 */
  int64_t n_targets;     /* number of target sides of the rules, if lscfg_hiero_add_targets added any pair */
  const double *target_count; /* [n_targets], numbered as by lscfg_rules_number: in all rules, including dropped ones */
  const int64_t *first;       /* [rules], NULL unless parts > 1: tokens of all rules, including dropped ones, before its
                         * first */
  lscfg_tables tables;
} lscfg_hiero_view;

lscfg_hiero *lscfg_hiero_new(const lscfg_hiero_options *);
void lscfg_hiero_free(lscfg_hiero *);
/* Adds the rules of one sentence pair; arguments and errors as in lscfg_derive. */
int lscfg_hiero_add(lscfg_hiero *, const char *src, size_t src_length, const char *tgt, size_t tgt_length,
                    const char *links, size_t links_length, int32_t *stream, lscfg_error *);
/* Before the first pair: adds a line of a text to translate. From then on, rules are dropped if adjacent words of their
 * source side are never adjacent in the text; phrases and shares are those of all rules. */
int lscfg_hiero_want(lscfg_hiero *, const char *line, size_t length, lscfg_error *);
/* After the last pair, again for each pair: counts the target sides of the collected rules in all rules. */
int lscfg_hiero_add_targets(lscfg_hiero *, const char *src, size_t src_length, const char *tgt, size_t tgt_length,
                            const char *links, size_t links_length, int32_t *stream, lscfg_error *);
/* Valid until the next pair. */
void lscfg_hiero_get(const lscfg_hiero *, lscfg_hiero_view *);

/* ---- tables of rules: what a grammar file needs of them ---- */

/* Numbers the source (side 0) or target sides (1) in order of first appearance; returns their number. */
int lscfg_rules_number(const lscfg_rules *, int side, int32_t *number, lscfg_error *);
/* Lexical weights [n][2] of rules: the sum over the target words of the least cost with a source word of the rule, or
 * with none (-1); then the same for the source words. pairs [n_pairs][2]: source and target word, costs [n_pairs][2]:
 * of the target word given the source word, and the other way round; worst: of pairs that are not listed. */
int lscfg_rules_lexical(const lscfg_rules *, int64_t n_pairs, const int32_t *pairs, const double *costs, double worst,
                        int64_t n, const int64_t *which, double *weights, lscfg_error *);
/* Writes lines of rules in cdec's format, omitting values [n][n_features] that are 0. Release with
 * lscfg_rules_text_free. */
int lscfg_rules_text(const lscfg_rules *, int64_t n, const int64_t *which, int32_t n_features, const char *const *names,
                     const double *values, char **text, int64_t *length, lscfg_error *);
void lscfg_rules_text_free(char *);

typedef struct lscfg_matcher lscfg_matcher;

/* An index of source sides; number: from lscfg_rules_number. */
int lscfg_matcher_new(const lscfg_rules *, const int32_t *number, lscfg_matcher **, lscfg_error *);
void lscfg_matcher_free(lscfg_matcher *);
/* Finds the numbers of the source sides that can cover some part of the sentence, each nonterminal one or more words,
 * in no particular order; returns how many. found has room for all sides. Only one thread may use a matcher at a
 * time. */
int32_t lscfg_match(lscfg_matcher *, const int32_t *words, int32_t n_words, int32_t *found, lscfg_error *);

/* [end of declarations] */

#ifdef __cplusplus
}
#endif
#endif
