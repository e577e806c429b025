/* Probabilities of orientations of source spans, given the words around and at the ends of the span and its length.
 * docs/reference/features.md defines them for the user. */
#ifndef LSCFG_ORIENTATION_H
#define LSCFG_ORIENTATION_H

#include "base/safetensors.h"
#include "neural/affiliate.h"

enum { ORIENTATION_MONOTONE, ORIENTATION_SWAP, ORIENTATION_DISCONTINUOUS, N_ORIENTATIONS };
/* Target symbols before a nonterminal in its rule, and those behind it. */
enum { ORIENTATION_BEFORE, ORIENTATION_BEHIND, N_ORIENTATION_SIDES };
/* Words of a span that count: its first and its last one, the one before it and the one after it. */
enum { N_ORIENTATION_WORDS = 4 };

/* The weights are in the mapped file. */
typedef struct {
  int64_t sources, targets; /* rows of words, see lscfg/neural.h */
  const float *words;       /* [sides][words of a span][sources][orientations] */
  const float *lengths;     /* [sides][length classes][orientations] */
  lscfg_links links;
} orientation_model;

/* n_words: sizes of both vocabularies. */
int orientation_open(const tensor_file *, const int64_t n_words[2], orientation_model **, lscfg_error *);
void orientation_close(orientation_model *);

/* log_p [sides][orientations] of a span: rows of its words, and the class of its length. */
void orientation_log_p(const orientation_model *, const int32_t rows[N_ORIENTATION_WORDS], int32_t length,
                       double *log_p);

#endif
