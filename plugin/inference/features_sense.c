/* Gains of the source words around an application for its target side, by the context scores of the model file
 * (scores.h): the gain over frequencies, and ranks (thesis, section 4.2). */
#include "base/heap.h"
#include "inference/families.h"
#include "inference/around.h"

typedef struct {
  const feature_work *work;
  words_around around;
  ARRAY(double) scores;  /* of the scored applications of an edge, by score; then those by frequency */
  ARRAY(int32_t) scored; /* these applications */
  ARRAY(heap_entry) order;
} score_work;

/* Replaces scores by log-shares of exp(scores). */
static void to_shares(double *scores, int64_t n) {
  double most = scores[0], sum = 0;
  for (int64_t k = 1; k < n; k++) most = scores[k] > most ? scores[k] : most;
  for (int64_t k = 0; k < n; k++) sum += exp(scores[k] - most);
  for (int64_t k = 0; k < n; k++) scores[k] -= most + log(sum);
}

/* The row of an application's rule in the scores, -1: none. */
static int64_t row_of(const score_work *w, int32_t application) {
  const lscfg_binding *b = w->work->binding;
  int32_t rule = w->work->forest->app_rule.data[application];
  int32_t known = rule < lscfg_grammar_size(b->grammar) ? b->context_rule[rule] : -1;
  return known < 0 ? -1 : w->around.model->row[known];
}

/* Equal scores rank in order of their applications. */
static int put_ranks(score_work *w, int64_t n) {
  if (w->work->column[LSCFG_SENSE_RANK] < 0 && w->work->column[LSCFG_SENSE_BEST] < 0) return LSCFG_OK;
  w->order.size = 0;
  if (ARRAY_RESERVE(w->order, n)) return LSCFG_ENOMEM;
  for (int64_t k = 0; k < n; k++) w->order.data[k] = (heap_entry){w->scores.data[k], w->scored.data[k]};
  heap_sort_nearly(w->order.data, n);
  for (int64_t k = 0; k < n; k++) {
    put_feature(w->work, w->order.data[k].id, LSCFG_SENSE_RANK, 1.0 / (double)(k + 1));
    put_feature(w->work, w->order.data[k].id, LSCFG_SENSE_BEST, k == 0);
  }
  return LSCFG_OK;
}

static void put_scores(const score_work *w, int32_t target, int64_t n) {
  const double *scores = w->scores.data;
  for (int64_t k = 0; k < n; k++) {
    int32_t a = w->scored.data[k];
    put_feature(w->work, a, LSCFG_SENSE_LOGIT, 1 / (1 + exp(-scores[k])));
    put_feature(w->work, a, LSCFG_SENSE_SCORE, scores[k]);
  }
  if (n < 2) return;
  const double *calibration = w->around.model->calibration;
  double *here = w->scores.data, *plain = here + n;
  for (int64_t k = 0; k < n; k++) here[k] = calibration[0] * plain[k] + calibration[1] * here[k];
  to_shares(here, n);
  to_shares(plain, n);
  for (int64_t k = 0; k < n; k++) {
    double value = here[k] - plain[k];
    value = value > largest_log_ratio ? largest_log_ratio : value < -largest_log_ratio ? -largest_log_ratio : value;
    put_feature(w->work, w->scored.data[k], target, value);
  }
}

static int edge_features(score_work *w, int32_t edge) {
  const lscfg_forest *f = w->work->forest;
  const lscfg_binding *b = w->work->binding;
  const context_scores *s = w->around.model;
  int32_t begin = f->edge_apps.data[edge], end = f->edge_apps.data[edge + 1], rule = f->app_rule.data[begin];
  int leaf = f->edge_tail.data[2 * (int64_t)edge] < 0, bare = grammar_is_bare(b->grammar, rule);
  int64_t n = 0;
  w->scored.size = w->scores.size = 0;
  if (ARRAY_RESERVE(w->scored, end - begin) || ARRAY_RESERVE(w->scores, 2 * (int64_t)(end - begin)))
    return LSCFG_ENOMEM;
  for (int32_t a = begin; a < end; a++) {
    int scored = row_of(w, a) >= 0;
    if (scored) w->scored.data[n++] = a;
    if (f->app_rule.data[a] < lscfg_grammar_size(b->grammar) && (scored || !bare))
      put_feature(w->work, a, scored ? LSCFG_SENSE_ON : LSCFG_SENSE_OFF, 1);
  }
  if (!n || !take_edge(&w->around, edge)) return LSCFG_OK;
  for (int64_t k = 0; k < n; k++) {
    int32_t known = b->context_rule[f->app_rule.data[w->scored.data[k]]];
    w->scores.data[k] = score_around(&w->around, s->row[known]);
    w->scores.data[n + k] = log(b->model->context->counts[known]);
  }
  if (put_ranks(w, n)) return LSCFG_ENOMEM;
  put_scores(w, leaf ? LSCFG_SENSE_0 : bare ? LSCFG_SENSE_BARE : LSCFG_SENSE_N, n);
  return LSCFG_OK;
}

/* All features of context scores at once, of all families. */
static int compute(const feature_work *work, void **kept, lscfg_error *error) {
  const lscfg_forest *f = work->forest;
  (void)kept;
  if (!has_words_around(f)) return LSCFG_OK;
  score_work w = {.work = work};
  int code = start_around(&w.around, work->binding, f);
  for (int32_t e = f->node_edges.data[work->first_node]; e < f->node_edges.data[work->end_node] && !code; e++)
    if (node_category(w.work->binding, f, f->edge_head.data[e]) >= 0 && edge_is_wanted(work, e))
      code = edge_features(&w, e);
  stop_around(&w.around);
  free(w.scores.data);
  free(w.scored.data);
  free(w.order.data);
  return code ? out_of_memory(error) : LSCFG_OK;
}

static int is_in(const lscfg_model *model) { return model->context && model->context->scores.kind; }

static const char missing[] = "context scores";
static const char cure[] =
    "add them with lscfg context and another model than loglinear, or choose other features, such as ratios or context";

static const feature_row targets[] = {
    {"SenseTarget0", 0, "gain of the context score for the target side; rules without nonterminals"},
    {"SenseTargetBare", 0, "the same; rules with source sides of two nonterminals alone"},
    {"SenseTargetN", 0, "the same; all other rules"},
};
const feature_family sense_family = {"sense", LSCFG_SENSE_0, N_ROWS(targets), 0,   targets,
                                     compute, NULL,          is_in,   missing, cure};

static const feature_row ranks[] = {
    {"SenseRank", 0, "reciprocal rank of the target side by its context score"},
    {"SenseOn", 0, "1 if the rule has a context score"},
    {"SenseOff", 0, "1 if the rule has a word on its source side and no context score"},
};
const feature_family ranks_family = {"ranks", LSCFG_SENSE_RANK, N_ROWS(ranks), 0,   ranks,
                                     compute, NULL,             is_in, missing, cure};

static const feature_row scores[] = {
    {"SenseBest", 0, "1 if the target side has the best context score"},
    {"SenseLogit", 0, "logistic function of the context score"},
    {"SenseScore", 0, "context score"},
};
const feature_family scores_family = {"scores", LSCFG_SENSE_BEST, N_ROWS(scores), 0,   scores,
                                      compute,  NULL,             is_in, missing, cure};
