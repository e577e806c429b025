/* Word-aligned text, and its suffix arrays. */
#include "demand/aligned.h"

lscfg_aligned *lscfg_aligned_new(void) {
  lscfg_aligned *a = calloc(1, sizeof *a);
  if (!a) return NULL;
  int failed = corpus_tables_init(&a->tables) || ARRAY_RESERVE(a->link_starts, 1);
  for (int side = SRC; side <= TGT && !failed; side++) failed = ARRAY_RESERVE(a->starts[side], 1);
  if (failed) {
    lscfg_aligned_free(a);
    return NULL;
  }
  a->starts[SRC].data[a->starts[SRC].size++] = 0;
  a->starts[TGT].data[a->starts[TGT].size++] = 0;
  a->link_starts.data[a->link_starts.size++] = 0;
  return a;
}

void lscfg_aligned_free(lscfg_aligned *a) {
  if (!a) return;
  corpus_tables_release(&a->tables);
  for (int side = SRC; side <= TGT; side++) {
    free(a->words[side].data);
    free(a->starts[side].data);
  }
  free(a->link_starts.data);
  free(a->links.data);
  sentence_pair_release(&a->pair);
  free(a);
}

int aligned_read(lscfg_aligned *a, const char *const line[3], const size_t length[3], int32_t *stream,
                 lscfg_error *error) {
  int code = sentence_pair_read(&a->pair, &a->tables.vocab, line, length, LSCFG_ALIGNED_WORDS, stream, error);
  return code > 0 ? LSCFG_EINPUT : code;
}

int aligned_append(lscfg_aligned *a) {
  const sentence_pair *p = &a->pair;
  int32_t mark = -(int32_t)a->starts[SRC].size;
  for (int side = SRC; side <= TGT; side++) {
    int64_t n = p->words[side].size;
    if (ARRAY_RESERVE(a->words[side], n + 1) || ARRAY_RESERVE(a->starts[side], 1)) return LSCFG_ENOMEM;
    memcpy(a->words[side].data + a->words[side].size, p->words[side].data, (size_t)n * sizeof(int32_t));
    a->words[side].size += n;
    a->words[side].data[a->words[side].size++] = mark;
    a->starts[side].data[a->starts[side].size++] = a->words[side].size;
  }
  if (ARRAY_RESERVE(a->links, p->links.size) || ARRAY_RESERVE(a->link_starts, 1)) return LSCFG_ENOMEM;
  for (int64_t k = 0; k < p->links.size; k++) a->links.data[a->links.size++] = (uint16_t)p->links.data[k];
  a->link_starts.data[a->link_starts.size++] = a->links.size / 2;
  return link_counts_add_pair(&a->tables.lexicon, p);
}

int lscfg_aligned_add(lscfg_aligned *a, const char *src, size_t n_src, const char *tgt, size_t n_tgt, const char *links,
                      size_t n_links, int32_t *stream, lscfg_error *error) {
  const char *const line[3] = {src, tgt, links};
  const size_t length[3] = {n_src, n_tgt, n_links};
  int code = aligned_read(a, line, length, stream, error);
  if (code) return code;
  int64_t most = INT32_MAX - 2 * LSCFG_ALIGNED_WORDS;
  if (a->words[SRC].size > most || a->words[TGT].size > most)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "more than 2147352577 words on one side; split the text");
  return aligned_append(a) ? out_of_memory(error) : LSCFG_OK;
}

void lscfg_aligned_get(const lscfg_aligned *a, lscfg_aligned_view *view) {
  *view = (lscfg_aligned_view){.n_pairs = a->starts[SRC].size - 1,
                               .n_words = {a->words[SRC].size, a->words[TGT].size},
                               .n_links = a->links.size / 2,
                               .words = {a->words[SRC].data, a->words[TGT].data},
                               .starts = {a->starts[SRC].data, a->starts[TGT].data},
                               .link_starts = a->link_starts.data,
                               .links = a->links.data,
                               .tables = corpus_tables_view(&a->tables)};
}

/* By counting, last word first, so time and memory are linear. What follows a sentence does not matter for the
 * order of its suffixes: patterns end within a sentence. */
int lscfg_suffixes(const int32_t *words, int64_t n_words, int32_t n_types, int32_t *order, lscfg_error *error) {
  int64_t n = 0;
  for (int64_t k = 0; k < n_words; k++)
    if (words[k] >= 0) order[n++] = (int32_t)k;
  int32_t *from = malloc(((size_t)n + 1) * sizeof *from);
  int64_t *before = malloc(((size_t)n_types + 2) * sizeof *before);
  if (!from || !before) {
    free(from);
    free(before);
    return out_of_memory(error);
  }
  for (int32_t depth = LSCFG_SUFFIX_WORDS - 1; depth >= 0; depth--) {
    memset(before, 0, ((size_t)n_types + 2) * sizeof *before);
    for (int64_t k = 0; k < n; k++) {
      int64_t at = order[k] + (int64_t)depth;
      before[(at < n_words && words[at] >= 0 ? words[at] + 1 : 0) + 1]++;
    }
    for (int32_t type = 0; type <= n_types; type++) before[type + 1] += before[type];
    memcpy(from, order, (size_t)n * sizeof *from);
    for (int64_t k = 0; k < n; k++) {
      int64_t at = from[k] + (int64_t)depth;
      order[before[at < n_words && words[at] >= 0 ? words[at] + 1 : 0]++] = from[k];
    }
  }
  free(from);
  free(before);
  return LSCFG_OK;
}
