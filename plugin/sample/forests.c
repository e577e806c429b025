/* The phrase-decomposition forests of a corpus. */
#include <math.h>

#include "sample/forests.h"

lscfg_phrase_forests *lscfg_phrase_forests_new(int32_t max_cut, int32_t max_words, int32_t drop) {
  const lscfg_derive_options options = {.max_words = max_words, .drop = drop};
  lscfg_phrase_forests *f = calloc(1, sizeof *f);
  if (!f) return NULL;
  f->max_cut = max_cut;
  /* Arrays are never NULL: a sampler takes offsets into them even for an empty pair. */
  if (!(f->text = lscfg_derivations_new(&options)) || ARRAY_RESERVE(f->pairs, 1) || ARRAY_RESERVE(f->nodes, 1) ||
      ARRAY_RESERVE(f->first_tail, 1) || ARRAY_RESERVE(f->tails, 1) || ARRAY_RESERVE(f->words[SRC], 1) ||
      ARRAY_RESERVE(f->words[TGT], 1) || ARRAY_RESERVE(f->linked, 1)) {
    lscfg_phrase_forests_free(f);
    return NULL;
  }
  f->pairs.data[f->pairs.size++] = (pair_begin){0};
  return f;
}

void lscfg_phrase_forests_free(lscfg_phrase_forests *f) {
  if (!f) return;
  lscfg_derivations_free(f->text);
  free(f->pairs.data);
  free(f->nodes.data);
  free(f->first_tail.data);
  free(f->tails.data);
  free(f->words[SRC].data);
  free(f->words[TGT].data);
  free(f->linked.data);
  free(f->on_side.data);
  free(f->labels.category.data);
  free(f->labels.weight.data);
  free(f->label.data);
  decomposition_release(&f->work);
  free(f);
}

static int count_types(lscfg_phrase_forests *f) {
  int64_t n = lscfg_vocab_size(&f->text->tables.vocab);
  if (ARRAY_RESERVE(f->on_side, n - f->on_side.size)) return LSCFG_ENOMEM;
  while (f->on_side.size < n) f->on_side.data[f->on_side.size++] = 0;
  for (int side = SRC; side <= TGT; side++)
    for (int64_t i = 0; i < f->text->pair.words[side].size; i++) {
      uint8_t *seen = &f->on_side.data[f->text->pair.words[side].data[i]];
      f->n_types[side] += !(*seen >> side & 1);
      *seen |= (uint8_t)(1 << side);
    }
  return LSCFG_OK;
}

enum { MAX_ALIGNMENTS = 8 };

static int copy_words(lscfg_phrase_forests *f) {
  const sentence_pair *pair = &f->text->pair;
  for (int side = SRC; side <= TGT; side++) {
    int64_t n = pair->words[side].size;
    if (ARRAY_RESERVE(f->words[side], n)) return LSCFG_ENOMEM;
    memcpy(f->words[side].data + f->words[side].size, pair->words[side].data, (size_t)n * sizeof(int32_t));
    f->words[side].size += n;
    if (n > f->max_words[side]) f->max_words[side] = (int32_t)n;
  }
  int64_t n = pair->words[SRC].size;
  if (ARRAY_RESERVE(f->linked, n)) return LSCFG_ENOMEM;
  memset(f->linked.data + f->linked.size, 0, (size_t)n);
  f->linked.size += n;
  return LSCFG_OK;
}

/* The words of the last pair that have a link by alignment number k. */
static void copy_links(lscfg_phrase_forests *f, int32_t k) {
  const sentence_pair *pair = &f->text->pair;
  uint8_t *linked = f->linked.data + f->linked.size - pair->words[SRC].size;
  for (int64_t i = 0; i < pair->words[SRC].size; i++) linked[i] |= (uint8_t)((pair->n_links[SRC].data[i] > 0) << k);
}

/* Converts a node of the decomposition after those before it. Its numbers begin with the given ones. */
static forest_node convert_node(const lscfg_phrase_forests *f, int64_t number, const forest_node *before,
                                int32_t edge) {
  const decomposition *w = &f->work;
  const phrase_node *from = &w->nodes.data[number];
  forest_node node = {.first_edge = edge + from->first_edge, .level = 1};
  memcpy(node.span, from->span, sizeof node.span);
  node.n_edges = decomposition_last_edge(w, number) - from->first_edge;
  int32_t end = decomposition_last_tail(w, from->first_edge);
  node.is_plain = node.n_edges == 1;
  for (int32_t k = w->first_tail.data[from->first_edge]; k < end; k++) {
    node.level += before[w->tails.data[k]].level;
    node.is_plain &= before[w->tails.data[k]].is_plain;
  }
  node.must_cut = number + 1 == w->nodes.size;
  for (int side = SRC; side <= TGT; side++) node.must_cut |= node.span[side][1] - node.span[side][0] > f->max_cut;
  node.log_values = log(node.n_edges * (node.must_cut ? 1.0 : 2.0));
  return node;
}

