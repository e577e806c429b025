/* Grammars, parsing and forests: the derivations of one sentence. See lscfg.h for general conventions. */
#ifndef LSCFG_FOREST_API_H
#define LSCFG_FOREST_API_H

#include "lscfg/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* [declarations] */

/* ---- grammar: synchronous rules, indexed by source side ---- */

typedef struct lscfg_grammar lscfg_grammar;

/* Extra rules follow the rules 0 .. size-1 of a grammar. */
enum {
  LSCFG_RULE_GLUE_TOP = 0, /* size + 0: [S] -> [X,1]       */
  LSCFG_RULE_GLUE = 1,     /* size + 1: [S] -> [S,1] [X,2] */
  LSCFG_RULE_PASS = 2,     /* size + 2: [X] -> w, the source word of the span itself; or another category */
  LSCFG_RULE_UNKNOWN = 3,  /* size + 3: any rule of a decoder outside the grammar */
  /* size + 4: LSCFG_RULE_PASS of a word that a rule translates alone, if the forest does not contain that rule: of no
   * probability */
  LSCFG_RULE_PASS_KNOWN = 4,
  LSCFG_RULE_REST = 5, /* size + 5: joins all tails of a rule except the first, see below */
  LSCFG_EXTRA_RULES = 6
};

/* Categories of every grammar, [X] and [S]. */
enum { LSCFG_X = 0, LSCFG_S = 1 };
enum { LSCFG_REST = -1 }; /* the category of a node that joins the rest of an edge's tails */

/* The vocabulary must outlive the grammar. */
lscfg_grammar *lscfg_grammar_new(lscfg_vocab *);
/* A layer over a finished grammar, for rules that come later, by lscfg_grammar_add and lscfg_grammar_add_all. They have
 * no features. Rules of words only may be of any length, whatever the span limit; others exceed the limit only where
 * they cover the whole sentence, and none has one nonterminal and no word on its source side. A parser, a search and
 * the functions for a single rule take the layer instead of its base; others refuse it, or need a grammar that is not a
 * layer. Their size is the base's; the layer's rules are numbered from size + LSCFG_EXTRA_RULES on. NULL: memory is
 * out, or the base is not finished or a layer itself. The base must outlive the layer. */
lscfg_grammar *lscfg_grammar_over(const lscfg_grammar *base);
void lscfg_grammar_free(lscfg_grammar *);
/* Adds the rules of a text in cdec's format, "[X] ||| src ||| tgt ||| Name=value ... ||| 0-0 1-2"; may be called again.
 * A fifth field that does not consist of pairs is ignored. */
int lscfg_grammar_read(lscfg_grammar *, const char *text, size_t length, lscfg_error *);
/* Adds the rules of a compiled grammar, the arrays of lscfg_grammar_get and the grammar's names in a safetensors file,
 * as lscfg_grammar_read adds those of the text. sha256: of the text's file, in hexadecimal digits, or NULL for any.
 * LSCFG_OTHER_SOURCE: another version made the file, or it was made from another text, and nothing is added. After an
 * error the grammar is of no use. */
int lscfg_grammar_open(lscfg_grammar *, const char *path, const char *sha256, lscfg_error *);
/* Adds the rules of another grammar, of the same vocabulary, whose source sides have no words but those of a sentence,
 * with their features and links, and all its categories and names of features. Neither grammar is a layer. */
int lscfg_grammar_add_matching(lscfg_grammar *, const lscfg_grammar *from, const int32_t *words, int32_t n,
                               lscfg_error *);
typedef struct {
  int64_t n_symbols, n_links;
  const int32_t *symbols; /* source side and target side of each rule */
  const int32_t *links;   /* [n_links][2] as of lscfg_grammar_links, by rules */
} lscfg_grammar_view;
enum { LSCFG_RULE_FACTS = 5 };
/* rules [size][LSCFG_RULE_FACTS]: left-hand side; numbers of symbols of both sides, of features and of links. */
void lscfg_grammar_get(const lscfg_grammar *, lscfg_grammar_view *, int32_t *rules);
/* Adds one rule without features, returns its id or a negative code. The category of the left-hand side is lhs. Words
 * and categories must have their ids already. */
int32_t lscfg_grammar_add(lscfg_grammar *, int32_t lhs, const int32_t *src, int32_t n_src, const int32_t *tgt,
                          int32_t n_tgt, lscfg_error *);
/* Adds n rules, numbered in order; returns the first id or a negative code. Rule k has the source side
 * symbols[offsets[2k]] to symbols[offsets[2k + 1]], and its target side follows, up to offsets[2k + 2]. */
int32_t lscfg_grammar_add_all(lscfg_grammar *, int32_t lhs, const int32_t *symbols, const int64_t *offsets, int32_t n,
                              lscfg_error *);
