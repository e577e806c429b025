/* Word-aligned sentence pairs: checking and reading one, and counting which words are linked. */
#ifndef LSCFG_BITEXT_H
#define LSCFG_BITEXT_H

#include "lscfg/extract.h"
#include "base/index.h"
#include "base/vocab.h"

enum { SRC = LSCFG_SRC, TGT = LSCFG_TGT };

/* A word where it stands in its line. */
typedef struct {
  const char *begin;
  int32_t length;
} token;

typedef struct {
  ARRAY(token) tokens[2];
  ARRAY(int32_t) words[2];   /* ids, by side */
  ARRAY(int32_t) links;      /* source position, target position, ... */
  ARRAY(int32_t) n_links[2]; /* of each word */
} sentence_pair;

void sentence_pair_release(sentence_pair *);
/* Reads source, target and links: words separated by blanks (new ones are added), links "i-j" counted from 0. Returns
 * the reason to refuse the pair, LSCFG_PAIR_GOOD if there is none, or LSCFG_ENOMEM; the error explains the reason, and
 * *stream is the number of the bad line. No word of a refused pair is added. max_words: limit for each side, 0 for no
 * limit. */
int sentence_pair_read(sentence_pair *, lscfg_vocab *, const char *const line[3], const size_t length[3],
                       int32_t max_words, int32_t *stream, lscfg_error *);

typedef struct {
  ARRAY(lscfg_word_pair) pairs; /* in order of first appearance */
  index_table index;            /* of them */
} link_counts;

void link_counts_release(link_counts *);
/* Counts that two words are linked, -1 for none. */
int link_counts_add(link_counts *, int32_t src, int32_t tgt, int64_t count);
/* The number of links between two words. */
int64_t link_counts_find(const link_counts *, int32_t src, int32_t tgt);
/* Every link counts once; every word without a link once with -1. */
int link_counts_add_pair(link_counts *, const sentence_pair *);

#endif
