#ifndef LSCFG_KBEST_H
#define LSCFG_KBEST_H

#include "search/items.h"

struct lscfg_kbest {
  ARRAY(double) score;
  ARRAY(double) lm;
  ARRAY(double) oov;
  ARRAY(int64_t) word_offsets;
  ARRAY(int32_t) words;
  ARRAY(int64_t) app_offsets;
  ARRAY(int32_t) apps;
};

/* The best derivations, best first (Huang and Chiang 2005, algorithm 3). */
int kbest_extract(const hypergraph *, const lscfg_search_options *, lscfg_kbest **, lscfg_error *);

#endif
