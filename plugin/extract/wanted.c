/* Word sequences of a text. */
#include "extract/wanted.h"

/* Longer sequences are looked up in pieces of this number of words. */
enum { WANTED_WORDS = 5 };

int wanted_init(wanted_text *w) {
  memset(w, 0, sizeof *w);
  w->nodes = 1;
  return trie_init(&w->sequences);
}

void wanted_release(wanted_text *w) {
  trie_release(&w->sequences);
  free(w->line.data);
  memset(w, 0, sizeof *w);
}

int wanted_add_words(wanted_text *w, const int32_t *words, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    int32_t node = 0;
    for (int64_t j = i; j < n && j < i + WANTED_WORDS && words[j] >= 0; j++) {
      int32_t next = trie_child(&w->sequences, node, words[j]);
      if (next < 0) {
        if (w->nodes == INT32_MAX || trie_add(&w->sequences, node, words[j], w->nodes)) return LSCFG_ENOMEM;
        next = w->nodes++;
      }
      node = next;
    }
  }
  return LSCFG_OK;
}

int wanted_add(wanted_text *w, lscfg_vocab *vocab, const char *line, size_t length) {
  w->line.size = 0;
  if (ARRAY_RESERVE(w->line, length / 2 + 1)) return LSCFG_ENOMEM; /* a blank follows each word */
  int64_t n = lscfg_vocab_line(vocab, line, length, w->line.data, w->line.capacity);
  return n < 0 ? LSCFG_ENOMEM : wanted_add_words(w, w->line.data, n);
}

int wanted_side(const wanted_text *w, const int32_t *symbols, int32_t n) {
  int32_t node = 0, words = 0;
  for (int32_t i = 0; i < n; i++) {
    if (symbols[i] < 0 || words == WANTED_WORDS) node = words = 0;
    if (symbols[i] < 0) continue;
    if ((node = trie_child(&w->sequences, node, symbols[i])) < 0) return 0;
    words++;
  }
  return 1;
}
