/* Opening an index, and the text that is added to it. */
#include "demand/index.h"

int damaged_index(lscfg_error *error) {
  return lscfg_fail(error, LSCFG_EINPUT, 0, "damaged: its arrays do not fit; make the index again");
}

/* ---- opening ---- */

/* An array of one dimension, or of two; returns its number of rows, negative for an error. */
static int64_t array_of(const tensor_file *file, const char *name, const char *dtype, int64_t columns,
                        const void **data, lscfg_error *error) {
  tensor_view view;
  int code = tensor_file_get(file, name, dtype, columns ? 2 : 1, &view, error);
  if (code) return lscfg_cure(code, error, "make the index again");
  if (columns && view.shape[1] != columns) return damaged_index(error);
  *data = view.data;
  return view.shape[0];
}

static int read_text(lscfg_index *x, lscfg_error *error) {
  static const char *const words[2] = {"src.words", "tgt.words"}, *const starts[2] = {"src.starts", "tgt.starts"},
                           *const suffixes[2] = {"src.suffixes", "tgt.suffixes"};
  text_view *t = &x->text[MAPPED];
  int64_t n[2], link_starts;
  for (int side = SRC; side <= TGT; side++) {
    t->n_words[side] = array_of(&x->file, words[side], "I32", 0, (const void **)&t->words[side], error);
    if (t->n_words[side] < 0) return LSCFG_EINPUT;
    t->n_suffixes[side] = array_of(&x->file, suffixes[side], "I32", 0, (const void **)&t->suffixes[side], error);
    if (t->n_suffixes[side] < 0) return LSCFG_EINPUT;
    n[side] = array_of(&x->file, starts[side], "I64", 0, (const void **)&t->starts[side], error);
    if (n[side] < 0) return LSCFG_EINPUT;
  }
  t->n_links = array_of(&x->file, "links", "U16", 2, (const void **)&t->links, error);
  if (t->n_links < 0) return LSCFG_EINPUT;
  link_starts = array_of(&x->file, "links.starts", "I64", 0, (const void **)&t->link_starts, error);
  if (link_starts < 0) return LSCFG_EINPUT;
  t->n_pairs = n[SRC] - 1;
  if (t->n_pairs < 0 || t->n_pairs > INT32_MAX - 1 || n[TGT] != n[SRC] || link_starts != n[SRC] ||
      t->n_words[SRC] > INT32_MAX || t->n_words[TGT] > INT32_MAX)
    return damaged_index(error);
  return LSCFG_OK;
}

static int read_words_and_lexicon(lscfg_index *x, lscfg_error *error) {
  int64_t offsets, order, rows, counts, totals;
  x->n_vocab_bytes = array_of(&x->file, "vocab.bytes", "U8", 0, (const void **)&x->vocab_bytes, error);
  if (x->n_vocab_bytes < 0) return LSCFG_EINPUT;
  offsets = array_of(&x->file, "vocab.offsets", "I64", 0, (const void **)&x->vocab_offsets, error);
  if (offsets < 0) return LSCFG_EINPUT;
  order = array_of(&x->file, "vocab.order", "I32", 0, (const void **)&x->vocab_order, error);
  if (order < 0) return LSCFG_EINPUT;
  rows = array_of(&x->file, "lexicon.rows", "I64", 0, (const void **)&x->lexicon_rows, error);
  if (rows < 0) return LSCFG_EINPUT;
  x->n_lexicon = array_of(&x->file, "lexicon.target", "I32", 0, (const void **)&x->lexicon_target, error);
  if (x->n_lexicon < 0) return LSCFG_EINPUT;
  counts = array_of(&x->file, "lexicon.count", "I64", 0, (const void **)&x->lexicon_count, error);
  if (counts < 0) return LSCFG_EINPUT;
  totals = array_of(&x->file, "lexicon.total", "I64", 2, (const void **)&x->lexicon_total, error);
  if (totals < 0) return LSCFG_EINPUT;
  x->n_words = order;
  if (order > INT32_MAX / 2 || offsets != order + 1 || rows != order + 2 || totals != order + 1 ||
      counts != x->n_lexicon)
    return damaged_index(error);
  return LSCFG_OK;
}

