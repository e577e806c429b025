/* Cosines between the words around and the vector of a rule, which has length 1 in the file: CCA and skip-gram. */
#include "inference/scores.h"

#include <math.h>

static int64_t width(const context_scores *s) { return s->m; }

static void prepare(const context_scores *s, const float *around, float *prepared) {
  double length = sqrt(inner_product(around, around, s->m));
  for (int64_t k = 0; k < s->m; k++) prepared[k] = length > 0 ? (float)((double)around[k] / length) : 0;
}

static double score(const context_scores *s, const float *prepared, int64_t row) {
  return inner_product(prepared, s->rules + row * s->width, s->width);
}

const score_function cosine_score = {"cosine", 0, width, prepare, score, NULL};
