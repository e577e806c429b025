/* Linear scores: LS and other products of the words around with a vector of the rule. Scores that are a part of those
 * of the file's log-linear context model are called joint. */
#include "inference/scores.h"

static int64_t width(const context_scores *s) { return s->m; }

static void prepare(const context_scores *s, const float *around, float *prepared) {
  memcpy(prepared, around, (size_t)s->m * sizeof *around);
}

static double score(const context_scores *s, const float *prepared, int64_t row) {
  return inner_product(prepared, s->rules + row * s->width, s->width) + (double)s->bias[row];
}

const score_function dot_score = {"dot", 0, width, prepare, score, NULL};
const score_function joint_score = {"joint", 0, width, prepare, score, NULL};
