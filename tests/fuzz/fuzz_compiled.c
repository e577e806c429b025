#define _GNU_SOURCE /* memfd_create */
/* A compiled grammar or language model: the whole input, whose last four bytes become the checksum. */
#include "fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

static const char source[] = "0000000000000000000000000000000000000000000000000000000000000000";

static void write_checksum(uint8_t *bytes, size_t size) {
  uint32_t crc = 0xffffffffu;
  if (size < 4) return;
  for (size_t k = 0; k < size - 4; k++) {
    crc ^= bytes[k];
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  for (int k = 0; k < 4; k++) bytes[size - 4 + (size_t)k] = (uint8_t)(~crc >> 8 * k);
}

static void walk(lscfg_vocab *vocab, const char *path) {
  lscfg_error error = {0};
  lscfg_ngrams *ngrams;
  int code = lscfg_ngrams_open(vocab, path, source, &ngrams, &error);
  CHECK(code == LSCFG_OK ? ngrams != NULL : !ngrams && (code == LSCFG_OTHER_SOURCE || *error.message));
  int32_t order = ngrams ? lscfg_ngrams_order(ngrams) : 0;
  for (int32_t k = 0, state = LSCFG_LM_BEGIN, reach; ngrams && k < 60; k++) {
    float log10p;
    CHECK(!lscfg_ngrams_step(ngrams, state, k * 7 % 5, &log10p, &state, &reach));
    CHECK(log10p == log10p && state >= 0 && reach >= -1 && reach <= order);
  }
  lscfg_ngrams_free(ngrams);
}

static void parse(lscfg_vocab *vocab, const char *path) {
  lscfg_error error = {0};
  lscfg_grammar *grammar = lscfg_grammar_new(vocab);
  CHECK(grammar);
  int code = lscfg_grammar_open(grammar, path, source, &error);
  CHECK(code == LSCFG_OK || code == LSCFG_OTHER_SOURCE || *error.message);
  if (!code && !lscfg_grammar_finish(grammar, &error)) {
    static const int32_t words[] = {0, 1, 2, 0, 3};
    lscfg_parse_options options = {5, 1, 1, 1, 0, 0, NULL};
    lscfg_forest *forest = NULL;
    int32_t n;
    for (int32_t r = 0; r < lscfg_grammar_size(grammar); r++)
      CHECK(lscfg_grammar_links(grammar, r, &n) && n >= 0 && lscfg_grammar_arity(grammar, r) >= 0);
    lscfg_parse(grammar, words, 5, &options, &forest, &error);
    lscfg_forest_free(forest);
  }
  lscfg_grammar_free(grammar);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[32];
  uint8_t *copy = malloc(size + 1);
  lscfg_vocab *vocab = lscfg_vocab_new();
  int descriptor = memfd_create("compiled", 0);
  CHECK(copy && vocab && descriptor >= 0);
  memcpy(copy, data, size);
  write_checksum(copy, size);
  CHECK(write(descriptor, copy, size) == (ssize_t)size);
  snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  for (const char *word = "abcde"; *word; word++) CHECK(lscfg_vocab_add(vocab, word, 1) >= 0);
  walk(vocab, path);
  parse(vocab, path);
  close(descriptor);
  lscfg_vocab_free(vocab);
  free(copy);
  return 0;
}
