/* What a corpus is derived into: the tables of words, rules and word translations, and nodes that wait to be flushed. */
#include "derivations.h"

lscfg_derivations *lscfg_derivations_new(const lscfg_derive_options *options) {
  lscfg_derivations *d = calloc(1, sizeof *d);
  if (!d) return NULL;
  d->options = *options;
  d->slots = d->pair_slots = 1024;
  d->table = malloc((size_t)d->slots * sizeof *d->table);
  d->pair_table = malloc((size_t)d->pair_slots * sizeof *d->pair_table);
  if (vocab_init(&d->vocab) || !d->table || !d->pair_table || ARRAY_RESERVE(d->trees, 1)) {
    lscfg_derivations_free(d);
    return NULL;
  }
  memset(d->table, 0xff, (size_t)d->slots * sizeof *d->table);
  memset(d->pair_table, 0xff, (size_t)d->pair_slots * sizeof *d->pair_table);
  d->trees.data[d->trees.size++] = 0;
  return d;
}

void lscfg_derivations_free(lscfg_derivations *d) {
  if (!d) return;
  if (d->vocab.table) vocab_release(&d->vocab);
  free(d->symbols.data);
  free(d->rules.data);
  free(d->rule_count.data);
  free(d->table);
  free(d->pairs.data);
  free(d->pair_table);
  free(d->trees.data);
  free(d->node_rule.data);
  free(d->node_parent.data);
  free(d->node_slot.data);
  free(d->node_span.data);
  for (int side = SRC; side <= TGT; side++) {
    free(d->tokens[side].data);
    free(d->words[side].data);
  }
  free(d->links.data);
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

/* ---- rules ---- */

static int same_rule(const lscfg_derivations *d, const rule_entry *rule, const int32_t *symbols, int32_t n_src,
                     int32_t n_tgt) {
  return rule->n_src == n_src && rule->n_tgt == n_tgt &&
         !memcmp(d->symbols.data + rule->begin, symbols, (size_t)(n_src + n_tgt) * sizeof *symbols);
}

static int64_t rule_slot(const lscfg_derivations *d, const int32_t *symbols, int32_t n_src, int32_t n_tgt) {
  int64_t slot = (int64_t)(hash_ints(symbols, (int64_t)n_src + n_tgt, (uint64_t)n_src) & (uint64_t)(d->slots - 1));
  while (d->table[slot] >= 0 && !same_rule(d, &d->rules.data[d->table[slot]], symbols, n_src, n_tgt))
    slot = (slot + 1) & (d->slots - 1);
  return slot;
}

static int grow_rule_table(lscfg_derivations *d) {
  int32_t *table = malloc((size_t)d->slots * 2 * sizeof *table);
  if (!table) return LSCFG_ENOMEM;
  free(d->table);
  d->table = table;
  d->slots *= 2;
  memset(table, 0xff, (size_t)d->slots * sizeof *table);
  for (int32_t r = 0; r < d->rules.size; r++) {
    const rule_entry *rule = &d->rules.data[r];
    d->table[rule_slot(d, d->symbols.data + rule->begin, rule->n_src, rule->n_tgt)] = r;
  }
  return LSCFG_OK;
}

int32_t derivations_rule(lscfg_derivations *d, const int32_t *symbols, int32_t n_src, int32_t n_tgt, int32_t arity) {
  if (2 * (d->rules.size + 1) > d->slots && grow_rule_table(d)) return LSCFG_ENOMEM;
  int64_t slot = rule_slot(d, symbols, n_src, n_tgt);
  if (d->table[slot] < 0) {
    if (d->rules.size == INT32_MAX || ARRAY_RESERVE(d->rules, 1) || ARRAY_RESERVE(d->rule_count, 1) ||
        ARRAY_RESERVE(d->symbols, (int64_t)n_src + n_tgt))
      return LSCFG_ENOMEM;
    memcpy(d->symbols.data + d->symbols.size, symbols, (size_t)(n_src + n_tgt) * sizeof *symbols);
    d->rules.data[d->rules.size] = (rule_entry){d->symbols.size, n_src, n_tgt, arity};
    d->rule_count.data[d->rule_count.size++] = 0;
    d->symbols.size += n_src + n_tgt;
    d->table[slot] = (int32_t)d->rules.size++;
  }
  return d->table[slot];
}

/* ---- word translations: how often two words are linked ---- */

static int64_t pair_slot(const lscfg_derivations *d, int32_t src, int32_t tgt) {
  uint64_t h = hash_mix(((uint64_t)(uint32_t)src << 32) | (uint32_t)tgt);
  int64_t slot = (int64_t)(h & (uint64_t)(d->pair_slots - 1));
  for (; d->pair_table[slot] >= 0; slot = (slot + 1) & (d->pair_slots - 1)) {
    const lscfg_word_pair *pair = &d->pairs.data[d->pair_table[slot]];
    if (pair->src == src && pair->tgt == tgt) break;
  }
  return slot;
}

int derivations_count_pair(lscfg_derivations *d, int32_t src, int32_t tgt, int64_t count) {
  if (2 * (d->pairs.size + 1) > d->pair_slots) {
    int32_t *table = malloc((size_t)d->pair_slots * 2 * sizeof *table);
    if (!table) return LSCFG_ENOMEM;
    free(d->pair_table);
    d->pair_table = table;
    d->pair_slots *= 2;
    memset(table, 0xff, (size_t)d->pair_slots * sizeof *table);
    for (int32_t k = 0; k < d->pairs.size; k++) table[pair_slot(d, d->pairs.data[k].src, d->pairs.data[k].tgt)] = k;
  }
  int64_t slot = pair_slot(d, src, tgt);
  if (d->pair_table[slot] < 0) {
    if (d->pairs.size == INT32_MAX || ARRAY_RESERVE(d->pairs, 1)) return LSCFG_ENOMEM;
    d->pairs.data[d->pairs.size] = (lscfg_word_pair){src, tgt, 0};
    d->pair_table[slot] = (int32_t)d->pairs.size++;
  }
  d->pairs.data[d->pair_table[slot]].count += count;
  return LSCFG_OK;
}

/* ---- joining, flushing, looking ---- */

/* Numbers of the other's words here. */
static int merge_words(lscfg_derivations *d, const lscfg_derivations *other, int32_t *word) {
  for (int32_t k = 0; k < lscfg_vocab_size(&other->vocab); k++) {
    size_t length;
    const char *bytes = lscfg_vocab_word(&other->vocab, k, &length);
    if ((word[k] = lscfg_vocab_add(&d->vocab, bytes, length)) < 0) return LSCFG_ENOMEM;
  }
  return LSCFG_OK;
}

static int merge_rules(lscfg_derivations *d, const lscfg_derivations *other, const int32_t *word, int32_t *number) {
  for (int64_t r = 0; r < other->rules.size; r++) {
    const rule_entry *rule = &other->rules.data[r];
    const int32_t *symbols = other->symbols.data + rule->begin;
    d->rule_symbols.size = 0;
    if (ARRAY_RESERVE(d->rule_symbols, (int64_t)rule->n_src + rule->n_tgt)) return LSCFG_ENOMEM;
    for (int32_t k = 0; k < rule->n_src + rule->n_tgt; k++)
      d->rule_symbols.data[k] = symbols[k] < 0 ? symbols[k] : word[symbols[k]];
    number[r] = derivations_rule(d, d->rule_symbols.data, rule->n_src, rule->n_tgt, rule->arity);
    if (number[r] < 0) return LSCFG_ENOMEM;
    d->rule_count.data[number[r]] += other->rule_count.data[r];
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
  if (d->trees.data[d->trees.size - 1] + other->node_rule.size > INT32_MAX)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "more than 2147483647 nodes; split the corpus");
  int32_t *word = malloc(((size_t)lscfg_vocab_size(&other->vocab) + 1) * sizeof *word);
  int32_t *number = malloc(((size_t)other->rules.size + 1) * sizeof *number);
  int code = word && number ? LSCFG_OK : LSCFG_ENOMEM;
  if (!code) code = merge_words(d, other, word);
  if (!code) code = merge_rules(d, other, word, number);
  if (!code) code = merge_nodes(d, other, number);
  for (int64_t k = 0; !code && k < other->pairs.size; k++) {
    lscfg_word_pair pair = other->pairs.data[k];
    code = derivations_count_pair(d, pair.src < 0 ? -1 : word[pair.src], pair.tgt < 0 ? -1 : word[pair.tgt], pair.count);
  }
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
}

void lscfg_derivations_get(const lscfg_derivations *d, lscfg_derivations_view *view) {
  *view = (lscfg_derivations_view){.n_trees = d->trees.size - 1,
                                   .n_nodes = d->node_rule.size,
                                   .trees = d->trees.data,
                                   .node_rule = d->node_rule.data,
                                   .node_parent = d->node_parent.data,
                                   .node_slot = d->node_slot.data,
                                   .node_span = d->node_span.data,
                                   .n_rules = d->rules.size,
                                   .rule_count = d->rule_count.data,
                                   .n_symbols = d->symbols.size,
                                   .symbols = d->symbols.data,
                                   .vocab = &d->vocab,
                                   .n_vocab_bytes = d->vocab.bytes.size,
                                   .vocab_bytes = d->vocab.bytes.data,
                                   .vocab_offsets = d->vocab.offsets.data,
                                   .n_pairs = d->pairs.size,
                                   .pairs = d->pairs.data,
                                   .n_above = d->n_above};
  memcpy(view->dropped, d->dropped, sizeof d->dropped);
}

void lscfg_derivations_rules(const lscfg_derivations *d, int32_t *n_src, int32_t *n_tgt, int32_t *arity) {
  for (int64_t r = 0; r < d->rules.size; r++) {
    n_src[r] = d->rules.data[r].n_src;
    n_tgt[r] = d->rules.data[r].n_tgt;
    arity[r] = d->rules.data[r].arity;
  }
}
