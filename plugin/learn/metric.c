/* BLEU, other metrics and their means with BLEU, from sums of sentence statistics. */
#include <math.h>

#include "learn/metric.h"

enum { ORDERS = 6, CHRF_WIDTH = 3 * ORDERS };

/* The metric without BLEU: LSCFG_CHRF and so on. */
static int own_part(int metric) { return metric - !(metric & 1); }

static int own_width(int metric) {
  switch (own_part(metric)) {
    case LSCFG_CHRF: return CHRF_WIDTH;
    case LSCFG_METEOR: return 5;
    default: return 2;
  }
}

int lscfg_stats_width(int metric) { return (metric == LSCFG_BLEU ? 0 : own_width(metric)) + LSCFG_BLEU_WIDTH; }

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

/* METEOR (Banerjee and Lavie 2005), 0 to 1. */
static double meteor(const double *count) {
  double matches = count[0] + count[1];
  if (!(matches > 0)) return 0;
  double precision = matches / count[3], recall = matches / count[4], share = count[2] / matches;
  return 10 * precision * recall / (recall + 9 * precision) * (1 - share * share * share / 2);
}

/* The metric without BLEU, at most 1; TER may be below 0. */
static double own_score(int metric, const double *count) {
  switch (own_part(metric)) {
    case LSCFG_CHRF: return chrf(count);
    case LSCFG_METEOR: return meteor(count);
    case LSCFG_RIBES: return count[1] > 0 ? count[0] / (LSCFG_RIBES_UNIT * count[1]) : 0;
    default: return count[1] > 0 ? 1 - count[0] / count[1] : count[0] > 0 ? 0 : 1;
  }
}

double metric_score(int metric, const int64_t *sum) {
  if (metric == LSCFG_BLEU) return corpus_bleu(sum);
  double count[CHRF_WIDTH];
  int width = own_width(metric);
  for (int i = 0; i < width; i++) count[i] = (double)sum[i];
  double score = 100 * own_score(metric, count);
  return metric == own_part(metric) ? score : (score + corpus_bleu(sum + width)) / 2;
}

double metric_gain(int metric, const double *background, const int32_t *stats) {
  double count[LSCFG_MAX_STATS];
  int width = lscfg_stats_width(metric);
  for (int i = 0; i < width; i++) count[i] = background[i] + stats[i];
  if (metric == LSCFG_BLEU) return smooth_bleu(count) * count[width - 1];
  double score = own_score(metric, count), words = count[width - 1];
  return (metric == own_part(metric) ? score : (score + smooth_bleu(count + own_width(metric))) / 2) * words;
}
