/* A hidden layer that all rules share, with one linear output for each: multi-layer perceptron. */
#include "inference/scores.h"

#include <math.h>

static int64_t width(const context_scores *s) { return s->n_hidden; }

static void prepare(const context_scores *s, const float *around, float *prepared) {
  for (int64_t h = 0; h < s->n_hidden; h++)
    prepared[h] = (float)tanh(inner_product(s->hidden + h * s->m, around, s->m) + (double)s->hidden_bias[h]);
}

static double score(const context_scores *s, const float *prepared, int64_t row) {
  return inner_product(prepared, s->rules + row * s->width, s->width) + (double)s->bias[row];
}

const score_function mlp_score = {"mlp", 1, width, prepare, score, NULL};
