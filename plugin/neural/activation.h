/* The activation of hidden units: nearly tanh, the same bits on every machine, so that learning and decoding agree. */
#ifndef LSCFG_ACTIVATION_H
#define LSCFG_ACTIVATION_H

/* Lambert's continued fraction of tanh, cut at 5. */
static inline float activation(float x) {
  x = x > 5 ? 5 : x < -5 ? -5 : x;
  float q = x * x;
  return x * (135135 + q * (17325 + q * (378 + q))) / (135135 + q * (62370 + q * (3150 + q * 28)));
}

/* Its derivative. */
static inline float activation_slope(float x) {
  if (x > 5 || x < -5) return 0;
  float q = x * x, above = x * (135135 + q * (17325 + q * (378 + q)));
  float below = 135135 + q * (62370 + q * (3150 + q * 28));
  float rise = 135135 + q * (51975 + q * (1890 + q * 7)), fall = x * (124740 + q * (12600 + q * 168));
  return (rise - above / below * fall) / below;
}

#endif
