/* The rules of a sentence: patterns of its words, the rule tokens at their places, and their counts. */
#include "demand/places.h"
#include "demand/visit.h"

/* ---- patterns of a sentence ---- */

typedef struct {
  const int32_t *words; /* of the sentence, -1 for unknown ones */
  int32_t n, max_span;
  int32_t begin, gaps; /* of the pattern so far */
  lscfg_error *error;
} sentence;

/* Notes the nonterminals that may be at the ends of a pattern that covers the words begin .. end-1. */
static void note_ends(lscfg_index *x, const sentence *s, int32_t pattern, int32_t end) {
  for (int32_t ends = 0; ends < 4; ends++) {
    int32_t first = ends & 1, last = ends >> 1, more = first + last;
    if ((first && !s->begin) || (last && end == s->n) || s->gaps + more > x->options.max_arity ||
        x->symbols.size + more > x->options.max_symbols || end - s->begin + more > s->max_span)
      continue;
    x->patterns[SRC].facts.data[pattern].ends |= 1 << ends;
  }
}

/* Finds the patterns that continue the present one by words from i on. */
static int list_patterns(lscfg_index *x, sentence *s, int32_t i) {
  int64_t before = x->symbols.size;
  for (int32_t j = i + 1; j <= s->n && s->words[j - 1] >= 0; j++) {
    if (x->symbols.size == x->options.max_symbols || j - s->begin > s->max_span) break;
    x->symbols.data[x->symbols.size++] = s->words[j - 1];
    int32_t pattern = find_pattern(x, SRC, x->symbols.data, (int32_t)x->symbols.size, s->error);
    if (pattern < 0) return pattern;
    if (!x->patterns[SRC].facts.data[pattern].n_places) break;
    note_ends(x, s, pattern, j);
    if (s->gaps == x->options.max_arity || x->symbols.size + 2 > x->options.max_symbols) continue;
    x->symbols.data[x->symbols.size++] = -1;
    s->gaps++;
    for (int32_t k = j + 1; k < s->n && k + 1 - s->begin <= s->max_span; k++) {
      int code = list_patterns(x, s, k);
      if (code) return code;
    }
    s->gaps--;
    x->symbols.size--;
  }
  x->symbols.size = before;
  return LSCFG_OK;
}

/* ---- counting ---- */

static int count_rule(lscfg_index *x, const phrase_pair *p, const rule_token *token, double share, int32_t pattern) {
  spelling r = hiero_spell(&x->work, p->src, token);
  if (ARRAY_RESERVE(x->count, 1) || ARRAY_RESERVE(x->occurrences, 1) || ARRAY_RESERVE(x->pattern_of, 1))
    return LSCFG_ENOMEM;
  int32_t rule = rule_table_intern(&x->found.rules, r.symbols, r.n_src, r.n, r.arity);
  if (rule < 0) return LSCFG_ENOMEM;
  if (rule == x->count.size) {
    x->count.data[x->count.size++] = 0;
    x->occurrences.data[x->occurrences.size++] = 0;
    x->pattern_of.data[x->pattern_of.size++] = pattern;
  }
  x->count.data[rule] += share;
  x->occurrences.data[rule]++;
  return LSCFG_OK;
}

static int count_target(lscfg_index *x, const phrase_pair *p, const rule_token *token, double share, int32_t pattern) {
  spelling r = hiero_spell(&x->work, p->src, token);
  int32_t side = rule_table_find(&x->targets, r.symbols + r.n_src, 0, r.n - r.n_src);
  if (side >= 0 && x->target_pattern.data[side] == pattern) x->target_count.data[side] += share;
  return LSCFG_OK;
}

static double scale_of(const lscfg_index *x, int side, int32_t pattern) {
  return x->patterns[side].facts.data[pattern].scale;
}

/* Scales counts in the file from the examined places to all. */
static void scale_counts(lscfg_index *x) {
  for (int64_t r = 0; r < x->count.size; r++) {
    double scale = scale_of(x, SRC, x->pattern_of.data[r]);
    if (scale <= 1) continue;
    x->count.data[r] *= scale;
    x->occurrences.data[r] = (int64_t)((double)x->occurrences.data[r] * scale + 0.5);
  }
}

/* ---- words and lexicon of the rules ---- */

