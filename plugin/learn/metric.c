/* BLEU, chrF2 and their mean from sums of sentence statistics. */
#include <math.h>

#include "learn/metric.h"

enum { ORDERS = 6, CHRF_WIDTH = 3 * ORDERS };

int lscfg_stats_width(int metric) { return metric == LSCFG_BLEU ? LSCFG_BLEU_WIDTH : CHRF_WIDTH + LSCFG_BLEU_WIDTH; }

/* As lscfg.tuning.bleu.bleu, which documents the smoothing. */
static double corpus_bleu(const int64_t *stats) {
  double correct = 1, total = 1, missed = 1;
  int any = 0;
  for (int n = 0; n < 4; n++) {
    if (stats[4 + n] <= 0) return 0;
    if (!stats[n]) missed *= 0.5;
    any |= stats[n] != 0;
    correct *= stats[n] ? (double)stats[n] : missed;
    total *= (double)stats[4 + n];
  }
  if (!any) return 0;
  double log_brevity = 1 - (double)stats[9] / (double)stats[8];
  return 100 * sqrt(sqrt(correct / total)) * (log_brevity < 0 ? exp(log_brevity) : 1);
}

/* BLEU (0 to 1) of counts of which none is 0. */
static double smooth_bleu(const double *count) {
  double precision = (count[0] * count[1] * count[2] * count[3]) / (count[4] * count[5] * count[6] * count[7]);
  double log_brevity = 1 - count[9] / count[8];
  return sqrt(sqrt(precision)) * (log_brevity < 0 ? exp(log_brevity) : 1);
}

/* chrF2 (0 to 1) of the n-grams of the hypothesis, of the reference, and of both, for each order (Popovic 2015); orders
 * without n-grams on one side do not count, as in sacrebleu. */
static double chrf(const double *count) {
  double precision = 0, recall = 0;
  int orders = 0;
  for (int n = 0; n < ORDERS; n++, count += 3) {
    if (!(count[0] > 0 && count[1] > 0)) continue;
    precision += count[2] / count[0];
    recall += count[2] / count[1];
    orders++;
  }
  if (!(precision + recall > 0)) return 0;
  precision /= orders;
  recall /= orders;
  return 5 * precision * recall / (4 * precision + recall);
}

double metric_score(int metric, const int64_t *sum) {
  if (metric == LSCFG_BLEU) return corpus_bleu(sum);
  double count[CHRF_WIDTH];
  for (int i = 0; i < CHRF_WIDTH; i++) count[i] = (double)sum[i];
  double score = 100 * chrf(count);
  return metric == LSCFG_CHRF ? score : (score + corpus_bleu(sum + CHRF_WIDTH)) / 2;
}

double metric_gain(int metric, const double *background, const int32_t *stats) {
  double count[LSCFG_MAX_STATS];
  int width = lscfg_stats_width(metric);
  for (int i = 0; i < width; i++) count[i] = background[i] + stats[i];
  if (metric == LSCFG_BLEU) return smooth_bleu(count) * count[width - 1];
  double score = chrf(count);
  return (metric == LSCFG_CHRF ? score : (score + smooth_bleu(count + CHRF_WIDTH)) / 2) * count[width - 1];
}
