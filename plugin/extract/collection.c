/* The result of deriving a corpus, as a whole: creating, joining and flushing it. */
#include "extract/derive_forests.h"

lscfg_derivations *lscfg_derivations_new(const lscfg_derive_options *options) {
  lscfg_derivations *d = calloc(1, sizeof *d);
  if (!d) return NULL;
  d->options = *options;
  if (corpus_tables_init(&d->tables) || ARRAY_RESERVE(d->trees, 1) || forests_init(d)) {
    lscfg_derivations_free(d);
    return NULL;
  }
  d->trees.data[d->trees.size++] = 0;
  return d;
}

void lscfg_derivations_free(lscfg_derivations *d) {
  if (!d) return;
  corpus_tables_release(&d->tables);
  sentence_pair_release(&d->pair);
  free(d->rule_count.data);
  free(d->trees.data);
  free(d->node_rule.data);
  free(d->node_parent.data);
  free(d->node_slot.data);
  free(d->node_span.data);
  forests_release(d);
  free(d->work.data);
  free(d->child_at.data);
  free(d->rule_symbols.data);
  free(d->phrases.data);
  free(d->stack.data);
  free(d->todo.data);
  free(d->children.data);
  free(d->child_spans);
  free(d);
}

/* ---- joining and flushing ---- */

/* Numbers of the other's words here. */
static int merge_words(lscfg_vocab *vocab, const lscfg_vocab *other, int32_t *word) {
  for (int32_t k = 0; k < lscfg_vocab_size(other); k++) {
    size_t length;
    const char *bytes = lscfg_vocab_word(other, k, &length);
    if ((word[k] = lscfg_vocab_add(vocab, bytes, length)) < 0) return LSCFG_ENOMEM;
  }
  return LSCFG_OK;
}

static int merge_rules(lscfg_derivations *d, const lscfg_derivations *other, const int32_t *word, int32_t *number) {
  const rule_table *rules = &other->tables.rules;
  for (int64_t r = 0; r < rule_table_size(rules); r++) {
    const int32_t *symbols = rules->symbols.data + rules->offsets.data[r];
    int32_t n = (int32_t)(rules->offsets.data[r + 1] - rules->offsets.data[r]);
    d->rule_symbols.size = 0;
    if (ARRAY_RESERVE(d->rule_symbols, n)) return LSCFG_ENOMEM;
    for (int32_t k = 0; k < n; k++) d->rule_symbols.data[k] = symbols[k] < 0 ? symbols[k] : word[symbols[k]];
    number[r] = derivations_rule(d, d->rule_symbols.data, rules->src_length.data[r], n, rules->arity.data[r]);
    if (number[r] < 0) return LSCFG_ENOMEM;
    d->rule_count.data[number[r]] += other->rule_count.data[r];
  }
  return LSCFG_OK;
}

static int merge_lexicon(link_counts *lexicon, const link_counts *other, const int32_t *word) {
  for (int64_t k = 0; k < other->pairs.size; k++) {
    lscfg_word_pair pair = other->pairs.data[k];
    int32_t src = pair.src < 0 ? -1 : word[pair.src], tgt = pair.tgt < 0 ? -1 : word[pair.tgt];
    if (link_counts_add(lexicon, src, tgt, pair.count)) return LSCFG_ENOMEM;
  }
  return LSCFG_OK;
}

static int merge_nodes(lscfg_derivations *d, const lscfg_derivations *other, const int32_t *number) {
  int64_t n = other->node_rule.size, shift = d->trees.data[d->trees.size - 1] - other->trees.data[0];
  if (ARRAY_RESERVE(d->node_rule, n) || ARRAY_RESERVE(d->node_parent, n) || ARRAY_RESERVE(d->node_slot, n) ||
      ARRAY_RESERVE(d->node_span, 4 * n) || ARRAY_RESERVE(d->trees, other->trees.size))
    return LSCFG_ENOMEM;
  for (int64_t q = 0; q < n; q++) {
    int32_t parent = other->node_parent.data[q];
    d->node_rule.data[d->node_rule.size++] = number[other->node_rule.data[q]];
    d->node_parent.data[d->node_parent.size++] = parent < 0 ? -1 : (int32_t)(parent + shift);
  }
  if (n) {
    memcpy(d->node_slot.data + d->node_slot.size, other->node_slot.data, (size_t)n * sizeof(int32_t));
    memcpy(d->node_span.data + d->node_span.size, other->node_span.data, (size_t)(4 * n) * sizeof(int32_t));
  }
  d->node_slot.size += n;
  d->node_span.size += 4 * n;
  for (int64_t t = 1; t < other->trees.size; t++) d->trees.data[d->trees.size++] = other->trees.data[t] + shift;
  return LSCFG_OK;
}

int lscfg_derivations_merge(lscfg_derivations *d, const lscfg_derivations *other, lscfg_error *error) {
  if (d == other) return lscfg_fail(error, LSCFG_EINPUT, 0, "derivations cannot be merged into themselves");
  if (d->trees.data[d->trees.size - 1] + other->node_rule.size > INT32_MAX ||
      d->forests.data[d->forests.size - 1] + other->forest_edge.size > INT32_MAX)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "more than 2147483647 nodes; split the corpus");
  int32_t *word = malloc(((size_t)lscfg_vocab_size(&other->tables.vocab) + 1) * sizeof *word);
  int32_t *number = malloc(((size_t)rule_table_size(&other->tables.rules) + 1) * sizeof *number);
  int code = word && number ? LSCFG_OK : LSCFG_ENOMEM;
  if (!code) code = merge_words(&d->tables.vocab, &other->tables.vocab, word);
  if (!code) code = merge_rules(d, other, word, number);
  if (!code) code = merge_nodes(d, other, number);
  if (!code && d->decomposed) code = forests_merge(d, other, number);
  if (!code) code = merge_lexicon(&d->tables.lexicon, &other->tables.lexicon, word);
  for (int k = 0; k < LSCFG_N_REASONS; k++) d->dropped[k] += other->dropped[k];
  d->n_above += other->n_above;
  free(word);
  free(number);
  return code ? out_of_memory(error) : LSCFG_OK;
}

void lscfg_derivations_flush(lscfg_derivations *d) {
  d->trees.data[0] = d->trees.data[d->trees.size - 1];
  d->trees.size = 1;
  d->node_rule.size = d->node_parent.size = d->node_slot.size = d->node_span.size = 0;
  forests_flush(d);
}
