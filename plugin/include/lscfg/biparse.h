/* Rules found by parsing sentence pairs on both sides at once, and a log-linear model that weighs them. See lscfg.h for
 * what holds everywhere. */
#ifndef LSCFG_BIPARSE_API_H
#define LSCFG_BIPARSE_API_H

#include "lscfg/extract.h"

#ifdef __cplusplus
extern "C" {
#endif

/* [declarations] */

/* ---- sentence pairs without word alignment ---- */

typedef struct lscfg_bitexts lscfg_bitexts;

/* max_words: pairs with a longer side are left out, 1 to 128. */
lscfg_bitexts *lscfg_bitexts_new(int32_t max_words);
void lscfg_bitexts_free(lscfg_bitexts *);
/* Adds a sentence pair, as lscfg_derive does; there are no links, so the third text is to be empty. */
int lscfg_bitexts_add(lscfg_bitexts *, const char *src, size_t src_length, const char *tgt, size_t tgt_length,
                      const char *links, size_t links_length, int32_t *stream, lscfg_error *);
/* Counts the links of a word-aligned sentence pair of any length, which may be among those that were added or not. */
int lscfg_bitexts_link(lscfg_bitexts *, const char *src, size_t src_length, const char *tgt, size_t tgt_length,
                       const char *links, size_t links_length, int32_t *stream, lscfg_error *);
/* Probabilities of words given words, [n][2] each: source and target word, -1 for NULL; p(target | source) and
 * p(source | target), 0 to 1. Values below 1e-7 count as 1e-7, as pairs do that are not listed. All pairs of words are
 * given at once. */
int lscfg_bitexts_lexicon(lscfg_bitexts *, int64_t n, const int32_t *words, const double *probability, lscfg_error *);

typedef struct {
  int64_t n_pairs;           /* also those that were left out, which have no words */
  const int64_t *first[2];   /* [n_pairs + 1] by side: where the words of each pair begin */
  const int32_t *words[2];
  const int32_t *same;       /* [n_pairs] the first pair with the same words on both sides */
  int64_t left_out;          /* pairs that are too long */
  lscfg_tables tables;       /* words, and pairs of them that are linked; no rules */
} lscfg_bitexts_view;

/* Valid until the next call that changes them. */
void lscfg_bitexts_get(const lscfg_bitexts *, lscfg_bitexts_view *);

/* ---- the model: rules that were discovered, and weights ---- */

typedef struct lscfg_biparse_model lscfg_biparse_model;

enum { LSCFG_FUTURE_SPLIT = 0, LSCFG_FUTURE_WHOLE = 1 };

typedef struct {
  int32_t pops;         /* >= 1: edges of a span (or of a cube) */
  int32_t nodes;        /* >= 1: nodes of a span */
  int32_t word_items;   /* >= 1: sets of target words of a source word */
  int32_t each_cube;    /* non-zero: pops are those of each cube, not of all cubes of a span */
  int32_t retries;      /* >= 0: how often a pair without a parse is tried again, each time four times as wide */
  int32_t max_target;   /* >= 1: target words of a rule */
  int32_t strict_root;  /* non-zero: border words join no rule, the root has to cover them */
  int32_t future;       /* LSCFG_FUTURE_...: estimates of what is outside */
  int32_t max_targets;  /* >= 1: target sides of a source side in the neighbour hypergraph */
  int32_t rule_weights; /* non-zero: each rule has a weight of its own */
  int32_t leave_out;    /* non-zero: rules that only the pair at hand has shown have weight 0 for it */
  double beam;          /* >= 0, also infinite: edges stay whose best derivation is so near to the best of all */
} lscfg_biparse_options;

/* Dense features: of target words given source words, of source words given target words, number of target words. */
enum { LSCFG_LEX_TARGET = 0, LSCFG_LEX_SOURCE = 1, LSCFG_TARGET_WORDS = 2, LSCFG_N_DENSE = 3 };

/* Sparse features beside those of rules: linked words (source, target); the words at the ends of a source span, and
 * those before and behind it, -1 beyond the sentence. */
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
  const int32_t *only;         /* [n_rules] the only pair that has shown it, of equal pairs the first; -1: several */
  int64_t n_aligned, n_links;
  const int32_t *aligned_rule; /* [n_aligned] */
  const int64_t *link_begin;   /* [n_aligned + 1] */
  const int32_t *links;        /* [n_links][2] positions of a source and a target symbol in their sides */
  const int32_t *shown;        /* [n_aligned] most pairs that showed it in one pass, this one included */
  const int32_t *shown_now;    /* [n_aligned] in this pass */
  const double *lexical;       /* [n_aligned][2] */
  int64_t n_weights[3];        /* by LSCFG_LINKED_WORDS, ... */
  const int32_t *words[3];     /* [n_weights][2] */
  const double *weight[3];     /* [n_weights] */
  const float *squares[3];     /* [n_weights] */
  double dense[3], dense_squares[3];
  const double *kept[4];       /* weights to go back to, of LSCFG_LINKED_WORDS, ..., and of rules */
  double dense_kept[3];
} lscfg_biparse_view;

