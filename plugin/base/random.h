/* Random numbers as a function of their use: Philox4x32-10 of Salmon, Moraes, Dror and Shaw (2011), "Parallel random
 * numbers: as easy as 1, 2, 3".
 *
 * A seed (the key) and a number (the upper half of the counter) identify a stream, so each sample has its own stream,
 * and no result depends on threads or on the order of work. A stream has 2^65 numbers. */
#ifndef LSCFG_RANDOM_H
#define LSCFG_RANDOM_H

#include <stdint.h>

typedef struct {
  uint32_t key[2], counter[4], block[4];
  int32_t used; /* words of the block that were given out: 0, 2 or 4 */
} random_stream;

/* out = the block of a counter. */
static inline void philox(const uint32_t key[2], const uint32_t counter[4], uint32_t out[4]) {
  uint32_t k0 = key[0], k1 = key[1], c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
  for (int round = 0; round < 10; round++, k0 += 0x9e3779b9u, k1 += 0xbb67ae85u) {
    uint64_t a = (uint64_t)0xd2511f53u * c0, b = (uint64_t)0xcd9e8d57u * c2;
    c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
    c1 = (uint32_t)b;
    c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
    c3 = (uint32_t)a;
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}

static inline random_stream random_begin(uint64_t seed, uint64_t number) {
  return (random_stream){.key = {(uint32_t)seed, (uint32_t)(seed >> 32)},
                         .counter = {0, 0, (uint32_t)number, (uint32_t)(number >> 32)},
                         .used = 4};
}

/* The next number of the stream, in [0, 1): a multiple of 2^-53. */
static inline double random_uniform(random_stream *r) {
  if (r->used == 4) {
    philox(r->key, r->counter, r->block);
    if (!++r->counter[0]) r->counter[1]++;
    r->used = 0;
  }
  uint64_t bits = (uint64_t)r->block[r->used + 1] << 32 | r->block[r->used];
  r->used += 2;
  return (double)(bits >> 11) * 0x1p-53;
}

#endif
