/* The phrase-decomposition forests of a corpus, next to its derivation trees. */
#ifndef LSCFG_EXTRACT_DERIVE_FORESTS_H
#define LSCFG_EXTRACT_DERIVE_FORESTS_H

#include "extract/pair.h"

/* LSCFG_OK or LSCFG_ENOMEM; forests_release releases the memory in either case. */
int forests_init(lscfg_derivations *);
void forests_release(lscfg_derivations *);
/* Appends the forest of the pair that was read last: LSCFG_OK or LSCFG_ENOMEM. */
int forests_append(lscfg_derivations *, const linked_words *);
/* Most nodes that the forest of a pair of n source words has. */
static inline int64_t forests_most_nodes(int64_t n) { return n * (n + 1) / 2 + 1; }
/* Appends the forests of another object; number: of its rules here. */
int forests_merge(lscfg_derivations *, const lscfg_derivations *other, const int32_t *number);
/* Clears the forests; numbers continue. */
void forests_flush(lscfg_derivations *);

#endif
