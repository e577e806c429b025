/* Rules found by synchronous parsing of sentence pairs, and a log-linear model of them. See lscfg.h for general
 * conventions. */
#ifndef LSCFG_BIPARSE_API_H
#define LSCFG_BIPARSE_API_H

#include "lscfg/extract.h"

#ifdef __cplusplus
extern "C" {
#endif

/* [declarations] */

/* ---- sentence pairs without word alignment ---- */

typedef struct lscfg_bitexts lscfg_bitexts;

/* max_words: pairs with a longer side are skipped, 1 to 128. */
lscfg_bitexts *lscfg_bitexts_new(int32_t max_words);
void lscfg_bitexts_free(lscfg_bitexts *);
/* Adds a sentence pair, as lscfg_derive does; without links, the third text must be empty. */
int lscfg_bitexts_add(lscfg_bitexts *, const char *src, size_t src_length, const char *tgt, size_t tgt_length,
                      const char *links, size_t links_length, int32_t *stream, lscfg_error *);
/* Counts the links of a word-aligned sentence pair of any length, which need not have been added. */
int lscfg_bitexts_link(lscfg_bitexts *, const char *src, size_t src_length, const char *tgt, size_t tgt_length,
                       const char *links, size_t links_length, int32_t *stream, lscfg_error *);
/* Probabilities of words given words, [n][2] each: source and target word, -1 for NULL; p(target | source) and p(source
 * | target), 0 to 1. Values below 1e-7, and pairs that are not listed, count as 1e-7. All pairs of words are given at
 * once. */
int lscfg_bitexts_lexicon(lscfg_bitexts *, int64_t n, const int32_t *words, const double *probability, lscfg_error *);

typedef struct {
  int64_t n_pairs;           /* including skipped pairs, which have no words */
  const int64_t *first[2];   /* [n_pairs + 1] by side: where the words of each pair begin */
  const int32_t *words[2];
  const int32_t *same;       /* [n_pairs] the first pair with the same words on both sides */
  int64_t left_out;          /* pairs that are too long */
  lscfg_tables tables;       /* words, and pairs of linked words; no rules */
} lscfg_bitexts_view;

/* Valid until the next call that changes the bitexts. */
void lscfg_bitexts_get(const lscfg_bitexts *, lscfg_bitexts_view *);

/* ---- the model: rules that were discovered, and weights ---- */

typedef struct lscfg_biparse_model lscfg_biparse_model;

enum { LSCFG_FUTURE_SPLIT = 0, LSCFG_FUTURE_WHOLE = 1 };

typedef struct {
  int32_t pops;         /* >= 1: edges of a span (or of a cube) */
  int32_t nodes;        /* >= 1: nodes of a span */
  int32_t word_items;   /* >= 1: sets of target words of a source word */
  int32_t each_cube;    /* non-zero: pops are those of each cube, not of all cubes of a span */
  int32_t retries;      /* >= 0: retries for a pair without a parse, each four times as wide */
  int32_t max_target;   /* >= 1: target words of a rule */
  int32_t strict_root;  /* non-zero: border words join no rule; the root must cover them */
  int32_t future;       /* LSCFG_FUTURE_...: estimates of the cost outside */
  int32_t max_targets;  /* >= 1: target sides of a source side in the neighbour hypergraph */
  int32_t rule_weights; /* non-zero: each rule has its own weight */
  int32_t leave_out;    /* non-zero: rules that occur only in the current pair have weight 0 for it */
  double beam;          /* >= 0, also infinite: largest distance of an edge's best derivation from the best of all */
} lscfg_biparse_options;

/* Dense features: of target words given source words, of source words given target words, number of target words. */
enum { LSCFG_LEX_TARGET = 0, LSCFG_LEX_SOURCE = 1, LSCFG_TARGET_WORDS = 2, LSCFG_N_DENSE = 3 };

/* Sparse features other than those of rules: linked words (source, target); the words at the ends of a source span, and
 * those before and after it, -1 beyond the sentence. */
enum { LSCFG_LINKED_WORDS = 0, LSCFG_SPAN_ENDS = 1, LSCFG_SPAN_SIDES = 2, LSCFG_N_SPARSE = 3 };

/* A rule has one weight whatever its links. */
typedef struct {
  int64_t n_rules, n_symbols;
  const int32_t *symbols;
  const int64_t *offsets;
  const int32_t *src_length;
  const int32_t *arity;
  const double *rule_weight;   /* [n_rules] */
  const float *rule_squares;   /* [n_rules] sums of squared gradients */
  const int32_t *only;         /* [n_rules] the only pair with the rule, of equal pairs the first; -1: several */
  int64_t n_aligned, n_links;
  const int32_t *aligned_rule; /* [n_aligned] */
  const int64_t *link_begin;   /* [n_aligned + 1] */
  const int32_t *links;        /* [n_links][2] positions of a source and a target symbol in their sides */
  const int32_t *shown;        /* [n_aligned] maximum number of pairs with it in one pass, including the current one */
  const int32_t *shown_now;    /* [n_aligned] in the current pass */
  const double *lexical;       /* [n_aligned][2] */
  int64_t n_weights[3];        /* by LSCFG_LINKED_WORDS, ... */
  const int32_t *words[3];     /* [n_weights][2] */
  const double *weight[3];     /* [n_weights] */
  const float *squares[3];     /* [n_weights] */
  double dense[3], dense_squares[3];
  const double *kept[4]; /* saved weights, of LSCFG_LINKED_WORDS, ..., and of rules */
  double dense_kept[3];
} lscfg_biparse_view;

/* NULL: no memory. The bitexts must outlive the model and not change. */
lscfg_biparse_model *lscfg_biparse_model_new(const lscfg_bitexts *, const lscfg_biparse_options *);
void lscfg_biparse_model_free(lscfg_biparse_model *);
/* Valid until the next call that changes the model. */
int lscfg_biparse_model_get(lscfg_biparse_model *, lscfg_biparse_view *);
/* Adds a share of another model of the same text to a new model, or to one that consists of shares: its rules, with
 * their pairs in this pass, its weights and sums of squares times the share, and its saved weights, which must be the
 * same in all. A share of 1 copies the other model into a new one. LSCFG_EINPUT: the arrays do not fit; discard the
 * model. */
int lscfg_biparse_model_add(lscfg_biparse_model *, const lscfg_biparse_view *, double share, lscfg_error *);

/* ---- visits of sentence pairs ---- */

typedef struct lscfg_biparse_visits lscfg_biparse_visits;

enum {
  LSCFG_VISIT_NEIGHBOURS = 1, /* also parses the source side with the rules of the pair's source sides */
  LSCFG_VISIT_LINKS = 2,      /* keeps probabilities of links */
  LSCFG_VISIT_TREE = 4,       /* keeps the best derivation */
  LSCFG_VISIT_FIRST = 8       /* uses the initial weights */
};

lscfg_biparse_visits *lscfg_biparse_visits_new(void);
void lscfg_biparse_visits_free(lscfg_biparse_visits *);
/* Parses pairs and replaces earlier results. Several threads may use the model at the same time, each with its own
 * visits. */
int lscfg_biparse_visit(const lscfg_biparse_model *, lscfg_biparse_visits *, const int32_t *pairs, int64_t n,
                        int32_t what, lscfg_error *);

typedef struct {
  int32_t pair;
  int32_t tries;                           /* 0: skipped; negative: number of tries without a parse */
  int32_t nodes, edges, kept;              /* of the chart, and kept edges */
  int32_t sides, targets, neighbour_edges; /* of the neighbour hypergraph */
  double viterbi, log_pair, log_source; /* best score; logarithms of the sums over both hypergraphs */
} lscfg_biparse_result;

/* Rules of a pair, each with its links. */
typedef struct {
  int32_t visit; /* index of the pair among the visits */
  int32_t n_src, n_tgt, n_links, arity;
  int32_t known;       /* its number among the model's aligned rules, -1: it is new */
  int64_t symbols, links; /* offsets */
  double lexical[2];   /* logarithms */
  double expected;     /* expected uses, given both sides */
  double weight[2];    /* of the rule, and the sum of those of its linked words */
  int64_t fingerprint[3]; /* of the source side, the rule, the rule with its links */
} lscfg_biparse_rule;

/* An edge of the best derivation, followed by its tails in source order. */
typedef struct {
  int32_t visit, rule, parent, slot; /* rule counts from the first one of all visits; parent from the first edge */
  int32_t span[4], tails[2][2];      /* source and target; source spans of tails, -1 for none */
} lscfg_biparse_edge;

typedef struct {
  int32_t visit, source, target, best; /* best: in the best derivation */
  double probability;
} lscfg_biparse_link;

typedef struct {
  int64_t n;
  const lscfg_biparse_result *results; /* [n] */
  int64_t n_rules;
  const lscfg_biparse_rule *rules;
  const int32_t *symbols, *links; /* links [][2] */
  int64_t n_edges;
  const lscfg_biparse_edge *edges;
  int64_t n_links;
  const lscfg_biparse_link *pair_links;
  const double *dense; /* [n][3] expectations of dense features: given both sides minus given the source */
} lscfg_biparse_visits_view;

void lscfg_biparse_visits_get(const lscfg_biparse_visits *, lscfg_biparse_visits_view *);

/* ---- learning ---- */

enum { LSCFG_PRIOR_CORPUS = 0, LSCFG_PRIOR_VISIT = 1 };

typedef struct {
  double rate;         /* > 0 */
  double lexical_rate; /* of the two lexical weights, which never fall below 0.1 */
  double shrink;       /* relative decrease of all weights (LSCFG_PRIOR_CORPUS) at each visit, or of those with an
                        * expectation (LSCFG_PRIOR_VISIT) in each batch, for a rate of 1 */
  int32_t prior;       /* LSCFG_PRIOR_... */
  int32_t adagrad;     /* non-zero: each weight has its own rate, which its gradients lower; weights then shrink only
                        * if they have a gradient */
} lscfg_biparse_step;

/* Adds the rules of visits to the model, and their gradient to that of the batch. */
int lscfg_biparse_learn(lscfg_biparse_model *, const lscfg_biparse_visits *, lscfg_error *);
/* Follows the gradient of the batch and clears it. */
int lscfg_biparse_update(lscfg_biparse_model *, const lscfg_biparse_step *, lscfg_error *);
/* Saves the weights, and restores the saved ones; until the first save, the initial weights are saved. */
int lscfg_biparse_keep(lscfg_biparse_model *, lscfg_error *);
int lscfg_biparse_go_back(lscfg_biparse_model *, lscfg_error *);
/* Ends learning: drops everything except the weights, which serve visits without neighbours and counts. Afterwards,
 * learning and saving are LSCFG_EINPUT, and the view has no rules, squares or saved weights: they are NULL. */
int lscfg_biparse_settle(lscfg_biparse_model *);
/* Ends a pass: resets the counts of rules, and rounds the weights to those of the view. */
void lscfg_biparse_next_pass(lscfg_biparse_model *);
/* Forgets rules with nonterminals that occur in one pair only, if the model has more than this number of aligned
 * rules. */
int lscfg_biparse_forget(lscfg_biparse_model *, int64_t most, lscfg_error *);

/* ---- expected counts of rules ---- */

typedef struct lscfg_biparse_counts lscfg_biparse_counts;

typedef struct {
  const double *expected; /* [rules] */
  const int32_t *pairs;   /* [rules] number of pairs with the rule */
  const double *sums;     /* [rules][2] of the weights of the rule and of its linked words, times expected, or NULL */
  const uint8_t *is_bare; /* [rules] without a word on a side, or with adjacent nonterminals on the source side */
  const double *of_target; /* [rules] expected count of all rules with the same target side; NULL: no rule was
                            * dropped */
  lscfg_tables tables;    /* the counts of its word pairs are 0 */
  const double *linked;   /* [word pairs] expected links */
  int64_t n_edges;        /* of the best derivations, in order of addition: rules are numbered as here, */
  const lscfg_biparse_edge *edges; /* visit is the pair, and parents count from the first of all edges */
} lscfg_biparse_counts_view;

lscfg_biparse_counts *lscfg_biparse_counts_new(const lscfg_bitexts *);
void lscfg_biparse_counts_free(lscfg_biparse_counts *);
/* Adds a sentence to translate, -1 for words outside the text, before any visits. Then only rules of best derivations
 * are kept, and those whose source side has adjacent words that are adjacent in some sentence. */
int lscfg_biparse_want(lscfg_biparse_counts *, const int32_t *words, int64_t n);
/* Adds the expectations of visits, with the weights of a model of the same text, which may differ from the visits'
 * model; all visits with weights, or, if the model is NULL, all without. */
int lscfg_biparse_count(lscfg_biparse_counts *, const lscfg_biparse_visits *, const lscfg_biparse_model *,
                        lscfg_error *);
int lscfg_biparse_counts_get(lscfg_biparse_counts *, lscfg_biparse_counts_view *);

/* [end of declarations] */

#ifdef __cplusplus
}
#endif
#endif
