/* Linear scores: LS and what else is a product of the words around with a vector of the rule. Where the context model
 * of the file has them as a part of its own scores, they are of the kind joint. */
#include "inference/scorer.h"

static int64_t width(const sense_model *s) { return s->m; }

static void prepare(const sense_model *s, const float *around, float *prepared) {
  memcpy(prepared, around, (size_t)s->m * sizeof *around);
}

static double score(const sense_model *s, const float *prepared, int64_t row) {
  return inner_product(prepared, s->rules + row * s->width, s->width) + (double)s->bias[row];
}

const scorer_kind dot_scorer = {"dot", 0, width, prepare, score, NULL};
const scorer_kind joint_scorer = {"joint", 0, width, prepare, score, NULL};
