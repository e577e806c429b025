/* The decoder features of rule applications, from their marginals and the words around them. docs/FORMATS.md defines them for the user. */
#include "inference/context.h"
#include "forest/forest.h"
#include "inference/binding.h"

#include <math.h>

enum { PAPER = 1 << LSCFG_MARGINAL | 1 << LSCFG_E_GIVEN_F | 1 << LSCFG_F_GIVEN_E };
enum { MARGINALS = PAPER | 1 << LSCFG_SPAN };
enum { RATIOS = (1 << LSCFG_CONTEXT_0) - (1 << LSCFG_TARGET), CONTEXT = (1 << LSCFG_N_FEATURES) - (1 << LSCFG_CONTEXT_0) };

static const double most = 4; /* of a ratio's logarithm: a search should not hang on one doubtful estimate */

const char *lscfg_feature_name(int32_t feature) {
  static const char *const names[LSCFG_N_FEATURES] = {
      "LatentMarginal", "LatentEgivenF", "LatentFgivenE", "LatentSpan",       "LatentTarget", "LatentTargetBare",
      "LatentOrdered",  "LatentSwapped", "LatentSource0", "LatentSourceBare", "LatentSourceN",
      "ContextTarget0", "ContextTargetBare", "ContextTargetN"};
  return feature >= 0 && feature < LSCFG_N_FEATURES ? names[feature] : NULL;
}

static int is_name(const char *known, const char *name, size_t length) {
  return strlen(known) == length && !memcmp(known, name, length);
}

uint32_t lscfg_feature_set(const char *name, size_t length) {
  for (int32_t k = 0; k < LSCFG_N_FEATURES; k++)
    if (is_name(lscfg_feature_name(k), name, length)) return 1u << k;
  return is_name("paper", name, length)     ? PAPER
         : is_name("ratios", name, length)  ? RATIOS
         : is_name("context", name, length) ? CONTEXT
                                            : 0;
}

static uint32_t wanted_features(const lscfg_feature_options *options) {
  return options->wanted ? options->wanted : MARGINALS;
}

int lscfg_needs_inference(const lscfg_feature_options *options) { return (wanted_features(options) & ~CONTEXT) != 0; }

int lscfg_model_check_features(const lscfg_model *model, const lscfg_feature_options *options, lscfg_error *error) {
  uint32_t lost = wanted_features(options) & ((model->one_state ? 0 : RATIOS) | (model->context ? 0 : CONTEXT));
  int32_t first = 0;
  if (!lost) return LSCFG_OK;
  while (!(lost >> first & 1)) first++;
  return lscfg_fail(error, LSCFG_EINPUT, 0,
                    lost & RATIOS ? "the model file is without one.rules and one.unk, which %s needs; make the model anew"
                                  : "the model file is without context weights, which %s needs; estimate it with --context",
                    lscfg_feature_name(first));
}

static double policy(double marginal, int32_t negative) {
  return negative == LSCFG_NEGATIVE_FLIP ? fabs(marginal) : marginal > 0 ? marginal : 0;
}

static double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

static double scaled(double value, const lscfg_feature_options *options) {
  if (!options->log) return value;
  return log(value > options->floor ? value : options->floor);
}

/* Those of the marginals alone. */
static int marginal_features(const lscfg_binding *b, const lscfg_forest *f, const double *app_marginals,
                             const double *node_marginals, const lscfg_feature_options *options, double *features) {
  uint32_t wanted = wanted_features(options);
  const int32_t *rule = f->app_rule.data, n = lscfg_grammar_size(b->grammar);
  double *by_target = calloc((size_t)b->n_targets + 1, sizeof *by_target);
  if (!by_target) return LSCFG_ENOMEM;
  for (int32_t q = 0; q < f->node_cat.size; q++) {
    if (f->node_cat.data[q] != CATEGORY_X) continue; /* no states, nothing to say of it */
    int32_t begin = f->edge_apps.data[f->node_edges.data[q]], end = f->edge_apps.data[f->node_edges.data[q + 1]];
    double span = scaled(policy(node_marginals[q], options->negative), options);
    for (int32_t a = begin; a < end; a++)
      if (rule[a] < n) by_target[b->rule_target[rule[a]]] += policy(app_marginals[a], options->negative);
    for (int32_t e = f->node_edges.data[q]; e < f->node_edges.data[q + 1]; e++) {
      double by_source = 0;
      for (int32_t a = f->edge_apps.data[e]; a < f->edge_apps.data[e + 1]; a++)
        by_source += policy(app_marginals[a], options->negative);
      for (int32_t a = f->edge_apps.data[e]; a < f->edge_apps.data[e + 1]; a++) {
        double *row = features + (int64_t)LSCFG_N_FEATURES * a, marginal = policy(app_marginals[a], options->negative);
        if (wanted >> LSCFG_MARGINAL & 1) row[LSCFG_MARGINAL] = scaled(marginal, options);
        if (wanted >> LSCFG_E_GIVEN_F & 1) row[LSCFG_E_GIVEN_F] = scaled(ratio(marginal, by_source), options);
        /* a word passed through, or a rule that only the decoder has, has a target side of its own */
        if (wanted >> LSCFG_F_GIVEN_E & 1)
          row[LSCFG_F_GIVEN_E] = scaled(ratio(marginal, rule[a] < n ? by_target[b->rule_target[rule[a]]] : marginal), options);
        if (wanted >> LSCFG_SPAN & 1) row[LSCFG_SPAN] = span;
      }
    }
    for (int32_t a = begin; a < end; a++)
      if (rule[a] < n) by_target[b->rule_target[rule[a]]] = 0;
  }
  free(by_target);
  return LSCFG_OK;
}