/* Numbers the words of the rules by a vocabulary of these words alone. */
static int number_words(lscfg_index *x, lscfg_error *error) {
  int_map known = {0};
  int code = LSCFG_OK;
  for (int64_t k = 0; k < x->found.rules.symbols.size && !code; k++) {
    int32_t *symbol = &x->found.rules.symbols.data[k];
    if (*symbol < 0) continue;
    int64_t *number = int_map_at(&known, *symbol);
    if (number && !*number) {
      size_t length;
      const char *bytes = index_word(x, *symbol, &length);
      int32_t id = lscfg_vocab_add(&x->found.vocab, bytes, length);
      if (id < 0 || ARRAY_RESERVE(x->word_of, 1)) code = out_of_memory(error);
      else if (id < x->word_of.size || !length) code = damaged_index(error); /* a word twice, or none */
      else x->word_of.data[x->word_of.size++] = *symbol, *number = id + 1;
    }
    if (!number) code = out_of_memory(error);
    if (!code) *symbol = (int32_t)*number - 1;
  }
  free(known.entries);
  return code;
}

/* Adds the entries of the file for a source word, -1 for none, and the target words among some. */
static int read_row(lscfg_index *x, int32_t word, int32_t number, int_map *known, lscfg_error *error) {
  if (word >= x->n_words) return LSCFG_OK;
  const int64_t *totals = x->lexicon_totals.data;
  int64_t begin = x->lexicon_rows[word + 1], end = x->lexicon_rows[word + 2];
  if (begin < 0 || end < begin || end > x->n_lexicon) return damaged_index(error);
  for (int64_t k = begin; k < end; k++) {
    int32_t other = x->lexicon_target[k];
    if (other < -1) return damaged_index(error);
    int_entry *entry = int_map_slot(known, (int64_t)other + 1);
    if (entry->key < 0) continue;
    int64_t count = x->lexicon_count[k];
    if (count < 1 || count > totals[2 * (int64_t)(number + 1) + SRC] || count > totals[2 * (entry->value + 1) + TGT])
      return damaged_index(error);
    if (link_counts_add(&x->found.lexicon, number, (int32_t)entry->value, count))
      return out_of_memory(error);
  }
  return LSCFG_OK;
}

/* The lexicon of the words of the rules, by their new numbers, and the totals of each. */
static int read_lexicon(lscfg_index *x, lscfg_error *error) {
  int64_t n = x->word_of.size;
  int_map known = {0}, source = {0};
  int code = LSCFG_OK;
  if (ARRAY_RESERVE(x->lexicon_totals, 2 * (n + 1))) return out_of_memory(error);
  int64_t *totals = x->lexicon_totals.data;
  for (int64_t k = -1; k < n && !code; k++) {
    int32_t word = k < 0 ? -1 : x->word_of.data[k];
    int64_t *value = int_map_at(&known, (int64_t)word + 1);
    if (value) *value = k;
    else code = out_of_memory(error);
    for (int side = SRC; side <= TGT; side++) {
      int64_t total = word < x->n_words ? x->lexicon_total[2 * ((int64_t)word + 1) + side] : 0;
      if (total < 0 || total > INT64_MAX / 2) code = damaged_index(error);
      totals[2 * (k + 1) + side] = total;
    }
  }
  for (int64_t r = 0; r < rule_table_size(&x->found.rules) && !code; r++)
    for (int32_t k = 0; k < x->found.rules.src_length.data[r] && !code; k++) {
      int32_t symbol = x->found.rules.symbols.data[x->found.rules.offsets.data[r] + k];
      int64_t *seen = symbol < 0 ? NULL : int_map_at(&source, (int64_t)symbol + 1);
      if (symbol >= 0 && !seen) code = out_of_memory(error);
      if (!seen || *seen || code) continue;
      *seen = 1;
      code = read_row(x, x->word_of.data[symbol], symbol, &known, error);
    }
  if (!code) code = read_row(x, -1, -1, &known, error);
  const link_counts *taught = &x->taught->tables.lexicon;
  for (int64_t k = 0; k < taught->pairs.size && !code; k++) {
    lscfg_word_pair pair = taught->pairs.data[k];
    const int_entry *s = int_map_slot(&known, (int64_t)pair.src + 1), *t = int_map_slot(&known, (int64_t)pair.tgt + 1);
    if (s->key >= 0) totals[2 * (s->value + 1) + SRC] += pair.count;
    if (t->key >= 0) totals[2 * (t->value + 1) + TGT] += pair.count;
    if (s->key >= 0 && t->key >= 0 &&
        link_counts_add(&x->found.lexicon, (int32_t)s->value, (int32_t)t->value, pair.count))
      code = out_of_memory(error);
  }
  free(known.entries);
  free(source.entries);
  return code;
}

/* ---- a look-up ---- */

