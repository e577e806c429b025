/* The decoder features of rule applications, by families. docs/reference/features.md defines them for the user. */
#include "inference/families.h"
#include "inference/bind.h"

/* One row for each family. */
static const feature_family *const families[] = {&paper_family,    &span_family,  &ratio_family,
                                                 &context_family,  &composed_family, &sense_family,
                                                 &thesis_family,   &score_family, &boundary_family};
enum { N_FAMILIES = sizeof families / sizeof *families };

static uint32_t features_of(const feature_family *family) { return ((1u << family->n) - 1) << family->first; }

static const feature_family *family_of(int32_t feature) {
  for (int k = 0; k < N_FAMILIES; k++)
    if (feature >= families[k]->first && feature < families[k]->first + families[k]->n) return families[k];
  return NULL;
}

const char *lscfg_feature_name(int32_t feature) {
  const feature_family *family = family_of(feature);
  return family ? family->names[feature - family->first] : NULL;
}

double lscfg_feature_start(int32_t feature) {
  const feature_family *family = family_of(feature);
  return family ? family->start[feature - family->first] : 0;
}

static int is_name(const char *known, const char *name, size_t length) {
  return known && strlen(known) == length && !memcmp(known, name, length);
}

uint32_t lscfg_feature_set(const char *name, size_t length) {
  for (int32_t k = 0; k < LSCFG_N_FEATURES; k++)
    if (is_name(lscfg_feature_name(k), name, length)) return 1u << k;
  for (int k = 0; k < N_FAMILIES; k++)
    if (is_name(families[k]->name, name, length)) return features_of(families[k]);
  return 0;
}

static uint32_t wanted_features(const lscfg_feature_options *options) {
  uint32_t wanted = 0;
  for (int32_t k = 0; k < options->n_columns; k++) wanted |= 1u << options->columns[k];
  return wanted;
}

/* What the wanted features need of the model. */
static uint32_t needs_of(const lscfg_feature_options *options) {
  uint32_t needs = 0;
  for (int k = 0; k < N_FAMILIES; k++)
    if (wanted_features(options) & features_of(families[k])) needs |= families[k]->needs;
  return needs;
}

int lscfg_needs_inference(const lscfg_feature_options *options) { return (needs_of(options) & NEEDS_MARGINALS) != 0; }

/* A context with a scorer may be without weights of its own. */
static uint32_t lacks_of(const context_model *context) {
  if (!context) return NEEDS_CONTEXT | NEEDS_SENSE;
  if (!context->scores.kind) return NEEDS_SENSE;
  return context->offsets[context_outcomes(&context->rules)] ? 0 : NEEDS_CONTEXT;
}

int lscfg_model_check_features(const lscfg_model *model, const lscfg_feature_options *options, lscfg_error *error) {
  uint32_t seen = 0;
  int good = options->n_columns >= 0 && options->n_columns <= LSCFG_N_FEATURES;
  for (int32_t k = 0; k < options->n_columns && good; k++) {
    int32_t feature = options->columns[k];
    good = feature >= 0 && feature < LSCFG_N_FEATURES && !(seen >> feature & 1);
    if (good) seen |= 1u << feature;
  }
  if (!good) return lscfg_fail(error, LSCFG_EINPUT, 0, "the columns are no features, or one of them twice");
  uint32_t lacks = (model->one_state ? 0 : NEEDS_ONE_STATE) | lacks_of(model->context);
  if (!model->has_boundary) lacks |= NEEDS_BOUNDARY;
  for (int32_t k = 0; k < LSCFG_N_FEATURES; k++) {
    if (!(seen >> k & 1) || !(family_of(k)->needs & lacks)) continue;
    return lscfg_fail(error, LSCFG_EINPUT, 0,
                      family_of(k)->needs & lacks & NEEDS_ONE_STATE
                          ? "the model file is without one.rules and one.unk, which %s needs; make the model anew"
                      : family_of(k)->needs & lacks & NEEDS_BOUNDARY
                          ? "the model file is without weights of spans, which %s needs; estimate it with --boundary"
                      : family_of(k)->needs & lacks & NEEDS_SENSE
                          ? "the model file is without a scorer of target sides, which %s needs; estimate it with "
                            "--sense, or choose other features, such as ratios or context"
                          : "the model file is without context weights, which %s needs; estimate it with --context, or "
                            "choose other features, such as ratios or paper",
                      lscfg_feature_name(k));
  }
  return LSCFG_OK;
}

/* Rules of more nonterminals than a tensor can have say nothing. */
static void clear_long_rules(const feature_work *w) {
  const lscfg_forest *f = w->forest;
  for (int32_t e = 0; e < f->edge_head.size; e++) {
    int32_t tail = f->edge_tail.data[2 * (int64_t)e + 1], begin = f->edge_apps.data[e];
    if (tail < 0 || f->node_cat.data[tail] != LSCFG_REST) continue;
    size_t n = (size_t)(f->edge_apps.data[e + 1] - begin) * (size_t)w->options->n_columns;
    memset(w->features + (int64_t)begin * w->options->n_columns, 0, n * sizeof *w->features);
  }
}

int lscfg_features(const lscfg_binding *b, const lscfg_forest *f, const lscfg_inference *inference,
                   const double *app_marginals, const double *node_marginals, const lscfg_feature_options *options,
                   double *features, lscfg_error *error) {
  if (binding_check_forest(b, f, error) || lscfg_model_check_features(b->model, options, error)) return LSCFG_EINPUT;
  memset(features, 0, (size_t)f->app_rule.size * (size_t)options->n_columns * sizeof *features);
  int known = lscfg_needs_inference(options) && inference->sign > 0; /* else marginals say nothing */
  uint32_t wanted = wanted_features(options);
  feature_work work = {b, f, app_marginals, node_marginals, options, {0}, features};
  for (int32_t k = 0; k < LSCFG_N_FEATURES; k++) work.column[k] = -1;
  for (int32_t k = 0; k < options->n_columns; k++) work.column[options->columns[k]] = k;
  int code = LSCFG_OK;
  const feature_family *done = NULL;
  for (int k = 0; k < N_FAMILIES && !code; k++) {
    if (!(wanted & features_of(families[k])) || (!known && families[k]->needs & NEEDS_MARGINALS)) continue;
    if (!done || done->compute != families[k]->compute) code = families[k]->compute(&work, error);
    done = families[k];
  }
  if (!code) clear_long_rules(&work);
  return code;
}
