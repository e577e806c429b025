/* lscfg: latent-variable synchronous context-free grammars, the C interface.
 *
 * The library keeps no global state. Every object is created by a *_new, *_read or *_open function and given back with
 * the *_free function of its type (which accepts NULL). An object that is passed as const may be shared by threads.
 * Functions that can fail return LSCFG_OK or a negative code and fill the lscfg_error; they never print, exit or abort.
 * An object that was being filled when memory ran out (LSCFG_ENOMEM) is to be freed: it may have half of what was added.
 *
 * Symbols of rules are int32. On the source side a word is its vocabulary id (>= 0) and a nonterminal of category c is
 * -1-c. On the target side a word is its vocabulary id and the k-th nonterminal of the source side (k = 0, 1, ...) is
 * -1-k. Spans are half-open: [i, j) covers words i .. j-1.
 *
 * The declarations between the two marks are also what the Python wrapper reads: plain C declarations only.
 */
#ifndef LSCFG_H
#define LSCFG_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* [declarations] */

enum {
  LSCFG_OK = 0,
  LSCFG_NO_PARSE = 1,  /* not an error: the sentence has no derivation */
  LSCFG_EINPUT = -1,   /* malformed input; line and message say where and what */
  LSCFG_ENOMEM = -2,
  LSCFG_EIO = -3,      /* a file could not be opened or mapped */
  LSCFG_ECALLBACK = -4 /* the caller's language-model callback failed */
};

typedef struct {
  int32_t code;
  int64_t line; /* 1-based line of the offending input, 0 where there is none */
  char message[496];
} lscfg_error;

/* ---- vocabulary: interned words; adding is not thread-safe, looking up is ---- */

typedef struct lscfg_vocab lscfg_vocab;

lscfg_vocab *lscfg_vocab_new(void);
void lscfg_vocab_free(lscfg_vocab *);
/* The id of the word, added if it is new; -1 when memory is out. */
int32_t lscfg_vocab_add(lscfg_vocab *, const char *word, size_t length);
/* The id of the word, -1 if it is unknown. */
int32_t lscfg_vocab_find(const lscfg_vocab *, const char *word, size_t length);
int32_t lscfg_vocab_size(const lscfg_vocab *);
/* The word's bytes, not NUL-terminated, valid until the next addition. */
const char *lscfg_vocab_word(const lscfg_vocab *, int32_t id, size_t *length);
/* Splits a line at blanks and adds its words; returns their number, or -1 if they are more than capacity. */
int64_t lscfg_vocab_line(lscfg_vocab *, const char *line, size_t length, int32_t *ids, int64_t capacity);

/* ---- grammar: synchronous rules, indexed by source side ---- */

typedef struct lscfg_grammar lscfg_grammar;

/* Rules that no grammar file holds follow its rules 0 .. size-1. */
enum {
  LSCFG_RULE_GLUE_TOP = 0, /* size + 0: [S] -> [X,1]       */
  LSCFG_RULE_GLUE = 1,     /* size + 1: [S] -> [S,1] [X,2] */
  LSCFG_RULE_PASS = 2,     /* size + 2: [X] -> w, the source word of the span itself */
  LSCFG_RULE_UNKNOWN = 3,  /* size + 3: any rule of a decoder that the grammar does not have */
  /* size + 4: LSCFG_RULE_PASS of a word that a rule translates alone, where the forest does not show it: of no probability */
  LSCFG_RULE_PASS_KNOWN = 4,
  LSCFG_EXTRA_RULES = 5
};

/* The vocabulary must outlive the grammar. */
lscfg_grammar *lscfg_grammar_new(lscfg_vocab *);
void lscfg_grammar_free(lscfg_grammar *);
/* Adds the rules of a text in cdec's format, "[X] ||| src ||| tgt ||| Name=value ..."; may be called again. */
int lscfg_grammar_read(lscfg_grammar *, const char *text, size_t length, lscfg_error *);
/* Adds one rule without features, returns its id or a negative code. The category of the left-hand side is lhs. Words and
 * categories must have their ids already. */
int32_t lscfg_grammar_add(lscfg_grammar *, int32_t lhs, const int32_t *src, int32_t n_src, const int32_t *tgt,
                          int32_t n_tgt, lscfg_error *);
/* Builds the index by source side. To be called once, after the last rule and before the first parse. */
int lscfg_grammar_finish(lscfg_grammar *, lscfg_error *);
int32_t lscfg_grammar_size(const lscfg_grammar *);
int32_t lscfg_grammar_arity(const lscfg_grammar *, int32_t rule);
/* The id of a category, added if it is new. 0 is X and 1 is S in every grammar. */
int32_t lscfg_grammar_category(lscfg_grammar *, const char *name, size_t length);
int32_t lscfg_grammar_n_categories(const lscfg_grammar *);
/* The category's name, not NUL-terminated, valid until the next one is added. */
const char *lscfg_grammar_category_name(const lscfg_grammar *, int32_t category, size_t *length);
int32_t lscfg_grammar_lhs(const lscfg_grammar *, int32_t rule);
const int32_t *lscfg_grammar_src(const lscfg_grammar *, int32_t rule, int32_t *length);
const int32_t *lscfg_grammar_tgt(const lscfg_grammar *, int32_t rule, int32_t *length);
int32_t lscfg_grammar_n_features(const lscfg_grammar *);
const char *lscfg_grammar_feature_name(const lscfg_grammar *, int32_t feature, size_t *length);
/* The rule of a finished grammar with these sides, the first of several; -1 if there is none. */
int32_t lscfg_grammar_find(const lscfg_grammar *, int32_t lhs, const int32_t *src, int32_t n_src, const int32_t *tgt,
                           int32_t n_tgt);
