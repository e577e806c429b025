#ifndef LSCFG_LM_H
#define LSCFG_LM_H

#include "lscfg/search.h"
#include "base/common.h"

/* What is known of one (state, word). Sixteen bytes, so that four share a cache line. The search spends its
 * time here; an index_table would ask for a second line. */
typedef struct {
  uint64_t key; /* state << 32 | word; LM_NO_KEY where empty */
  float log10p;
  uint32_t next_reach; /* state that follows << LM_REACH_BITS | (reach + 1) */
} lm_slot;

#define LM_NO_KEY UINT64_MAX /* no state reaches 2^32 - 1 */
enum { LM_REACH_BITS = 4, LM_REACH_MASK = (1 << LM_REACH_BITS) - 1, LM_MAX_ORDER = LM_REACH_MASK - 1 };

struct lscfg_lm {
  int32_t order, end_word;
  lscfg_lm_step step;
  void *context;
  lm_slot *slots;
  int32_t shift; /* 64 - log2 of the number of slots */
  int64_t used;
};

/* Asks the caller; NULL if it refuses, answers nonsense or memory is out: *code says which. */
const lm_slot *lm_miss(lscfg_lm *, uint64_t key, int *code);

static inline uint64_t lm_hash(const lscfg_lm *lm, uint64_t key) { return key * 0x9e3779b97f4a7c15u >> lm->shift; }

/* The entry of (state, word), valid until the next call; NULL as lm_miss. */
static inline const lm_slot *lm_find(lscfg_lm *lm, int32_t state, int32_t word, int *code) {
  uint64_t key = (uint64_t)(uint32_t)state << 32 | (uint32_t)word;
  uint64_t mask = UINT64_MAX >> lm->shift;
  for (uint64_t i = lm_hash(lm, key);; i = (i + 1) & mask) {
    const lm_slot *slot = lm->slots + i;
    if (slot->key == key) return slot;
    if (slot->key == LM_NO_KEY) return lm_miss(lm, key, code);
  }
}

static inline int32_t lm_next(const lm_slot *slot) { return (int32_t)(slot->next_reach >> LM_REACH_BITS); }
static inline int32_t lm_reach(const lm_slot *slot) { return (int32_t)(slot->next_reach & LM_REACH_MASK) - 1; }

#endif
