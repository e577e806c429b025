/* Vectors as value * 2^exponent: products of hundreds of parameters neither vanish nor overflow. */
#ifndef LSCFG_SCALED_H
#define LSCFG_SCALED_H

#include <math.h>

#include "base/common.h"

enum { NONE = INT32_MIN }; /* exponent of a vector that is still zero */

/* value * 2^exponent */
static inline double scaled(double value, int64_t exponent) {
  if (exponent > -1000 && exponent < 1000) {
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return value * power;
  }
  return ldexp(value, exponent > 4000 ? 4000 : exponent < -4000 ? -4000 : (int)exponent);
}

/* into += term * 2^exponent, where into has its own exponent. */
void accumulate(double *into, int64_t *into_exponent, const double *term, int64_t exponent, int32_t n);

/* Moves a common power of two into the exponent. */
void normalise(double *vector, int64_t *exponent, int32_t n);

#endif
