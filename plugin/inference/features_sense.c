/* What the source words around an application say of its target side, by the scorer of the model file (scorer.h): what
 * its scores add to frequencies, and their ranks (thesis, section 4.2). */
#include "inference/families.h"
#include "inference/scorer.h"

/* The sentence: for each boundary the sum of the vectors of the words to its left, and of those to its right. */
typedef struct {
  const feature_work *work;
  const sense_model *model;
  int32_t n;
  float *sums;    /* [2][n + 1][m] */
  uint8_t *found; /* [2][n + 1]: whether there is any item */
  float *around, *prepared;
  ARRAY(double) scores;  /* of the scored applications of an edge, by score; then those by frequency */
  ARRAY(int32_t) scored; /* these applications */
} sense_work;

/* The word at a place by the model's numbers. */
static int64_t word_at(const sense_work *w, int32_t place) {
  const lscfg_binding *b = w->work->binding;
  int64_t n_words = w->model->base - SENSE_WORDS;
  int32_t id = w->work->forest->words[place];
  int64_t word = id >= 0 && id < b->n_vocab ? b->word_in_context[id] : -1;
  return word < 0 ? n_words + SENSE_UNKNOWN : word;
}

static int add_item(const sense_work *w, int side, int32_t distance, int64_t word, float *sum) {
  const sense_model *s = w->model;
  int64_t item = find_item(s, ((int64_t)side * s->window + distance - 1) * s->base + word);
  if (item < 0) return 0;
  for (int64_t k = 0; k < s->m; k++) sum[k] += s->vectors[item * s->m + k];
  return 1;
}

/* Adds up what is on one side of a boundary. */
static int add_side(const sense_work *w, int side, int32_t boundary, float *sum) {
  const sense_model *s = w->model;
  int64_t n_words = s->base - SENSE_WORDS;
  int found = 0;
  for (int32_t d = 1; d <= s->window; d++) {
    int32_t place = side ? boundary + d - 1 : boundary - d, distance = s->bag ? 1 : d;
    if (place < 0 || place >= w->n)
      return add_item(w, side, 1, n_words + (side ? SENSE_END : SENSE_BEGIN), sum) | found;
    int known = add_item(w, side, distance, word_at(w, place), sum);
    found |= known || add_item(w, side, distance, n_words + SENSE_UNKNOWN, sum);
  }
  return found;
}

static int start(sense_work *w, const feature_work *work) {
  const sense_model *s = &work->binding->model->context->sense;
  *w = (sense_work){.work = work, .model = s, .n = work->forest->n_words};
  w->sums = calloc(2 * ((size_t)w->n + 1) * (size_t)s->m, sizeof *w->sums);
  w->found = calloc(2 * ((size_t)w->n + 1), 1);
  w->around = malloc((size_t)s->m * sizeof *w->around);
  w->prepared = malloc((size_t)s->kind->width(s) * sizeof *w->prepared);
  if (!w->sums || !w->found || !w->around || !w->prepared) return LSCFG_ENOMEM;
  for (int side = 0; side < 2; side++)
    for (int32_t i = 0; i <= w->n; i++) {
      int64_t at = (int64_t)side * (w->n + 1) + i;
      w->found[at] = (uint8_t)add_side(w, side, i, w->sums + at * s->m);
    }
  return LSCFG_OK;
}

static void stop(sense_work *w) {
  free(w->sums);
  free(w->found);
  free(w->around);
  free(w->prepared);
  free(w->scores.data);
  free(w->scored.data);
}

/* Leaves log-shares of exp(scores) in place. */
static void to_shares(double *scores, int64_t n) {
  double most = scores[0], sum = 0;
  for (int64_t k = 1; k < n; k++) most = scores[k] > most ? scores[k] : most;
  for (int64_t k = 0; k < n; k++) sum += exp(scores[k] - most);
  for (int64_t k = 0; k < n; k++) scores[k] -= most + log(sum);
}

