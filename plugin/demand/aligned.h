/* Word-aligned text that grows in memory. */
#ifndef LSCFG_ALIGNED_H
#define LSCFG_ALIGNED_H

#include "lscfg/demand.h"
#include "extract/tables.h"

struct lscfg_aligned {
  corpus_tables tables;
  ARRAY(int32_t) words[2];
  ARRAY(int64_t) starts[2];
  ARRAY(int64_t) link_starts;
  ARRAY(uint16_t) links;
  sentence_pair pair;
};

/* Reads a pair into the work space; arguments and errors as in lscfg_derive. */
int aligned_read(lscfg_aligned *, const char *const line[3], const size_t length[3], int32_t *stream, lscfg_error *);
/* Adds the pair in the work space: LSCFG_OK or LSCFG_ENOMEM. */
int aligned_append(lscfg_aligned *);

#endif
