#include "sample/sites.h"

void sites_release(site_index *p) {
  free(p->next);
  free(p->previous);
  free(p->pair);
  free(p->first.data);
  free(p->candidates.data);
  free(p->sites.data);
  free(p->sums);
}

int sites_reserve(site_index *p, int64_t n_rules) {
  if (ARRAY_RESERVE(p->first, n_rules - p->first.size)) return LSCFG_ENOMEM;
  while (p->first.size < n_rules) p->first.data[p->first.size++] = -1;
  return LSCFG_OK;
}

void sites_add(site_index *p, int32_t rule, int32_t node) {
  int32_t *first = &p->first.data[rule];
  p->next[node] = *first;
  p->previous[node] = -1;
  if (*first >= 0) p->previous[*first] = node;
  *first = node;
}

void sites_remove(site_index *p, int32_t rule, int32_t node) {
  int32_t before = p->previous[node], behind = p->next[node];
  if (before >= 0)
    p->next[before] = behind;
  else
    p->first.data[rule] = behind;
  if (behind >= 0) p->previous[behind] = before;
}
