/* k-best lists as arrays: model scores and the passes of batch MIRA. */
#include "base/common.h"
#include "base/simd.h"
#include "learn/metric.h"

SIMD_FOR_ALL static void add_column(double *restrict scores, const float *restrict values, double weight, int64_t n) {
  for (int64_t h = 0; h < n; h++) scores[h] += weight * values[h];
}

/* Scores of one sentence's hypotheses. */
static void score_sentence(const lscfg_lists *lists, int64_t s, const double *vector, double *scores) {
  int64_t n = lists->first[s + 1] - lists->first[s];
  const float *values = lists->values + lists->value[s];
  memset(scores, 0, (size_t)n * sizeof *scores);
  for (int64_t c = lists->column[s]; c < lists->column[s + 1]; c++, values += n)
    if (vector[lists->feature[c]] != 0) add_column(scores, values, vector[lists->feature[c]], n);
}

void lscfg_lists_scores(const lscfg_lists *lists, const double *vector, double *scores) {
  for (int64_t s = 0; s < lists->n_sentences; s++) score_sentence(lists, s, vector, scores + lists->first[s]);
}

static int64_t highest(const double *scores, int64_t first, int64_t last) {
  int64_t best = first;
  for (int64_t h = first + 1; h < last; h++)
    if (scores[h] > scores[best]) best = h;
  return first < last ? best : -1;
}

void lscfg_lists_best(int64_t n_sentences, const int64_t *first, const double *scores, int64_t *best) {
  for (int64_t s = 0; s < n_sentences; s++) best[s] = highest(scores, first[s], first[s + 1]);
}

/* Hope and fear, and the step between them. work has room for two numbers a hypothesis. */
static void mira_step(const lscfg_lists *lists, lscfg_mira *mira, int64_t s, double *weights, double *late,
                      double *work) {
  int64_t n = lists->first[s + 1] - lists->first[s], hope = 0, fear = 0;
  int width = lscfg_stats_width(lists->metric);
  const int32_t *stats = lists->stats + lists->first[s] * width;
  double *model = work, *gain = work + n;
  score_sentence(lists, s, weights, model);
  for (int64_t h = 0; h < n; h++) {
    gain[h] = metric_gain(lists->metric, mira->background, stats + h * width);
    if (model[h] + gain[h] > model[hope] + gain[hope]) hope = h;
    if (model[h] - gain[h] > model[fear] - gain[fear]) fear = h;
  }
  double loss = (gain[hope] - gain[fear]) - (model[hope] - model[fear]), length = 0;
  const float *values = lists->values + lists->value[s];
  int64_t n_columns = lists->column[s + 1] - lists->column[s];
  const int32_t *feature = lists->feature + lists->column[s];
  for (int64_t c = 0; c < n_columns; c++) {
    double difference = (double)values[c * n + hope] - values[c * n + fear];
    length += difference * difference;
  }
  /* No weights distinguish hypotheses with equal features. */
  if (loss > 0 && length > 0) {
    double step = loss / length < mira->step_cap ? loss / length : mira->step_cap;
    for (int64_t c = 0; c < n_columns; c++) {
      double change = step * ((double)values[c * n + hope] - values[c * n + fear]);
      weights[feature[c]] += change;
      late[feature[c]] += (double)mira->steps * change;
    }
  }
  /* In every step, even if hope is fear: otherwise the background would lack the sentences that are correct already.
   * The floor matters only after long stretches without matches: without it the products of counts would underflow. */
  for (int i = 0; i < width; i++) {
    double count = mira->decay * mira->background[i] + stats[hope * width + i];
    mira->background[i] = count > 1e-6 ? count : 1e-6;
  }
  mira->steps++;
}

int lscfg_mira_pass(const lscfg_lists *lists, lscfg_mira *mira, int64_t n, const int64_t *order, double *weights,
                    double *late, lscfg_error *error) {
  int64_t most = 1;
  for (int64_t i = 0; i < n; i++) {
    int64_t size = lists->first[order[i] + 1] - lists->first[order[i]];
    if (size > most) most = size;
  }
  double *work = malloc((size_t)most * 2 * sizeof *work);
  if (!work) return out_of_memory(error);
  for (int64_t i = 0; i < n; i++) mira_step(lists, mira, order[i], weights, late, work);
  free(work);
  return LSCFG_OK;
}
