/* The initial phrase pairs of one sentence pair, and the rule tokens of each (Chiang 2007, section 3).
 *
 * An initial phrase pair is tight, the words at its four borders are linked: its source span decides its target span. A
 * loose one may have words without links at its borders, and so may a source span have several target spans.
 *
 * An initial phrase pair counts 1 in all, shared equally by the ways to subtract phrase pairs from it; two ways that
 * leave the same rule give it two shares. A share depends on nothing but its sentence pair. */
#ifndef LSCFG_HIERO_PAIR_H
#define LSCFG_HIERO_PAIR_H

#include "extract/bitext.h"

/* A rule token of one initial phrase pair: its subtracted source spans, half-open, -1 for none, with their target
 * spans, and the target span of the whole. */
typedef struct {
  int32_t gap[2][2], tgt_gap[2][2], tgt[2];
} rule_token;

/* An initial phrase pair: half-open spans. */
typedef struct {
  int32_t src[2], tgt[2];
} phrase_pair;

/* A sentence pair with the work space for its rules, kept from pair to pair; all zero but the options at first. */
typedef struct {
  const lscfg_hiero_options *options;
  sentence_pair pair;         /* words, links and numbers of links */
  ARRAY(int32_t) hull;        /* lowest and highest link of each word, source words first */
  ARRAY(int32_t) before;      /* linked source words before each position */
  ARRAY(phrase_pair) phrases; /* in the order of their source spans */
  ARRAY(int64_t) first;       /* first phrase pair that begins at each source word or later */
  ARRAY(rule_token) found;    /* by hiero_tokens */
  ARRAY(int32_t) scratch;
} hiero_pair;

/* A rule as it is spelled in the work space. */
typedef struct {
  const int32_t *symbols;
  int32_t n_src, n, arity;
} spelling;

void hiero_pair_release(hiero_pair *);
/* Lists the initial phrase pairs of the pair that was read: LSCFG_OK or LSCFG_ENOMEM. */
int hiero_prepare(hiero_pair *);
/* Lists the rule tokens of an initial phrase pair: the choices of at most two inner phrase pairs that leave a rule
 * within the limits. Words between two of them are never none, so that nonterminals are not adjacent. */
int hiero_tokens(hiero_pair *, const phrase_pair *);
/* Spells the rule of a token; valid until the next call. */
spelling hiero_spell(hiero_pair *, const int32_t src[2], const rule_token *);

#endif