/* The rules' features as compressed rows: indptr[size + 1], then indices and values [indptr[size]]. */
void lscfg_grammar_features(const lscfg_grammar *, const int64_t **indptr, const int32_t **indices,
                            const double **values);

/* ---- forest: the derivations of one sentence ---- */

typedef struct lscfg_forest lscfg_forest;

typedef struct {
  int32_t max_span;  /* no rule of the grammar covers more words than this, rules "[S] -> [X]" apart */
  int32_t glue;      /* non-zero: the two glue rules */
  int32_t pass;      /* 0: none; 1: pass-through rule for every word; 2: for words without a one-word rule only */
  int32_t goal;      /* category of the root, over the whole sentence */
} lscfg_parse_options;

/* A hypergraph in topological order: tails of an edge come before its head, the root is the last node. The edges of
 * node q are node_edges[q] .. node_edges[q+1]-1. An edge is one source side over one choice of tails; its applications,
 * one for each target side, are edge_apps[e] .. edge_apps[e+1]-1. */
typedef struct {
  int32_t n_words, n_nodes, n_edges, n_apps;
  const int32_t *words;      /* [n_words] */
  const int32_t *node_cat;   /* [n_nodes] */
  const int32_t *node_span;  /* [n_nodes][2] */
  const int32_t *node_edges; /* [n_nodes + 1] */
  const int32_t *edge_head;  /* [n_edges] */
  const int32_t *edge_tail;  /* [n_edges][2], source order, -1 where there is none */
  const int32_t *edge_apps;  /* [n_edges + 1] */
  const int32_t *app_rule;   /* [n_apps] */
  const int32_t *app_edge;   /* [n_apps] */
  const int32_t *node_tgt;   /* [n_nodes][2] target spans; NULL where there is no target sentence */
  /* Of a lattice, whose words are those of its arcs and whose spans lie between states; else NULL: */
  const int32_t *edge_paths; /* [n_edges + 1] in paths */
  const int32_t *paths;      /* the arcs of each edge that its rule goes along itself, in order */
} lscfg_forest_view;

/* Parses a sentence of vocabulary ids (-1 or unknown ids match no rule). LSCFG_NO_PARSE leaves *forest NULL. */
int lscfg_parse(const lscfg_grammar *, const int32_t *words, int32_t n_words, const lscfg_parse_options *,
                lscfg_forest **forest, lscfg_error *);

enum { LSCFG_EPSILON = -2 }; /* instead of a word: an arc that every rule may go along */

typedef struct {
  int32_t from, to; /* states, from < to */
  int32_t word;
} lscfg_arc;

/* Parses a lattice of states 0 .. n_states-1 from the first to the last one; parallel arcs are alternatives. max_span
 * limits the arcs of the shortest path across a span, as in cdec, but of rules whose source side is a single nonterminal;
 * a word is passed through with two empty arcs at most. Paths of the same words along different arcs are different
 * edges. */
int lscfg_parse_lattice(const lscfg_grammar *, const lscfg_arc *, int32_t n_arcs, int32_t n_states,
                        const lscfg_parse_options *, lscfg_forest **forest, lscfg_error *);
void lscfg_forest_free(lscfg_forest *);
/* A forest that is not finished shows no nodes. */
void lscfg_forest_get(const lscfg_forest *, lscfg_forest_view *);

/* A forest that a decoder builds: each node and then the applications into it, the root last; nodes of one category and
 * span may be many. NULL: memory is out, or n_words is negative. */
lscfg_forest *lscfg_forest_new(const int32_t *words, int32_t n_words);
/* A node over words i .. j-1; its number, counted from 0, or a negative code. */
int32_t lscfg_forest_add_node(lscfg_forest *, int32_t category, int32_t i, int32_t j, lscfg_error *);
/* An application of a rule into the last node; tails in source order, -1 where there is none. Returns how many were
 * added before it, or a negative code. */
int32_t lscfg_forest_add_application(lscfg_forest *, int32_t rule, int32_t tail0, int32_t tail1, lscfg_error *);
/* Checks everything against the grammar that is to be bound, joins the applications of a node with the same source side
 * and tails to edges and drops what no derivation of the root uses. app_of [applications added]: the application that
 * each one has become, -1 where it was dropped. LSCFG_NO_PARSE: the root has no derivation; all were dropped then, and
 * the forest stays unfinished. A word passed through may be the arc of a lattice: its node may cover several positions. */
int lscfg_forest_finish(lscfg_forest *, const lscfg_grammar *, int32_t *app_of, lscfg_error *);

/* ---- scalar inside-outside: any forest, one weight for each application ---- */

/* The weight of a derivation is the product of the weights of its applications. Weights are given as natural logarithms
 * [n_apps]; -inf makes an application impossible, NaN and +inf are refused (LSCFG_EINPUT). Categories and rules have no
 * meaning here. Where no derivation is possible, functions write what they promise and return LSCFG_NO_PARSE. The
 * caller gives all arrays; only lscfg_forest_covariance and lscfg_forest_sample allocate memory. */

enum {
  LSCFG_SUM = 0, /* over derivations */
  LSCFG_MAX = 1  /* the best derivation */
};

/* inside [n_nodes]: logarithm of the sum or maximum over the derivations of each node, -inf where none is possible. The
 * last one is the value of the whole forest. share [n_apps]: the part of each application in the value of its head.
 * LSCFG_SUM: a probability, the shares of a node add up to 1; 0 at an impossible node. LSCFG_MAX: the logarithm of the
 * quotient by the best application of the node, so at most 0; -inf at an impossible node. */
