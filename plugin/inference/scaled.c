/* Vectors with an exponent of two. */
#include "inference/scaled.h"

/* Each inside or outside vector is scaled by a separate power of two, so signs stay and nothing underflows.
 * Tensors are stored in single precision, so that half as much is read; all sums are in double precision. */

static int is_zero(const double *vector, int32_t n) {
  int32_t k = 0;
  while (k < n && vector[k] == 0) k++;
  return k == n;
}

void accumulate(double *into, int64_t *into_exponent, const double *term, int64_t exponent, int32_t n) {
  if (*into_exponent < exponent && is_zero(term, n)) { /* with its exponent, terms far below would be lost */
    if (*into_exponent == NONE) memset(into, 0, (size_t)n * sizeof *into);
  } else if (*into_exponent == NONE) {
    memcpy(into, term, (size_t)n * sizeof *into);
    *into_exponent = exponent;
  } else if (exponent > *into_exponent) {
    double factor = scaled(1, *into_exponent - exponent);
    for (int32_t k = 0; k < n; k++) into[k] = into[k] * factor + term[k];
    *into_exponent = exponent;
  } else {
    double factor = scaled(1, exponent - *into_exponent);
    for (int32_t k = 0; k < n; k++) into[k] += term[k] * factor;
  }
}

void normalise(double *vector, int64_t *exponent, int32_t n) {
  double largest = 0;
  int shift;
  for (int32_t k = 0; k < n; k++)
    if (!(fabs(vector[k]) <= largest) && !isnan(largest)) largest = fabs(vector[k]); /* a NaN is the largest */
  if (*exponent == NONE || largest == 0) {
    *exponent = NONE;
    return;
  }
  if (!isfinite(largest)) return; /* whoever reads the sums reports it */
  frexp(largest, &shift);
  for (int32_t k = 0; k < n; k++) vector[k] = scaled(vector[k], -shift);
  *exponent += shift;
}