/* NULL: no memory. The bitexts have to live and stay as they are while the model does. */
lscfg_biparse_model *lscfg_biparse_model_new(const lscfg_bitexts *, const lscfg_biparse_options *);
void lscfg_biparse_model_free(lscfg_biparse_model *);
/* Valid until the next call that changes the model. */
int lscfg_biparse_model_get(lscfg_biparse_model *, lscfg_biparse_view *);
/* Adds a share of another model of the same text to a new model, or to one that was made of such shares alone: its
 * rules, with the pairs that have shown them in this pass, its weights and sums of squares times the share, and its
 * kept weights, which all are to have in common. A share of 1 puts a new model where the other one was. LSCFG_EINPUT:
 * the arrays do not fit; the model is of no use then. */
int lscfg_biparse_model_add(lscfg_biparse_model *, const lscfg_biparse_view *, double share, lscfg_error *);

/* ---- visits of sentence pairs ---- */

typedef struct lscfg_biparse_visits lscfg_biparse_visits;

enum {
  LSCFG_VISIT_NEIGHBOURS = 1, /* also parse the source side with the rules of the pair's source sides */
  LSCFG_VISIT_LINKS = 2,      /* keep probabilities of links */
  LSCFG_VISIT_TREE = 4,       /* keep the best derivation */
  LSCFG_VISIT_FIRST = 8       /* with the weights of the beginning, whatever was learned */
};

lscfg_biparse_visits *lscfg_biparse_visits_new(void);
void lscfg_biparse_visits_free(lscfg_biparse_visits *);
/* Parses some pairs; what was found of other pairs before is forgotten. The model may serve many threads at once, each
 * with visits of its own. */
int lscfg_biparse_visit(const lscfg_biparse_model *, lscfg_biparse_visits *, const int32_t *pairs, int64_t n,
                        int32_t what, lscfg_error *);

typedef struct {
  int32_t pair;
  int32_t tries;      /* 0: left out; negative: so many without a parse */
  int32_t nodes, edges, kept; /* of the chart, and edges that stay */
  int32_t sides, targets, neighbour_edges; /* of the neighbour hypergraph */
  double viterbi, log_pair, log_source; /* best score; logarithms of the sums over both hypergraphs */
} lscfg_biparse_result;

/* Rules of a pair, each with its links. */
typedef struct {
  int32_t visit;       /* which one of the pairs */
  int32_t n_src, n_tgt, n_links, arity;
  int32_t known;       /* its number among the model's aligned rules, -1: it is new */
  int64_t symbols, links; /* where they begin */
  double lexical[2];   /* logarithms */
  double expected;     /* times it is used, given both sides */
  double weight[2];    /* of the rule, and the sum of those of its linked words */
  int64_t fingerprint[3]; /* of the source side, the rule, the rule with its links */
} lscfg_biparse_rule;

/* An edge of the best derivation, tails in source order behind it. */
typedef struct {
  int32_t visit, rule, parent, slot; /* rule counts from the first one of all visits; parent from the first edge */
  int32_t span[4], tails[2][2];      /* source and target; source spans of tails, -1 where there is none */
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
  const double *dense; /* [n][3] expectations of dense features: given both sides less given the source */
} lscfg_biparse_visits_view;

