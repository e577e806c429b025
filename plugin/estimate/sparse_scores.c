/* Context scores with a weight of each rule for each word around (thesis, section 4.2.4), learned token by token
 * (AdaGrad). */
#include "estimate/score_loss.h"

#include <math.h>

/* A step along a gradient, and one for the penalty: that of absolute values stops at 0. */
static void step(const lscfg_weights_problem *p, double *weight, double *squares, double along) {
  if (!p->absolute) along += p->penalty * *weight;
  *squares += along * along;
  double rate = p->rate / sqrt(*squares + 1e-8);
  *weight -= rate * along;
  if (p->absolute) {
    double size = fabs(*weight) - rate * p->penalty;
    *weight = size > 0 ? copysign(size, *weight) : 0;
  }
}

static double learn_token(const lscfg_weights_problem *p, double *weights, double *squares, double *gradient,
                          int64_t token, double *scores, double *targets) {
  int64_t first = p->first[token], n = p->size[token];
  const int32_t *items = p->items + p->begin[token], *end = p->items + p->begin[token + 1];
  for (int64_t k = 0; k < n; k++) {
    const double *row = weights + p->offsets[first + k];
    scores[k] = 0;
    for (const int32_t *i = items; i < end; i++) scores[k] += row[*i];
  }
  double loss = score_gradient(p->loss, p->counts + first, n, p->own[token] - first, scores, targets);
  for (int64_t k = 0; k < n; k++) {
    int64_t row = p->offsets[first + k];
    if (fabs(scores[k]) <= 1e-6) continue;
    for (const int32_t *i = items; i < end; i++) {
      if (gradient)
        gradient[row + *i] += scores[k];
      else
        step(p, weights + row + *i, squares + row + *i, scores[k]);
    }
  }
  return loss;
}

int lscfg_weights_learn(const lscfg_weights_problem *p, double *weights, double *squares, double *gradient,
                        const int64_t *order, int64_t n, double *loss, lscfg_error *error) {
  ARRAY(double) room = {0};
  int64_t most = 0;
  *loss = 0;
  for (int64_t k = 0; k < n; k++) most = p->size[order[k]] > most ? p->size[order[k]] : most;
  if (ARRAY_RESERVE(room, 2 * most + 1)) return out_of_memory(error);
  for (int64_t k = 0; k < n; k++)
    *loss += learn_token(p, weights, squares, gradient, order[k], room.data, room.data + most);
  free(room.data);
  return LSCFG_OK;
}
