/* A weight of each rule for each word around: as many dimensions as words (thesis, section 4.2.4). */
#include "inference/scores.h"

static double score_items(const context_scores *s, const int32_t *items, int32_t n, int64_t row) {
  double sum = 0;
  for (int32_t i = 0; i < n; i++) {
    int64_t low = s->offsets[row], high = s->offsets[row + 1];
    while (low < high) {
      int64_t middle = low + (high - low) / 2;
      if (s->columns[middle] < items[i])
        low = middle + 1;
      else
        high = middle;
    }
    if (low < s->offsets[row + 1] && s->columns[low] == items[i]) sum += (double)s->weights[low];
  }
  return sum;
}

const score_function sparse_score = {"sparse", 0, NULL, NULL, NULL, score_items};
