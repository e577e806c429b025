/* Sentence pairs and their lexicon. */
#include "biparse/bitexts.h"

#include <math.h>

#define LEAST 1e-7 /* probability of a pair of words that the lexicon has not */

lscfg_bitexts *lscfg_bitexts_new(int32_t max_words) {
  lscfg_bitexts *b = calloc(1, sizeof *b);
  if (!b) return NULL;
  if (corpus_tables_init(&b->tables)) {
    free(b);
    return NULL;
  }
  b->max_words = max_words < MOST_WORDS ? max_words : MOST_WORDS;
  for (int side = SRC; side <= TGT; side++) {
    if (ARRAY_RESERVE(b->first[side], 1) || ARRAY_RESERVE(b->words[side], 1)) {
      lscfg_bitexts_free(b);
      return NULL;
    }
    b->first[side].data[b->first[side].size++] = 0;
  }
  return b;
}

void lscfg_bitexts_free(lscfg_bitexts *b) {
  if (!b) return;
  corpus_tables_release(&b->tables);
  sentence_pair_release(&b->reader);
  for (int side = SRC; side <= TGT; side++) {
    free(b->first[side].data);
    free(b->words[side].data);
  }
  free(b->same.data);
  index_release(&b->texts);
  free(b->lexicon.entries);
  free(b->log_probability.data);
  free(b);
}

static int same_text(const lscfg_bitexts *b, int64_t one, int64_t other) {
  for (int side = SRC; side <= TGT; side++) {
    const int64_t *first = b->first[side].data;
    int64_t n = first[one + 1] - first[one];
    if (n != first[other + 1] - first[other]) return 0;
    const int32_t *words = b->words[side].data;
    if (n && memcmp(words + first[one], words + first[other], (size_t)n * sizeof *words)) return 0;
  }
  return 1;
}

static uint32_t hash_text(const lscfg_bitexts *b, int64_t pair) {
  uint64_t hash = 0;
  for (int side = SRC; side <= TGT; side++) {
    const int64_t *first = b->first[side].data + pair;
    hash = hash_ints(b->words[side].data + first[0], first[1] - first[0], hash);
  }
  return (uint32_t)hash;
}

/* Adds the words of the reader, or a pair without words. */
static int add_pair(lscfg_bitexts *b, int left_out) {
  int32_t pair = (int32_t)b->same.size;
  if (ARRAY_RESERVE(b->same, 1) || index_reserve(&b->texts)) return LSCFG_ENOMEM;
  for (int side = SRC; side <= TGT; side++) {
    int64_t n = left_out ? 0 : b->reader.words[side].size;
    if (ARRAY_RESERVE(b->first[side], 1) || ARRAY_RESERVE(b->words[side], n + 1)) return LSCFG_ENOMEM;
    if (n) memcpy(b->words[side].data + b->words[side].size, b->reader.words[side].data, (size_t)n * sizeof(int32_t));
    b->words[side].size += n;
    b->first[side].data[b->first[side].size++] = b->words[side].size;
  }
  uint32_t hash = hash_text(b, pair);
  int32_t known;
  for (int64_t at = -1; (known = index_next(&b->texts, hash, &at)) >= 0;)
    if (same_text(b, known, pair)) break;
  if (known < 0) index_put(&b->texts, hash, pair);
  b->same.data[b->same.size++] = known < 0 ? pair : known;
  return LSCFG_OK;
}

int lscfg_bitexts_add(lscfg_bitexts *b, const char *src, size_t n_src, const char *tgt, size_t n_tgt,
                      const char *links, size_t n_links, int32_t *stream, lscfg_error *error) {
  const char *const line[3] = {src, tgt, links};
  const size_t length[3] = {n_src, n_tgt, n_links};
  if (b->same.size == INT32_MAX) return lscfg_fail(error, LSCFG_EINPUT, 0, "too many sentence pairs");
  int code = sentence_pair_read(&b->reader, &b->tables.vocab, line, length, b->max_words, stream, error);
  if (code < 0) return code;
  if (code && code != LSCFG_PAIR_TOO_LONG) return LSCFG_EINPUT;
  b->left_out += code != 0;
  return add_pair(b, code != 0) ? out_of_memory(error) : LSCFG_OK;
}

int lscfg_bitexts_link(lscfg_bitexts *b, const char *src, size_t n_src, const char *tgt, size_t n_tgt,
                       const char *links, size_t n_links, int32_t *stream, lscfg_error *error) {
  const char *const line[3] = {src, tgt, links};
  const size_t length[3] = {n_src, n_tgt, n_links};
  int code = sentence_pair_read(&b->reader, &b->tables.vocab, line, length, 0, stream, error);
  if (code) return code < 0 ? code : LSCFG_EINPUT;
  return link_counts_add_pair(&b->tables.lexicon, &b->reader) ? out_of_memory(error) : LSCFG_OK;
}

void lscfg_bitexts_get(const lscfg_bitexts *b, lscfg_bitexts_view *view) {
  *view = (lscfg_bitexts_view){.n_pairs = b->same.size,
                               .first = {b->first[SRC].data, b->first[TGT].data},
                               .words = {b->words[SRC].data, b->words[TGT].data},
                               .same = b->same.data,
                               .left_out = b->left_out,
                               .tables = corpus_tables_view(&b->tables)};
}

/* ---- lexicon ---- */

const double *bitexts_log_probability(const lscfg_bitexts *b, int32_t src, int32_t tgt) {
  static const double unknown[2] = {-16.11809565095832, -16.11809565095832}; /* ln LEAST */
  if (!b->lexicon.slots) return unknown;
  const int_entry *entry = int_map_slot(&b->lexicon, word_key(src, tgt));
  return entry->key < 0 ? unknown : b->log_probability.data + 2 * (entry->value - 1);
}

int lscfg_bitexts_lexicon(lscfg_bitexts *b, int64_t n, const int32_t *words, const double *probability,
                          lscfg_error *error) {
  int32_t n_words = lscfg_vocab_size(&b->tables.vocab);
  for (int64_t k = 0; k < n; k++) {
    const int32_t *pair = words + 2 * k;
    const double *p = probability + 2 * k;
    if (pair[0] < -1 || pair[1] < -1 || pair[0] >= n_words || pair[1] >= n_words)
      return lscfg_fail(error, LSCFG_EINPUT, k + 1, "the lexicon contains a word that is in no text");
    if (!(p[0] >= 0 && p[0] <= 1 && p[1] >= 0 && p[1] <= 1))
      return lscfg_fail(error, LSCFG_EINPUT, k + 1, "the lexicon contains a pair without valid probabilities");
    int64_t *place = int_map_at(&b->lexicon, word_key(pair[0], pair[1]));
    if (!place || ARRAY_RESERVE(b->log_probability, 2)) return out_of_memory(error);
    if (*place) return lscfg_fail(error, LSCFG_EINPUT, k + 1, "the lexicon contains a pair of words twice");
    for (int way = 0; way < 2; way++)
      b->log_probability.data[b->log_probability.size++] = log(p[way] > LEAST ? p[way] : LEAST);
    *place = b->log_probability.size / 2;
  }
  return LSCFG_OK;
}