int lscfg_forest_inside(const lscfg_forest *, const double *log_weight, int32_t semiring, double *inside, double *share,
                        lscfg_error *);
/* app [n_apps], node [n_nodes], from shares of the same semiring; app and share may be the same array. LSCFG_SUM: the
 * probability that a derivation uses them, which is the gradient of the logarithm of the sum; all 0 where no derivation
 * is possible. LSCFG_MAX: the logarithm of the best derivation that uses them less that of the best of all, so at most
 * 0; all -inf where no derivation is possible. */
int lscfg_forest_marginals(const lscfg_forest *, int32_t semiring, const double *share, double *app, double *node,
                           lscfg_error *);
/* Both functions in one, for LSCFG_SUM. log_g: logarithm of the sum over all derivations. */
int lscfg_forest_expect(const lscfg_forest *, const double *log_weight, double *log_g, double *app, double *node,
                        lscfg_error *);
/* out[feature] += sum over applications of amount [n_apps] times the value of the feature. Features are compressed
 * rows, as lscfg_grammar_features gives them; row [n_apps]: the row of each application, -1 for none; NULL: application
 * a has row a. If amounts are marginals the sums are expected features, if they are covariances the sums are
 * covariances. */
void lscfg_forest_add_features(const lscfg_forest *, const double *amount, const int32_t *row, const int64_t *indptr,
                               const int32_t *indices, const double *values, double *out);
/* A derivation has the sum of value [n_apps] over its applications. mean: the expectation of that sum. covariance
 * [n_apps]: its covariance with the number of times that each application is used, which is the gradient of the mean by
 * log_weight. share: of LSCFG_SUM. Values must be finite where the share is not 0; others are not read. */
int lscfg_forest_covariance(const lscfg_forest *, const double *share, const double *value, double *mean,
                            double *covariance, lscfg_error *);
/* The best derivation, from shares of LSCFG_MAX: its applications, depth first, tails in source order. At each node the
 * lowest number of equally good applications is taken. apps has room for n_nodes. */
int lscfg_forest_viterbi(const lscfg_forest *, const double *share, int32_t *apps, int32_t *n_apps, lscfg_error *);
/* Derivations number first .. first+n-1 of an endless list of independent ones. Number k depends on seed, k and the
 * shares alone, so threads may draw parts of the list. The applications of the i-th one are apps[offsets[i]] ..
 * [offsets[i+1]-1], ordered as by lscfg_forest_viterbi. offsets [n + 1]; apps has room for n * n_nodes. At each node an
 * application is drawn in proportion to its share. Shares of LSCFG_SUM draw derivations in proportion to their weights.
 * Any other numbers that are not negative may be given: ones draw all applications of a node alike. */
int lscfg_forest_sample(const lscfg_forest *, const double *share, uint64_t seed, int64_t first, int64_t n,
                        int64_t *offsets, int32_t *apps, lscfg_error *);

/* ---- latent model: the parameters of an L-SCFG, in a memory-mapped safetensors file ---- */

typedef struct lscfg_model lscfg_model;
typedef struct lscfg_binding lscfg_binding;

/* Maps the file, checks every size, offset and symbol in it and indexes the rules; values of tensors are checked when they
 * are first needed. A model that has a rule twice is refused. Read-only from then on. */
int lscfg_model_open(const char *path, lscfg_model **, lscfg_error *);
void lscfg_model_close(lscfg_model *);
int32_t lscfg_model_rank(const lscfg_model *); /* m, the number of hidden states */
int32_t lscfg_model_size(const lscfg_model *); /* number of rules */
/* Adds all rules of the model to a grammar that is not finished. */
int lscfg_model_add_rules(const lscfg_model *, lscfg_grammar *, lscfg_error *);

/* What becomes of rules of [X] that the model does not know. All zero: they have probability zero. */
typedef struct {
  int32_t compose;   /* non-zero: they are composed of the model's rules where that is possible */
  int32_t oov;       /* non-zero: others without nonterminals have the tensor of the OOV rule, also LSCFG_RULE_UNKNOWN */
  int32_t oov_parts; /* non-zero: so has, inside composed rules, a word with its translation that cannot be had otherwise */
} lscfg_binding_options;

/* What a rule is to the binding. */
enum {
  LSCFG_RULE_IS_ZERO = 0,
  LSCFG_RULE_IS_KNOWN = 1,        /* it has a tensor of its own */
  LSCFG_RULE_IS_COMPOSED = 2,     /* of rules of the model */
  LSCFG_RULE_IS_COMPOSED_OOV = 3, /* of rules of the model and OOV parts, the fewest that do */
  LSCFG_RULE_IS_OOV = 4,
  LSCFG_RULE_IS_STATELESS = 5 /* of another category than [X] */
};

/* Finds the tensor of each rule of a finished grammar. Model and grammar must outlive the binding; without options (NULL)
 * they are all zero. The words of the model's context, if it has one, are added to the grammar's vocabulary, which no other
 * thread may use meanwhile. A rule of another category than [X], glue for one, joins independent trees. A composed rule has
 * the sum over all derivations of its two sides by rules of the model, nonterminals being derivations of themselves. */
int lscfg_binding_new(const lscfg_model *, const lscfg_grammar *, const lscfg_binding_options *, lscfg_binding **,
                      lscfg_error *);
void lscfg_binding_free(lscfg_binding *);
int32_t lscfg_binding_known(const lscfg_binding *); /* number of rules that have a tensor of their own */
/* kinds [rules]: LSCFG_RULE_IS_... Composes what can be of the whole grammar; inference composes what a forest has. */
int lscfg_binding_kinds(const lscfg_binding *, uint8_t *kinds, lscfg_error *);
/* The instructions of the inner loops: "avx512", "avx2" or "baseline", at first the best that the machine has. The first
 * two give the same bits. Not to be changed while the binding is in use. */
