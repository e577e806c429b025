/* Finds rules that lie in a mapped file by their symbols. */
#ifndef LSCFG_RULE_INDEX_H
#define LSCFG_RULE_INDEX_H

#include "base/index.h"

/* Numbers of rules, or of the first rule of each source side. */
typedef struct {
  lscfg_rules rules;
  const int32_t *lhs; /* [rules] category of each left-hand side, a part of the rule; NULL: one category */
  int sources;        /* non-zero: source sides alone */
  index_table numbers;
} rule_index;

/* A rule to find: n symbols, n_src of them on the source side, and the category of the left-hand side. */
typedef struct {
  const int32_t *symbols;
  int32_t n_src, n, lhs;
} rule_query;

/* Indexes rules whose arrays stay in place. same[2]: two equal rules, of which only the first is found, or -1. */
int rule_index_build(rule_index *, const lscfg_rules *, const int32_t *lhs, int sources, int64_t same[2]);
void rule_index_release(rule_index *);
/* The number of a rule, -1: none. */
int32_t rule_index_find(const rule_index *, rule_query);

enum { RULES_AT_ONCE = 32 };
/* The numbers of at most RULES_AT_ONCE rules: while one is compared, memory fetches the next ones. */
void rule_index_find_all(const rule_index *, const rule_query *, int32_t n, int32_t *found);

#endif
