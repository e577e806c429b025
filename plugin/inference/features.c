/* The decoder features of rule applications, by families. docs/reference/features.md defines them for the user. */
#include "inference/families.h"
#include "inference/bind.h"

#define FAMILY_ROW(name) &name##_family,
static const feature_family *const families[] = {FEATURE_FAMILIES(FAMILY_ROW)};
#undef FAMILY_ROW
enum { N_FAMILIES = sizeof families / sizeof *families };

_Static_assert(LSCFG_N_FEATURES < 64, "a set of features is a mask of 64 bits");

static uint64_t bit(int32_t feature) { return UINT64_C(1) << feature; }

static uint64_t features_of(const feature_family *family) { return (bit(family->n) - 1) << family->first; }

static const feature_family *family_of(int32_t feature) {
  for (int k = 0; k < N_FAMILIES; k++)
    if (feature >= families[k]->first && feature < families[k]->first + families[k]->n) return families[k];
  return NULL;
}

static const feature_row *row_of(int32_t feature) {
  const feature_family *family = family_of(feature);
  return family ? family->features + (feature - family->first) : NULL;
}

const char *lscfg_feature_name(int32_t feature) { return row_of(feature) ? row_of(feature)->name : NULL; }

const char *lscfg_feature_help(int32_t feature) { return row_of(feature) ? row_of(feature)->help : NULL; }

double lscfg_feature_start(int32_t feature) { return row_of(feature) ? row_of(feature)->start : 0; }

const char *lscfg_feature_family(int32_t feature) { return family_of(feature) ? family_of(feature)->name : NULL; }

static int is_name(const char *known, const char *name, size_t length) {
  return strlen(known) == length && !memcmp(known, name, length);
}

uint64_t lscfg_feature_set(const char *name, size_t length) {
  for (int32_t k = 0; k < LSCFG_N_FEATURES; k++)
    if (is_name(lscfg_feature_name(k), name, length)) return bit(k);
  for (int k = 0; k < N_FAMILIES; k++)
    if (is_name(families[k]->name, name, length)) return features_of(families[k]);
  return 0;
}

/* Former names of families. */
static const char *const renamed[][2] = {{"thesis", "ranks"}};

/* Appends to a text of that size, which may end early. */
static void append(char *text, size_t size, const char *more) {
  size_t length = strlen(text);
  snprintf(text + length, size - length, "%s", more);
}

void lscfg_feature_unknown(const char *name, size_t length, char *text, size_t size) {
  int shown = length < 80 ? (int)length : 80;
  for (size_t k = 0; k < sizeof renamed / sizeof *renamed; k++)
    if (is_name(renamed[k][0], name, length)) {
      snprintf(text, size, "the features '%s' are now called '%s'", renamed[k][0], renamed[k][1]);
      return;
    }
  snprintf(text, size, "unknown feature '%.*s'; families are ", shown, name);
  for (int k = 0; k < N_FAMILIES; k++) {
    if (k) append(text, size, ", ");
    append(text, size, families[k]->name);
  }
  for (int32_t k = 0; k < LSCFG_N_FEATURES; k++) {
    append(text, size, k ? ", " : "; features are ");
    append(text, size, lscfg_feature_name(k));
  }
}

static uint64_t wanted_features(const lscfg_feature_options *options) {
  uint64_t wanted = 0;
  for (int32_t k = 0; k < options->n_columns; k++) wanted |= bit(options->columns[k]);
  return wanted;
}

int lscfg_needs_inference(const lscfg_feature_options *options) {
  int needs = 0;
  for (int k = 0; k < N_FAMILIES; k++)
    if (wanted_features(options) & features_of(families[k])) needs |= families[k]->needs;
  return (needs & NEEDS_MARGINALS) != 0;
}

int lscfg_model_check_features(const lscfg_model *model, const lscfg_feature_options *options, lscfg_error *error) {
  uint64_t seen = 0;
  int good = options->n_columns >= 0 && options->n_columns <= LSCFG_N_FEATURES;
  for (int32_t k = 0; k < options->n_columns && good; k++) {
    int32_t feature = options->columns[k];
    good = feature >= 0 && feature < LSCFG_N_FEATURES && !(seen & bit(feature));
    if (good) seen |= bit(feature);
  }
  if (!good)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "a column is not a feature, or two columns are the same feature");
  for (int32_t k = 0; k < LSCFG_N_FEATURES; k++) {
    const feature_family *family = family_of(k);
    if (!(seen & bit(k)) || !family->is_in || family->is_in(model)) continue;
    return lscfg_fail(error, LSCFG_EINPUT, 0, "the model has no %s, which %s needs; %s", family->missing,
                      lscfg_feature_name(k), family->cure);
  }
  return LSCFG_OK;
}

