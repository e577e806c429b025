/* The language model as an automaton that caches its transitions: each is requested once from the caller. */
#include "search/lm.h"

#include "base/pages.h"

#include <math.h>

/* The kernel reads ARPA files itself, with KenLM's numbers to the last bit: KenLM through Python took 2 us per
 * pair of state and word, more than half of a first pass. The latest pairs lie in a table of 128 KiB before the
 * table of all pairs, because a sentence asks for a few thousand of them again and again. */

enum { FIRST_SLOTS_LOG2 = 12 };

static lm_slot *empty_slots(int32_t log2) {
  size_t count = (size_t)1 << log2;
  lm_slot *slots = large_pages(count * sizeof *slots);
  for (size_t i = 0; slots && i < count; i++) slots[i].key = LM_NO_KEY;
  return slots;
}

lscfg_lm *lscfg_lm_new(int32_t order, int32_t end_word, lscfg_lm_step step, void *context) {
  if (order < 1 || order > LM_MAX_ORDER || end_word < 0 || !step) return NULL;
  lscfg_lm *lm = malloc(sizeof *lm);
  if (!lm) return NULL;
  *lm = (lscfg_lm){order, end_word, step, context, empty_slots(LM_RECENT_LOG2), empty_slots(FIRST_SLOTS_LOG2),
                   64 - FIRST_SLOTS_LOG2, 0};
  if (lm->recent && lm->slots) return lm;
  lscfg_lm_free(lm);
  return NULL;
}

void lscfg_lm_free(lscfg_lm *lm) {
  if (!lm) return;
  free(lm->recent);
  free(lm->slots);
  free(lm);
}

int64_t lscfg_lm_size(const lscfg_lm *lm) { return lm->used; }

int lscfg_lm_clear(lscfg_lm *lm) {
  lm_slot *slots = empty_slots(FIRST_SLOTS_LOG2);
  if (!slots) return LSCFG_ENOMEM;
  free(lm->slots);
  lm->slots = slots;
  lm->shift = 64 - FIRST_SLOTS_LOG2;
  lm->used = 0;
  for (int32_t i = 0; i < 1 << LM_RECENT_LOG2; i++) lm->recent[i].key = LM_NO_KEY;
  return LSCFG_OK;
}

static lm_slot *free_slot(const lscfg_lm *lm, uint64_t key) {
  uint64_t mask = UINT64_MAX >> lm->shift, i = lm_hash(key) >> lm->shift;
  while (lm->slots[i].key != LM_NO_KEY) i = (i + 1) & mask;
  return lm->slots + i;
}

static int grow(lscfg_lm *lm) {
  lm_slot *old = lm->slots;
  size_t count = (size_t)1 << (64 - lm->shift);
  lm_slot *bigger = empty_slots(64 - lm->shift + 1);
  if (!bigger) return LSCFG_ENOMEM;
  lm->slots = bigger;
  lm->shift--;
  for (size_t i = 0; i < count; i++)
    if (old[i].key != LM_NO_KEY) *free_slot(lm, old[i].key) = old[i];
  free(old);
  return LSCFG_OK;
}

static const lm_slot *ask(lscfg_lm *lm, uint64_t key, int *code) {
  float log10p = 0;
  int32_t next = -1, reach = -2;
  /* The table stays unchanged until the answer arrives, since the caller may fail. */
  int failed = lm->step(lm->context, (int32_t)(key >> 32), (int32_t)(key & UINT32_MAX), &log10p, &next, &reach);
  if (failed == LSCFG_ENOMEM) {
    *code = LSCFG_ENOMEM;
    return NULL;
  }
  if (failed || !isfinite(log10p) || next < 0 || next >= 1 << (32 - LM_REACH_BITS) || reach < -2 ||
      reach > lm->order) {
    *code = LSCFG_ECALLBACK;
    return NULL;
  }
  /* Two thirds full at most: a miss costs a walk to the next hole. */
  if ((lm->used + 1) * 3 > (int64_t)2 << (64 - lm->shift) && grow(lm)) {
    *code = LSCFG_ENOMEM;
    return NULL;
  }
  lm_slot *slot = free_slot(lm, key);
  *slot = (lm_slot){key, log10p, (uint32_t)next << LM_REACH_BITS | (uint32_t)(reach + 2)};
  lm->used++;
  return slot;
}

const lm_slot *lm_look_up(lscfg_lm *lm, uint64_t key, int *code) {
  uint64_t mask = UINT64_MAX >> lm->shift;
  for (uint64_t i = lm_hash(key) >> lm->shift;; i = (i + 1) & mask) {
    const lm_slot *slot = lm->slots + i;
    if (slot->key == key) return slot;
    if (slot->key == LM_NO_KEY) return ask(lm, key, code);
  }
}
