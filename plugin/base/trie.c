/* Growing of tries. */
#include "base/trie.h"

static int resize(trie *t, int64_t count) {
  trie bigger = {malloc((size_t)count * sizeof *bigger.steps), count, t->used};
  if (!bigger.steps) return LSCFG_ENOMEM;
  memset(bigger.steps, 0xff, (size_t)count * sizeof *bigger.steps);
  for (int64_t k = 0; k < t->count; k++)
    if (t->steps[k].node >= 0) *trie_place(&bigger, t->steps[k].node, t->steps[k].symbol) = t->steps[k];
  free(t->steps);
  *t = bigger;
  return LSCFG_OK;
}

int trie_init(trie *t) {
  memset(t, 0, sizeof *t);
  return resize(t, 1024);
}

void trie_release(trie *t) {
  free(t->steps);
  memset(t, 0, sizeof *t);
}

int trie_add(trie *t, int32_t node, int32_t symbol, int32_t child) {
  if (2 * (t->used + 1) > t->count && resize(t, 2 * t->count)) return LSCFG_ENOMEM;
  *trie_place(t, node, symbol) = (trie_step){node, symbol, child};
  t->used++;
  return LSCFG_OK;
}
