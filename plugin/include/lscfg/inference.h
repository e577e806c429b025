/* Latent models, and tensor inside-outside over a forest: all that a decoder needs. See lscfg.h for what holds
 * everywhere. */
#ifndef LSCFG_INFERENCE_API_H
#define LSCFG_INFERENCE_API_H

#include "lscfg/forest.h"

#ifdef __cplusplus
extern "C" {
#endif

/* [declarations] */

/* ---- latent model: the parameters of an L-SCFG, in a memory-mapped safetensors file ---- */

typedef struct lscfg_model lscfg_model;
typedef struct lscfg_binding lscfg_binding;

/* Maps the file, checks every size, offset and symbol in it and indexes the rules; values of tensors are checked when
 * they are first needed. A model that has a rule twice is refused. Read-only from then on. */
int lscfg_model_open(const char *path, lscfg_model **, lscfg_error *);
void lscfg_model_close(lscfg_model *);
int32_t lscfg_model_rank(const lscfg_model *); /* m, the number of hidden states */
int32_t lscfg_model_size(const lscfg_model *); /* number of rules */
/* Adds all rules of the model to a grammar that is not finished. */
int lscfg_model_add_rules(const lscfg_model *, lscfg_grammar *, lscfg_error *);

/* What becomes of rules of [X] that the model does not know. All zero: they have probability zero. */
typedef struct {
  int32_t compose;   /* non-zero: they are composed of the model's rules where that is possible */
  int32_t oov;       /* non-zero: others without nonterminals, and LSCFG_RULE_UNKNOWN, have the OOV rule's tensor */
  int32_t oov_parts; /* non-zero: so has a word inside composed rules with a translation that cannot be had otherwise */
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

/* Finds the tensor of each rule of a finished grammar. Model and grammar must outlive the binding; without options
 * (NULL) they are all zero. The words of the model's context, if it has one, are added to the grammar's vocabulary,
 * which no other thread may use meanwhile. A rule of another category than [X], glue for one, joins independent trees.
 * A composed rule has the sum over all derivations of its two sides by rules of the model, nonterminals being
 * derivations of themselves. */
int lscfg_binding_new(const lscfg_model *, const lscfg_grammar *, const lscfg_binding_options *, lscfg_binding **,
                      lscfg_error *);
void lscfg_binding_free(lscfg_binding *);
int32_t lscfg_binding_known(const lscfg_binding *); /* number of rules that have a tensor of their own */
/* kinds [rules]: LSCFG_RULE_IS_... Composes what can be of the whole grammar; inference composes what a forest has. */
int lscfg_binding_kinds(const lscfg_binding *, uint8_t *kinds, lscfg_error *);
/* The instructions of the inner loops: "avx512", "avx2" or "baseline", at first the best that the machine has. The
 * first two give the same bits. Not to be changed while the binding is in use. */
int lscfg_binding_use(lscfg_binding *, const char *instructions, lscfg_error *);
const char *lscfg_binding_instructions(const lscfg_binding *);

/* ---- context models: target sides among the words around a rule ---- */

/* Outcomes are the rules, the words of their target sides, and so many shapes; items are words of so many kinds (the
 * vocabulary's and the two ends of a sentence) and so many classes of length of each of the two nonterminals. */
enum { LSCFG_CONTEXT_SHAPES = 144, LSCFG_CONTEXT_WORD_KINDS = 9, LSCFG_CONTEXT_LENGTHS = 7 };
/* Behind the words of the vocabulary, a scorer has the two ends of a sentence, and any word without an item of its own.
 */
enum { LSCFG_CONTEXT_BEGIN = 0, LSCFG_CONTEXT_END = 1, LSCFG_CONTEXT_UNKNOWN = 2, LSCFG_CONTEXT_EXTRA_WORDS = 3 };
/* The name of a kind of scorers, from 0; NULL behind the last one. */
const char *lscfg_score_function_name(int32_t kind);

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
/* The same, and unless NULL the marginal of each hidden state of each node, states [n_nodes][rank]: those of a node add
 * up to its own. All 0 at nodes of other categories than [X], which have no states. */
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
  /* of what is around an application: */
  LSCFG_CONTEXT_0 = 11,
  LSCFG_CONTEXT_BARE = 12,
  LSCFG_CONTEXT_N = 13,
  /* of the same, by a scorer: */
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
  /* of what is around an application of a rule that the context does not have: */
  LSCFG_CONTEXT_COMPOSED = 24,
  LSCFG_N_FEATURES = 25
};
/* A negative marginal counts as its absolute value or as 0. */
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
  double floor;      /* > 0: no logarithm is taken of less */
  int32_t n_columns; /* how many features are wanted */
  int32_t columns[LSCFG_N_FEATURES]; /* these, in the order wanted, each once */
} lscfg_feature_options;

/* Zero where no feature is wanted but those of what is around an application and of its span: these need no marginals,
 * and no rules composed in the binding. */
int lscfg_needs_inference(const lscfg_feature_options *);
/* Refuses columns that are no features or one twice, and features for which the model file lacks the model with one
 * state or the context. */