/* Adds the forest that was just built to the pair that begins there and is open: the last one. */
static int copy_forest(lscfg_phrase_forests *f, pair_begin at) {
  const decomposition *w = &f->work;
  int64_t n = w->nodes.size, n_edges = w->first_tail.size, n_tails = w->tails.size;
  int32_t edge = (int32_t)(f->first_tail.size - at.edge), tail = (int32_t)(f->tails.size - at.tail);
  int32_t first = (int32_t)(f->nodes.size - at.node);
  if (ARRAY_RESERVE(f->nodes, n) || ARRAY_RESERVE(f->first_tail, n_edges + 1) || ARRAY_RESERVE(f->tails, n_tails + 1))
    return LSCFG_ENOMEM;
  forest_node *nodes = f->nodes.data + f->nodes.size;
  for (int64_t k = 0; k < n; k++) {
    nodes[k] = convert_node(f, k, nodes, edge);
    if (nodes[k].n_edges > f->max_edges) f->max_edges = nodes[k].n_edges;
  }
  f->nodes.size += n;
  for (int64_t k = 0; k < n_edges; k++) f->first_tail.data[f->first_tail.size++] = tail + w->first_tail.data[k];
  for (int64_t k = 0; k < n_tails; k++) f->tails.data[f->tails.size++] = first + w->tails.data[k];
  f->n_edges += n_edges;
  if (n && nodes[n - 1].level > f->max_level) f->max_level = nodes[n - 1].level;
  return LSCFG_OK;
}

/* A root above those of several alignments. */
static int add_choice(lscfg_phrase_forests *f, pair_begin at, const int32_t *roots, int32_t n) {
  if (ARRAY_RESERVE(f->nodes, 1) || ARRAY_RESERVE(f->first_tail, n + 1) || ARRAY_RESERVE(f->tails, n + 1))
    return LSCFG_ENOMEM;
  const forest_node *nodes = f->nodes.data + at.node;
  forest_node root = {.first_edge = (int32_t)(f->first_tail.size - at.edge),
                      .n_edges = n,
                      .must_cut = 1,
                      .is_choice = 1,
                      .log_values = log(n)};
  memcpy(root.span, nodes[roots[0]].span, sizeof root.span);
  for (int32_t k = 0; k < n; k++) {
    if (nodes[roots[k]].level > root.level) root.level = nodes[roots[k]].level;
    f->first_tail.data[f->first_tail.size++] = (int32_t)(f->tails.size - at.tail);
    f->tails.data[f->tails.size++] = roots[k];
  }
  f->nodes.data[f->nodes.size++] = root;
  f->n_edges += n;
  if (n > f->max_edges) f->max_edges = n;
  return LSCFG_OK;
}

static int close_pair(lscfg_phrase_forests *f, pair_begin at) {
  if (ARRAY_RESERVE(f->pairs, 1) || ARRAY_RESERVE(f->first_tail, 1)) return LSCFG_ENOMEM;
  f->first_tail.data[f->first_tail.size++] = (int32_t)(f->tails.size - at.tail);
  int64_t n = f->nodes.size - at.node;
  f->n_bare += n == 1;
  if (n > f->max_nodes) f->max_nodes = (int32_t)n;
  f->pairs.data[f->pairs.size++] = (pair_begin){
      f->nodes.size, f->first_tail.size, f->tails.size, {f->words[SRC].size, f->words[TGT].size}};
  return LSCFG_OK;
}

/* Opens the last pair again, without its root over alignments if it has one; the roots of these, and their number. */
static int32_t open_last(lscfg_phrase_forests *f, pair_begin at, int32_t *roots) {
  int64_t n = f->nodes.size - at.node;
  f->pairs.size--;
  f->first_tail.size--;
  f->n_bare -= n == 1;
  if (!n) return 0;
  const forest_node *root = &f->nodes.data[f->nodes.size - 1];
  if (!root->is_choice) {
    roots[0] = (int32_t)n - 1;
    return 1;
  }
  int32_t n_roots = root->n_edges;
  f->nodes.size--;
  f->first_tail.size -= n_roots;
  f->tails.size -= n_roots;
  f->n_edges -= n_roots;
  for (int32_t k = 0; k < n_roots; k++) roots[k] = f->tails.data[f->tails.size + k];
  return n_roots;
}