static void forget_targets(lscfg_index *x) {
  forget_sides(&x->known);
  x->known_count.size = 0;
}

/* The text in memory as arrays, with new suffix arrays if it has changed. */
static int view_taught(lscfg_index *x, lscfg_error *error) {
  if (!x->stale) return LSCFG_OK;
  forget_targets(x);
  for (int side = SRC; side <= TGT; side++) pattern_table_clear(&x->patterns[side]);
  lscfg_aligned_view v;
  text_view *t = &x->text[TAUGHT];
  lscfg_aligned_get(x->taught, &v);
  *t = (text_view){.n_pairs = v.n_pairs, .n_links = v.n_links, .link_starts = v.link_starts, .links = v.links};
  for (int side = SRC; side <= TGT; side++) {
    int64_t n = v.n_words[side] - v.n_pairs, n_types = x->n_words + lscfg_vocab_size(&x->taught->tables.vocab);
    x->order[side].size = 0;
    if (ARRAY_RESERVE(x->order[side], n + 1)) return out_of_memory(error);
    int code = lscfg_suffixes(v.words[side], v.n_words[side], (int32_t)n_types, x->order[side].data, error);
    if (code) return code;
    t->words[side] = v.words[side];
    t->starts[side] = v.starts[side];
    t->n_words[side] = v.n_words[side];
    t->suffixes[side] = x->order[side].data;
    t->n_suffixes[side] = n;
  }
  x->stale = 0;
  return LSCFG_OK;
}

/* Forgets the rules of the last look-up. */
static int clear(lscfg_index *x) {
  corpus_tables_release(&x->found);
  rule_table_release(&x->targets);
  x->pattern_of.size = x->count.size = x->occurrences.size = x->word_of.size = 0;
  x->target_pattern.size = x->target_count.size = x->symbols.size = 0;
  x->examined[SRC] = x->examined[TGT] = 0;
  return corpus_tables_init(&x->found) || rule_table_init(&x->targets);
}

/* The numbers of the words of a line. */
static int read_sentence(const lscfg_index *x, const char *line, size_t length, int32_t *words) {
  int32_t n = 0;
  for (size_t at = 0; at < length;) {
    size_t end = at;
    while (end < length && line[end] != ' ') end++;
    if (end > at) words[n++] = index_find(x, line + at, end - at);
    at = end + 1;
  }
  return n;
}

int lscfg_index_look_up(lscfg_index *x, const char *line, size_t length, int32_t max_span, int32_t samples,
                        lscfg_error *error) {
  if (length > INT32_MAX / 2) return out_of_memory(error);
  int code = clear(x) ? out_of_memory(error) : view_taught(x, error);
  int32_t *words = code ? NULL : malloc((length + 1) * sizeof *words);
  if (!words || ARRAY_RESERVE(x->symbols, x->options.max_symbols + 2)) {
    free(words);
    return code ? code : out_of_memory(error);
  }
  sentence s = {words, 0, max_span > 0 ? max_span : INT32_MAX, 0, 0, error};
  s.n = read_sentence(x, line, length, words);
  pattern_table_begin(&x->patterns[SRC], samples);
  for (int32_t i = 0; i < s.n && !code; i++) {
    s.begin = i;
    code = list_patterns(x, &s, i);
  }
  free(words);
  if (!code) code = visit_tokens(x, MAPPED, SRC, count_rule, error);
  if (!code) scale_counts(x);
  if (!code) code = visit_tokens(x, TAUGHT, SRC, count_rule, error);
  if (!code) code = number_words(x, error);
  return code ? code : read_lexicon(x, error);
}

/* ---- target sides ---- */

