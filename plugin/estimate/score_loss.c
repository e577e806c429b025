/* Losses of context scores, as sums over the options of a token. */
#include "estimate/score_loss.h"

#include <math.h>

/* Replaces scores by shares of exp(scores) and returns the loss of the right one. */
static double to_shares(double *scores, int64_t n, int64_t right) {
  double most = scores[0], sum = 0;
  for (int64_t k = 1; k < n; k++) most = scores[k] > most ? scores[k] : most;
  double own = scores[right] - most;
  for (int64_t k = 0; k < n; k++) sum += scores[k] = exp(scores[k] - most);
  for (int64_t k = 0; k < n; k++) scores[k] /= sum;
  return log(sum) - own;
}

/* Makes what the scores of a token should be; see lscfg_score_problem. */
static void make_targets(int32_t loss, const double *counts, int64_t n, int64_t right, double *targets) {
  double others = 0;
  for (int64_t k = 0; k < n; k++) others += k == right ? 0 : counts[k];
  for (int64_t k = 0; k < n; k++) {
    if (loss == LSCFG_LOSS_INDICATORS)
      targets[k] = k == right;
    else
      targets[k] = k == right ? 0 : -(counts[k] + 1) * (double)n / (others > 0 ? others : 1);
  }
}

double score_gradient(int32_t loss, const double *counts, int64_t n, int64_t right, double *scores, double *targets) {
  double sum = 0;
  if (loss == LSCFG_LOSS_SOFTMAX) {
    for (int64_t k = 0; k < n; k++) scores[k] += log(counts[k]);
    sum = to_shares(scores, n, right);
    scores[right] -= 1;
    return sum;
  }
  make_targets(loss, counts, n, right, targets);
  for (int64_t k = 0; k < n; k++) {
    scores[k] -= targets[k];
    sum += scores[k] * scores[k] / 2;
  }
  return sum;
}