int lscfg_index_open(const char *path, const lscfg_hiero_options *options, lscfg_index **result, lscfg_error *error) {
  lscfg_index *x = calloc(1, sizeof *x);
  *result = NULL;
  if (!x) return out_of_memory(error);
  x->options = *options;
  if (x->options.min_hole < 1) x->options.min_hole = 1;
  x->work.options = &x->options;
  int code = tensor_file_open(&x->file, path, error);
  if (!code) code = tensor_file_check(&x->file, error); /* a changed word would change translations silently */
  if (code) code = lscfg_cure(code, error, "make the index again");
  if (!code) code = read_text(x, error);
  if (!code) code = read_words_and_lexicon(x, error);
  if (!code && (!(x->taught = lscfg_aligned_new()) || pattern_table_init(&x->patterns[SRC]) ||
                pattern_table_init(&x->patterns[TGT]) || corpus_tables_init(&x->found) ||
                rule_table_init(&x->targets) || rule_table_init(&x->known)))
    code = out_of_memory(error);
  if (code) {
    lscfg_index_free(x);
    return code;
  }
  *result = x;
  return LSCFG_OK;
}

void lscfg_index_free(lscfg_index *x) {
  if (!x) return;
  tensor_file_close(&x->file);
  lscfg_aligned_free(x->taught);
  hiero_pair_release(&x->work);
  corpus_tables_release(&x->found);
  rule_table_release(&x->targets);
  rule_table_release(&x->known);
  for (int side = SRC; side <= TGT; side++) {
    pattern_table_release(&x->patterns[side]);
    free(x->order[side].data);
  }
  free(x->symbols.data);
  free(x->visited.data);
  free(x->listed.data);
  free(x->tokens.data);
  free(x->hits.data);
  free(x->word_of.data);
  free(x->pattern_of.data);
  free(x->count.data);
  free(x->occurrences.data);
  free(x->lexicon_totals.data);
  free(x->target_pattern.data);
  free(x->target_count.data);
  free(x->known_count.data);
  free(x);
}

/* ---- words ---- */

const char *index_word(const lscfg_index *x, int32_t word, size_t *length) {
  if (word >= x->n_words) return lscfg_vocab_word(&x->taught->tables.vocab, word - (int32_t)x->n_words, length);
  int64_t begin = x->vocab_offsets[word], end = x->vocab_offsets[word + 1];
  *length = 0;
  if (begin < 0 || end < begin || end > x->n_vocab_bytes) return "";
  *length = (size_t)(end - begin);
  return x->vocab_bytes + begin;
}

static int32_t find_mapped(const lscfg_index *x, const char *word, size_t length) {
  int64_t low = 0, high = x->n_words;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    int32_t other = x->vocab_order[middle];
    size_t n;
    if (other < 0 || other >= x->n_words) return -1;
    const char *bytes = index_word(x, other, &n);
    int order = memcmp(word, bytes, n < length ? n : length);
    if (!order) order = (length > n) - (length < n);
    if (!order) return other;
    if (order < 0) high = middle;
    else low = middle + 1;
  }
  return -1;
}

int32_t index_find(const lscfg_index *x, const char *word, size_t length) {
  int32_t found = find_mapped(x, word, length);
  if (found >= 0) return found;
  found = lscfg_vocab_find(&x->taught->tables.vocab, word, length);
  return found < 0 ? -1 : (int32_t)x->n_words + found;
}

/* ---- text in memory ---- */

int lscfg_index_teach(lscfg_index *x, const char *src, size_t n_src, const char *tgt, size_t n_tgt, const char *links,
                      size_t n_links, int32_t *stream, lscfg_error *error) {
  const char *const line[3] = {src, tgt, links};
  const size_t length[3] = {n_src, n_tgt, n_links};
  int code = aligned_read(x->taught, line, length, stream, error);
  if (code) return code;
  for (int side = SRC; side <= TGT; side++)
    for (int64_t i = 0; i < x->taught->pair.words[side].size; i++) {
      token word = x->taught->pair.tokens[side].data[i];
      int32_t known = find_mapped(x, word.begin, (size_t)word.length);
      x->taught->pair.words[side].data[i] =
          known >= 0 ? known : (int32_t)x->n_words + x->taught->pair.words[side].data[i];
    }
  x->stale = 1;
  return aligned_append(x->taught) ? out_of_memory(error) : LSCFG_OK;
}

int lscfg_index_forget(lscfg_index *x, lscfg_error *error) {
  lscfg_aligned *empty = lscfg_aligned_new();
  if (!empty) return out_of_memory(error);
  lscfg_aligned_free(x->taught);
  x->taught = empty;
  x->stale = 1;
  return LSCFG_OK;
}