/* Builds the index by source side. Call it once, after the last rule and before the first parse. */
int lscfg_grammar_finish(lscfg_grammar *, lscfg_error *);
int32_t lscfg_grammar_size(const lscfg_grammar *);
int32_t lscfg_grammar_layer_size(const lscfg_grammar *); /* the layer's rules; 0 without a base */
int32_t lscfg_grammar_arity(const lscfg_grammar *, int32_t rule);
/* The number of rules with more than two nonterminals and a scope above 2 (Hopkins and Langmead 2010). The scope counts
 * pairs of adjacent nonterminals on the source side, and nonterminals at its ends. *scope: the largest, 0 without such
 * rules. Parsing time is proportional to the length of the sentence to the power of the scope. */
int32_t lscfg_grammar_wide(const lscfg_grammar *, int32_t *scope);
/* The id of a category, added if it is new. 0 is X and 1 is S in every grammar. */
int32_t lscfg_grammar_category(lscfg_grammar *, const char *name, size_t length);
int32_t lscfg_grammar_n_categories(const lscfg_grammar *);
/* The category's name, not NUL-terminated, valid until the next one is added. */
const char *lscfg_grammar_category_name(const lscfg_grammar *, int32_t category, size_t *length);
int32_t lscfg_grammar_lhs(const lscfg_grammar *, int32_t rule);
const int32_t *lscfg_grammar_src(const lscfg_grammar *, int32_t rule, int32_t *length);
const int32_t *lscfg_grammar_tgt(const lscfg_grammar *, int32_t rule, int32_t *length);
/* live[n_features]: 1 for each feature that is not 0 in some rule. */
void lscfg_grammar_live(const lscfg_grammar *, uint8_t *live);
/* Numbers of words on the target sides of all rules, counts[size]; of a layer, those of its base. */
void lscfg_grammar_target_lengths(const lscfg_grammar *, int32_t *counts);
/* Word links of a rule, from the fifth field of its line ("0-0 1-2"): n pairs of places, counted from 0 with
 * nonterminals, on the source and the target side. */
const int32_t *lscfg_grammar_links(const lscfg_grammar *, int32_t rule, int32_t *n);
int32_t lscfg_grammar_n_features(const lscfg_grammar *);
const char *lscfg_grammar_feature_name(const lscfg_grammar *, int32_t feature, size_t *length);
/* Builds the index by both sides of a finished grammar, which only lscfg_grammar_find needs and must not run
 * meanwhile. A second call does nothing. */
int lscfg_grammar_index_sides(lscfg_grammar *, lscfg_error *);
/* The first rule with these sides of a grammar with an index by both sides; -1 if there is none. */
int32_t lscfg_grammar_find(const lscfg_grammar *, int32_t lhs, const int32_t *src, int32_t n_src, const int32_t *tgt,
                           int32_t n_tgt);
/* Source or target sides of all rules as JSON strings, nonterminals as in [X,1] on both, and their offsets: begin[size
 * + 1]. Returns the length of all; with text NULL they are only measured. */
int64_t lscfg_grammar_quote(const lscfg_grammar *, int32_t target, char *text, int64_t *begin);
/* The rules' features as compressed rows: indptr[size + 1], then indices and values [indptr[size]]. */
void lscfg_grammar_features(const lscfg_grammar *, const int64_t **indptr, const int32_t **indices,
                            const double **values);

/* ---- forest: the derivations of one sentence ---- */

typedef struct lscfg_forest lscfg_forest;

/* A good limit of a forest's applications: with marginals and some features they take one or two gigabytes. */
enum { LSCFG_MOST = 1 << 25 };

typedef struct {
  int32_t max_span;  /* no rule of the grammar covers more words, except rules "[S] -> [X]" */
  int32_t glue;      /* non-zero: the two glue rules */
  int32_t pass;      /* 0: none; 1: pass-through rule for every word; 2: for words without a one-word rule only */
  int32_t goal;      /* category of the root, over the whole sentence */
  /* Maximum number of cells of the chart, one for each span, and of dotted rules and applications together; 0: no
   * limit. A larger forest is LSCFG_TOO_LARGE. */
  int64_t most;
  /* Further categories, besides X, that a word passes into if no rule translates the word alone; only with pass. */
  int32_t n_passed;
  const int32_t *passed;
} lscfg_parse_options;

/* A hypergraph in topological order: tails of an edge come before its head, the root is the last node. The edges of
 * node q are node_edges[q] .. node_edges[q+1]-1. An edge is one source side over one choice of tails; its applications,
 * one for each target side, are edge_apps[e] .. edge_apps[e+1]-1.
 *
 * An edge of more than two tails is a chain: its second tail is a node of category LSCFG_REST with the span of all
 * tails except the first. The only edge into such a node has one application, of rule size + LSCFG_RULE_REST; its tails
 * are the second tail and the third, or the node for the rest from there on. */
typedef struct {
  int32_t n_words, n_nodes, n_edges, n_apps;
  const int32_t *words;      /* [n_words] */
  const int32_t *node_cat;   /* [n_nodes] */
  const int32_t *node_span;  /* [n_nodes][2] */
  const int32_t *node_edges; /* [n_nodes + 1] */
  const int32_t *edge_head;  /* [n_edges] */
  const int32_t *edge_tail;  /* [n_edges][2], source order, -1 for no tail */
  const int32_t *edge_apps;  /* [n_edges + 1] */
  const int32_t *app_rule;   /* [n_apps] */
  const int32_t *app_edge;   /* [n_apps] */
  /* For a lattice, whose words are those of its arcs and whose spans lie between states; else NULL: */
  const int32_t *edge_paths; /* [n_edges + 1] in paths */
  const int32_t *paths;      /* the arcs of each edge that its rule itself covers, in order */
} lscfg_forest_view;

