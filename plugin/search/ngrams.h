#ifndef LSCFG_NGRAMS_H
#define LSCFG_NGRAMS_H

#include "base/safetensors.h"
#include "base/vocab.h"
#include "search/lm.h"

/* KenLM reads longer n-grams only if it was built for them; it decides about such models. */
enum { NGRAMS_MAX_ORDER = 6 };

/* An n-gram of the model. The first node is the empty n-gram, the second <s>. */
typedef struct {
  float log10p, backoff;
  int32_t suffix; /* without its first word */
  int32_t state;  /* its longest suffix, itself included, that a word after it can use */
  uint8_t length;
  uint8_t goes_on;  /* it is the context of a longer one, or has a back-off weight */
  uint8_t extended; /* it is the end of a longer one */
  uint8_t unused;   /* no padding: Python sees the bytes */
} ngram_node;

/* Open addressing, two thirds full. */
typedef struct {
  int32_t context, unigram;
  int32_t node; /* -1 where empty */
} ngram_slot;

struct lscfg_ngrams {
  const lscfg_vocab *vocab; /* of the search */
  int32_t order, counts[NGRAMS_MAX_ORDER];
  ngram_node *nodes;
  int32_t n_nodes;
  ngram_slot *slots;
  int64_t n_slots;
  lscfg_vocab words;    /* the model's */
  int32_t *unigrams;    /* nodes by number in words */
  int32_t unknown;      /* node of <unk> */
  int has_begin, has_end;
  ARRAY(int32_t) known; /* unigrams by number in vocab, unknown for words that are not the model's */
};

#endif