int lscfg_binding_use(lscfg_binding *, const char *instructions, lscfg_error *);
const char *lscfg_binding_instructions(const lscfg_binding *);

/* ---- inference: tensor inside-outside over a forest ---- */

typedef struct {
  int32_t sign;         /* of g, the sum over all derivations: 1, -1, or 0 where nothing has a probability */
  int32_t negative;     /* applications with a negative marginal */
  double log_g;         /* natural logarithm of |g| */
  double negative_mass; /* absolute sum of the negative marginals over the absolute sum of all, in [0, 1] */
} lscfg_inference;

/* The marginal of each application and, unless NULL, of each node: signed, divided by g; all 0 where g is 0.
 * The forest must come of the binding's grammar. Fails where a parameter or a product of them is not finite. */
int lscfg_infer(const lscfg_binding *, const lscfg_forest *, double *app_marginals, double *node_marginals,
                lscfg_inference *, lscfg_error *);

enum {
  LSCFG_MARGINAL = 0,
  LSCFG_E_GIVEN_F = 1,
  LSCFG_F_GIVEN_E = 2,
  LSCFG_SPAN = 3,
  /* ratios to one state: */
  LSCFG_TARGET = 4,
  LSCFG_TARGET_BARE = 5,
  LSCFG_ORDERED = 6,
  LSCFG_SWAPPED = 7,
  LSCFG_SOURCE_0 = 8,
  LSCFG_SOURCE_BARE = 9,
  LSCFG_SOURCE_N = 10,
  /* of what is around an application: */
  LSCFG_CONTEXT_0 = 11,
  LSCFG_CONTEXT_BARE = 12,
  LSCFG_CONTEXT_N = 13,
  LSCFG_N_FEATURES = 14
};
enum { LSCFG_NEGATIVE_FLIP = 0, LSCFG_NEGATIVE_CLAMP = 1 }; /* a negative marginal counts as its absolute value or as 0 */

/* "LatentMarginal" etc.; NULL if there is no such feature. */
const char *lscfg_feature_name(int32_t feature);
/* The features, a bit (1 << feature) each, that a name stands for: its own one; "paper" the first three, "ratios" the
 * ratios to one state, "context" those of what is around. 0 if there is no such name. */
uint32_t lscfg_feature_set(const char *name, size_t length);

typedef struct {
  int32_t log;      /* non-zero: natural logarithms; zero: the values themselves */
  int32_t negative; /* LSCFG_NEGATIVE_... */
  double floor;     /* > 0: no logarithm is taken of less */
  uint32_t wanted;  /* the features to be computed, a bit (1 << feature) each; 0: the first four */
} lscfg_feature_options;

/* Zero where no feature is wanted but those of what is around an application: these need no marginals, and no rules
 * composed in the binding. */
int lscfg_needs_inference(const lscfg_feature_options *);
/* Refuses features for which the model file lacks the model with one state or the context. */
int lscfg_model_check_features(const lscfg_model *, const lscfg_feature_options *, lscfg_error *);

/* features [n_apps][LSCFG_N_FEATURES] of each application, from what lscfg_infer gave for the forest (NULL, all three,
 * where that is not needed):
 *   LSCFG_MARGINAL   its marginal;
 *   LSCFG_E_GIVEN_F  its share among the applications of its edge (same span, source side and tails);
 *   LSCFG_F_GIVEN_E  its share among the applications of its head node with the same target side, whatever the tails;
 *   LSCFG_SPAN       the marginal of its head node.
 * A share of nothing is 0. The others say what the states add to one state (the model's rules with their relative
 * frequencies, inferred over the same forest, here): the share of an application in its head node is a product of those of
 * its edge in the node, of its order (of the two nonterminals) in the edge if its source side is two nonterminals and
 * nothing else (bare), and of the application in that. A ratio is the logarithm of such a factor less the one of one
 * state, log or not, in [-4, 4]; a share of nothing is 1:
 *   LSCFG_TARGET, _TARGET_BARE  of the application in edge or order; of source sides that are not bare, and bare ones;
 *   LSCFG_ORDERED, _SWAPPED     of its order in its edge; of bare source sides, by order;
 *   LSCFG_SOURCE_0, _BARE, _N   of its edge in the node; of source sides without nonterminals, bare ones, all others.
 * LSCFG_CONTEXT_0, _BARE, _N say what the words around it add to the relative frequency of its target side in its edge,
 * among the rules that the context knows: log p(target side | edge, words) less that logarithm, in [-4, 4]; 0 where there
 * is one such rule, in lattices, and where the context knows no word of the sentence.
 * All features of an application are 0, log or not, where its head is not an [X]; in forests whose g is not positive, of
 * which nothing is known, all but these last three; ratios also where that of one state is not. So are those that are not
 * wanted. */
int lscfg_features(const lscfg_binding *, const lscfg_forest *, const lscfg_inference *, const double *app_marginals,
                   const double *node_marginals, const lscfg_feature_options *, double *features, lscfg_error *);

/* ---- word-aligned sentence pairs: what is refused, and what is collected from them ---- */

/* The lines of a sentence pair. */
enum { LSCFG_SRC = 0, LSCFG_TGT = 1, LSCFG_LINKS = 2 };

