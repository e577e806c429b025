/* Patterns: word sequences with nonterminals between them, and their places in both texts. */
#ifndef LSCFG_DEMAND_PATTERNS_H
#define LSCFG_DEMAND_PATTERNS_H

#include "extract/tables.h"

enum { MAPPED, TAUGHT, N_TEXTS, MOST_PARTS = 3 };

/* Word sequences in this order, with one or more nonterminals between two of them. */
typedef struct {
  int32_t n, length[MOST_PARTS];
  const int32_t *words[MOST_PARTS];
} word_parts;

/* Word positions of such sequences in a text. */
typedef struct {
  int64_t pair, at[MOST_PARTS];
  int32_t pattern;
} place;

/* A part of a suffix array. */
typedef struct {
  int64_t begin, end;
} suffix_range;

/* Places and ends of a pattern. */
typedef struct {
  int64_t places; /* in both texts */
  double scale;   /* places of the file for each one examined */
  int32_t ends;   /* bit first + 2 * last is set if it may begin and end in nonterminals */
} pattern_facts;

/* Patterns of one side, as words with -1 between sequences, and their places. */
typedef struct {
  rule_table names;
  ARRAY(pattern_facts) facts;
  ARRAY(place) places[N_TEXTS];
  rule_table parts;                     /* beginnings of the sequences of patterns */
  ARRAY(suffix_range) ranges[N_TEXTS];  /* of each of them */
} pattern_table;

int pattern_table_init(pattern_table *);
void pattern_table_clear(pattern_table *);
/* Forgets all rules, but keeps their memory. */
void forget_sides(rule_table *);
void pattern_table_release(pattern_table *);
/* The sequences of a pattern, or of a side of a rule, inside its outer nonterminals. */
word_parts parts_of(const int32_t *symbols, int64_t n);

#endif
