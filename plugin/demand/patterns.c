/* Patterns: tables of them, and their word sequences. */
#include "demand/patterns.h"

int pattern_table_init(pattern_table *t) {
  memset(t, 0, sizeof *t);
  return rule_table_init(&t->names) || rule_table_init(&t->parts);
}

void forget_sides(rule_table *t) {
  t->symbols.size = t->src_length.size = t->arity.size = 0;
  t->offsets.size = 1;
  index_clear(&t->index);
}

void pattern_table_clear(pattern_table *t) {
  forget_sides(&t->names);
  forget_sides(&t->parts);
  t->facts.size = 0;
  for (int which = MAPPED; which < N_TEXTS; which++) t->places[which].size = t->ranges[which].size = 0;
}

void pattern_table_begin(pattern_table *t, int32_t samples) {
  enum { MOST_PLACES = 1 << 18, MOST_PATTERNS = 1 << 17 };
  int whole = rule_table_size(&t->names) == t->facts.size && rule_table_size(&t->parts) == t->ranges[TAUGHT].size;
  int large = t->places[MAPPED].size + t->places[TAUGHT].size > MOST_PLACES || t->facts.size > MOST_PATTERNS;
  if (!whole || large || samples != t->samples)
    pattern_table_clear(t); /* not whole: an error has ended the last look-up */
  t->samples = samples;
  t->used.size = 0;
  t->look_up++;
}

void pattern_table_release(pattern_table *t) {
  rule_table_release(&t->names);
  free(t->facts.data);
  free(t->used.data);
  rule_table_release(&t->parts);
  for (int which = MAPPED; which < N_TEXTS; which++) {
    free(t->places[which].data);
    free(t->ranges[which].data);
  }
}

word_parts parts_of(const int32_t *symbols, int64_t n) {
  word_parts p = {0};
  for (int64_t k = 0; k < n && p.n < MOST_PARTS; k++) {
    if (symbols[k] < 0) continue;
    p.words[p.n] = symbols + k;
    while (k < n && symbols[k] >= 0) p.length[p.n]++, k++;
    p.n++;
  }
  return p;
}
