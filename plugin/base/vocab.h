#ifndef LSCFG_VOCAB_H
#define LSCFG_VOCAB_H

#include "base/index.h"

struct lscfg_vocab {
  ARRAY(char) bytes;      /* all words, concatenated */
  ARRAY(int64_t) offsets; /* word id -> first byte; one more than there are words */
  index_table index;      /* word ids */
};

/* A vocabulary inside another struct: initialise before use, release after. */
int vocab_init(lscfg_vocab *);
void vocab_release(lscfg_vocab *);

#endif
