/* A text to be translated, by its word sequences: what a rule needs to be of use for it. */
#ifndef LSCFG_WANTED_H
#define LSCFG_WANTED_H

#include "base/trie.h"
#include "base/vocab.h"

typedef struct {
  trie sequences; /* word sequences of the text, up to a few words long */
  int32_t nodes;  /* of the trie */
  ARRAY(int32_t) line;
} wanted_text;

/* To be called first: LSCFG_OK or LSCFG_ENOMEM. */
int wanted_init(wanted_text *);
void wanted_release(wanted_text *);
/* Adds a line of words separated by blanks, new ones to the vocabulary too: LSCFG_OK or LSCFG_ENOMEM. */
int wanted_add(wanted_text *, lscfg_vocab *, const char *line, size_t length);
/* The same for words as numbers; negative numbers are unknown words. */
int wanted_add_words(wanted_text *, const int32_t *words, int64_t n);
/* True if the text has all words that this source side has side by side. A side that fails covers no part of it; one
 * that passes may still cover none. */
int wanted_side(const wanted_text *, const int32_t *symbols, int32_t n);

#endif
