/* Small tools of the kernel's own files: growing arrays, hashing, error reports. */
#ifndef LSCFG_COMMON_H
#define LSCFG_COMMON_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lscfg/base.h"

/* An array that doubles; T *data, size and capacity in elements. */
#define ARRAY(T)      \
  struct {            \
    T *data;          \
    int64_t size;     \
    int64_t capacity; \
  }

static inline int array_grow(void **data, int64_t *capacity, int64_t wanted, size_t element) {
  if (wanted > INT64_MAX / 2 / (int64_t)element) return LSCFG_ENOMEM; /* the products below would overflow */
  int64_t bigger = *capacity ? *capacity : 16;
  while (bigger < wanted) bigger *= 2;
  void *moved = realloc(*data, (size_t)bigger * element);
  if (!moved) return LSCFG_ENOMEM;
  *data = moved;
  *capacity = bigger;
  return LSCFG_OK;
}

/* Makes room for n more elements: LSCFG_OK or LSCFG_ENOMEM. */
#define ARRAY_RESERVE(a, n)                \
  ((a).size + (int64_t)(n) <= (a).capacity \
       ? LSCFG_OK                          \
       : array_grow((void **)&(a).data, &(a).capacity, (a).size + (int64_t)(n), sizeof *(a).data))

static inline uint64_t hash_mix(uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  return x ^ (x >> 32);
}

static inline uint64_t hash_bytes(const char *bytes, size_t length) {
  uint64_t h = 1469598103934665603u;
  for (size_t i = 0; i < length; i++) h = (h ^ (unsigned char)bytes[i]) * 1099511628211u;
  return hash_mix(h);
}

static inline uint64_t hash_ints(const int32_t *values, int64_t n, uint64_t seed) {
  uint64_t h = seed + 0x9e3779b97f4a7c15u;
  for (int64_t i = 0; i < n; i++) h = hash_mix(h ^ (uint32_t)values[i]) + 0x9e3779b97f4a7c15u * (uint64_t)(i + 1);
  return h;
}

/* Fills the error (which may be NULL) and returns the code. */
int lscfg_fail(lscfg_error *error, int code, int64_t line, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 4, 5)))
#endif
    ;

/* Appends a cure to a message of bad input that gives none, and returns the code. The error may be NULL. */
int lscfg_cure(int code, lscfg_error *error, const char *cure);

static inline int out_of_memory(lscfg_error *error) { return lscfg_fail(error, LSCFG_ENOMEM, 0, "out of memory"); }

#endif
