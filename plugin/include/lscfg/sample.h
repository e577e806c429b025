/* Grammars sampled from phrase-decomposition forests. See lscfg.h for general conventions. */
#ifndef LSCFG_SAMPLE_API_H
#define LSCFG_SAMPLE_API_H

#include "lscfg/extract.h"

#ifdef __cplusplus
extern "C" {
#endif

/* [declarations] */

/* ---- the forests of a corpus ---- */

typedef struct lscfg_phrase_forests lscfg_phrase_forests;

/* max_cut: a node with more words on a side is always cut, 0 to 1000000. max_words, drop: as of
 * lscfg_derive_options. */
lscfg_phrase_forests *lscfg_phrase_forests_new(int32_t max_cut, int32_t max_words, int32_t drop);
void lscfg_phrase_forests_free(lscfg_phrase_forests *);
/* Adds a sentence pair, as lscfg_derive does; a dropped pair has no nodes. */
int lscfg_phrase_forests_add(lscfg_phrase_forests *, const char *src, size_t src_length, const char *tgt,
                             size_t tgt_length, const char *links, size_t links_length, int32_t *stream, lscfg_error *);
/* Adds another alignment of the last pair, with the same words: its forest gets a root with an edge to that of each
 * alignment, at most 8, so that samples choose among them. */
int lscfg_phrase_forests_join(lscfg_phrase_forests *, const char *src, size_t src_length, const char *tgt,
                              size_t tgt_length, const char *links, size_t links_length, int32_t *stream,
                              lscfg_error *);

/* Forests that are given instead, such as those of a parser; no text may be added to them. Rules are then fragments of
 * trees: arrays of symbols contain the labels of a fragment's edges in preorder, and -1 for each tail at which it ends,
 * all as one side. A fragment's length is the number of its edges, and each category of heads has restaurants of its
 * fragments. */

/* Labels precede the forests. category: [n_labels] of the head, below n_labels; log_weight: [n_labels] log probability
 * given the category, for LSCFG_BASE_LABELS. LSCFG_EINPUT: a number is out of its range, or forests exist. */
int lscfg_phrase_forests_label(lscfg_phrase_forests *, int32_t n_labels, const int32_t *category,
                               const double *log_weight, lscfg_error *);

/* Tails precede their heads, and the root is last; the tails of an edge lie side by side within the head's span, in
 * order, and no span is empty. */
typedef struct {
  int32_t n_nodes;
  const int32_t (*span)[2];  /* [n_nodes] */
  const int32_t *first_edge; /* [n_nodes + 1] */
  const int32_t *label;      /* [edges] */
  const int32_t *first_tail; /* [edges + 1] */
  const int32_t *tails;
} lscfg_given_forest;

/* Adds a forest. max_cut limits the edges below a node, in the tree with most of them. LSCFG_EINPUT: malformed. */
int lscfg_phrase_forests_give(lscfg_phrase_forests *, const lscfg_given_forest *, lscfg_error *);

typedef struct {
  int64_t n_pairs, n_nodes, n_edges;
  int64_t n_bare;     /* pairs of one node: no link, or nothing inside */
  int32_t max_level;  /* minimal edges in a tree of the largest pair */
  int64_t dropped[7]; /* pairs by LSCFG_PAIR_... */
} lscfg_phrase_forests_view;

void lscfg_phrase_forests_get(const lscfg_phrase_forests *, lscfg_phrase_forests_view *);

/* ---- a chain of samples: a tree of each pair, and where it is cut into rules ---- */

typedef struct lscfg_sampler lscfg_sampler;

enum { LSCFG_SAMPLE_PY = 0, LSCFG_SAMPLE_DP = 1 };
enum { LSCFG_TABLES_POWER = 0, LSCFG_TABLES_EXACT = 1 };
enum { LSCFG_LENGTH_POISSON = 0, LSCFG_LENGTH_GEOMETRIC = 1, LSCFG_LENGTH_NONE = 2 };
enum { LSCFG_BASE_LENGTH = 0, LSCFG_BASE_UNIFORM = 1, LSCFG_BASE_LEXICAL = 2, LSCFG_BASE_LISTED = 3,
       LSCFG_BASE_LABELS = 4 };
enum { LSCFG_MOVES_LOCAL = 0, LSCFG_MOVES_TREE = 1, LSCFG_MOVES_BLOCKED = 2, LSCFG_MOVES_TYPE = 3 };
/* A forced cut has two values in the weights of trees; the rules of an option are weighted independently. */
enum { LSCFG_ORIGINAL_CUTS = 1, LSCFG_ORIGINAL_RULES = 2 };
enum { LSCFG_START_RANDOM = 0, LSCFG_START_MINIMAL = 1, LSCFG_START_WHOLE = 2 };

typedef struct {
  int32_t model;      /* LSCFG_SAMPLE_...: a process for each length of rules, or one for all */
  double alpha;       /* > 0: concentration */
  double discount;    /* in [0, 1) */
  int32_t tables;     /* LSCFG_TABLES_...: n^discount for n tokens of a rule, or each token sits at one */
  int32_t length;     /* LSCFG_LENGTH_...: distribution of the lengths of rules, a factor of each token */
  double mean_length; /* > 0 */
  int32_t base;       /* LSCFG_BASE_...: base distribution: the probability of the length, 1 / words for each symbol,
                       * or lexical weights; or uniform over the rules of a restaurant in the table of
                       * lscfg_sampler_restore, which must follow; or the probabilities of a fragment's labels, and
                       * 1 / 2 for each tail */
  int32_t density;    /* non-zero: weights trees by the choices outside them; 0 gives a biased chain */
  int32_t original;   /* sum of LSCFG_ORIGINAL_...: differences of the program by the paper's authors, each of which
                       * gives a biased chain; 0: none */
  int32_t corrected;  /* non-zero: divides a rule's probability by its derivations in the forest at its site */
  int32_t moves;      /* LSCFG_MOVES_...: node by node; a whole tree at once, often rejected; a tree sampled by
                       * inside sums over all rules; node by node with all sites of the same rules */
  int32_t informed;   /* non-zero: variables outside trees are sampled as set by lscfg_sampler_adapt, else uniformly */
  int32_t start;      /* LSCFG_START_...: random edges and all nodes cut, normal form and all cut, random edges and
                       * no free node cut */
  uint64_t seed;
  int32_t chain;      /* 0 to 4095: chains of a seed are independent */
  int32_t max_phrase; /* rules of larger spans of either side are not counted in kept_short */
  int32_t places;     /* non-zero: keeps the positions of the rules */
  int32_t states;     /* hidden states of the nodes that begin rules, up to 255; 0 or 1: none. Not with moves blocked
                       * or by type */
  int64_t held_out;   /* this number of pairs at the end are not sampled */
} lscfg_sample_options;

/* A sampler at sweep 0, of forests that must not change while it lives. NULL: no memory, or options that do not go with
 * given forests: lexical or listed bases, moves blocked or by type, corrected, places, states, held_out. */
lscfg_sampler *lscfg_sampler_new(const lscfg_phrase_forests *, const lscfg_sample_options *);
void lscfg_sampler_free(lscfg_sampler *);
/* Replaces the initial trees, before the first sweep. Pair k gets the tree of the heads trees[k] .. trees[k + 1] - 1:
 * source and target spans of its rules in preorder, children in source order. Edges within a rule are sampled.
 * LSCFG_EINPUT: the pair *wrong has no such tree; discard the sampler. */
int lscfg_sampler_begin(lscfg_sampler *, const int64_t *trees, const int32_t (*heads)[4], int64_t *wrong,
                        lscfg_error *);
/* Samples the variables of the nodes of level <= max_level, for pairs first .. last - 1 in order. sweep: 1 to 1048575,
 * selects the random numbers. temperature: > 0, rule probabilities are raised to the power of its inverse. */
int lscfg_sampler_sweep(lscfg_sampler *, int32_t sweep, int64_t first, int64_t last, int32_t max_level,
                        double temperature, lscfg_error *);
/* Sets the cut rates of variables outside trees to the current rates of the trees, by length; for options.informed.
 * Exact chains do this only before samples are kept. */
void lscfg_sampler_adapt(lscfg_sampler *);
/* ---- pairs first .. last - 1, swept in parallel to other shards; not with exact tables ---- */

typedef struct lscfg_shard lscfg_shard;

/* The sampler must not change before all shards of a sweep are done; then they are joined in order. NULL: no memory. */
lscfg_shard *lscfg_shard_new(const lscfg_sampler *, int64_t first, int64_t last);
void lscfg_shard_free(lscfg_shard *);
/* Once, as lscfg_sampler_sweep; threads may sweep other shards at the same time. */
int lscfg_shard_sweep(lscfg_shard *, int32_t sweep, int32_t max_level, double temperature, lscfg_error *);
/* Adds the changes of the shard to the sampler. */
int lscfg_sampler_join(lscfg_sampler *, lscfg_shard *, lscfg_error *);

/* ---- */

/* Resamples the processes and the mean length, given the current rules; only with exact tables. sweep: as above. */
int lscfg_sampler_resample(lscfg_sampler *, int32_t sweep, lscfg_error *);
/* Adds the current rules of all trees to the kept ones. */
int lscfg_sampler_keep(lscfg_sampler *, lscfg_error *);

/* Log probability of the held-out pairs, over all their trees, cut in all ways, given the current rules; and the target
 * words of these pairs. Pairs with too many rules are skipped and counted; neither they nor dropped pairs add words.
 * LSCFG_EINPUT: there are hidden states. */
int lscfg_sampler_held_out(lscfg_sampler *, double *sum, int64_t *n_words, int64_t *n_left_out, lscfg_error *);

typedef struct {
  int64_t n_tokens, n_types; /* current rules of all trees */
  double log_joint; /* of these, one after the other in the order of their numbers, divided if options.corrected */
  int64_t edges_drawn, edges_moved; /* decisions so far, and those with a change */
  int64_t cuts_drawn, cuts_moved;
  int64_t trees_drawn, trees_moved;    /* whole trees of pairs; accepted ones */
  int64_t types_drawn, types_moved;    /* joint cuts of the same type; accepted ones */
  double alpha, discount, mean_length; /* of the processes; the first two are averaged over tokens */
} lscfg_sample_state;

void lscfg_sampler_state(const lscfg_sampler *, lscfg_sample_state *);

/* Totals of all rules of a length in the trees. */
typedef struct {
  int64_t tokens;
  double tables;
} lscfg_length_counts;

typedef struct {
  double alpha, discount;
} lscfg_process;

/* The table may contain rules of no current tree. */
typedef struct {
  const int32_t *count;      /* [rules] in all current trees */
  int64_t n_kept;            /* number of rules at the last call of keep; later rules were not kept */
  const int64_t *kept;       /* [n_kept] in all kept samples */
  const int64_t *kept_short; /* [n_kept] of these, those with short spans and a linked word in the rule */
  int64_t n_places;
  const int32_t *places; /* [n_places][8] of kept samples: rule, pair, source span, source spans of the first two
                           * nonterminals in order, -1 for none */
  int64_t n_nodes;
  const int32_t *edge;    /* [nodes] of all forests, concatenated: the edge of each, counted from its first */
  const uint8_t *cut;     /* [nodes] */
  const uint8_t *node_state; /* [nodes] the hidden state of each cut node */
  const int32_t *rule;       /* [nodes] of cut nodes of the trees; undefined elsewhere */
  int32_t n_restaurants; /* for each state of a head, one for each length of rules from 0 on */
  const lscfg_length_counts *by_length; /* [n_restaurants]; of one process for all lengths, those of length 0 */
  const lscfg_process *processes;       /* [n_restaurants] */
  double mean_length;
  int64_t n_seats;
  const int32_t *seats;    /* [n_seats][3] with exact tables: rule, size, tables of this size */
  int32_t n_rates;         /* 0: variables outside trees are uniform */
  const double *cut_rates; /* [n_rates] cut rates, by source words */
  double log_ways;         /* reduction of the log joint probability by rules of several derivations */
  lscfg_tables tables; /* with hidden states, a nonterminal of a source side is -1 - its state, and each rule has one
                        * more symbol, -1 - the state of its head */
} lscfg_sampler_view;

/* Valid until the next call that changes the sampler, or this one; LSCFG_ENOMEM: no view. */
int lscfg_sampler_get(lscfg_sampler *, lscfg_sampler_view *, lscfg_error *);

/* Restores the view and the decisions of another sampler of the same forests and options to a new sampler; only the
 * rules of the tables are read. LSCFG_EINPUT: the trees do not have the rules, or another part does not fit; discard
 * the sampler. */
int lscfg_sampler_restore(lscfg_sampler *, const lscfg_sampler_view *, const lscfg_sample_state *, lscfg_error *);

/* [end of declarations] */

#ifdef __cplusplus
}
#endif

#endif