/* The row of an application's rule in the scorer, -1: none. */
static int64_t row_of(const sense_work *w, int32_t application) {
  const lscfg_binding *b = w->work->binding;
  int32_t rule = w->work->forest->app_rule.data[application];
  int32_t known = rule < lscfg_grammar_size(b->grammar) ? b->context_rule[rule] : -1;
  return known < 0 ? -1 : w->model->row[known];
}

static void put_scores(const sense_work *w, int32_t target, int64_t n) {
  const double *scores = w->scores.data;
  for (int64_t k = 0; k < n; k++) {
    int32_t a = w->scored.data[k], rank = 1;
    for (int64_t other = 0; other < n; other++)
      rank += scores[other] > scores[k] || (scores[other] == scores[k] && other < k);
    put_feature(w->work, a, LSCFG_SENSE_RANK, 1.0 / rank);
    put_feature(w->work, a, LSCFG_SENSE_BEST, rank == 1);
    put_feature(w->work, a, LSCFG_SENSE_LOGIT, 1 / (1 + exp(-scores[k])));
    put_feature(w->work, a, LSCFG_SENSE_SCORE, scores[k]);
  }
  if (n < 2) return;
  const double *calibration = w->model->calibration;
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

static int edge_features(sense_work *w, int32_t edge) {
  const lscfg_forest *f = w->work->forest;
  const lscfg_binding *b = w->work->binding;
  const sense_model *s = w->model;
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
  const int32_t *span = f->node_span.data + 2 * (int64_t)f->edge_head.data[edge];
  int64_t left = span[0], right = (int64_t)w->n + 1 + span[1];
  if (!n || !(w->found[left] | w->found[right])) return LSCFG_OK; /* nothing is known around */
  for (int64_t k = 0; k < s->m; k++)
    w->around[k] = s->shift[k] + (w->sums[left * s->m + k] + w->sums[right * s->m + k]);
  s->kind->prepare(s, w->around, w->prepared);
  for (int64_t k = 0; k < n; k++) {
    int32_t known = b->context_rule[f->app_rule.data[w->scored.data[k]]];
    double score = s->kind->score(s, w->prepared, s->row[known]);
    w->scores.data[k] = isfinite(score) ? score : 0; /* sums of finite numbers may be too large */
    w->scores.data[n + k] = log(b->model->context->counts[known]);
  }
  put_scores(w, leaf ? LSCFG_SENSE_0 : bare ? LSCFG_SENSE_BARE : LSCFG_SENSE_N, n);
  return LSCFG_OK;
}

/* All features of the scorer at once, whichever families they are of. */
static int compute(const feature_work *work, lscfg_error *error) {
  const lscfg_forest *f = work->forest;
  /* of a lattice, or a forest that a decoder has built of one: no words around */
  if (f->origin == FOREST_LATTICE || f->node_span.data[2 * f->node_cat.size - 1] != f->n_words) return LSCFG_OK;
  sense_work w;
  int code = start(&w, work);
  for (int32_t e = 0; e < f->edge_head.size && !code; e++)
    if (f->node_cat.data[f->edge_head.data[e]] == CATEGORY_X) code = edge_features(&w, e);
  stop(&w);
  return code ? out_of_memory(error) : LSCFG_OK;
}

static const double start_weights[3] = {0};

static const char *const targets[] = {"SenseTarget0", "SenseTargetBare", "SenseTargetN"};
const feature_family sense_family = {"sense", LSCFG_SENSE_0, 3, NEEDS_SENSE, targets, start_weights, compute};

static const char *const ranks[] = {"SenseRank", "SenseOn", "SenseOff"};
const feature_family thesis_family = {"thesis", LSCFG_SENSE_RANK, 3, NEEDS_SENSE, ranks, start_weights, compute};

static const char *const others[] = {"SenseBest", "SenseLogit", "SenseScore"};
const feature_family score_family = {NULL, LSCFG_SENSE_BEST, 3, NEEDS_SENSE, others, start_weights, compute};