/* ---- ratios to one state ---- */

/* Of the model, and of one state. */
typedef struct {
  double of[2];
} both;

static void add(both *sum, both term) {
  sum->of[0] += term.of[0];
  sum->of[1] += term.of[1];
}

/* What the states add to the logarithm of a share. */
static double gain(both part, both whole, double floor) {
  double share[2];
  for (int k = 0; k < 2; k++) {
    share[k] = whole.of[k] > 0 ? part.of[k] / whole.of[k] : 1;
    if (!(share[k] > floor)) share[k] = floor;
  }
  if (share[0] == share[1]) return 0; /* often 1: there is one target side */
  double found = log(share[0] / share[1]);
  return found > most ? most : found < -most ? -most : found;
}

/* Whether the rule, of two nonterminals, swaps them. */
static int swaps(const lscfg_grammar *g, int32_t rule) {
  const int32_t *symbol = g->symbols.data + g->rules.data[rule].tgt;
  while (*symbol >= 0) symbol++;
  return *symbol == -2;
}

typedef struct {
  const lscfg_binding *binding;
  const lscfg_forest *forest;
  const lscfg_feature_options *options;
  const double *marginals[2]; /* [applications] */
  double *features;
} ratios;

static both app_sum(const ratios *r, int32_t begin, int32_t end) {
  both sum = {{0, 0}};
  for (int32_t a = begin; a < end; a++)
    for (int k = 0; k < 2; k++) sum.of[k] += policy(r->marginals[k][a], r->options->negative);
  return sum;
}

/* A feature of some applications. */
static void put(const ratios *r, int32_t begin, int32_t end, int32_t feature, both part, both whole) {
  if (!(r->options->wanted >> feature & 1)) return;
  double value = gain(part, whole, r->options->floor);
  for (int32_t a = begin; a < end && value != 0; a++) r->features[(int64_t)LSCFG_N_FEATURES * a + feature] = value;
}

static void edge_ratios(const ratios *r, int32_t edge, both node) {
  const lscfg_grammar *g = r->binding->grammar;
  const int32_t *rule = r->forest->app_rule.data, *tail = r->forest->edge_tail.data + 2 * (int64_t)edge;
  int32_t begin = r->forest->edge_apps.data[edge], end = r->forest->edge_apps.data[edge + 1];
  both whole = app_sum(r, begin, end), by_order[2] = {{{0, 0}}, {{0, 0}}};
  int bare = grammar_is_bare(g, rule[begin]);
  put(r, begin, end, bare ? LSCFG_SOURCE_BARE : tail[0] < 0 ? LSCFG_SOURCE_0 : LSCFG_SOURCE_N, whole, node);
  if (!bare) {
    for (int32_t a = begin; a < end; a++) put(r, a, a + 1, LSCFG_TARGET, app_sum(r, a, a + 1), whole);
    return;
  }
  for (int32_t a = begin; a < end; a++) add(&by_order[swaps(g, rule[a])], app_sum(r, a, a + 1));
  for (int32_t a = begin; a < end; a++) {
    int order = swaps(g, rule[a]);
    put(r, a, a + 1, order ? LSCFG_SWAPPED : LSCFG_ORDERED, by_order[order], whole);
    put(r, a, a + 1, LSCFG_TARGET_BARE, app_sum(r, a, a + 1), by_order[order]);
  }
}

static int ratio_features(const lscfg_binding *b, const lscfg_forest *f, const double *app_marginals,
                          const lscfg_feature_options *options, double *features, lscfg_error *error) {
  lscfg_inference inference;
  double *plain = malloc(((size_t)f->app_rule.size + 1) * sizeof *plain);
  if (!plain) return out_of_memory(error);
  int code = lscfg_infer(b->one_state, f, plain, NULL, &inference, error);
  ratios r = {b, f, options, {app_marginals, plain}, features};
  for (int32_t q = 0; q < f->node_cat.size && !code && inference.sign > 0; q++) {
    if (f->node_cat.data[q] != CATEGORY_X) continue;
    int32_t begin = f->node_edges.data[q], end = f->node_edges.data[q + 1];
    both node = app_sum(&r, f->edge_apps.data[begin], f->edge_apps.data[end]);
    for (int32_t e = begin; e < end; e++) edge_ratios(&r, e, node);
  }
  free(plain);
  return code;
}

int lscfg_features(const lscfg_binding *b, const lscfg_forest *f, const lscfg_inference *inference,
                   const double *app_marginals, const double *node_marginals, const lscfg_feature_options *options,
                   double *features, lscfg_error *error) {
  if (binding_check_forest(b, f, error) || lscfg_model_check_features(b->model, options, error)) return LSCFG_EINPUT;
  memset(features, 0, (size_t)f->app_rule.size * LSCFG_N_FEATURES * sizeof *features);
  uint32_t wanted = wanted_features(options);
  if (wanted & CONTEXT && context_features(b, f, wanted, most, features)) return out_of_memory(error);
  if (!lscfg_needs_inference(options) || inference->sign <= 0) return LSCFG_OK;
  if (wanted & MARGINALS && marginal_features(b, f, app_marginals, node_marginals, options, features))
    return out_of_memory(error);
  return wanted & RATIOS ? ratio_features(b, f, app_marginals, options, features, error) : LSCFG_OK;
}
