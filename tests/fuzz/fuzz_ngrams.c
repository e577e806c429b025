/* An n-gram model as ARPA text up to the first NUL, and words behind it to walk over. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  enum { LONGEST = 64 };
  const char *text = (const char *)data, *nul = size ? memchr(text, 0, size) : NULL;
  size_t length = nul ? (size_t)(nul - text) : size;
  lscfg_error error = {0};
  lscfg_ngrams *ngrams;
  lscfg_vocab *vocab = lscfg_vocab_new();
  char *copy = malloc(length + !length); /* of its very size, so that no byte behind it can be read unseen */
  CHECK(vocab && copy);
  if (length) memcpy(copy, text, length);
  int code = lscfg_ngrams_read(vocab, copy, length, &ngrams, &error);
  free(copy);
  CHECK(code == LSCFG_OK ? ngrams != NULL : code == LSCFG_EINPUT && !ngrams && *error.message);
  if (ngrams) {
    int32_t words[LONGEST], order = lscfg_ngrams_order(ngrams), state = LSCFG_LM_BEGIN;
    int64_t n = nul ? lscfg_vocab_line(vocab, nul + 1, size - length - 1, words, LONGEST) : 0;
    CHECK(order >= 2 && order <= 6);
    for (int64_t i = 0; i < n; i++) {
      float log10p;
      int32_t reach;
      CHECK(!lscfg_ngrams_step(ngrams, state, words[i], &log10p, &state, &reach));
      CHECK(log10p == log10p && state >= 0 && reach >= -1 && reach <= order);
    }
  }
  lscfg_ngrams_free(ngrams);
  lscfg_vocab_free(vocab);
  return 0;
}
