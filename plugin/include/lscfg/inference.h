/* Latent models, and tensor inside-outside over a forest: the interface for decoders. See lscfg.h for general
 * conventions. */
#ifndef LSCFG_INFERENCE_API_H
#define LSCFG_INFERENCE_API_H

#include "lscfg/neural.h"

#ifdef __cplusplus
extern "C" {
#endif

/* [declarations] */

/* ---- latent model: the parameters of an L-SCFG, in a memory-mapped safetensors file ---- */

typedef struct lscfg_model lscfg_model;
typedef struct lscfg_binding lscfg_binding;

/* Maps the file, checks every size, offset and symbol in it and indexes the rules; values of tensors are checked at
 * first use. A model with duplicate rules is refused. Read-only from then on. */
int lscfg_model_open(const char *path, lscfg_model **, lscfg_error *);
void lscfg_model_close(lscfg_model *);
int32_t lscfg_model_rank(const lscfg_model *); /* m, the number of hidden states */
int32_t lscfg_model_size(const lscfg_model *); /* number of rules */
/* Adds all rules of the model to an unfinished grammar. */
int lscfg_model_add_rules(const lscfg_model *, lscfg_grammar *, lscfg_error *);

/* Treatment of rules of [X] outside the model. All zero: they have probability zero. */
typedef struct {
  int32_t compose;   /* non-zero: they are composed of the model's rules where possible */
  int32_t oov;       /* non-zero: others without nonterminals, and LSCFG_RULE_UNKNOWN, have the OOV rule's tensor */
  int32_t oov_parts; /* non-zero: the same for a word pair inside composed rules that no rule of the model derives */
} lscfg_binding_options;

/* The kind of a rule in a binding. */
enum {
  LSCFG_RULE_IS_ZERO = 0,
  LSCFG_RULE_IS_KNOWN = 1,        /* with its own tensor */
  LSCFG_RULE_IS_COMPOSED = 2,     /* composed of rules of the model */
  LSCFG_RULE_IS_COMPOSED_OOV = 3, /* composed of rules of the model and the minimum number of OOV parts */
  LSCFG_RULE_IS_OOV = 4,
  LSCFG_RULE_IS_STATELESS = 5 /* of another category than [X] */
};

/* Finds the tensor of each rule of a finished grammar. Model and grammar must outlive the binding; NULL options are all
 * zero. The words of the model's context, if it has one, are added to the grammar's vocabulary, which no other thread
 * may use meanwhile. A rule of another category than [X], such as glue, joins independent trees. The value of a
 * composed rule is the sum over all derivations of its two sides by rules of the model, with nonterminals as their own
 * derivations. */
int lscfg_binding_new(const lscfg_model *, const lscfg_grammar *, const lscfg_binding_options *, lscfg_binding **,
                      lscfg_error *);
void lscfg_binding_free(lscfg_binding *);
int32_t lscfg_binding_known(const lscfg_binding *); /* number of rules with their own tensor */
/* The grammar's categories besides X whose OOV rule has a probability in the model; returns their number.
 * passed [number of categories]. */
int32_t lscfg_binding_passed(const lscfg_binding *, int32_t *passed);
/* kinds [rules]: LSCFG_RULE_IS_... Composes rules of the whole grammar; inference composes only those of a forest. */
int lscfg_binding_kinds(const lscfg_binding *, uint8_t *kinds, lscfg_error *);
/* The instructions of the inner loops: "avx512", "avx2" or "baseline"; the default is the best of the machine. The
 * first two give the same bits. Must not change while the binding is in use. */
int lscfg_binding_use(lscfg_binding *, const char *instructions, lscfg_error *);
const char *lscfg_binding_instructions(const lscfg_binding *);

/* ---- context models: target sides among the words around a rule ---- */

/* Outcomes are the rules, the words of their target sides, and this number of shapes; items are words of this number of
 * kinds (the vocabulary's and the two ends of a sentence) and classes of length of each of the two nonterminals. */
enum { LSCFG_CONTEXT_SHAPES = 144, LSCFG_CONTEXT_WORD_KINDS = 9, LSCFG_CONTEXT_LENGTHS = 7 };
/* After the words of the vocabulary, context scores number the two ends of a sentence, and any word without its own
 * item. */
enum { LSCFG_CONTEXT_BEGIN = 0, LSCFG_CONTEXT_END = 1, LSCFG_CONTEXT_UNKNOWN = 2, LSCFG_CONTEXT_EXTRA_WORDS = 3 };
/* The name of a score function, from 0; NULL after the last one. */
const char *lscfg_score_function_name(int32_t kind);

/* ---- inference: tensor inside-outside over a forest ---- */

typedef struct {
  int32_t sign;         /* of g, the sum over all derivations: 1, -1, or 0 if no derivation has a probability */
  int32_t negative;     /* applications with a negative marginal */
  double log_g;         /* natural logarithm of |g| */
  double negative_mass; /* absolute sum of the negative marginals over the absolute sum of all, in [0, 1] */
} lscfg_inference;

/* Computes the marginal of each application and, unless NULL, of each node: signed, divided by g; all 0 if g is 0. The
 * forest must come from the binding's grammar. Fails if a parameter or a product of them is not finite. */
int lscfg_infer(const lscfg_binding *, const lscfg_forest *, double *app_marginals, double *node_marginals,
                lscfg_inference *, lscfg_error *);
/* The same, and unless NULL the marginal of each hidden state of each node, states [n_nodes][rank]: those of a node sum
 * to its own. All 0 at nodes of other categories than [X], which have no states. */
int lscfg_infer_states(const lscfg_binding *, const lscfg_forest *, double *app_marginals, double *node_marginals,
                       double *states, lscfg_inference *, lscfg_error *);

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
  /* gains of the words around an application: */
  LSCFG_CONTEXT_0 = 11,
  LSCFG_CONTEXT_BARE = 12,
  LSCFG_CONTEXT_N = 13,
  /* the same, by context scores: */
  LSCFG_SENSE_0 = 14,
  LSCFG_SENSE_BARE = 15,
  LSCFG_SENSE_N = 16,
  LSCFG_SENSE_RANK = 17,
  LSCFG_SENSE_ON = 18,
  LSCFG_SENSE_OFF = 19,
  LSCFG_SENSE_BEST = 20,
  LSCFG_SENSE_LOGIT = 21,
  LSCFG_SENSE_SCORE = 22,
  /* of its span: */
  LSCFG_BOUNDARY = 23,
  /* gain of the words around an application of a rule outside the context: */
  LSCFG_CONTEXT_COMPOSED = 24,
  /* of its target words, by the neural model: */
  LSCFG_NEURAL_SOURCE = 25,
  LSCFG_NEURAL_RULE = 26,
  LSCFG_NEURAL_LINKED = 27,
  /* of the order of its nonterminals among its target symbols: */
  LSCFG_ORIENT_MONOTONE = 28,
  LSCFG_ORIENT_SWAP = 29,
  LSCFG_ORIENT_DISCONTINUOUS = 30,
  LSCFG_N_FEATURES = 31
};
/* Treatments of a negative marginal: its absolute value or 0. */
enum { LSCFG_NEGATIVE_FLIP = 0, LSCFG_NEGATIVE_CLAMP = 1 };

