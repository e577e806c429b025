/* The embedded decoder: cube pruning and k-best lists. See lscfg.h for general conventions. */
#ifndef LSCFG_SEARCH_API_H
#define LSCFG_SEARCH_API_H

#include "lscfg/forest.h"

#ifdef __cplusplus
extern "C" {
#endif

/* [declarations] */

/* ---- language model: an automaton that is filled in as it is walked ---- */

typedef struct lscfg_lm lscfg_lm;

enum { LSCFG_LM_NULL = 0, LSCFG_LM_BEGIN = 1 }; /* states: no context; after <s> */
enum { LSCFG_LM_UNKNOWN = -1, LSCFG_LM_UNKNOWN_EXTENDS = -2 }; /* reach of words outside the model */

/* Called once for each new (state, word): gives log10 p(word | state), the next state (LSCFG_LM_NULL, LSCFG_LM_BEGIN or
 * a number of the caller's choice below 2^28; equal states behave equally) and the word's reach: the number of words,
 * itself included, of the longest n-gram of the model that ends in it and that a word before could still extend; 0 if
 * there is none. For a word that the model does not contain: LSCFG_LM_UNKNOWN, or LSCFG_LM_UNKNOWN_EXTENDS if the model
 * has n-grams that end in an unknown word. Too large a reach, such as the n-gram found whether or not a longer one ends
 * in it, only keeps states apart that could have been one. Non-zero stops the search; LSCFG_ENOMEM: memory is out. */
typedef int (*lscfg_lm_step)(void *context, int32_t state, int32_t word, float *log10p, int32_t *next, int32_t *reach);

/* order: the n of the n-gram model, 1 to 13; end_word: the vocabulary id of </s>. */
lscfg_lm *lscfg_lm_new(int32_t order, int32_t end_word, lscfg_lm_step, void *context);
void lscfg_lm_free(lscfg_lm *);
/* The number of answers in the table. */
int64_t lscfg_lm_size(const lscfg_lm *);
/* Empties the table, between searches, so that the caller may give states other numbers. Automata that join the model
 * must be made again. LSCFG_ENOMEM: memory is out, and the table stays. */
int lscfg_lm_clear(lscfg_lm *);

/* An n-gram model in memory whose automaton gives KenLM's scores. */
typedef struct lscfg_ngrams lscfg_ngrams;

/* Reads an ARPA text as lmplz writes it: each n-gram comes with its parts, <s>, </s> and <unk> are present, <unk> is in
 * no longer n-gram, and no probability is 0 or above 1. KenLM accepts every such text, and decides about all others:
 * LSCFG_EINPUT; error (may be NULL) locates the fault. The vocabulary consists of the words of all queries, and must
 * outlive the model; it may grow. */
int lscfg_ngrams_read(const lscfg_vocab *, const char *text, size_t length, lscfg_ngrams **, lscfg_error *);
void lscfg_ngrams_free(lscfg_ngrams *);

/* The arrays of a compiled model. */
typedef struct {
  int32_t order, unknown, n_nodes, n_words;
  int64_t n_slots;
  const int32_t *nodes;     /* [n_nodes][5] */
  const int32_t *slots;     /* [n_slots][3] */
  const int32_t *unigrams;  /* [n_words] */
  const char *words;        /* concatenated */
  const int64_t *word_offsets; /* [n_words + 1] */
} lscfg_ngrams_view;

void lscfg_ngrams_get(const lscfg_ngrams *, lscfg_ngrams_view *);
/* Opens a compiled model, a safetensors file: facts (order and unknown), unigrams, words and word_offsets of the view,
 * and for each node log10p, backoff, suffix, context (the node without its last word) and last (the node of that word).
 * sha256: of the ARPA file, in hexadecimal digits, or NULL. LSCFG_OTHER_SOURCE: another version made it, or it was
 * made from another ARPA file. The vocabulary is that of lscfg_ngrams_read. */
int lscfg_ngrams_open(const lscfg_vocab *, const char *path, const char *sha256, lscfg_ngrams **, lscfg_error *);
int32_t lscfg_ngrams_order(const lscfg_ngrams *);
/* An lscfg_lm_step whose context is the model. Only one thread may use it at a time. */
int lscfg_ngrams_step(void *ngrams, int32_t state, int32_t word, float *log10p, int32_t *next, int32_t *reach);

/* Several models as one whose log10 p is the sum over the models of weight * log10 p, and of oov_weight for a word
 * outside the model. Its order is the largest of theirs. The models, which must outlive it, fill in their tables. */
typedef struct lscfg_joined lscfg_joined;

/* weights, oov_weights [n], finite; end_word: each model reads its own instead. NULL: memory is out, or n < 1. */
lscfg_joined *lscfg_joined_new(int32_t n, lscfg_lm *const *models, const double *weights, const double *oov_weights,
                               int32_t end_word);
void lscfg_joined_free(lscfg_joined *);
/* An lscfg_lm_step whose context is the joined models. */
int lscfg_joined_step(void *joined, int32_t state, int32_t word, float *log10p, int32_t *next, int32_t *reach);

/* The sum of log10 p of a sentence, <s> and </s> included, and the number of its words outside the model. */
int lscfg_lm_score(lscfg_lm *, const int32_t *words, int32_t n, double *log10p, int32_t *unknown, lscfg_error *);

/* ---- search: cube pruning with the language model, then lazy k-best extraction ---- */

typedef struct {
  int32_t pop_limit; /* candidates taken per node, >= 1 */
  int32_t k;         /* number of derivations, >= 1 */
  int32_t unique;    /* non-zero: at most one derivation for each translation; 20 k + 1000 repeats end a list early */
  double lm_weight;  /* weight of the sum of log10 p, <s> and </s> included */
  double oov_weight; /* weight of the number of words outside the language model */
} lscfg_search_options;

typedef struct lscfg_kbest lscfg_kbest;
typedef struct lscfg_hypergraph lscfg_hypergraph;

/* Best first. The words of hypothesis h are words[word_offsets[h]] .. [word_offsets[h+1]-1] (vocabulary ids), the rule
 * applications of its derivation begin at apps[app_offsets[h]] (indices of the forest's applications). */
typedef struct {
  int32_t n;
  const double *score;         /* [n] model score: application scores + weighted language model */
  const double *lm;            /* [n] sum of log10 p */
  const double *oov;           /* [n] words outside the language model */
  const int64_t *word_offsets; /* [n + 1] */
  const int32_t *words;
  const int64_t *app_offsets;  /* [n + 1] */
  const int32_t *apps;
} lscfg_kbest_view;

/* app_scores[n_apps]: the part of each application's score that does not depend on the language model. lm may be NULL.
 * The lm is filled in as a cache, so two searches must not use one lm at the same time. */
int lscfg_search(const lscfg_forest *, const lscfg_grammar *, lscfg_lm *lm, const double *app_scores,
                 const lscfg_search_options *, lscfg_kbest **, lscfg_error *);
/* The same, and the part of the hypergraph that the best derivations use: the max_edges edges (and those of equal rank)
 * whose best derivation has the highest score. */
int lscfg_search_hypergraph(const lscfg_forest *, const lscfg_grammar *, lscfg_lm *lm, const double *app_scores,
                            const lscfg_search_options *, int32_t max_edges, lscfg_kbest **, lscfg_hypergraph **,
                            lscfg_error *);
void lscfg_kbest_free(lscfg_kbest *);
void lscfg_kbest_get(const lscfg_kbest *, lscfg_kbest_view *);

/* The kept part of a search's hypergraph: items in topological order, the goal last. If an application has more than
 * two tails, the second one is an item whose only edge has two tails and no target side: the item of the second tail,
 * and the item of the third or of the rest from there on. */
typedef struct {
  int32_t n_items, n_edges;
  const int32_t *item_edges; /* [n_items + 1]: the edges into each item */
  const int32_t *tail;       /* [n_edges][2], -1 for no tail */
  const int64_t *symbol;     /* [n_edges + 1]: where each edge's target side begins in symbols */
  const int32_t *symbols;    /* word >= 0, or -1-k: the k-th tail of the application */
  const int32_t *app;        /* [n_edges] application of the forest; -1: from a root to the goal */
  const double *lm;          /* [n_edges] sum of log10 p */
  const int32_t *oov;        /* [n_edges] */
} lscfg_hypergraph_view;

void lscfg_hypergraph_free(lscfg_hypergraph *);
void lscfg_hypergraph_get(const lscfg_hypergraph *, lscfg_hypergraph_view *);

/* ---- oracle: the translations of a forest that are closest to references ---- */

typedef struct {
  int32_t pop_limit; /* candidates taken per node, >= 1 */
  int32_t beam;      /* partial translations kept for each node, >= 1 */
  double smoothing;  /* > 0, added to the matches and the n-grams of each order in sentence BLEU */
} lscfg_oracle_options;

/* The translations that the search keeps at the root, all different: best first by sentence BLEU, which is their score,
 * from 0 to 1. Reference r has the words words[offsets[r]] .. [offsets[r + 1] - 1]; offsets[0] is 0. The brevity
 * penalty of a node is that of its share of the shortest reference. Without limits the best is exact. */
int lscfg_oracle(const lscfg_forest *, const lscfg_grammar *, int32_t n_references, const int64_t *offsets,
                 const int32_t *words, const lscfg_oracle_options *, lscfg_kbest **, lscfg_error *);

/* ---- patches: the cheapest derivation of a translation if rules may be missing ---- */

enum {
  LSCFG_PATCH_NEVER = 10000, /* cost of an interval that a node cannot yield */
  LSCFG_PATCH_WORDS = 1000   /* most words of the translation */
};

typedef struct {
  int32_t longest; /* most words that a missing rule yields */
  int32_t swap;    /* cost of a rule with two neighbours of its target side swapped; negative: no rule swaps */
} lscfg_patch_options;

/* The least cost at which each node yields each interval of the translation. missing [n_apps]: non-zero for rules that
 * may yield any words, at a cost of the words on both sides; others cost nothing. costs [n_nodes][n_words + 1][stride],
 * by places where the interval begins and ends, where stride is the first multiple of 8 above n_words. Nodes of
 * LSCFG_REST yield nothing. */
int lscfg_patch(const lscfg_forest *, const lscfg_grammar *, const uint8_t *missing, const int32_t *words,
                int32_t n_words, const lscfg_patch_options *, int16_t *costs, lscfg_error *);

/* ---- the best derivation of a given translation ---- */

/* Finds the best derivation of a translation of 1 to LSCFG_PATCH_WORDS words: the sum of app_scores [n_apps], all below
 * 1e200 in magnitude, is the largest, *score. apps, intervals [n_nodes][2]: its *n_apps applications, from the root
 * down, the first tail first, and the words [i, j) of the translation that each yields. Of equally good derivations,
 * each node takes the application of the lowest number; of equally good intervals of its tails, those whose last tail
 * on the target side begins first, then the tail before, and so on. LSCFG_NO_PARSE: the forest does not derive the
 * translation. */
int lscfg_force(const lscfg_forest *, const lscfg_grammar *, const double *app_scores, const int32_t *words,
                int32_t n_words, int32_t *apps, int32_t *intervals, int32_t *n_apps, double *score, lscfg_error *);

/* [end of declarations] */

#ifdef __cplusplus
}
#endif
#endif
