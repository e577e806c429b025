/* The tables of a corpus. */
#include "extract/tables.h"

int corpus_tables_init(corpus_tables *t) {
  memset(t, 0, sizeof *t);
  if (!vocab_init(&t->vocab) && !rule_table_init(&t->rules)) return LSCFG_OK;
  corpus_tables_release(t);
  return LSCFG_ENOMEM;
}

void corpus_tables_release(corpus_tables *t) {
  vocab_release(&t->vocab);
  rule_table_release(&t->rules);
  link_counts_release(&t->lexicon);
}

lscfg_tables corpus_tables_view(const corpus_tables *t) {
  return (lscfg_tables){.n_rules = rule_table_size(&t->rules),
                        .n_symbols = t->rules.symbols.size,
                        .symbols = t->rules.symbols.data,
                        .offsets = t->rules.offsets.data,
                        .src_length = t->rules.src_length.data,
                        .arity = t->rules.arity.data,
                        .n_words = lscfg_vocab_size(&t->vocab),
                        .n_vocab_bytes = t->vocab.bytes.size,
                        .vocab_bytes = t->vocab.bytes.data,
                        .vocab_offsets = t->vocab.offsets.data,
                        .n_pairs = t->lexicon.pairs.size,
                        .pairs = t->lexicon.pairs.data};
}
