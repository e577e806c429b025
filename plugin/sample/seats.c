#include "sample/seats.h"

void seats_init(seat_table *s) {
  memset(s, 0, sizeof *s);
  s->free = -1;
}

void seats_release(seat_table *s) {
  free(s->groups.data);
  free(s->first.data);
  free(s->tables.data);
  seats_init(s);
}

int seats_add_rule(seat_table *s) {
  if (ARRAY_RESERVE(s->first, 1) || ARRAY_RESERVE(s->tables, 1)) return LSCFG_ENOMEM;
  s->first.data[s->first.size++] = -1;
  s->tables.data[s->tables.size++] = 0;
  return LSCFG_OK;
}

int seats_reserve(seat_table *s, int64_t tokens) {
  return tokens > INT32_MAX || ARRAY_RESERVE(s->groups, tokens - s->groups.size) ? LSCFG_ENOMEM : LSCFG_OK;
}

/* The slot that holds the number of a rule's first group of at least this size, or of the end of its chain. */
static int32_t *place_of(seat_table *s, int32_t rule, int32_t size) {
  int32_t *place = &s->first.data[rule];
  while (*place >= 0 && s->groups.data[*place].size < size) place = &s->groups.data[*place].next;
  return place;
}

static void take_one(seat_table *s, int32_t rule, int32_t size) {
  int32_t *place = place_of(s, rule, size), group = *place;
  if (--s->groups.data[group].tables) return;
  *place = s->groups.data[group].next;
  s->groups.data[group].next = s->free;
  s->free = group;
}

static void add_one(seat_table *s, int32_t rule, int32_t size) {
  int32_t *place = place_of(s, rule, size), next = *place;
  if (next >= 0 && s->groups.data[next].size == size) {
    s->groups.data[next].tables++;
    return;
  }
  int32_t group = s->free;
  if (group >= 0)
    s->free = s->groups.data[group].next;
  else
    group = (int32_t)s->groups.size++;
  *place = group;
  s->groups.data[group] = (seat_group){size, 1, next};
}

void seats_move(seat_table *s, int32_t rule, int32_t from, int32_t to) {
  s->tables.data[rule] += (to > 0) - (from > 0);
  if (from) take_one(s, rule, from);
  if (to) add_one(s, rule, to);
}

int32_t seats_at(const seat_table *s, int32_t rule, double number, double discount) {
  int32_t size = 0;
  for (int32_t k = s->first.data[rule]; k >= 0; k = s->groups.data[k].next) {
    const seat_group *g = &s->groups.data[k];
    size = g->size;
    if ((number -= g->tables * (size - discount)) < 0) break;
  }
  return size;
}

int64_t seats_tokens(const seat_table *s, int32_t rule) {
  int64_t n = 0;
  for (int32_t k = s->first.data[rule]; k >= 0; k = s->groups.data[k].next)
    n += (int64_t)s->groups.data[k].size * s->groups.data[k].tables;
  return n;
}
