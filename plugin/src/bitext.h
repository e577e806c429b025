/* Word-aligned sentence pairs: reading one, and counting which words are linked. */
#ifndef LSCFG_BITEXT_H
#define LSCFG_BITEXT_H

#include "vocab.h"

enum { BITEXT_SRC = 0, BITEXT_TGT = 1 };

typedef struct {
  ARRAY(int32_t) words[2]; /* ids, by side */
  ARRAY(int32_t) links;    /* source position, target position, ... */
} sentence_pair;

void sentence_pair_release(sentence_pair *);
/* Words separated by blanks (new ones are added), links "i-j" counted from 0, source first, checked against the lengths. */
int sentence_pair_read(sentence_pair *, lscfg_vocab *, const char *src, size_t n_src, const char *tgt, size_t n_tgt,
                       const char *links, size_t n_links, lscfg_error *);

typedef struct {
  ARRAY(lscfg_word_pair) pairs; /* in order of first appearance */
  int32_t *table;               /* open addressing, -1 where empty */
  int64_t slots;
} link_counts;

int link_counts_init(link_counts *);
void link_counts_release(link_counts *);
/* Every link counts once; every word without a link once with -1. linked: a flag for each word of both sides, source
 * words first. */
int link_counts_add(link_counts *, const sentence_pair *, const char *linked);

#endif
