/* Sets of target words of a sentence pair, as the bits of a few numbers. */
#ifndef LSCFG_WORD_SET_H
#define LSCFG_WORD_SET_H

#include <stdint.h>

enum { SET_PARTS = 2, MOST_WORDS = 64 * SET_PARTS };

typedef struct {
  uint64_t part[SET_PARTS];
} word_set;

static inline word_set set_of(int32_t word) {
  word_set s = {{0}};
  s.part[word / 64] = (uint64_t)1 << word % 64;
  return s;
}

/* The words from k up to l - 1. */
static inline word_set set_between(int32_t k, int32_t l) {
  word_set s = {{0}};
  for (int32_t p = 0; p < SET_PARTS; p++) {
    int32_t from = k > 64 * p ? k - 64 * p : 0, to = l < 64 * (p + 1) ? l - 64 * p : 64;
    if (from < to) s.part[p] = (~(uint64_t)0 >> (64 - (to - from))) << from;
  }
  return s;
}

static inline word_set set_or(word_set a, word_set b) {
  for (int32_t p = 0; p < SET_PARTS; p++) a.part[p] |= b.part[p];
  return a;
}

static inline word_set set_and(word_set a, word_set b) {
  for (int32_t p = 0; p < SET_PARTS; p++) a.part[p] &= b.part[p];
  return a;
}

static inline word_set set_without(word_set a, word_set b) {
  for (int32_t p = 0; p < SET_PARTS; p++) a.part[p] &= ~b.part[p];
  return a;
}

static inline int set_any(word_set s) {
  uint64_t any = 0;
  for (int32_t p = 0; p < SET_PARTS; p++) any |= s.part[p];
  return any != 0;
}

static inline int set_meets(word_set a, word_set b) { return set_any(set_and(a, b)); }

static inline int set_has(word_set s, int32_t word) { return (int)(s.part[word / 64] >> word % 64 & 1); }

static inline int32_t set_size(word_set s) {
  int32_t n = 0;
  for (int32_t p = 0; p < SET_PARTS; p++) n += __builtin_popcountll(s.part[p]);
  return n;
}

/* The first word, and the position after the last one; 0 for no words. */
static inline int32_t set_first(word_set s) {
  for (int32_t p = 0; p < SET_PARTS; p++)
    if (s.part[p]) return 64 * p + __builtin_ctzll(s.part[p]);
  return 0;
}

static inline int32_t set_end(word_set s) {
  for (int32_t p = SET_PARTS; p-- > 0;)
    if (s.part[p]) return 64 * (p + 1) - __builtin_clzll(s.part[p]);
  return 0;
}

/* Takes the first word of a set that has one out of it. */
static inline int32_t set_take(word_set *s) {
  for (int32_t p = 0; p < SET_PARTS; p++)
    if (s->part[p]) {
      int32_t word = 64 * p + __builtin_ctzll(s->part[p]);
      s->part[p] &= s->part[p] - 1;
      return word;
    }
  return -1;
}

/* An order of sets: less than 0 where a comes first. */
static inline int set_order(word_set a, word_set b) {
  for (int32_t p = SET_PARTS; p-- > 0;)
    if (a.part[p] != b.part[p]) return a.part[p] < b.part[p] ? -1 : 1;
  return 0;
}

#endif