/* Why a sentence pair is refused. */
enum {
  LSCFG_PAIR_GOOD = 0,
  LSCFG_PAIR_EMPTY = 1,       /* no word on a side */
  LSCFG_PAIR_CONTROL = 2,     /* a control character or a space that is not the blank */
  LSCFG_PAIR_RESERVED = 3,    /* a word like ||| or [X] */
  LSCFG_PAIR_TOO_LONG = 4,    /* more words than max_words */
  LSCFG_PAIR_BAD_LINK = 5,    /* a link that is not i-j */
  LSCFG_PAIR_LINK_BEYOND = 6, /* a link behind the end of a sentence */
  LSCFG_N_REASONS = 7
};

/* The reason to refuse a line for one of its words, which blanks separate: LSCFG_PAIR_CONTROL, LSCFG_PAIR_RESERVED, or
 * LSCFG_PAIR_GOOD where there is none, also in an empty line; the error tells it. */
int lscfg_check_words(const char *line, size_t length, lscfg_error *);

/* How often two words are linked; -1 stands for no word: the other one has no link then. */
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
  const char *vocab_bytes;      /* [n_vocab_bytes] the words one behind the other */
  const int64_t *vocab_offsets; /* [n_words + 1] */
  int64_t n_pairs;
  const lscfg_word_pair *pairs; /* [n_pairs] */
} lscfg_tables;

/* ---- derivations: the minimal derivation tree of each word-aligned sentence pair ---- */

typedef struct lscfg_derivations lscfg_derivations;

enum { LSCFG_BRACKET_NORMAL = 0, LSCFG_BRACKET_LEFT = 1, LSCFG_BRACKET_RIGHT = 2, LSCFG_BRACKET_BALANCED = 3 };

typedef struct {
  int32_t bracketing; /* LSCFG_BRACKET_...: of sequences of phrases; the normal form is to the left */
  int32_t max_arity;  /* >= 0: most nonterminals of a rule that counts for estimation and grammar */
  int32_t binarise;   /* non-zero: no rule gets more; the smallest children become terminals of their parent's rule */
  int32_t max_words;  /* pairs with a longer side are dropped; 0: none is too long */
  int32_t drop;       /* non-zero: every other bad pair is dropped too, zero: it is an error */
} lscfg_derive_options;

/* Trees and nodes are those since the last flush. Nodes are in preorder, children in source order, trees one behind the
 * other; a dropped pair has a tree without nodes. */
typedef struct {
  int64_t n_trees, n_nodes;
  const int64_t *trees;       /* [n_trees + 1]: first node of each tree, counted from the very first node */
  const int32_t *node_rule;   /* [n_nodes] */
  const int32_t *node_parent; /* [n_nodes], counted from the very first node; -1 at roots */
  const int32_t *node_slot;   /* [n_nodes]: which child of its parent, in source order */
  const int32_t *node_span;   /* [n_nodes][4]: source i, j, target i, j */
  const int64_t *rule_count;  /* [rules] nodes of all trees */
  int64_t n_above;            /* trees with a rule of more than max_arity nonterminals */
  int64_t dropped[7];         /* pairs by LSCFG_PAIR_... */
  lscfg_tables tables;
} lscfg_derivations_view;

lscfg_derivations *lscfg_derivations_new(const lscfg_derive_options *);
void lscfg_derivations_free(lscfg_derivations *);
/* Adds the tree of one sentence pair: words separated by blanks, links "i-j" counted from 0, source first. Nothing is
 * added where the input is bad; *stream says where then: 0 source, 1 target, 2 links. */
int lscfg_derive(lscfg_derivations *, const char *src, size_t src_length, const char *tgt, size_t tgt_length,
                 const char *links, size_t links_length, int32_t *stream, lscfg_error *);
/* The same for n_pairs lines of three texts (0 source, 1 target, 2 links). Lines end in LF or CR LF, the last one also at
 * the end of the text; lines that are missing are empty. The error's line counts from 1. */
int lscfg_derive_lines(lscfg_derivations *, const char *const text[3], const size_t length[3], int64_t n_pairs,
                       int32_t *stream, lscfg_error *);
/* The phrase-decomposition forest of a sentence pair: all its minimal derivations. Its rules join the table of the
 * derivations, uncounted, and app_rule are their numbers there. Nodes are the tight phrase pairs and the root, in the
 * category 0; an edge has one application. An edge of more than two tails is a chain: its second tail is a node of
 * category -1 with the span of the other tails, and the one application of such a node's edge has rule -1. */
int lscfg_decompose(lscfg_derivations *, const char *src, size_t src_length, const char *tgt, size_t tgt_length,
                    const char *links, size_t links_length, lscfg_forest **, int32_t *stream, lscfg_error *);
/* Adds all that another one has collected, as if its pairs had been derived here: the numbers of words, rules and nodes
 * are the same then. */
int lscfg_derivations_merge(lscfg_derivations *, const lscfg_derivations *other, lscfg_error *);
/* Forgets trees and nodes, so that memory is bounded by the tables of rules and words. */
void lscfg_derivations_flush(lscfg_derivations *);
/* Valid until the next call that changes the derivations. */
void lscfg_derivations_get(const lscfg_derivations *, lscfg_derivations_view *);

/* ---- Hiero: the rules of word-aligned sentence pairs by the heuristics of Chiang (2007) ---- */

typedef struct lscfg_hiero lscfg_hiero;

typedef struct {
  int32_t max_phrase;        /* words of the source side of an initial phrase pair, >= 1 */
  int32_t max_target_phrase; /* the same of its target side; 0: no limit */
  int32_t max_symbols;       /* symbols of the source side of a rule, >= 1 */
  int32_t max_arity;         /* nonterminals of a rule, 0 to 2 */
  int32_t places;            /* non-zero: keeps where each rule was found */
} lscfg_hiero_options;

