/* The phrase-decomposition forests of a corpus. */
#include <math.h>

#include "sample/forests.h"

lscfg_phrase_forests *lscfg_phrase_forests_new(int32_t max_cut, int32_t max_words, int32_t drop) {
  const lscfg_derive_options options = {.max_words = max_words, .drop = drop};
  lscfg_phrase_forests *f = calloc(1, sizeof *f);
  if (!f) return NULL;
  f->max_cut = max_cut;
  if (!(f->text = lscfg_derivations_new(&options)) || ARRAY_RESERVE(f->pairs, 1)) {
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

static int copy_words(lscfg_phrase_forests *f) {
  const sentence_pair *pair = &f->text->pair;
  for (int side = SRC; side <= TGT; side++) {
    int64_t n = pair->words[side].size;
    if (ARRAY_RESERVE(f->words[side], n)) return LSCFG_ENOMEM;
    memcpy(f->words[side].data + f->words[side].size, pair->words[side].data, (size_t)n * sizeof(int32_t));
    f->words[side].size += n;
    if (n > f->max_words[side]) f->max_words[side] = (int32_t)n;
  }
  if (ARRAY_RESERVE(f->linked, pair->words[SRC].size)) return LSCFG_ENOMEM;
  for (int64_t i = 0; i < pair->words[SRC].size; i++)
    f->linked.data[f->linked.size++] = pair->n_links[SRC].data[i] > 0;
  return LSCFG_OK;
}

static forest_node convert_node(const lscfg_phrase_forests *f, int64_t number, const forest_node *before) {
  const decomposition *w = &f->work;
  const phrase_node *from = &w->nodes.data[number];
  forest_node node = {.first_edge = from->first_edge, .level = 1};
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

/* Copies the forest that was just built. */
static int copy_forest(lscfg_phrase_forests *f) {
  const decomposition *w = &f->work;
  int64_t n = w->nodes.size, n_edges = w->first_tail.size, n_tails = w->tails.size;
  if (ARRAY_RESERVE(f->nodes, n) || ARRAY_RESERVE(f->first_tail, n_edges + 1) || ARRAY_RESERVE(f->tails, n_tails + 1) ||
      ARRAY_RESERVE(f->pairs, 1))
    return LSCFG_ENOMEM;
  forest_node *nodes = f->nodes.data + f->nodes.size;
  for (int64_t k = 0; k < n; k++) {
    nodes[k] = convert_node(f, k, nodes);
    if (nodes[k].n_edges > f->max_edges) f->max_edges = nodes[k].n_edges;
  }
  f->nodes.size += n;
  if (n_edges) memcpy(f->first_tail.data + f->first_tail.size, w->first_tail.data, (size_t)n_edges * sizeof(int32_t));
  f->first_tail.size += n_edges;
  f->first_tail.data[f->first_tail.size++] = (int32_t)n_tails;
  if (n_tails) memcpy(f->tails.data + f->tails.size, w->tails.data, (size_t)n_tails * sizeof(int32_t));
  f->tails.size += n_tails;
  f->n_edges += n_edges;
  f->n_bare += n == 1;
  if (n && nodes[n - 1].level > f->max_level) f->max_level = nodes[n - 1].level;
  if (n > f->max_nodes) f->max_nodes = (int32_t)n;
  f->pairs.data[f->pairs.size++] = (pair_begin){
      f->nodes.size, f->first_tail.size, f->tails.size, {f->words[SRC].size, f->words[TGT].size}};
  return LSCFG_OK;
}

static int add_pair(lscfg_phrase_forests *f) {
  linked_words c;
  if (count_types(f) || pair_condense(f->text, &c) || decomposition_build(&f->work, f->text, &c) ||
      link_counts_add_pair(&f->text->tables.lexicon, &f->text->pair) || copy_words(f))
    return LSCFG_ENOMEM;
  return copy_forest(f);
}

int lscfg_phrase_forests_add(lscfg_phrase_forests *f, const char *src, size_t n_src, const char *tgt, size_t n_tgt,
                             const char *links, size_t n_links, int32_t *stream, lscfg_error *error) {
  const char *const line[3] = {src, tgt, links};
  const size_t length[3] = {n_src, n_tgt, n_links};
  lscfg_derivations *text = f->text;
  int code =
      sentence_pair_read(&text->pair, &text->tables.vocab, line, length, text->options.max_words, stream, error);
  if (code < 0) return code;
  if (!code) return add_pair(f) ? out_of_memory(error) : LSCFG_OK;
  if (!text->options.drop && code != LSCFG_PAIR_TOO_LONG) return LSCFG_EINPUT;
  f->dropped[code]++;
  f->work.nodes.size = f->work.first_tail.size = f->work.tails.size = 0;
  return copy_forest(f) ? out_of_memory(error) : LSCFG_OK;
}

void lscfg_phrase_forests_get(const lscfg_phrase_forests *f, lscfg_phrase_forests_view *view) {
  *view = (lscfg_phrase_forests_view){.n_pairs = f->pairs.size - 1,
                                      .n_nodes = f->nodes.size,
                                      .n_edges = f->n_edges,
                                      .n_bare = f->n_bare,
                                      .max_level = f->max_level};
  memcpy(view->dropped, f->dropped, sizeof f->dropped);
}
