/* A mapped index, the text that was added to it, and the rules that were found last. */
#ifndef LSCFG_DEMAND_INDEX_H
#define LSCFG_DEMAND_INDEX_H

#include "base/int_map.h"
#include "base/safetensors.h"
#include "demand/aligned.h"
#include "demand/patterns.h"
#include "extract/hiero_pair.h"

/* A text with its suffix arrays. */
typedef struct {
  int64_t n_pairs, n_words[2], n_suffixes[2], n_links;
  const int32_t *words[2], *suffixes[2];
  const int64_t *starts[2], *link_starts;
  const uint16_t *links;
} text_view;

/* The tokens of an initial phrase pair once they are listed, else -1. */
typedef struct {
  int64_t first, end;
} token_range;

/* A rule token, in the order of the extractor: phrase pair, then token. */
typedef struct {
  int64_t phrase, token;
  int32_t pattern;
} hit;

enum { NOT_COUNTED = -1, COUNTED_BEFORE = -2 };

struct lscfg_index {
  tensor_file file;
  lscfg_hiero_options options;
  text_view text[N_TEXTS];
  /* the vocabulary of the file, and its order by bytes */
  int64_t n_words, n_vocab_bytes;
  const char *vocab_bytes;
  const int64_t *vocab_offsets;
  const int32_t *vocab_order;
  /* the lexicon of the file by source word, first of none: target words in ascending order, first none */
  int64_t n_lexicon;
  const int64_t *lexicon_rows, *lexicon_count, *lexicon_total;
  const int32_t *lexicon_target;
  /* text in memory; its words that the file lacks are numbered from n_words on */
  lscfg_aligned *taught;
  ARRAY(int32_t) order[2];
  int32_t stale; /* not 0 if order covers fewer pairs */
  /* work space */
  hiero_pair work;
  pattern_table patterns[2]; /* by side */
  ARRAY(int32_t) symbols;
  ARRAY(place) visited;
  ARRAY(token_range) listed; /* by phrase pair */
  ARRAY(rule_token) tokens;
  ARRAY(hit) hits;
  /* the rules that were found last: words of the vocabulary found, each also as a word of the text */
  corpus_tables found;
  ARRAY(int32_t) word_of; /* of the text, by word of found */
  ARRAY(int32_t) pattern_of; /* of each rule */
  ARRAY(double) count;
  ARRAY(int64_t) occurrences; /* of each rule */
  ARRAY(int64_t) lexicon_totals;
  rule_table targets;
  ARRAY(int32_t) target_pattern; /* of each target side, NOT_COUNTED or COUNTED_BEFORE */
  ARRAY(double) target_count;
  /* target sides in words of the text, and their counts from as many samples, for later sentences */
  rule_table known;
  ARRAY(double) known_count;
  int32_t known_samples;
  int64_t examined[2];
};

int damaged_index(lscfg_error *);
/* A word of the texts; *length 0 in a damaged file. */
const char *index_word(const lscfg_index *, int32_t word, size_t *length);
/* The number of a word, negative if both texts lack it. */
int32_t index_find(const lscfg_index *, const char *word, size_t length);

#endif