/* An initial phrase pair has count 1, in equal shares for the ways to make a rule of it. */
typedef struct {
  int64_t n_sentences;
  int64_t n_phrases;     /* initial phrase pairs */
  int64_t n_used;        /* those of them that gave a rule: the sum of all counts */
  const double *count;   /* [rules] */
  const int64_t *tokens; /* [rules]: how often the rule was made, each time for some share of 1 */
  int64_t n_places;      /* the sum of all tokens, if they are to be kept */
  const int32_t *places; /* [n_places][8]: rule, sentence pair, source span, source spans of its nonterminals or -1 */
  lscfg_tables tables;
} lscfg_hiero_view;

lscfg_hiero *lscfg_hiero_new(const lscfg_hiero_options *);
void lscfg_hiero_free(lscfg_hiero *);
/* Adds the rules of one sentence pair; arguments and errors as of lscfg_derive. */
int lscfg_hiero_add(lscfg_hiero *, const char *src, size_t src_length, const char *tgt, size_t tgt_length,
                    const char *links, size_t links_length, int32_t *stream, lscfg_error *);
/* Valid until the next lscfg_hiero_add. */
void lscfg_hiero_get(const lscfg_hiero *, lscfg_hiero_view *);

/* ---- tables of rules: what a grammar file needs of them ---- */

/* Rules as of lscfg_tables; the caller has checked that offsets and symbols are in range. */
typedef struct {
  int64_t n;
  const int32_t *symbols;
  const int64_t *offsets;    /* [n + 1] */
  const int32_t *src_length; /* [n] */
  const char *words;           /* the vocabulary's words, one behind the other */
  const int64_t *word_offsets; /* by word id, one more than there are words */
  int64_t n_words;
} lscfg_rules;

/* Numbers the source (side 0) or target sides (1) in order of first appearance; returns how many there are. */
int lscfg_rules_number(const lscfg_rules *, int side, int32_t *number, lscfg_error *);
/* Lexical weights [n][2] of some rules: the sum over the target words of the least cost that a source word of the rule,
 * or none (-1), has with it; then the same of the source words. pairs [n_pairs][2]: source and target word, costs
 * [n_pairs][2]: of the target word given the source word, and the other way round; worst: of pairs that are not listed. */
int lscfg_rules_lexical(const lscfg_rules *, int64_t n_pairs, const int32_t *pairs, const double *costs, double worst,
                        int64_t n, const int64_t *which, double *weights, lscfg_error *);
/* The lines of some rules in cdec's format, values [n][n_features] that are 0 left out. To be given back to
 * lscfg_rules_text_free. */
int lscfg_rules_text(const lscfg_rules *, int64_t n, const int64_t *which, int32_t n_features, const char *const *names,
                     const double *values, char **text, int64_t *length, lscfg_error *);
void lscfg_rules_text_free(char *);

typedef struct lscfg_matcher lscfg_matcher;

/* An index of source sides; number: what lscfg_rules_number gave for them. */
int lscfg_matcher_new(const lscfg_rules *, const int32_t *number, lscfg_matcher **, lscfg_error *);
void lscfg_matcher_free(lscfg_matcher *);
/* The numbers of the source sides that can cover some part of the sentence, each nonterminal one or more words, in no
 * particular order; returns how many. found has room for all sides. Not for two threads at the same time. */
int32_t lscfg_match(lscfg_matcher *, const int32_t *words, int32_t n_words, int32_t *found, lscfg_error *);

/* ---- context: target sides among the words around a rule ---- */

/* Where a rule was used. */
typedef struct {
  int32_t rule, sentence;
  int32_t span[2];   /* half-open, words of the sentence */
  int32_t gap[2][2]; /* spans of the nonterminals in source order, -1: there is none */
} lscfg_context_token;

/* What weights are learned from; to be kept by the caller as long as the trainer. */
typedef struct {
  const lscfg_rules *rules;    /* of up to two nonterminals; in the vocabulary of the words */
  const double *counts;        /* [rules] > 0 */
  const int32_t *words;        /* of all sentences, -1: no item */
  const int64_t *first;        /* [sentences + 1] */
  const int32_t *side;         /* [rules] numbers of the source sides */
  const int64_t *choice_begin; /* [sides + 1]: the rules that are chosen among, all of which have that source side */
  const int32_t *choices;
  int64_t n_tokens;            /* of rules that are among the choices */
  const lscfg_context_token *tokens;
  int32_t min_count;           /* weights of items that an outcome has fewer times are 0 */
  double penalty;              /* 1 / the variance of the weights' prior */
  double rate;                 /* of learning */
} lscfg_context_problem;

/* Outcomes are the rules, the words of their target sides, and so many shapes; items are words of so many kinds (the
 * vocabulary's and the two ends of a sentence) and so many classes of length of each of the two nonterminals. */
enum { LSCFG_CONTEXT_SHAPES = 144, LSCFG_CONTEXT_WORD_KINDS = 9, LSCFG_CONTEXT_LENGTHS = 7 };

typedef struct lscfg_context_trainer lscfg_context_trainer;

int lscfg_context_trainer_new(const lscfg_context_problem *, lscfg_context_trainer **, lscfg_error *);
void lscfg_context_trainer_free(lscfg_context_trainer *);
/* Learns from tokens order[0] .. order[n-1], one by one; loss: sums of -log p of their target sides by frequency, and in
 * context (before each was learned from). */
int lscfg_context_learn(lscfg_context_trainer *, const int64_t *order, int64_t n, double loss[2], lscfg_error *);
/* Number of weights that are not 0, in no particular order; keys and weights, where not NULL, have room for them. A key is
 * outcome * items + item, of so many items as docs/FORMATS.md says. */
