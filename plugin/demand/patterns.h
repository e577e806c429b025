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
  int64_t n_places;                    /* in both texts; 0: longer patterns have none */
  int64_t first[N_TEXTS], end[N_TEXTS]; /* the places whose rules are extracted */
  double scale;                        /* places of the file for each one examined */
  int64_t used;                        /* the last look-up with the pattern */
  int32_t ends;                        /* there: bit first + 2 * last is set if it may begin and end in nonterminals */
} pattern_facts;

/* Patterns of one side, as words with -1 between sequences, and their places; kept for later look-ups, since frequent
 * words are in most sentences. */
typedef struct {
  rule_table names;
  ARRAY(pattern_facts) facts;
  ARRAY(place) places[N_TEXTS];
  rule_table parts;                    /* beginnings of the sequences of patterns */
  ARRAY(suffix_range) ranges[N_TEXTS]; /* of each of them */
  ARRAY(int32_t) used;                 /* patterns of this look-up */
  int64_t look_up;                     /* its number */
  int32_t samples;                     /* of all patterns */
} pattern_table;

int pattern_table_init(pattern_table *);
/* Forgets all patterns. */
void pattern_table_clear(pattern_table *);
/* Begins a look-up, with patterns of earlier ones if these have as many samples and are not too many. */
void pattern_table_begin(pattern_table *, int32_t samples);
/* Forgets all rules, but keeps their memory. */
void forget_sides(rule_table *);
void pattern_table_release(pattern_table *);
/* The sequences of a pattern, or of a side of a rule, inside its outer nonterminals. */
word_parts parts_of(const int32_t *symbols, int64_t n);

#endif
