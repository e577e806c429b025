/* Translation probabilities of a rule's words: the lexical weights of IBM model 1 (Brown et al. 1993) in both
 * directions, with relative frequencies of links. */
#ifndef LSCFG_SAMPLE_LEXICAL_H
#define LSCFG_SAMPLE_LEXICAL_H

#include "extract/bitext.h"

typedef struct {
  const link_counts *links;
  double *links_of[2]; /* [1 + words of the vocabulary] of each word, and in front of them of none */
  double n_links;
} lexical_weights;

/* links must outlive the weights. After a failure nothing is allocated. */
int lexical_init(lexical_weights *, const link_counts *links, int32_t n_words);
void lexical_release(lexical_weights *);
/* The log of the geometric mean of P(source) P(target | source) and P(target) P(source | target), of words alone. */
double lexical_log_weight(const lexical_weights *, const int32_t *symbols, int32_t n_src, int32_t n);

#endif
