/* Patterns: tables of them, and their word sequences. */
#include "demand/patterns.h"

int pattern_table_init(pattern_table *t) {
  memset(t, 0, sizeof *t);
  return rule_table_init(&t->names);
}

void pattern_table_clear(pattern_table *t) {
  t->names.symbols.size = t->names.src_length.size = t->names.arity.size = 0;
  t->names.offsets.size = 1;
  index_clear(&t->names.index);
  t->facts.size = t->places[MAPPED].size = t->places[TAUGHT].size = 0;
}

void pattern_table_release(pattern_table *t) {
  rule_table_release(&t->names);
  free(t->facts.data);
  free(t->places[MAPPED].data);
  free(t->places[TAUGHT].data);
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