/* "LatentMarginal" etc.; NULL if there is no such feature. */
const char *lscfg_feature_name(int32_t feature);
/* A line that explains the feature. */
const char *lscfg_feature_help(int32_t feature);
/* The weight with which tuning may begin: the feature's sign, mostly 0. */
double lscfg_feature_start(int32_t feature);
/* The family of the feature. */
const char *lscfg_feature_family(int32_t feature);
/* The features, a bit (1 << feature) each, that a name selects: the feature or all features of the family of that name;
 * 0 if there is neither. */
uint64_t lscfg_feature_set(const char *name, size_t length);
/* Writes the error message for a name that selects none; 1000 bytes are enough. */
void lscfg_feature_unknown(const char *name, size_t length, char *text, size_t size);

typedef struct {
  int32_t log;       /* non-zero: natural logarithms; zero: the values themselves */
  int32_t negative;  /* LSCFG_NEGATIVE_... */
  int32_t keep;      /* non-zero: features also where g < 0, as of any other sentence; zero: these are 0 */
  double floor;      /* > 0: minimum value before a logarithm */
  int32_t n_columns; /* number of features */
  int32_t columns[LSCFG_N_FEATURES]; /* the features in order, each once */
} lscfg_feature_options;

/* Zero if all features depend on words and spans alone: these need no marginals, and no composed rules in the
 * binding. */
