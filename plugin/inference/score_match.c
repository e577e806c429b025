/* A perceptron that decides if context and rule match (CCA+MM): its hidden layer adds a projection of each; the file
 * holds the projected rules. */
#include "inference/scores.h"

#include <math.h>

static int64_t width(const context_scores *s) { return s->n_hidden; }

static void prepare(const context_scores *s, const float *around, float *prepared) {
  double length = sqrt(inner_product(around, around, s->m)), scale = length > 0 ? 1 / length : 0;
  for (int64_t h = 0; h < s->n_hidden; h++)
    prepared[h] = (float)(inner_product(s->hidden + h * s->m, around, s->m) * scale + (double)s->hidden_bias[h]);
}

static double score(const context_scores *s, const float *prepared, int64_t row) {
  const float *rule = s->rules + row * s->width;
  double sum = s->bias[row];
  for (int64_t h = 0; h < s->n_hidden; h++) sum += (double)(s->out[h] * tanhf(prepared[h] + rule[h]));
  return sum;
}

const score_function match_score = {"match", 1, width, prepare, score, NULL};
