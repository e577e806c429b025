/* Tables of the tokens of rules: for each rule, the number of tables of each size. Tables of a size are
 * interchangeable, so these numbers are all that a Chinese restaurant process depends on. */
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
  int32_t free;          /* chain of unused groups */
  ARRAY(int32_t) first;  /* [rules] */
  ARRAY(int32_t) tables; /* [rules] */
} seat_table;

void seats_init(seat_table *);
void seats_release(seat_table *);
/* One more rule, without tokens. */
int seats_add_rule(seat_table *);
/* Reserves room for this number of tokens in all. Tokens that leave need it too: a table that gets smaller may be the
 * only one of its size. */
int seats_reserve(seat_table *, int64_t tokens);
/* Changes the size of a rule's table: from 0 for a new one, to 0 for a removed one. */
void seats_move(seat_table *, int32_t rule, int32_t from, int32_t to);
/* The size of a rule's table at which a number in [0, sum over tables of (size - discount)) falls. */
int32_t seats_at(const seat_table *, int32_t rule, double number, double discount);

/* Tokens of a rule. */
int64_t seats_tokens(const seat_table *, int32_t rule);

#endif