int lscfg_needs_inference(const lscfg_feature_options *);
/* Refuses columns that are not features or are repeated, and features whose parameters the model lacks. */
int lscfg_model_check_features(const lscfg_model *, const lscfg_feature_options *, lscfg_error *);

/* Writes features [n_apps][n_columns] of each application, from the results of lscfg_infer for the forest (NULL, all
 * three, if not needed):
 *
 *   LSCFG_MARGINAL   its marginal;
 *   LSCFG_E_GIVEN_F  its share among the applications of its edge (same span, source side and tails);
 *   LSCFG_F_GIVEN_E  its share among the applications of its head node with the same target side, whatever the tails;
 *   LSCFG_SPAN       the marginal of its head node.
 *
 * A share of a zero sum is 0. Ratios compare the states with one state (the model's rules with their relative
 * frequencies, inferred over the same forest, here): the share of an application in its head node is the product of the
 * share of its edge in the node, of its order (of the two nonterminals) in the edge if its source side is two
 * nonterminals and nothing else (bare), and of the application in that. A ratio is the logarithm of such a factor minus
 * that of one state, whatever log is, in [-4, 4]; a share of a zero sum is 1:
 *
 *   LSCFG_TARGET, _TARGET_BARE  of the application in edge or order; of source sides that are not bare, and bare ones;
 *   LSCFG_ORDERED, _SWAPPED     of its order in its edge; of bare source sides, by order;
 *   LSCFG_SOURCE_0, _BARE, _N   of its edge in the node; of source sides without nonterminals, bare ones, all others.
 *
 * LSCFG_CONTEXT_0, _BARE, _N are the gain of the words around an application over the relative frequency of its target
 * side in its edge, among the rules of the context: log p(target side | edge, words) minus the logarithm of that
 * frequency, in [-4, 4]; 0 if there is only one such rule, in lattices, and if the context contains no word of the
 * sentence. All features of an application are 0, whatever log is, if its head is not an [X]; in forests whose g is not
 * positive, all features except these and the next are 0; ratios also if that of one state is not positive.
 *
 * LSCFG_CONTEXT_COMPOSED is the gain for rules outside the context, by their target words and shape alone: log of the
 * share of such a rule among all of the edge minus that by count alone, where they count as seen once.
 *
 * LSCFG_SENSE_0, _BARE, _N are the gain by the model's context scores: log of the share of exp(a ln count + b score)
 * minus that of the relative frequency, among the scored rules of the edge, with a and b of the model. For each of
 * these rules, LSCFG_SENSE_RANK is the reciprocal rank by score, _BEST 1 for rank 1, _LOGIT 1 / (1 + exp(-score)),
 * _SCORE the score itself. All of these are 0 in lattices and if no word around is known. LSCFG_SENSE_ON is 1 for rules
 * with a score, _OFF for others of the grammar with a word on their source side.
 *
 * LSCFG_BOUNDARY is the sum of the model's weights of the words at the ends of its source span and of those before and
 * after it; unknown words, and lattices, have none.
 *
 * LSCFG_NEURAL_SOURCE is the sum of the scores of its target words by the neural model without target words before,
 * _RULE with those that come before in the rule, back to a nonterminal, and _LINKED the log probability of the number
 * of target words that are linked to each of its source words; 0 in lattices.
 *
 * LSCFG_ORIENT_MONOTONE, _SWAP, _DISCONTINUOUS are the sums of the log probabilities of these orientations over the
 * nonterminals of the rule that have them, relative to the target symbols before it and to those behind it; 0 in
 * lattices. */