static int build(lscfg_phrase_forests *f) {
  linked_words c;
  return pair_condense(f->text, &c) || decomposition_build(&f->work, f->text, &c) ||
         link_counts_add_pair(&f->text->tables.lexicon, &f->text->pair);
}

/* Appends the pair that was read, or an empty one. */
static int add_pair(lscfg_phrase_forests *f, int is_good) {
  pair_begin at = f->pairs.data[f->pairs.size - 1];
  if (!is_good) return close_pair(f, at);
  if (count_types(f) || build(f) || copy_words(f)) return LSCFG_ENOMEM;
  copy_links(f, 0);
  return copy_forest(f, at) || close_pair(f, at);
}

/* Whether the pair that was read has the words of the last one, which begins there. */
static int has_same_words(const lscfg_phrase_forests *f, pair_begin at) {
  for (int side = SRC; side <= TGT; side++) {
    int64_t n = f->words[side].size - at.word[side];
    const int32_t *kept = f->words[side].data + at.word[side], *read = f->text->pair.words[side].data;
    if (n != f->text->pair.words[side].size || memcmp(kept, read, (size_t)n * sizeof *read)) return 0;
  }
  return 1;
}

/* Another alignment of the last pair, which was read. */
static int join_pair(lscfg_phrase_forests *f, lscfg_error *error) {
  if (f->pairs.size < 2) return lscfg_fail(error, LSCFG_EINPUT, 0, "there is no pair to join; add it first");
  pair_begin at = f->pairs.data[f->pairs.size - 2];
  int32_t roots[MAX_ALIGNMENTS + 1];
  if (f->nodes.size == at.node) return LSCFG_OK; /* it is left out */
  if (!has_same_words(f, at)) return lscfg_fail(error, LSCFG_EINPUT, 0, "the pair has other words than the last one");
  if (f->nodes.data[f->nodes.size - 1].n_edges == MAX_ALIGNMENTS && f->nodes.data[f->nodes.size - 1].is_choice)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "a pair may have at most %d alignments", MAX_ALIGNMENTS);
  if (build(f)) return out_of_memory(error);
  int32_t n = open_last(f, at, roots);
  copy_links(f, n);
  if (copy_forest(f, at)) return out_of_memory(error);
  roots[n++] = (int32_t)(f->nodes.size - at.node) - 1;
  return add_choice(f, at, roots, n) || close_pair(f, at) ? out_of_memory(error) : LSCFG_OK;
}

/* Reads a pair: LSCFG_OK, a negative code, or why it is left out. */
static int read_pair(lscfg_phrase_forests *f, const char *const line[3], const size_t length[3], int32_t *stream,
                     lscfg_error *error) {
  lscfg_derivations *text = f->text;
  int code =
      sentence_pair_read(&text->pair, &text->tables.vocab, line, length, text->options.max_words, stream, error);
  return code > 0 && !text->options.drop && code != LSCFG_PAIR_TOO_LONG ? LSCFG_EINPUT : code;
}

int lscfg_phrase_forests_add(lscfg_phrase_forests *f, const char *src, size_t n_src, const char *tgt, size_t n_tgt,
                             const char *links, size_t n_links, int32_t *stream, lscfg_error *error) {
  const char *const line[3] = {src, tgt, links};
  const size_t length[3] = {n_src, n_tgt, n_links};
  if (f->labels.n_categories) return lscfg_fail(error, LSCFG_EINPUT, 0, "these forests are given, not those of text");
  int code = read_pair(f, line, length, stream, error);
  if (code < 0) return code;
  f->dropped[code] += code > 0;
  return add_pair(f, !code) ? out_of_memory(error) : LSCFG_OK;
}

int lscfg_phrase_forests_join(lscfg_phrase_forests *f, const char *src, size_t n_src, const char *tgt, size_t n_tgt,
                              const char *links, size_t n_links, int32_t *stream, lscfg_error *error) {
  const char *const line[3] = {src, tgt, links};
  const size_t length[3] = {n_src, n_tgt, n_links};
  if (f->labels.n_categories) return lscfg_fail(error, LSCFG_EINPUT, 0, "these forests are given, not those of text");
  int code = read_pair(f, line, length, stream, error);
  return code ? (code < 0 ? code : LSCFG_OK) : join_pair(f, error);
}

void lscfg_phrase_forests_get(const lscfg_phrase_forests *f, lscfg_phrase_forests_view *view) {
  *view = (lscfg_phrase_forests_view){.n_pairs = f->pairs.size - 1,
                                      .n_nodes = f->nodes.size,
                                      .n_edges = f->n_edges,
                                      .n_bare = f->n_bare,
                                      .max_level = f->max_level};
  memcpy(view->dropped, f->dropped, sizeof f->dropped);
}
