/* Tuning on k-best lists and hypergraphs. See lscfg.h for general conventions. */
#ifndef LSCFG_LEARN_API_H
#define LSCFG_LEARN_API_H

#include "lscfg/search.h"

#ifdef __cplusplus
extern "C" {
#endif

/* [declarations] */

/* ---- tuning: k-best lists as arrays, the passes of MIRA over them, and exact line search for MERT ---- */

/* Metrics that weights are tuned for: BLEU; chrF2, TER (100 minus it), RIBES and METEOR-ES, each alone or, in the next
 * number, as the mean with BLEU. */
enum {
  LSCFG_BLEU,
  LSCFG_CHRF,
  LSCFG_BLEU_CHRF,
  LSCFG_TER,
  LSCFG_BLEU_TER,
  LSCFG_RIBES,
  LSCFG_BLEU_RIBES,
  LSCFG_METEOR,
  LSCFG_BLEU_METEOR,
  LSCFG_N_METRICS
};

/* Statistics of BLEU: matches of order 1 to 4, n-grams of order 1 to 4, length, length of the reference. Those of the
 * other metrics, before those of BLEU:
 *
 *   chrF2      for the orders 1 to 6, character n-grams of the hypothesis, of the reference, and of both;
 *   TER        edits, words of the reference;
 *   RIBES      LSCFG_RIBES_UNIT times the score (0 to 1), sentences;
 *   METEOR-ES  exact matches, matches of stems, chunks, length, length of the reference. */
enum { LSCFG_RIBES_UNIT = 1000000 };
enum { LSCFG_BLEU_WIDTH = 10, LSCFG_MAX_STATS = 28 };
int lscfg_stats_width(int metric);

/* The hypotheses of sentence s are first[s] .. first[s+1]-1, its columns column[s] .. column[s+1]-1: features that some
 * of its hypotheses have. Values are in columns: those of column c of sentence s, one for each of its hypotheses, begin
 * at value[s] + (c - column[s]) * (first[s+1] - first[s]). */
typedef struct {
  int64_t n_sentences;
  const int64_t *first;   /* [n_sentences + 1] */
  const int64_t *column;  /* [n_sentences + 1] */
  const int64_t *value;   /* [n_sentences] */
  const int32_t *feature; /* [columns] */
  const float *values;
  const int32_t *stats; /* [hypotheses][lscfg_stats_width(metric)] */
  int metric;
} lscfg_lists;

/* scores[hypotheses] = features times vector, by feature number. */
void lscfg_lists_scores(const lscfg_lists *, const double *vector, double *scores);
/* best[n_sentences]: the hypothesis with the highest score, the first of equals; -1 for a sentence without
 * hypotheses. */
void lscfg_lists_best(int64_t n_sentences, const int64_t *first, const double *scores, int64_t *best);

typedef struct {
  double step_cap, decay;
  int64_t steps;                      /* number of steps so far */
  double background[LSCFG_MAX_STATS]; /* statistics of the pseudo-corpus */
} lscfg_mira;

/* Steps of MIRA through n sentences, none of them empty, in the order given (Cherry and Foster 2012, section 3). late
 * is the sum over all steps of their number times the change of the weights, so that the average of the weights over
 * all steps is weights - late / steps. */
int lscfg_mira_pass(const lscfg_lists *, lscfg_mira *, int64_t n, const int64_t *order, double *weights, double *late,
                    lscfg_error *);

/* The step x for which the hypotheses with the highest scores + x * slopes have the best score (0 to 100), exactly: the
 * middle of the best interval between two changes, of equals the one nearest to 0; a unit beyond the outermost change
 * if that side is open (Och 2003, section 4). The first of hypotheses with equal scores and slopes counts. */
int lscfg_line_search(int64_t n_sentences, const int64_t *first, const double *scores, const double *slopes,
                      int metric, const int32_t *stats, double *step, double *best, lscfg_error *);

/* The upper envelope of a hypergraph's derivations (Kumar et al. 2009), by ascending slope: line i has the words
 * words[word_offsets[i]] .. [word_offsets[i+1]-1]. */
typedef struct lscfg_envelope lscfg_envelope;

typedef struct {
  int64_t n;
  const double *score; /* [n] at step 0 */
  const double *slope; /* [n] */
  const int64_t *word_offsets;
  const int32_t *words;
} lscfg_envelope_view;

/* The graph is not checked. scores, slopes [n_edges]. */
int lscfg_hypergraph_envelope(const lscfg_hypergraph_view *, const double *scores, const double *slopes,
                              lscfg_envelope **, lscfg_error *);
void lscfg_envelope_free(lscfg_envelope *);
void lscfg_envelope_get(const lscfg_envelope *, lscfg_envelope_view *);

/* A hypergraph whose items are split by the n-grams of up to three words of the references at their ends, so that each
 * edge completes known n-grams. Edges into an item come before those that use it, and those into the goal last. */
typedef struct lscfg_refined lscfg_refined;

typedef struct {
  int32_t n_items, n_edges;
  const int32_t *head;         /* [n_edges] */
  const int32_t *tail;         /* [n_edges][2], -1 for no tail */
  const int32_t *edge;         /* [n_edges] edge of the hypergraph */
  const int32_t *sizes;        /* [n_edges][4]: n-grams of 1 to 4 words that each edge completes */
  const int64_t *gram_offsets; /* [n_edges + 1]: where those of the references begin in grams */
  const int32_t *grams;
  int32_t n_grams;
  const int32_t *order; /* [n_grams] words, 1 to 4 */
  const int32_t *most;  /* [n_grams] largest count in one reference */
} lscfg_refined_view;

/* The graph is not checked. Reference r has the words words[offsets[r]] .. [offsets[r + 1] - 1]; offsets[0] is 0. */
int lscfg_hypergraph_refine(const lscfg_hypergraph_view *, int32_t n_references, const int64_t *offsets,
                            const int32_t *words, lscfg_refined **, lscfg_error *);
void lscfg_refined_free(lscfg_refined *);
void lscfg_refined_get(const lscfg_refined *, lscfg_refined_view *);

/* Expectations over the derivations of one or more graphs, each derivation with a probability proportional to
 * exp(score). Scores and values of derivations are sums over their edges. Edges into an item come before those that use
 * it; an item that no edge uses is the goal of a graph. share [n_edges]: probability of the edge among those into its
 * item; posterior [n_edges]: probability that the derivation uses the edge; moment [n_edges]: covariance of that use
 * with the value of the derivation. The graphs are not checked: every item has an edge, and all numbers are finite. */
int lscfg_edge_moments(int32_t n_items, int32_t n_edges, const int32_t *head, const int32_t *tail,
                       const double *scores, const double *values, double *share, double *posterior, double *moment,
                       lscfg_error *);

/* matches[orders][n][n]: of each order from 1 on, the matching n-grams of each pair of sequences, each as often as in
 * the sequence with fewer of it. Sequence s has the items items[first[s]] .. items[first[s+1]-1]. */
int lscfg_count_matches(int64_t n, const int64_t *first, const int32_t *items, int32_t orders, int32_t *matches,
                        lscfg_error *);

/* [end of declarations] */

#ifdef __cplusplus
}
#endif
#endif
