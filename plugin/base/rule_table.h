/* Interned rules: pairs of symbol sequences and their numbers. */
#ifndef LSCFG_RULE_TABLE_H
#define LSCFG_RULE_TABLE_H

#include "base/index.h"

/* Rules, numbered in order of first appearance: two sides of symbols each, concatenated. */
typedef struct {
  ARRAY(int32_t) symbols;
  ARRAY(int64_t) offsets; /* one more than there are rules */
  ARRAY(int32_t) src_length;
  ARRAY(int32_t) arity;
  index_table index; /* rules */
} rule_table;

int rule_table_init(rule_table *);
void rule_table_release(rule_table *);
static inline int64_t rule_table_size(const rule_table *t) { return t->src_length.size; }
/* The number of the rule of n symbols, n_src of them on the source side, or -1. */
int32_t rule_table_find(const rule_table *, const int32_t *symbols, int32_t n_src, int32_t n);
/* The number of the rule, new or known; LSCFG_ENOMEM when memory or numbers are out. */
int32_t rule_table_intern(rule_table *, const int32_t *symbols, int32_t n_src, int32_t n, int32_t arity);
/* Adds a rule that is known to be new, for a table with another index of its rules. */
int32_t rule_table_append(rule_table *, const int32_t *symbols, int32_t n_src, int32_t n, int32_t arity);

#endif