int lscfg_features(const lscfg_binding *, const lscfg_forest *, const lscfg_inference *, const double *app_marginals,
                   const double *node_marginals, const lscfg_feature_options *, double *features, lscfg_error *);

/* The same in parts, for forests whose features would take much memory. Binding, forest, and marginals must outlive the
 * pass. One thread at a time may use it. */
typedef struct lscfg_feature_pass lscfg_feature_pass;
int lscfg_feature_pass_new(const lscfg_binding *, const lscfg_forest *, const lscfg_inference *,
                           const double *app_marginals, const double *node_marginals, const lscfg_feature_options *,
                           lscfg_feature_pass **, lscfg_error *);
/* Writes the features of the applications into the nodes first .. end-1 [their applications][n_columns]. */
int lscfg_feature_pass_nodes(lscfg_feature_pass *, int32_t first, int32_t end, double *features, lscfg_error *);
/* Computes no features of edges without an application to keep [n_apps], where a family can do without them; keep must
 * outlive the pass. */
void lscfg_feature_pass_keep(lscfg_feature_pass *, const uint8_t *keep);
void lscfg_feature_pass_free(lscfg_feature_pass *);

/* ---- sums that are no probabilities ---- */

/* Counts over sentences; all 0 at first. */
typedef struct {
  int64_t sentences;    /* all */
  int64_t below, zero;  /* with g < 0, with g = 0 */
  int64_t negative;     /* with g > 0 and negative marginals */
  double negative_mass; /* sum of lscfg_inference's over the latter */
} lscfg_improper;

void lscfg_improper_add(lscfg_improper *, const lscfg_inference *);
/* Writes one sentence for the user, without a full stop; empty if all sums are probabilities. Returns the length, as
 * snprintf does; 400 bytes are enough. */
int lscfg_improper_text(const lscfg_improper *, const lscfg_feature_options *, char *text, size_t size);

/* ---- the options of a decoder's line: model=FILE features=NAME,NAME log=true ... ---- */

typedef struct {
  char model[4096];               /* path of the model file; empty if none is given */
  lscfg_feature_options features; /* columns in the order of the line */
  lscfg_binding_options unknown;  /* treatment of rules outside the model */
  double prune;                   /* least marginal of an application that a search considers; 0: any */
} lscfg_options;

/* A part of a line, between blanks: the key, "=" and the value. key_length is 0 if it is not such a pair, or if key or
 * value is empty. */
typedef struct {
  const char *text;
  size_t length, key_length;
} lscfg_option;

/* Features of a line without features=. */
const char *lscfg_default_features(void);
/* Sets the defaults; see docs/reference/features.md. */
void lscfg_options_init(lscfg_options *);
/* Sets one option. LSCFG_OTHER_OPTION for any other key: the decoder may have its own options. LSCFG_EINPUT for a bad
 * value, without a change. */
int lscfg_options_set(lscfg_options *, const char *key, size_t key_length, const char *value, size_t value_length,
                      lscfg_error *);
/* All of these options, for messages. */
const char *lscfg_options_usage(void);
/* Takes the next part off the line; 0 at its end. */
int lscfg_option_next(const char **line, const char *end, lscfg_option *);

/* [end of declarations] */

#ifdef __cplusplus
}
#endif
#endif
