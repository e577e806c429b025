/* The source sides that a span may have. */
#ifndef LSCFG_BIPARSE_SPACE_H
#define LSCFG_BIPARSE_SPACE_H

#include "biparse/bitexts.h"

enum { MOST_SYMBOLS = 5, MOST_TAILS = 2, MOST_SPAN = 10 }; /* a longer span is two nonterminals */

/* Symbol k covers at[k] .. at[k + 1] - 1, counted from the beginning of the span. */
typedef struct {
  uint8_t n, tails;             /* symbols, and a bit for each nonterminal among them */
  uint8_t at[MOST_SYMBOLS + 1];
} pattern;

typedef struct {
  ARRAY(pattern) patterns;
  int32_t first[MOST_WORDS + 2]; /* by length of the span */
} space;

int space_init(space *);
void space_release(space *);

/* Fingerprints of rules. Two rules with the same fingerprint would be confused: among 20 million rules the chance of
 * such a pair is 2e-5. */
#define FINGERPRINT_FACTOR 0x9fb21c651e98df25u

static inline uint64_t symbol_code(int32_t symbol) {
  return hash_mix((uint64_t)(int64_t)symbol + 0x9e3779b97f4a7c15u);
}

static inline uint64_t fingerprint_append(uint64_t h, int32_t symbol) {
  return h * FINGERPRINT_FACTOR + symbol_code(symbol);
}

static inline int64_t fingerprint_key(uint64_t h) { return (int64_t)(hash_mix(h ^ 0x2545f4914f6cdd1du) >> 1); }

static inline uint64_t fingerprint_join(uint64_t src, uint64_t tgt) {
  return hash_mix(src + 0x632be59bd9b4e019u) ^ tgt;
}

/* Of the source side, of the rule, and of the rule with its links [n_links][2]. */
void rule_fingerprints(const int32_t *symbols, int32_t n_src, int32_t n_tgt, const int32_t *links, int32_t n_links,
                       int64_t fingerprint[3]);

/* Of a source side: words of the sentence from the beginning of the span on, nonterminals as -1. */
static inline uint64_t pattern_fingerprint(const pattern *p, const uint64_t *codes, uint64_t tail_code) {
  uint64_t h = p->n;
  for (int k = 0; k < p->n; k++) h = h * FINGERPRINT_FACTOR + (p->tails >> k & 1 ? tail_code : codes[p->at[k]]);
  return h;
}

#endif
