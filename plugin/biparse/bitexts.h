/* Sentence pairs as numbers, and lexical probabilities. */
#ifndef LSCFG_BITEXTS_H
#define LSCFG_BITEXTS_H

#include "lscfg/biparse.h"
#include "extract/bitext.h"
#include "extract/tables.h"
#include "biparse/word_set.h"
#include "base/int_map.h"

struct lscfg_bitexts {
  corpus_tables tables; /* words and their links */
  sentence_pair reader;
  int32_t max_words;
  int64_t left_out;
  ARRAY(int64_t) first[2];
  ARRAY(int32_t) words[2];
  ARRAY(int32_t) same;
  index_table texts;          /* pairs */
  int_map lexicon;            /* word_key -> 1 + index in log_probability */
  ARRAY(double) log_probability; /* pairs of them, as LSCFG_LEX_... */
};

/* A pair of words, either of which may be -1, as the key of a map. */
static inline int64_t word_key(int32_t src, int32_t tgt) { return ((int64_t)src + 1) << 32 | (uint32_t)(tgt + 1); }

/* Logarithms of p(target | source) and p(source | target); -1 for NULL. */
const double *bitexts_log_probability(const lscfg_bitexts *, int32_t src, int32_t tgt);

#endif
