/* Sums of outer products: the hot loop of the method of moments (paper, Fig. 2a, step 2). */
#include "lscfg/estimate.h"
#include "base/common.h"

void lscfg_add_moments(int32_t m, int32_t arity, int64_t n, int32_t first, int32_t last, const int64_t *row,
                       const int64_t *head, const int64_t *tail, const double *z, const double *y, double *out) {
  int64_t size = m;
  for (int32_t k = 0; k < arity; k++) size *= m;
  for (int64_t k = 0; k < n; k++) {
    double *sum = out + row[k] * size;
    const double *outside = z + head[k] * m;
    if (arity == 0) {
      for (int32_t h = first; h < last; h++) sum[h] += outside[h];
      continue;
    }
    const double *one = y + tail[k * arity] * m, *two = arity == 2 ? y + tail[k * 2 + 1] * m : NULL;
    for (int32_t h = first; h < last; h++)
      for (int32_t a = 0; a < m; a++) {
        double value = outside[h] * one[a];
        if (arity == 1) {
          sum[h * m + a] += value;
          continue;
        }
        double *restrict line = sum + ((int64_t)h * m + a) * m;
        for (int32_t b = 0; b < m; b++) line[b] += value * two[b];
      }
  }
}
