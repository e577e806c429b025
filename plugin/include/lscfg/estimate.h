/* Inner loops of the estimators. See lscfg.h for general conventions. */
#ifndef LSCFG_ESTIMATE_API_H
#define LSCFG_ESTIMATE_API_H

#include "lscfg/extract.h"

#ifdef __cplusplus
extern "C" {
#endif

/* [declarations] */

/* ---- context: target sides among the words around a rule ---- */

/* An application of a rule. */
typedef struct {
  int32_t rule, sentence;
  int32_t span[2];   /* half-open, words of the sentence */
  int32_t gap[2][2]; /* spans of the nonterminals in source order, -1 for none */
} lscfg_context_token;

/* The training data of weights, which must outlive the trainer. */
typedef struct {
  const lscfg_rules *rules;    /* of up to two nonterminals; in the vocabulary of the words */
  const double *counts;        /* [rules] > 0 */
  const int32_t *words;        /* of all sentences, -1: no item */
  const int64_t *first;        /* [sentences + 1] */
  const int32_t *side;         /* [rules] numbers of the source sides */
  int64_t n_sides;
  const int64_t *choice_begin; /* [sides + 1]: the rules to choose among, all with that source side */
  const int32_t *choices;
  int64_t n_tokens;            /* of rules that are among the choices; in the order of their rules */
  const lscfg_context_token *tokens;
  int32_t min_count;           /* items that an outcome has fewer times get no weights */
  double penalty;              /* 1 / the variance of the weights' prior */
  double rate;                 /* learning rate */
  int64_t dims;                /* dense values on each side of a span, 0: none */
  const float *left, *right;   /* [words and sentences][dims], of the text to the left and to the right of boundary i
                                * of sentence s: row first[s] + s + i */
  double dense_penalty;        /* penalty of an outcome's weights for dense values */
} lscfg_context_problem;

typedef struct lscfg_context_trainer lscfg_context_trainer;

/* The work is cut up for threads in the same way for any number of them: weights are found and visited by parts, the
 * tokens of a batch are processed by pieces, the weights are changed by shards. */
enum { LSCFG_CONTEXT_PARTS = 64, LSCFG_CONTEXT_PIECES = 16, LSCFG_CONTEXT_SHARDS = 16 };

/* First each part finds its weights. After all parts, they are laid out; then each part visits its source sides, then
 * visits are counted, and the trainer can learn. */
int lscfg_context_trainer_new(const lscfg_context_problem *, lscfg_context_trainer **, lscfg_error *);
void lscfg_context_trainer_free(lscfg_context_trainer *);
int lscfg_context_find(lscfg_context_trainer *, int32_t part, lscfg_error *);
int lscfg_context_lay_out(lscfg_context_trainer *, lscfg_error *);
int lscfg_context_visit(lscfg_context_trainer *, int32_t part, lscfg_error *);
void lscfg_context_count_visits(lscfg_context_trainer *);
/* To learn from a batch, first process each piece of it, which computes the gradients; after all pieces, each shard
 * takes its steps, those of the tokens of piece 0 first. A skipped piece keeps the gradients of the batch before. loss:
 * sums of -log p of the tokens' target sides by frequency, and in context. */
int lscfg_context_meet(lscfg_context_trainer *, int32_t piece, const lscfg_context_token *, int64_t n, double loss[2],
                       lscfg_error *);
void lscfg_context_step(lscfg_context_trainer *, int32_t shard);
/* Number of weights that are not 0, or LSCFG_ENOMEM. Unless NULL, offsets [outcomes + 1], items and weights receive
 * them in the layout of a model file (docs/reference/formats.md). */
int64_t lscfg_context_weights(const lscfg_context_trainer *, int64_t *offsets, int32_t *items, float *weights,
                              lscfg_error *);
/* For each rule the sum of its outcomes' weights for dense values, [rules][2 dims], those of the left side first. */
void lscfg_context_dense(const lscfg_context_trainer *, float *sums);

/* ---- context scores: rules among others of their source side, from a context of few dimensions ---- */

enum {
  LSCFG_LOSS_SOFTMAX = 0,    /* -log of the share of count * exp(score) */
  LSCFG_LOSS_INDICATORS = 1, /* squared distance of the scores from 1 for the right rule, 0 for others */
  LSCFG_LOSS_COSTS = 2,      /* from 0 for the right one, -(count + 1) * options / total count of the others for
                              * wrong ones */
  LSCFG_LOSS_MATCH = 3       /* log-loss of the match of context and rule; the right rule counts as often as all
                              * others */
};

/* Rows are rules. The score of a row is weights . input + bias, where the input is the context, or tanh of a hidden
 * layer over it if hidden > 0; for LSCFG_LOSS_MATCH, out . tanh(hidden . context + other . the row's vector + bias) +
 * bias. */
typedef struct {
  int32_t loss;
  int64_t dims, hidden, rows;
  const double *contexts;      /* [tokens][dims] */
  const int32_t *own;          /* [tokens] the right row */
  const int64_t *first, *size; /* [tokens] options are the rows first .. first + size - 1, own among them */
  const double *counts;        /* [rows], above 0 */
  const double *vectors;       /* [rows][dims] of LSCFG_LOSS_MATCH, else NULL */
  const double *visits;        /* [rows], above 0: the penalty is divided among this number of visits; NULL: each has
                                * all of it */
  double rate, penalty;        /* of AdaGrad; the penalty is that of one visit */
} lscfg_score_problem;

/* Number of parameters. In order: rules [rows][hidden or dims], bias [rows], hidden [hidden][dims], hidden_bias
 * [hidden]; of LSCFG_LOSS_MATCH bias [1], hidden, other [hidden][dims], hidden_bias, out [hidden]. */
int64_t lscfg_score_parameters(const lscfg_score_problem *);
/* Learns from tokens order[0] .. order[n-1], one by one; squares: sums of squared gradients, kept between calls. With a
 * non-NULL gradient nothing is learned, and the gradient of the loss, without the penalty, is added to it. */
int lscfg_score_learn(const lscfg_score_problem *, double *parameters, double *squares, double *gradient,
                      const int64_t *order, int64_t n, double *loss, lscfg_error *);

/* Rows with a weight for each item around their source side. The score of a row is the sum of its weights for a token's
 * items. */
typedef struct {
  int32_t loss;                /* not LSCFG_LOSS_MATCH */
  const int64_t *begin;        /* [tokens + 1] */
  const int32_t *items;        /* items of token k begin at begin[k], numbered from 0 for each source side */
  const int32_t *own;          /* as above */
  const int64_t *first, *size;
  const double *counts;
  const int64_t *offsets;      /* [rows] the weight of each row for item 0 of its source side */
  int32_t absolute;            /* non-zero: the penalty is of absolute values, else of halves of squares */
  double rate, penalty;        /* of each visit of a weight */
} lscfg_weights_problem;

/* As lscfg_score_learn. Source sides share nothing, so threads may learn different ones at a time. */
int lscfg_weights_learn(const lscfg_weights_problem *, double *weights, double *squares, double *gradient,
                        const int64_t *order, int64_t n, double *loss, lscfg_error *error);

/* Rules and the words around them. */
typedef struct {
  int64_t dims, n_words, n_tokens;
  const int32_t *rule;      /* [tokens] */
  const int64_t *begin;     /* [tokens + 1] */
  const int32_t *items;     /* words around token k are items[begin[k]] .. */
  const double *keep;       /* [words] probability of keeping a word */
  const double *cumulative; /* [words] of the distribution of negative samples, the last 1 */
  int32_t negatives;        /* negative samples for each right word */
} lscfg_skip_gram_problem;

/* One pass over the tokens with a learning rate that falls from the first to the last; rules, words: rows of dims
 * values. */
int lscfg_skip_grams(const lscfg_skip_gram_problem *, double *rules, double *words, double first_rate,
                     double last_rate, uint64_t seed, double *loss, lscfg_error *);

/* ---- moments: sums over tokens of outer products ---- */

/* out[row[k]] += z[head[k]] (x) y[tail[k][0]] (x) ... for k = 0 .. n-1, in this order; only entries first .. last-1 of
 * z, and the corresponding parts of out, so that threads may share the work. arity: 0, 1 or 2; z, y: rows of m values;
 * tail [n][arity] (NULL for arity 0); out: rows of m^(arity+1) values. */
void lscfg_add_moments(int32_t m, int32_t arity, int64_t n, int32_t first, int32_t last, const int64_t *row,
                       const int64_t *head, const int64_t *tail, const double *z, const double *y, double *out);

/* ---- EM over derivation trees or forests: the E step, and the shrinkage of its counts ---- */

enum { LSCFG_EM_MAX_STATES = 128 };

/* Trees of rules with at most two nonterminals, or forests of such trees. Nodes are numbered tree by tree, parents
 * before their children; edges node by node. A tree has one edge for each node, with the number of the node. A
 * parameter is scale[state of the left-hand side] * tensor[arity][row][states]: counts and their normalisers. */
typedef struct {
  int32_t m;                 /* states, 1 .. LSCFG_EM_MAX_STATES */
  const int64_t *first_edge; /* [nodes + 1], each node with one edge or more; NULL: all are trees */
  const int32_t *head;       /* [edges], the node of each; NULL: all are trees */
  const int8_t *arity;       /* [edges] */
  const int32_t *row;        /* [edges] which of the tensors of that arity; rules may share one */
  const int32_t *children;   /* [edges][2]; -1: no child, or one whose inside tree is not observed (a vector of ones) */
  const double *tensor[3];   /* by arity, >= 0: [rows][m], [rows][m][m], [rows][m][m][m] */
  const double *scale;       /* [m], >= 0 and at most 1e60 */
  const double *root;        /* [kinds of root][m], distributions */
} lscfg_em;

/* Inside and outside vectors of the trees first .. last-1; tree t has the nodes first_node[t] .. first_node[t+1]-1, the
 * first of them is its root, of the kind root_kind[t]. Writes log_likelihood[t] (-inf: impossible, its vectors are
 * zero), inside [nodes][m] (sum 1), factor [nodes] (for the second half of the work), share [edges] (may be NULL if all
 * are trees: 1) and, unless it is NULL, outside [nodes][m], such that tensor * share[e] * outside[head] (x)
 * inside[left] (x) inside[right] are the expected counts of edge e. Returns the number of impossible trees. Threads may
 * compute different ranges of trees at the same time. */
int64_t lscfg_em_trees(const lscfg_em *, const int64_t *first_node, const int32_t *root_kind, int64_t first,
                       int64_t last, double *log_likelihood, double *inside, double *factor, double *share,
                       double *outside);

/* tokens[begin] .. tokens[end-1] are edges of the row. part < 0: they are all edges of the row. */
typedef struct {
  int64_t row, begin, end, part;
} lscfg_em_chunk;

/* Sums of outer products over the tokens of rows of one arity: sums[row] += those of a chunk, or, for a row with
 * several chunks, parts[part] = those. Threads may compute different chunks at the same time. */
int lscfg_em_outer(const lscfg_em *, int32_t arity, const lscfg_em_chunk *, int64_t n, const int32_t *tokens,
                   const double *inside, const double *share, const double *outside, double *sums, double *parts);

/* Expected counts of the rows first .. last-1: tensor[row] *= sums[row], and totals[row][m] = the counts by state of
 * the left-hand side. */
void lscfg_em_counts(int32_t m, int32_t arity, int64_t first, int64_t last, const double *sums, double *tensor,
                     double *totals);

/* out[length] += the rows first .. last-1. */
void lscfg_em_sum(int64_t length, int64_t first, int64_t last, const double *tensor, double *out);

/* Shrinks the counts of each row towards those of its group, and these towards the average [length], a distribution: q
 * = (sum of the group + to_arity * average) / (its tokens + to_arity), row = weight * (row + to_source * q) / (tokens +
 * to_source); without data, q or the average. Fills totals. Groups first .. last-1; the rows of group g begin at
 * group_rows[group_begin[g]]. */
int lscfg_em_shrink(int32_t m, int32_t arity, const int64_t *group_begin, const int32_t *group_rows, int64_t first,
                    int64_t last, const double *tokens, const double *weight, const double *average, double to_source,
                    double to_arity, double *tensor, double *totals);

/* ---- neural model of target words (Devlin et al. 2014): a network of one hidden layer ---- */

enum {
  LSCFG_NEURAL_ROWS = 64,   /* examples of a part; layers are multiples of half of it */
  LSCFG_NEURAL_SHARDS = 16, /* of the parameters */
  LSCFG_NEURAL_SUMS = 4     /* losses of words, squares of log Z, losses of fertilities, words with the best score */
};

/* An example is `window` source rows around a place and `history` target rows before the word. */
typedef struct {
  int32_t window, history, dims, hidden; /* dims and hidden: multiples of 32 */
  int32_t sources, targets;              /* rows of both tables */
  float dropout, penalty, fertility;     /* share of hidden units; factors of log^2 Z and of the loss of fertilities */
} lscfg_neural_shape;

/* The parameters in order: source [sources][dims], target [targets][dims], hidden [hidden][(window + history) * dims],
 * its bias, output [targets][hidden], its bias, fertility [4][hidden], its bias. */
enum { LSCFG_NEURAL_ARRAYS = 8 };
void lscfg_neural_sizes(const lscfg_neural_shape *, int64_t sizes[LSCFG_NEURAL_ARRAYS]);

typedef struct lscfg_neural_trainer lscfg_neural_trainer;
/* Parameters and both moments of Adam (Kingma and Ba 2015) stay the caller's and change in place. instructions: as in
 * lscfg_binding_use, NULL: the best. */
int lscfg_neural_trainer_new(const lscfg_neural_shape *, float *parameters, float *first, float *second,
                             const char *instructions, lscfg_neural_trainer **, lscfg_error *);
void lscfg_neural_trainer_free(lscfg_neural_trainer *);
/* Sets the batch: inputs [n][window + history], labels [n]: first n_words target rows, then classes of fertility. Every
 * number must be in range. Returns the number of parts, or LSCFG_ENOMEM. */
int32_t lscfg_neural_batch(lscfg_neural_trainer *, const int32_t *inputs, const int32_t *labels, int64_t n_words,
                           int64_t n, uint64_t noise);
/* Computes the losses of a part, and their gradients if learn is non-zero; threads share the parts. Sums are added to
 * those that are there. */
void lscfg_neural_forward(lscfg_neural_trainer *, int32_t part, int32_t learn, double sums[LSCFG_NEURAL_SUMS]);
/* After all parts: an Adam step of a shard; threads share the shards. correct: 1 / (1 - beta^step) of both moments. */
void lscfg_neural_step(lscfg_neural_trainer *, int32_t shard, float rate, const float correct[2]);

/* [end of declarations] */

#ifdef __cplusplus
}
#endif
#endif