/* Lists the target sides of all rules, and finds the places of those that are requested. */
static int find_targets(lscfg_index *x, const char *wanted, lscfg_error *error) {
  const rule_table *rules = &x->found.rules;
  pattern_table *table = &x->patterns[TGT];
  for (int64_t r = 0; r < rule_table_size(rules); r++) {
    int64_t middle = rules->offsets.data[r] + rules->src_length.data[r], n = rules->offsets.data[r + 1] - middle;
    x->symbols.size = 0;
    if (ARRAY_RESERVE(x->symbols, 2 * n + 1)) return out_of_memory(error);
    for (int64_t k = 0; k < n; k++) {
      int32_t symbol = rules->symbols.data[middle + k];
      x->symbols.data[k] = symbol < 0 ? symbol : x->word_of.data[symbol];
    }
    int32_t side = rule_table_intern(&x->targets, x->symbols.data, 0, (int32_t)n, 0);
    if (side < 0 || ARRAY_RESERVE(x->target_count, 1) || ARRAY_RESERVE(x->target_pattern, 1))
      return out_of_memory(error);
    if (side == x->target_count.size) {
      x->target_count.data[x->target_count.size++] = 0;
      x->target_pattern.data[x->target_pattern.size++] = NOT_COUNTED;
    }
    if (!wanted[r] || x->target_pattern.data[side] != NOT_COUNTED) continue;
    int32_t known = rule_table_find(&x->known, x->symbols.data, 0, (int32_t)n);
    if (known >= 0) {
      x->target_pattern.data[side] = COUNTED_BEFORE;
      x->target_count.data[side] = x->known_count.data[known];
      continue;
    }
    int32_t begin = 0, end = (int32_t)n, *pattern = x->symbols.data + n, size = 0;
    while (begin < end && x->symbols.data[begin] < 0) begin++;
    while (begin < end && x->symbols.data[end - 1] < 0) end--;
    for (int32_t k = begin; k < end; k++)
      if (x->symbols.data[k] >= 0) pattern[size++] = x->symbols.data[k];
      else if (pattern[size - 1] >= 0) pattern[size++] = -1;
    if (!size) continue; /* a rule has a word on each side */
    int32_t found = find_pattern(x, TGT, pattern, size, error);
    if (found < 0) return found;
    table->facts.data[found].ends |= 1 << ((begin > 0) + 2 * (end < n));
    x->target_pattern.data[side] = found;
  }
  return LSCFG_OK;
}

/* Keeps the counts of target sides for later sentences, which use the frequent ones again. */
static int remember_targets(lscfg_index *x) {
  for (int64_t side = 0; side < x->target_count.size; side++) {
    if (x->target_pattern.data[side] < 0) continue;
    int64_t begin = x->targets.offsets.data[side], n = x->targets.offsets.data[side + 1] - begin;
    if (ARRAY_RESERVE(x->known_count, 1) ||
        rule_table_intern(&x->known, x->targets.symbols.data + begin, 0, (int32_t)n, 0) < 0)
      return LSCFG_ENOMEM;
    x->known_count.data[x->known_count.size++] = x->target_count.data[side];
  }
  return LSCFG_OK;
}

int lscfg_index_count_targets(lscfg_index *x, int64_t n, const int64_t *rules, int32_t samples, lscfg_error *error) {
  enum { MOST_KNOWN = 1 << 17 };
  if (x->stale) return lscfg_fail(error, LSCFG_EINPUT, 0, "the text has changed; look up the sentence again");
  int64_t n_rules = rule_table_size(&x->found.rules);
  char *wanted = calloc((size_t)n_rules + 1, 1);
  if (!wanted) return out_of_memory(error);
  for (int64_t k = 0; k < n; k++)
    if (rules[k] >= 0 && rules[k] < n_rules) wanted[rules[k]] = 1;
  pattern_table_clear(&x->patterns[TGT]); /* their counts are kept */
  pattern_table_begin(&x->patterns[TGT], samples);
  rule_table_release(&x->targets);
  x->target_pattern.size = x->target_count.size = 0;
  if (samples != x->known_samples || x->known_count.size > MOST_KNOWN) forget_targets(x);
  x->known_samples = samples;
  int code = rule_table_init(&x->targets) ? out_of_memory(error) : find_targets(x, wanted, error);
  free(wanted);
  if (!code) code = visit_tokens(x, MAPPED, TGT, count_target, error);
  for (int64_t side = 0; side < x->target_count.size && !code; side++)
    if (x->target_pattern.data[side] >= 0)
      x->target_count.data[side] *= scale_of(x, TGT, x->target_pattern.data[side]);
  if (!code) code = visit_tokens(x, TAUGHT, TGT, count_target, error);
  if (!code && remember_targets(x)) code = out_of_memory(error);
  return code;
}

void lscfg_index_get(const lscfg_index *x, lscfg_index_view *view) {
  *view = (lscfg_index_view){.n_places = {x->examined[SRC], x->examined[TGT]},
                             .count = x->count.data,
                             .tokens = x->occurrences.data,
                             .n_targets = x->target_count.size,
                             .target_count = x->target_count.data,
                             .lexicon_total = x->lexicon_totals.data,
                             .tables = corpus_tables_view(&x->found),
                             .n_all_words = x->n_words,
                             .n_all_bytes = x->n_vocab_bytes,
                             .all_bytes = x->vocab_bytes,
                             .all_offsets = x->vocab_offsets,
                             .all_total = x->lexicon_total};
}
