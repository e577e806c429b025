/* A network of one hidden layer for target words, given the source words around their places and the target words
 * before them (Devlin et al. 2014, ACL). docs/reference/features.md defines it for the user. */
#ifndef LSCFG_NETWORK_H
#define LSCFG_NETWORK_H

#include "base/safetensors.h"
#include "neural/affiliate.h"

/* The parameters are in the mapped file; the other arrays are made when it is opened. */
typedef struct {
  int32_t reach, history; /* source words on each side of the place; target words before the word */
  int32_t dims, hidden;
  int64_t sources, targets;  /* rows of both tables */
  const float *source;       /* [sources][dims] */
  const float *hidden_bias;  /* [hidden] */
  const float *output, *output_bias;       /* [targets][hidden], [targets] */
  const float *fertility, *fertility_bias; /* [LSCFG_NEURAL_FERTILITY][hidden], [...] */
  lscfg_links links;
  float *by_input; /* [(2 reach + 1) * dims][hidden] the layer of the source words */
  float *before;   /* [history][targets][hidden] of each target word that comes before */
} neural_network;

/* words: sizes of both vocabularies. */
int network_open(const tensor_file *, const int64_t words[2], neural_network **, lscfg_error *);
void network_close(neural_network *);

/* sums [n][hidden] of the hidden units at each place of a sentence, given its rows, without target words. */
void network_places(const neural_network *, const int32_t *rows, int32_t n, float *sums);
/* Hidden units [hidden] at a place, from its sums and the words before; before[0] is the last of them. */
void network_units(const neural_network *, const float *sums, const int32_t *before, float *units);
/* The score of a word: nearly its log probability. */
float network_score(const neural_network *, const float *units, int32_t word);
/* Log probabilities of the classes of fertility. */
void network_fertility(const neural_network *, const float *units, double log[LSCFG_NEURAL_FERTILITY]);

#endif
