/* Growing and clearing of tables of numbers. */
#include "base/index.h"

static int resize(index_table *t, int64_t count) {
  index_table bigger = {NULL, count, 0};
  bigger.slots = malloc((size_t)bigger.count * sizeof *bigger.slots);
  if (!bigger.slots) return LSCFG_ENOMEM;
  memset(bigger.slots, 0xff, (size_t)bigger.count * sizeof *bigger.slots);
  for (int64_t i = 0; i < t->count; i++)
    if (t->slots[i].id >= 0) index_put(&bigger, t->slots[i].hash, t->slots[i].id);
  free(t->slots);
  *t = bigger;
  return LSCFG_OK;
}

int index_reserve(index_table *t) {
  if ((t->used + 1) * 2 <= t->count) return LSCFG_OK;
  return resize(t, t->count ? 2 * t->count : 512);
}

int index_reserve_all(index_table *t, int64_t entries) {
  int64_t count = t->count ? t->count : 16;
  while (count < 2 * entries) count *= 2;
  return count == t->count ? LSCFG_OK : resize(t, count);
}

void index_clear(index_table *t) {
  if (t->used) memset(t->slots, 0xff, (size_t)t->count * sizeof *t->slots);
  t->used = 0;
}

void index_release(index_table *t) {
  free(t->slots);
  memset(t, 0, sizeof *t);
}