int64_t lscfg_context_weights(const lscfg_context_trainer *, int64_t *keys, float *weights);

/* ---- moments: sums over tokens of outer products ---- */

/* out[row[k]] += z[head[k]] (x) y[tail[k][0]] (x) ... for k = 0 .. n-1, in this order; of z only the entries
 * first .. last-1, and of out only what belongs to them, so that threads may share the work.
 * arity: 0, 1 or 2; z, y: rows of m values; tail [n][arity] (NULL for arity 0); out: rows of m^(arity+1) values. */
void lscfg_add_moments(int32_t m, int32_t arity, int64_t n, int32_t first, int32_t last, const int64_t *row,
                       const int64_t *head, const int64_t *tail, const double *z, const double *y, double *out);

/* ---- language model: an automaton that is filled in as it is walked ---- */

typedef struct lscfg_lm lscfg_lm;

enum { LSCFG_LM_NULL = 0, LSCFG_LM_BEGIN = 1 }; /* states: no context; after <s> */

/* Called once for each (state, word) that is new: gives log10 p(word | state), the state that follows (LSCFG_LM_NULL,
 * LSCFG_LM_BEGIN or a number of the caller's choice below 2^28; equal states behave equally) and the word's reach: the
 * words, itself included, of the longest n-gram of the model that ends in it and that a word in front could still
 * extend; 0 if there is none, -1 if the model does not know the word. Too large a reach, such as the n-gram found
 * whether or not a longer one ends in it, only keeps states apart that could have been one. Non-zero stops the
 * search. */
typedef int (*lscfg_lm_step)(void *context, int32_t state, int32_t word, float *log10p, int32_t *next, int32_t *reach);

/* order: the n of the n-gram model, 1 to 14; end_word: the vocabulary id of </s>. */
lscfg_lm *lscfg_lm_new(int32_t order, int32_t end_word, lscfg_lm_step, void *context);
void lscfg_lm_free(lscfg_lm *);

/* ---- search: cube pruning with the language model, then lazy k-best extraction ---- */

typedef struct {
  int32_t pop_limit; /* candidates taken per node, >= 1 */
  int32_t k;         /* derivations wanted, >= 1 */
  int32_t unique;    /* non-zero: at most one derivation for each translation; a list ends early where 20 k + 1000 repeat */
  double lm_weight;  /* weight of the sum of log10 p, <s> and </s> included */
  double oov_weight; /* weight of the number of words unknown to the language model */
} lscfg_search_options;

typedef struct lscfg_kbest lscfg_kbest;
typedef struct lscfg_hypergraph lscfg_hypergraph;

/* Best first. Hypothesis h: its words are words[word_offsets[h]] .. [word_offsets[h+1]-1] (vocabulary ids), the rule
 * applications of its derivation apps[app_offsets[h]] .. (indices of the forest's applications). */
typedef struct {
  int32_t n;
  const double *score;         /* [n] model score: application scores + weighted language model */
  const double *lm;            /* [n] sum of log10 p */
  const double *oov;           /* [n] words unknown to the language model */
  const int64_t *word_offsets; /* [n + 1] */
  const int32_t *words;
  const int64_t *app_offsets;  /* [n + 1] */
  const int32_t *apps;
} lscfg_kbest_view;

/* app_scores[n_apps]: the part of each application's score that does not depend on the language model. lm may be
 * NULL. The lm is filled in as a cache, so that one lm must not be used by two searches at the same time. */
int lscfg_search(const lscfg_forest *, const lscfg_grammar *, lscfg_lm *lm, const double *app_scores,
                 const lscfg_search_options *, lscfg_kbest **, lscfg_error *);
/* The same, and the part of the hypergraph that the best derivations use: the max_edges edges (and those of equal rank)
 * whose best derivation has the highest score. */
int lscfg_search_hypergraph(const lscfg_forest *, const lscfg_grammar *, lscfg_lm *lm, const double *app_scores,
                            const lscfg_search_options *, int32_t max_edges, lscfg_kbest **, lscfg_hypergraph **,
                            lscfg_error *);
void lscfg_kbest_free(lscfg_kbest *);
void lscfg_kbest_get(const lscfg_kbest *, lscfg_kbest_view *);

/* ---- EM over derivation trees: the E step, and the shrinkage of its counts ---- */

enum { LSCFG_EM_MAX_STATES = 128 };

/* Trees of rules with at most two nonterminals. Nodes are numbered tree by tree, parents before their children. A
 * parameter is scale[state of the left-hand side] * tensor[arity][row][states]: counts and what normalises them. */
typedef struct {
  int32_t m;               /* states, 1 .. LSCFG_EM_MAX_STATES */
  const int8_t *arity;     /* [nodes] */
  const int32_t *row;      /* [nodes] which of the tensors of that arity; rules may share one */
  const int32_t *children; /* [nodes][2], -1: none, or one whose inside tree is not observed (a vector of ones) */
  const double *tensor[3]; /* by arity, >= 0: [rows][m], [rows][m][m], [rows][m][m][m] */
  const double *scale;     /* [m], >= 0 and at most 1e60 */
  const double *root;      /* [kinds of root][m], distributions */
} lscfg_em;

/* Inside and outside vectors of the trees first .. last-1; tree t has the nodes first_node[t] .. first_node[t+1]-1, the
 * first of them is its root, of the kind root_kind[t]. Writes log_likelihood[t] (-inf: impossible, its vectors are
 * zero), inside [nodes][m] (sum 1), factor [nodes] (what inside was divided by) and, unless it is NULL, outside
 * [nodes][m], such that tensor * outside[n] (x) inside[left] (x) inside[right] are the expected counts of node n. Returns
 * the number of impossible trees. Ranges of trees may be computed by several threads at the same time. */