int lscfg_model_check_features(const lscfg_model *, const lscfg_feature_options *, lscfg_error *);

/* features [n_apps][n_columns] of each application, from what lscfg_infer gave for the forest (NULL, all three,
 * where that is not needed):
 *   LSCFG_MARGINAL   its marginal;
 *   LSCFG_E_GIVEN_F  its share among the applications of its edge (same span, source side and tails);
 *   LSCFG_F_GIVEN_E  its share among the applications of its head node with the same target side, whatever the tails;
 *   LSCFG_SPAN       the marginal of its head node.
 * A share of nothing is 0. The others say what the states add to one state (the model's rules with their relative
 * frequencies, inferred over the same forest, here): the share of an application in its head node is a product of those
 * of its edge in the node, of its order (of the two nonterminals) in the edge if its source side is two nonterminals
 * and nothing else (bare), and of the application in that. A ratio is the logarithm of such a factor less the one of
 * one state, log or not, in [-4, 4]; a share of nothing is 1:
 *   LSCFG_TARGET, _TARGET_BARE  of the application in edge or order; of source sides that are not bare, and bare ones;
 *   LSCFG_ORDERED, _SWAPPED     of its order in its edge; of bare source sides, by order;
 *   LSCFG_SOURCE_0, _BARE, _N   of its edge in the node; of source sides without nonterminals, bare ones, all others.
 * LSCFG_CONTEXT_0, _BARE, _N say what the words around it add to the relative frequency of its target side in its edge,
 * among the rules that the context knows: log p(target side | edge, words) less that logarithm, in [-4, 4]; 0 where
 * there is one such rule, in lattices, and where the context knows no word of the sentence. All features of an
 * application are 0, log or not, where its head is not an [X]; in forests whose g is not positive, of which nothing is
 * known, all but these and the next; ratios also where that of one state is not.
 * LSCFG_CONTEXT_COMPOSED is that of rules that the context does not have, by their target words and shape alone: log of
 * the share of such a rule among all of the edge less that by count alone, where they count as seen once.
 * LSCFG_SENSE_0, _BARE, _N say the same of the model's scorer: log of the share of exp(a ln count + b score) less that
 * of the relative frequency, among the rules of the edge that it knows, with a and b of the model. Of each of these
 * rules, LSCFG_SENSE_RANK is the reciprocal rank by score, _BEST 1 for rank 1, _LOGIT 1 / (1 + exp(-score)), _SCORE the
 * score itself. All of these are 0 in lattices and where no word around is known. LSCFG_SENSE_ON is 1 for rules that
 * the scorer knows, _OFF for others of the grammar with a word on their source side.
 * LSCFG_BOUNDARY is the sum of the model's weights of the words at the ends of its source span and of those before and
 * behind it; unknown words, and lattices, have none. */
int lscfg_features(const lscfg_binding *, const lscfg_forest *, const lscfg_inference *, const double *app_marginals,
                   const double *node_marginals, const lscfg_feature_options *, double *features, lscfg_error *);

/* ---- sums that are no probabilities ---- */

/* Counts over sentences; all 0 at first. */
typedef struct {
  int64_t sentences;    /* all */
  int64_t below, zero;  /* with g < 0, with g = 0 */
  int64_t negative;     /* with g > 0 and negative marginals */
  double negative_mass; /* sum of lscfg_inference's over the last */
} lscfg_improper;

void lscfg_improper_add(lscfg_improper *, const lscfg_inference *);
/* One sentence for the user, without a full stop; nothing where all sums are probabilities. negative:
 * LSCFG_NEGATIVE_... Returns the length, as snprintf does; 400 bytes are enough. */
int lscfg_improper_text(const lscfg_improper *, int32_t negative, char *text, size_t size);

/* ---- the options of a decoder's line: model=FILE features=NAME,NAME log=true ... ---- */

typedef struct {
  char model[4096]; /* path of the model file; empty where none is named */
  lscfg_feature_options features; /* columns in the order of the line */
  lscfg_binding_options unknown;  /* what becomes of rules that the model does not know */
} lscfg_options;

/* A part of a line, between blanks: the key, "=" and the value. key_length is 0 where it is no such pair, or where key
 * or value is empty. */
typedef struct {
  const char *text;
  size_t length, key_length;
} lscfg_option;

/* What features= names where a line has none. */
const char *lscfg_default_features(void);
/* The defaults; docs/reference/features.md says what they are. */
void lscfg_options_init(lscfg_options *);
/* Sets one option. LSCFG_OTHER_OPTION where the key is none of these: the decoder may have options of its own.
 * LSCFG_EINPUT for a bad value; then nothing has changed. */
int lscfg_options_set(lscfg_options *, const char *key, size_t key_length, const char *value, size_t value_length,
                      lscfg_error *);
/* All of these options, for messages. */
const char *lscfg_options_usage(void);
/* Takes the next part off the line; 0 where nothing is left. */
int lscfg_option_next(const char **line, const char *end, lscfg_option *);

/* [end of declarations] */

#ifdef __cplusplus
}
#endif
#endif
