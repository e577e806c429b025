/* Tables collected from a corpus, pair by pair: words, rules and linked words. */
#ifndef LSCFG_TABLES_H
#define LSCFG_TABLES_H

#include "extract/bitext.h"
#include "base/rule_table.h"

typedef struct {
  lscfg_vocab vocab;
  rule_table rules;
  link_counts lexicon;
} corpus_tables;

/* After a failure there is nothing to release. */
int corpus_tables_init(corpus_tables *);
void corpus_tables_release(corpus_tables *);
/* A view of the tables, valid until they change. */
lscfg_tables corpus_tables_view(const corpus_tables *);

#endif
