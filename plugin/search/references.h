/* The n-grams of a sentence's references, as an automaton that finds those ending in each word of a translation. */
#ifndef LSCFG_REFERENCES_H
#define LSCFG_REFERENCES_H

#include "base/trie.h"

enum { BLEU_ORDER = 4 };

/* Nodes by length: those of n words are first[n - 1] .. first[n] - 1. Node 0 is the empty n-gram. */
typedef struct {
  trie children;
  ARRAY(int32_t) word;   /* the last of each n-gram */
  ARRAY(int32_t) prefix; /* without its last word */
  ARRAY(int32_t) suffix; /* without its first word */
  ARRAY(uint8_t) length;
  ARRAY(uint8_t) most; /* its largest count in one reference */
  int32_t first[BLEU_ORDER + 2];
  int64_t shortest; /* words of the shortest reference */
} references;

/* Reference r has the words words[offsets[r]] .. [offsets[r + 1] - 1]. To be released in any case. */
int references_read(references *, int32_t n, const int64_t *offsets, const int32_t *words, lscfg_error *);
void references_release(references *);

/* The longest n-gram that ends in this word after another one. */
static inline int32_t references_step(const references *r, int32_t node, int32_t word) {
  if (r->length.data[node] == BLEU_ORDER) node = r->suffix.data[node];
  for (;; node = r->suffix.data[node]) {
    int32_t child = trie_child(&r->children, node, word);
    if (child >= 0) return child;
    if (!node) return 0;
  }
}

#endif