/* Parses a sentence of vocabulary ids (-1 or unknown ids match no rule). LSCFG_NO_PARSE and LSCFG_TOO_LARGE leave
 * *forest NULL. */
int lscfg_parse(const lscfg_grammar *, const int32_t *words, int32_t n_words, const lscfg_parse_options *,
                lscfg_forest **forest, lscfg_error *);

enum { LSCFG_EPSILON = -2 }; /* instead of a word: an arc that every rule may use */

typedef struct {
  int32_t from, to; /* states, from < to */
  int32_t word;
} lscfg_arc;

/* Parses a lattice of states 0 .. n_states-1 from the first to the last one; parallel arcs are alternatives. max_span
 * limits the arcs of the shortest path across a span, as in cdec, except for rules whose source side is a single
 * nonterminal; a word is passed through with at most two empty arcs. Paths of the same words along different arcs are
 * different edges. */
int lscfg_parse_lattice(const lscfg_grammar *, const lscfg_arc *, int32_t n_arcs, int32_t n_states,
                        const lscfg_parse_options *, lscfg_forest **forest, lscfg_error *);
void lscfg_forest_free(lscfg_forest *);
/* The part of a parsed sentence's forest whose derivations use only applications with a non-zero keep [n_apps].
 * LSCFG_NO_PARSE: there is none. app_of [n_apps]: the n-th application of the part was app_of[n]. */
int lscfg_forest_restrict(const lscfg_forest *, const uint8_t *keep, lscfg_forest **part, int32_t *app_of,
                          lscfg_error *);
/* Marks in keep [n_apps] what posterior pruning leaves: applications whose absolute marginal is at least `least`;
 * applications of marginal 0, whose rules the model may lack, into nodes whose absolute marginal is at least
 * `least_of_node`, and the rest of rules with more than two nonterminals; and one derivation, which takes the
 * application of the largest absolute marginal at each node. Marginals [n_apps], [n_nodes] are those of lscfg_infer. */
int lscfg_forest_keep(const lscfg_forest *, const double *app_marginals, const double *node_marginals, double least,
                      double least_of_node, uint8_t *keep, lscfg_error *);
/* An unfinished forest shows no nodes. */
void lscfg_forest_get(const lscfg_forest *, lscfg_forest_view *);

enum { LSCFG_EDGE_SIZE = 64 + 10 * 12 }; /* characters that an edge may need in addition to its source side */
/* Contents of lscfg_print_applications. */
typedef struct {
  const int32_t *number; /* [n_nodes] displayed numbers of the nodes */
  int32_t n_rules;       /* of the grammar; the others are extra rules */
  /* Source and target sides as JSON: of the grammar's rules, and of the applications of other rules in their order. */
  lscfg_strings sides[2], others[2];
  const double *marginals; /* [n_apps] */
  const double *features;  /* [n_apps][n_features] */
  int32_t n_features, digits;
} lscfg_shown;

/* Writes applications as JSON, in order: each edge begins before its first one, {"node":1,"tails":[0],"source":"a",
 * "targets":[["b",0.5,...], and ends at the next edge. before: the open edge, -1 if there is none. Returns the length,
 * or -1 if the text has less room. */
int64_t lscfg_print_applications(const lscfg_forest_view *, const lscfg_shown *, int64_t n, const int32_t *apps,
                                 int32_t before, char *text, int64_t room);

/* A forest from a decoder: each node and then the applications into it, the root last; several nodes may share a
 * category and span. More words than the root covers: a lattice, whose applications have no words around them.
 * NULL: memory is out, or n_words is negative. */
lscfg_forest *lscfg_forest_new(const int32_t *words, int32_t n_words);
/* Adds a node over words i .. j-1; returns its number, counted from 0, or a negative code. */
int32_t lscfg_forest_add_node(lscfg_forest *, int32_t category, int32_t i, int32_t j, lscfg_error *);
/* Adds an application of a rule into the last node; tails in source order, -1 for none. Returns the number of earlier
 * applications, or a negative code. */
int32_t lscfg_forest_add_application(lscfg_forest *, int32_t rule, int32_t tail0, int32_t tail1, lscfg_error *);
/* Checks everything against the grammar, joins the applications of a node with the same source side and tails to edges
 * and drops parts that no derivation of the root uses. app_of [applications added]: the final number of each
 * application, -1 if it was dropped. LSCFG_NO_PARSE: the root has no derivation; all applications were dropped, and the
 * forest stays unfinished. A passed-through word may be the arc of a lattice: its node may cover several positions. */
int lscfg_forest_finish(lscfg_forest *, const lscfg_grammar *, int32_t *app_of, lscfg_error *);

/* [end of declarations] */

#ifdef __cplusplus
}
#endif
#endif
