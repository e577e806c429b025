/* Ratios to one state: what the hidden states add to relative frequencies, for each factor of an application's share of
 * its node. They need a second inference with one state. */
#include "inference/families.h"

/* Ratios need a second inference with relative frequencies over the same forest. The frequencies lie in the model
 * file, one number per rule, so a feature function cannot compare with the wrong model. */

/* Of the model, and of one state. */
typedef struct {
  double of[2];
} both;

static void add(both *sum, both term) {
  sum->of[0] += term.of[0];
  sum->of[1] += term.of[1];
}

/* The gain of the states for the logarithm of a share. */
static double gain(both part, both whole, double floor) {
  double share[2];
  for (int k = 0; k < 2; k++) {
    share[k] = whole.of[k] > 0 ? part.of[k] / whole.of[k] : 1;
    if (!(share[k] > floor)) share[k] = floor;
  }
  if (share[0] == share[1]) return 0; /* often 1: a single target side */
  double found = log(share[0] / share[1]);
  return found > largest_log_ratio ? largest_log_ratio : found < -largest_log_ratio ? -largest_log_ratio : found;
}

/* True if the rule, of two nonterminals, swaps them. */
static int swaps(const lscfg_grammar *g, int32_t rule) {
  const int32_t *symbol = g->symbols.data + g->rules.data[rule].tgt;
  while (*symbol >= 0) symbol++;
  return *symbol == -2;
}

typedef struct {
  const feature_work *work;
  const double *marginals[2]; /* [applications] */
} ratios;

static both app_sum(const ratios *r, int32_t begin, int32_t end) {
  both sum = {{0, 0}};
  for (int32_t a = begin; a < end; a++)
    for (int k = 0; k < 2; k++) sum.of[k] += marginal_policy(r->marginals[k][a], r->work->options->negative);
  return sum;
}

/* A feature of some applications. */
static void put(const ratios *r, int32_t begin, int32_t end, int32_t feature, both part, both whole) {
  if (r->work->column[feature] < 0) return;
  double value = gain(part, whole, r->work->options->floor);
  for (int32_t a = begin; a < end && value != 0; a++) put_feature(r->work, a, feature, value);
}

static void edge_ratios(const ratios *r, int32_t edge, both node) {
  const lscfg_grammar *g = r->work->binding->grammar;
  const lscfg_forest *f = r->work->forest;
  const int32_t *rule = f->app_rule.data, *tail = f->edge_tail.data + 2 * (int64_t)edge;
  int32_t begin = f->edge_apps.data[edge], end = f->edge_apps.data[edge + 1];
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

/* The forest's marginals with one state. */
typedef struct {
  lscfg_inference inference;
  double *plain; /* [applications] */
} one_state;

static void release(void *kept) {
  if (kept) free(((one_state *)kept)->plain);
  free(kept);
}

static int infer_one_state(const feature_work *w, void **kept, lscfg_error *error) {
  one_state *one = *kept = calloc(1, sizeof *one);
  if (one) one->plain = malloc(((size_t)w->forest->app_rule.size + 1) * sizeof *one->plain);
  if (!one || !one->plain) return out_of_memory(error);
  return lscfg_infer(w->binding->one_state, w->forest, one->plain, NULL, &one->inference, error);
}

static int compute(const feature_work *w, void **kept, lscfg_error *error) {
  const lscfg_forest *f = w->forest;
  int code = *kept ? LSCFG_OK : infer_one_state(w, kept, error);
  if (code) return code;
  const one_state *one = *kept;
  ratios r = {w, {w->app_marginals, one->plain}};
  for (int32_t q = w->first_node; q < w->end_node && one->inference.sign > 0; q++) {
    if (node_category(w->binding, f, q) < 0) continue;
    int32_t begin = f->node_edges.data[q], end = f->node_edges.data[q + 1];
    both node = app_sum(&r, f->edge_apps.data[begin], f->edge_apps.data[end]);
    for (int32_t e = begin; e < end; e++)
      if (edge_is_wanted(w, e)) edge_ratios(&r, e, node);
  }
  return LSCFG_OK;
}

static int is_in(const lscfg_model *model) { return model->one_state != NULL; }

static const feature_row rows[] = {
    {"LatentTarget", .5, "gain of the hidden states for the target side, given the source side"},
    {"LatentTargetBare", 0, "the same for a source side of two nonterminals alone, given their order"},
    {"LatentOrdered", 0, "gain of the hidden states for keeping the order of two bare nonterminals"},
    {"LatentSwapped", 0, "gain of the hidden states for swapping two bare nonterminals"},
    {"LatentSource0", 0, "gain of the hidden states for a source side without nonterminals, given the span"},
    {"LatentSourceBare", .5, "the same for a source side of two nonterminals alone"},
    {"LatentSourceN", .5, "the same for any other source side"},
};
const feature_family ratios_family = {"ratios",
                                      LSCFG_TARGET,
                                      N_ROWS(rows),
                                      NEEDS_MARGINALS,
                                      rows,
                                      compute,
                                      release,
                                      is_in,
                                      "one-state parameters (one.rules, one.unk)",
                                      "estimate the model again"};
