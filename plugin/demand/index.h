/* A mapped index, the text that was added to it, and the rules that were found last. */
#ifndef LSCFG_DEMAND_INDEX_H
#define LSCFG_DEMAND_INDEX_H

#include "base/int_map.h"
#include "base/safetensors.h"
#include "demand/aligned.h"
#include "extract/hiero_pair.h"

enum { MAPPED, TAUGHT, N_TEXTS, MOST_PARTS = 3 };

/* A text with its suffix arrays. */
typedef struct {
  int64_t n_pairs, n_words[2], n_suffixes[2], n_links;
  const int32_t *words[2], *suffixes[2];
  const int64_t *starts[2], *link_starts;
  const uint16_t *links;
} text_view;

/* Word sequences in this order, with one or more nonterminals between two of them. */
typedef struct {
  int32_t n, length[MOST_PARTS];
  const int32_t *words[MOST_PARTS];
} word_parts;

/* Word positions of such sequences in a text. */
typedef struct {
  int64_t pair, at[MOST_PARTS];
  int32_t pattern;
} place;

/* Places and ends of a pattern. */
typedef struct {
  int64_t places; /* in both texts */
  double scale;   /* places of the file for each one examined */
  int32_t ends;   /* bit first + 2 * last is set if it may begin and end in nonterminals */
} pattern_facts;

/* Patterns of one side, as words with -1 between sequences, and their places. */
typedef struct {
  rule_table names;
  ARRAY(pattern_facts) facts;
  ARRAY(place) places[N_TEXTS];
} pattern_table;

/* An initial phrase pair of a sentence pair; its tokens once they are listed, else -1. */
typedef struct {
  int32_t src[2], tgt[2];
  int64_t first, end;
} phrase;

/* A rule token, in the order of the extractor: phrase pair, then token. */
typedef struct {
  int64_t phrase, token;
  int32_t pattern;
} hit;

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
  ARRAY(phrase) phrases;
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
  ARRAY(int32_t) target_pattern; /* of each target side, -1 if it was not requested */
  ARRAY(double) target_count;
  int64_t examined[2];
};

int damaged_index(lscfg_error *);
/* A word of the texts; *length 0 in a damaged file. */
const char *index_word(const lscfg_index *, int32_t word, size_t *length);
/* The number of a word, negative if both texts lack it. */
int32_t index_find(const lscfg_index *, const char *word, size_t length);

int pattern_table_init(pattern_table *);
void pattern_table_clear(pattern_table *);
void pattern_table_release(pattern_table *);
/* The sequences of a pattern, or of a side of a rule, inside its outer nonterminals. */
word_parts parts_of(const int32_t *symbols, int64_t n);
/* The number of a pattern, or a negative error code; a new pattern is looked up in both texts, at most at `samples`
 * places in the file, 0: all. */
int32_t find_pattern(lscfg_index *, int side, const int32_t *symbols, int32_t n, int32_t samples, lscfg_error *);

typedef int token_visit(lscfg_index *, const phrase *, const rule_token *, double share, int32_t pattern);
/* Visits the rule tokens at the places of all patterns of a side, in the order of the text. */
int visit_tokens(lscfg_index *, int text, int side, token_visit *, lscfg_error *);

#endif
