/* At which tables the tokens of rules sit: for each rule, how many tables of each size there are. Tables of a size are
 * alike, so their numbers are all that a Chinese restaurant process depends on. */
#ifndef LSCFG_SAMPLE_SEATS_H
#define LSCFG_SAMPLE_SEATS_H

#include "base/common.h"

/* Tables of one size; those of a rule are chained, small ones first. */
typedef struct {
  int32_t size, tables;
  int32_t next; /* -1: none */
} seat_group;

typedef struct {
  ARRAY(seat_group) groups;
  int32_t free; /* chain of those that are not in use */
  ARRAY(int32_t) first;  /* [rules] */
  ARRAY(int32_t) tables; /* [rules] */
} seat_table;

void seats_init(seat_table *);
void seats_release(seat_table *);
/* One more rule, without tokens. */
int seats_add_rule(seat_table *);
/* Room for so many tokens in all; without it there may be none. Tokens that leave need it, too: a table that gets
 * smaller may be the only one of its size. */
int seats_reserve(seat_table *, int64_t tokens);
/* A table of a rule gets another size: from 0 for a new one, to 0 for one that is given up. */
void seats_move(seat_table *, int32_t rule, int32_t from, int32_t to);
/* The size of a rule's table at which a number in [0, sum over tables of (size - discount)) falls. */
int32_t seats_at(const seat_table *, int32_t rule, double number, double discount);

/* Tokens of a rule. */
int64_t seats_tokens(const seat_table *, int32_t rule);

#endif