struct lscfg_feature_pass {
  feature_work work;
  lscfg_feature_options options;
  uint64_t wanted; /* the families that are computed, by number */
  void *kept[N_FAMILIES];
};

int lscfg_feature_pass_new(const lscfg_binding *b, const lscfg_forest *f, const lscfg_inference *inference,
                           const double *app_marginals, const double *node_marginals,
                           const lscfg_feature_options *options, lscfg_feature_pass **made, lscfg_error *error) {
  *made = NULL;
  if (binding_check_forest(b, f, error) || lscfg_model_check_features(b->model, options, error)) return LSCFG_EINPUT;
  lscfg_feature_pass *pass = calloc(1, sizeof *pass);
  if (!pass) return out_of_memory(error);
  int known = 0; /* where it stays 0, marginals mean nothing */
  if (lscfg_needs_inference(options)) known = inference->sign > 0 || (inference->sign < 0 && options->keep);
  uint64_t features = wanted_features(options);
  const feature_family *last = NULL;
  for (int k = 0; k < N_FAMILIES; k++) {
    if (!(features & features_of(families[k])) || (!known && families[k]->needs & NEEDS_MARGINALS)) continue;
    if (!last || last->compute != families[k]->compute) pass->wanted |= bit(k);
    last = families[k];
  }
  pass->options = *options;
  feature_work *w = &pass->work;
  w->binding = b;
  w->forest = f;
  w->app_marginals = app_marginals;
  w->node_marginals = node_marginals;
  w->options = &pass->options;
  for (int32_t k = 0; k < LSCFG_N_FEATURES; k++) w->column[k] = -1;
  for (int32_t k = 0; k < options->n_columns; k++) w->column[options->columns[k]] = k;
  *made = pass;
  return LSCFG_OK;
}

void lscfg_feature_pass_keep(lscfg_feature_pass *pass, const uint8_t *keep) { pass->work.keep = keep; }

void lscfg_feature_pass_free(lscfg_feature_pass *pass) {
  if (!pass) return;
  for (int k = 0; k < N_FAMILIES; k++)
    if (families[k]->release) families[k]->release(pass->kept[k]);
  free(pass);
}

/* Clears the features of rules with more nonterminals than a tensor can have. */
static void clear_long_rules(const feature_work *w) {
  const lscfg_forest *f = w->forest;
  for (int32_t e = f->node_edges.data[w->first_node]; e < f->node_edges.data[w->end_node]; e++) {
    int32_t tail = f->edge_tail.data[2 * (int64_t)e + 1], begin = f->edge_apps.data[e];
    if (tail < 0 || f->node_cat.data[tail] != LSCFG_REST) continue;
    size_t n = (size_t)(f->edge_apps.data[e + 1] - begin) * (size_t)w->options->n_columns;
    memset(features_of_app(w, begin), 0, n * sizeof *w->features);
  }
}

int lscfg_feature_pass_nodes(lscfg_feature_pass *pass, int32_t first, int32_t end, double *features,
                             lscfg_error *error) {
  feature_work *w = &pass->work;
  const lscfg_forest *f = w->forest;
  if (first < 0 || first > end || end > f->node_cat.size)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "the forest has no nodes %ld to %ld", (long)first, (long)end);
  w->first_node = first;
  w->end_node = end;
  w->first_app = f->edge_apps.data[f->node_edges.data[first]];
  w->features = features;
  int32_t n = f->edge_apps.data[f->node_edges.data[end]] - w->first_app;
  memset(features, 0, (size_t)n * (size_t)pass->options.n_columns * sizeof *features);
  int code = LSCFG_OK;
  for (int k = 0; k < N_FAMILIES && !code; k++)
    if (pass->wanted & bit(k)) code = families[k]->compute(w, &pass->kept[k], error);
  if (!code) clear_long_rules(w);
  return code;
}

int lscfg_features(const lscfg_binding *b, const lscfg_forest *f, const lscfg_inference *inference,
                   const double *app_marginals, const double *node_marginals, const lscfg_feature_options *options,
                   double *features, lscfg_error *error) {
  lscfg_feature_pass *pass;
  int code = lscfg_feature_pass_new(b, f, inference, app_marginals, node_marginals, options, &pass, error);
  if (!code) code = lscfg_feature_pass_nodes(pass, 0, (int32_t)f->node_cat.size, features, error);
  lscfg_feature_pass_free(pass);
  return code;
}
