/* Affiliation of target words with source words (Devlin et al. 2014, section 2.1), from a lexicon instead of links. */
#ifndef LSCFG_AFFILIATE_H
#define LSCFG_AFFILIATE_H

#include "base/common.h"
#include "base/int_map.h"
#include "lscfg/neural.h"

/* Shares by pairs of rows; those of no source word have row 0 there, others their row + 1. */
struct lscfg_links {
  int_map map; /* value: 1 + number of the share */
  const float *share;
};

static inline int64_t link_key(int64_t source, int64_t target) { return (source + 1) << 32 | target; }

int links_init(lscfg_links *, const int32_t *pairs, const float *share, int64_t n);
/* The same of the arrays of a file, after checks; rows: of the source and the target table; names: of both arrays. */
int links_open(lscfg_links *, const int32_t *pairs, const float *share, int64_t n, const int64_t rows[2],
               const char *const names[2], lscfg_error *);
void links_release(lscfg_links *);

#endif
