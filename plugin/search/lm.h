#ifndef LSCFG_LM_H
#define LSCFG_LM_H

#include "lscfg/search.h"
#include "base/common.h"

/* The answer for one (state, word). Sixteen bytes, so that four share a cache line; an index_table would need a second
 * line. */
typedef struct {
  uint64_t key; /* state << 32 | word; LM_NO_KEY where empty */
  float log10p;
  uint32_t next_reach; /* state that follows << LM_REACH_BITS | (reach + 2) */
} lm_slot;

#define LM_NO_KEY UINT64_MAX /* no state reaches 2^32 - 1 */
/* A sentence requests the same few thousand pairs again and again. The latest are adjacent, each in the slot of its
 * hash, so that they stay in the processor's second-level cache, unlike the table of all pairs. */
enum { LM_RECENT_LOG2 = 13 };

enum { LM_REACH_BITS = 4, LM_REACH_MASK = (1 << LM_REACH_BITS) - 1, LM_MAX_ORDER = LM_REACH_MASK - 2 };

struct lscfg_lm {
  int32_t order, end_word;
  lscfg_lm_step step;
  void *context;
  lm_slot *recent; /* [2^LM_RECENT_LOG2] */
  lm_slot *slots;
  int32_t shift; /* 64 - log2 of the number of slots */
  int64_t used;
};

/* From the table of all pairs; requests a new one from the caller. NULL if the caller refuses or gives an invalid
 * answer, or memory is out: *code gives which. */
const lm_slot *lm_look_up(lscfg_lm *, uint64_t key, int *code);

static inline uint64_t lm_hash(uint64_t key) { return key * 0x9e3779b97f4a7c15u; }

/* The entry of (state, word), valid until the next call; NULL as lm_look_up. */
static inline const lm_slot *lm_find(lscfg_lm *lm, int32_t state, int32_t word, int *code) {
  uint64_t key = (uint64_t)(uint32_t)state << 32 | (uint32_t)word;
  lm_slot *recent = lm->recent + (lm_hash(key) >> (64 - LM_RECENT_LOG2));
  if (recent->key == key) return recent;
  const lm_slot *slot = lm_look_up(lm, key, code);
  if (slot) *recent = *slot;
  return slot;
}

static inline int32_t lm_next(const lm_slot *slot) { return (int32_t)(slot->next_reach >> LM_REACH_BITS); }
static inline int32_t lm_reach(const lm_slot *slot) { return (int32_t)(slot->next_reach & LM_REACH_MASK) - 2; }

#endif