void lscfg_biparse_visits_get(const lscfg_biparse_visits *, lscfg_biparse_visits_view *);

/* ---- learning ---- */

enum { LSCFG_PRIOR_CORPUS = 0, LSCFG_PRIOR_VISIT = 1 };

typedef struct {
  double rate;         /* > 0 */
  double lexical_rate; /* of the two lexical weights, which never fall below 0.1 */
  double shrink;       /* what all weights (LSCFG_PRIOR_CORPUS) lose at each visit, or those of features that have an
                          expectation (LSCFG_PRIOR_VISIT) in each batch, as a part of themselves, for a rate of 1 */
  int32_t prior;       /* LSCFG_PRIOR_... */
  int32_t adagrad;     /* non-zero: each weight has a rate of its own, which its gradients lower; weights then shrink
                          only where they have a gradient */
} lscfg_biparse_step;

/* Discovers the rules of visits, and adds their gradient to that of the batch. */
int lscfg_biparse_learn(lscfg_biparse_model *, const lscfg_biparse_visits *, lscfg_error *);
/* Follows the gradient of the batch; the next one is empty. */
int lscfg_biparse_update(lscfg_biparse_model *, const lscfg_biparse_step *, lscfg_error *);
/* Keeps the weights as they are, and takes back the kept ones; at first those of the beginning are kept. */
int lscfg_biparse_keep(lscfg_biparse_model *, lscfg_error *);
int lscfg_biparse_go_back(lscfg_biparse_model *, lscfg_error *);
/* Learning is over: forgets all but the weights, which are as before for visits without neighbours and for counts. The
 * model learns no more, keeps no weights and goes back to none, which is LSCFG_EINPUT, and its view has no rules,
 * squares or kept weights: they are NULL. */
int lscfg_biparse_settle(lscfg_biparse_model *);
/* A pass is over: rules are counted anew. */
void lscfg_biparse_next_pass(lscfg_biparse_model *);
/* Forgets rules with nonterminals that one pair alone has shown, if there are more than so many aligned rules. */
int lscfg_biparse_forget(lscfg_biparse_model *, int64_t most, lscfg_error *);

/* ---- expected counts of rules ---- */

typedef struct lscfg_biparse_counts lscfg_biparse_counts;

typedef struct {
  const double *expected; /* [rules] */
  const int32_t *pairs;   /* [rules] that have the rule */
  const double *sums;     /* [rules][2] of the weights of the rule and of its linked words, times expected, or NULL */
  const uint8_t *is_bare; /* [rules] without a word on a side, or with nonterminals side by side on the source side */
  const double *of_target; /* [rules] how often all rules with the same target side are expected; NULL: all are here */
  lscfg_tables tables;    /* the counts of its word pairs are 0 */
  const double *linked;   /* [word pairs] expected links */
  int64_t n_edges;        /* of the best derivations, in the order in which they came: rules as they are here, the */
  const lscfg_biparse_edge *edges; /* pair for the visit, and parents counted from the very first edge */
} lscfg_biparse_counts_view;

lscfg_biparse_counts *lscfg_biparse_counts_new(const lscfg_bitexts *);
void lscfg_biparse_counts_free(lscfg_biparse_counts *);
/* Adds a sentence to be translated, -1 for words that the text has not, before any visits. With such, only rules of
 * best derivations are kept, and those whose source side has words that some sentence has side by side. */
int lscfg_biparse_want(lscfg_biparse_counts *, const int32_t *words, int64_t n);
/* Adds what visits expect of pairs, with the weights that a model of the same text has, which need not be theirs; all
 * visits with weights, or, where the model is NULL, all without. */
int lscfg_biparse_count(lscfg_biparse_counts *, const lscfg_biparse_visits *, const lscfg_biparse_model *,
                        lscfg_error *);
int lscfg_biparse_counts_get(lscfg_biparse_counts *, lscfg_biparse_counts_view *);

/* [end of declarations] */

#ifdef __cplusplus
}
#endif
#endif
