/* Adding to and clearing of sets of ranks. */
#include "search/rank_set.h"

int rank_set_add(rank_set *s, int32_t owner, const int32_t rank[2]) {
  uint32_t hash = (uint32_t)hash_mix(((uint64_t)(uint32_t)rank[0] << 32 | (uint32_t)rank[1]) * 31 + (uint32_t)owner);
  if (s->elements.size == INT32_MAX || index_reserve(&s->places) || ARRAY_RESERVE(s->elements, 1)) return LSCFG_ENOMEM;
  int64_t at = -1;
  for (int32_t id; (id = index_next(&s->places, hash, &at)) >= 0;) {
    const owned_ranks *e = s->elements.data + id;
    if (e->owner == owner && e->rank[0] == rank[0] && e->rank[1] == rank[1]) return 1;
  }
  index_put(&s->places, hash, (int32_t)s->elements.size);
  s->elements.data[s->elements.size++] = (owned_ranks){owner, {rank[0], rank[1]}};
  return LSCFG_OK;
}

void rank_set_clear(rank_set *s) {
  index_clear(&s->places);
  s->elements.size = 0;
}

void rank_set_release(rank_set *s) {
  index_release(&s->places);
  free(s->elements.data);
  memset(s, 0, sizeof *s);
}