int64_t lscfg_em_trees(const lscfg_em *, const int64_t *first_node, const int32_t *root_kind, int64_t first, int64_t last,
                       double *log_likelihood, double *inside, double *factor, double *outside);

/* tokens[begin] .. tokens[end-1] are nodes of the row. part < 0: they are all of them. */
typedef struct {
  int64_t row, begin, end, part;
} lscfg_em_chunk;

/* Expected counts of rows of one arity: tensor[row] *= the sum of outer products over the row's tokens, and
 * totals[row][m] = the counts by state of the left-hand side; or, where a row has several chunks, the sum alone into
 * parts[part]. Different chunks may be computed by several threads at the same time. */
int lscfg_em_counts(const lscfg_em *, int32_t arity, const lscfg_em_chunk *, int64_t n, const int32_t *tokens,
                    const double *inside, const double *outside, double *tensor, double *totals, double *parts);

/* out[length] += the rows first .. last-1. */
void lscfg_em_sum(int64_t length, int64_t first, int64_t last, const double *tensor, double *out);

/* Shrinks the counts of each row towards those of its group, and these towards the average [length], a distribution:
 * q = (sum of the group + to_arity * average) / (its tokens + to_arity), row = weight * (row + to_source * q) /
 * (tokens + to_source); where nothing is known, q or the average. Fills totals. Groups first .. last-1; group g has the
 * rows group_rows[group_begin[g]] .. */
int lscfg_em_shrink(int32_t m, int32_t arity, const int64_t *group_begin, const int32_t *group_rows, int64_t first,
                    int64_t last, const double *tokens, const double *weight, const double *average, double to_source,
                    double to_arity, double *tensor, double *totals);

/* ---- tuning: k-best lists as arrays, the passes of MIRA over them, and exact line search for MERT ---- */

enum { LSCFG_BLEU_WIDTH = 10 }; /* matches of order 1 to 4, n-grams of order 1 to 4, length, length of the reference */

/* The hypotheses of sentence s are first[s] .. first[s+1]-1, its columns column[s] .. column[s+1]-1: features that some
 * hypothesis of it has. Values are in columns: those of column c of sentence s, one for each of its hypotheses, begin at
 * value[s] + (c - column[s]) * (first[s+1] - first[s]). */
typedef struct {
  int64_t n_sentences;
  const int64_t *first;   /* [n_sentences + 1] */
  const int64_t *column;  /* [n_sentences + 1] */
  const int64_t *value;   /* [n_sentences] */
  const int32_t *feature; /* [columns] */
  const float *values;
  const int32_t *stats; /* [hypotheses][LSCFG_BLEU_WIDTH] */
} lscfg_lists;

/* scores[hypotheses] = features times vector, by feature number. */
void lscfg_lists_scores(const lscfg_lists *, const double *vector, double *scores);
/* best[n_sentences]: the highest score's hypothesis, the first of equals; -1 where a sentence has none. */
void lscfg_lists_best(int64_t n_sentences, const int64_t *first, const double *scores, int64_t *best);

typedef struct {
  double step_cap, decay;
  int64_t steps;                       /* taken so far */
  double background[LSCFG_BLEU_WIDTH]; /* the pseudo-corpus */
} lscfg_mira;

/* Steps of MIRA through n sentences, none of them empty, in the order given (Cherry and Foster 2012, section 3). late is
 * the sum over all steps of their number times the change of the weights, so that the average of the weights over all
 * steps is weights - late / steps. */
int lscfg_mira_pass(const lscfg_lists *, lscfg_mira *, int64_t n, const int64_t *order, double *weights, double *late,
                    lscfg_error *);

/* The step x for which the hypotheses with the highest scores + x * slopes have the best BLEU (0 to 100), exactly: the
 * middle of the best interval between two changes, of equals the one nearest to 0; a unit beyond the outermost change
 * where that is open (Och 2003, section 4). Where several hypotheses have equal scores and slopes the first one counts. */
int lscfg_line_search(int64_t n_sentences, const int64_t *first, const double *scores, const double *slopes,
                      const int32_t *stats, double *step, double *bleu, lscfg_error *);

/* What a search has built, as far as it was kept: items in topological order, the goal last. */
typedef struct {
  int32_t n_items, n_edges;
  const int32_t *item_edges; /* [n_items + 1]: the edges into each item */
  const int32_t *tail;       /* [n_edges][2], -1 where there is none */
  const int64_t *symbol;     /* [n_edges + 1]: where each edge's target side begins in symbols */
  const int32_t *symbols;    /* word >= 0, or -1-k: the k-th tail */
  const int32_t *app;        /* [n_edges] application of the forest; -1: from a root to the goal */
  const double *lm;          /* [n_edges] sum of log10 p */
  const int32_t *oov;        /* [n_edges] */
} lscfg_hypergraph_view;

void lscfg_hypergraph_free(lscfg_hypergraph *);
void lscfg_hypergraph_get(const lscfg_hypergraph *, lscfg_hypergraph_view *);

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

/* The caller vouches for the graph. scores, slopes [n_edges]. */
int lscfg_hypergraph_envelope(const lscfg_hypergraph_view *, const double *scores, const double *slopes,
                              lscfg_envelope **, lscfg_error *);
void lscfg_envelope_free(lscfg_envelope *);
void lscfg_envelope_get(const lscfg_envelope *, lscfg_envelope_view *);

/* [end of declarations] */

#ifdef __cplusplus
}
#endif
#endif
