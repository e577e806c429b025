/* The phrase-decomposition forest of a word-aligned sentence pair (Chung, Fang, Gildea & Stefankovic 2014, section 3):
 * all tight phrase pairs, joined by all minimal edges, built bottom-up over source spans. By their lemma 2 a node has
 * several edges only if all of them are splits into two phrases; any other node has one edge, into its maximal
 * children. Words without a link are terminals of the lowest node that covers them, as in the trees of derive.c. */
#include "extract/decomposition.h"

enum { NO_PHRASE = -1, TO_COME = -2 };

typedef struct {
  decomposition *out;
  const linked_words *c;
  int32_t n, n_tgt; /* linked source words; all target words */
  int32_t *node;    /* [n][n]: the node over linked source words i .. j, or a negative reason for its absence */
  int32_t *hull;    /* [n][n][2]: linked target words of i .. j */
  int whole_is_tight; /* the root is a tight phrase but for unlinked target words, which are given to it */
} builder;

static int32_t *node_at(const builder *b, int32_t i, int32_t j) { return &b->node[(int64_t)i * b->n + j]; }

static void find_phrases(builder *b) {
  const linked_words *c = b->c;
  for (int32_t i = 0; i < b->n; i++) {
    int32_t tgt[2] = {c->low[i], c->high[i]};
    for (int32_t j = i; j < b->n; j++) {
      if (c->low[j] < tgt[0]) tgt[0] = c->low[j];
      if (c->high[j] > tgt[1]) tgt[1] = c->high[j];
      *node_at(b, i, j) = pair_closed(c, i, j, tgt) ? TO_COME : NO_PHRASE;
      memcpy(&b->hull[2 * ((int64_t)i * b->n + j)], tgt, sizeof tgt);
    }
  }
}

/* Adds a node with these spans and no edge yet. */
static int add_node(builder *b, const span_pair span) {
  if (ARRAY_RESERVE(b->out->nodes, 1)) return LSCFG_ENOMEM;
  phrase_node *node = &b->out->nodes.data[b->out->nodes.size++];
  memcpy(node->span, span, sizeof node->span);
  node->first_edge = (int32_t)b->out->first_tail.size;
  return LSCFG_OK;
}

/* Adds an edge to the last node, with room for this number of tails, whose places are of 32 bits. */
static int add_edge(builder *b, int32_t room) {
  if (b->out->tails.size >= INT32_MAX - room) return LSCFG_ENOMEM;
  if (ARRAY_RESERVE(b->out->first_tail, 1) || ARRAY_RESERVE(b->out->tails, room + 1)) return LSCFG_ENOMEM;
  b->out->first_tail.data[b->out->first_tail.size++] = (int32_t)b->out->tails.size;
  return LSCFG_OK;
}

static void add_tail(builder *b, int32_t node) { b->out->tails.data[b->out->tails.size++] = node; }

/* The edge of the last node into the maximal phrases inside i .. j. */
static int add_maximal_children(builder *b, int32_t i, int32_t j) {
  if (add_edge(b, j - i + 1)) return LSCFG_ENOMEM;
  for (int32_t begin = i; begin <= j;) {
    int32_t end = begin == i ? j - 1 : j;
    while (end >= begin && *node_at(b, begin, end) < 0) end--;
    if (end >= begin) add_tail(b, *node_at(b, begin, end));
    begin = end < begin ? begin + 1 : end + 1;
  }
  return LSCFG_OK;
}

static int make_node(builder *b, int32_t i, int32_t j) {
  const int32_t *tgt = &b->hull[2 * ((int64_t)i * b->n + j)];
  span_pair span;
  pair_span(b->c, SRC, i, j, span[SRC]);
  pair_span(b->c, TGT, tgt[0], tgt[1], span[TGT]);
  if (i == 0 && j == b->n - 1 && b->whole_is_tight) {
    span[TGT][0] = 0;
    span[TGT][1] = b->n_tgt;
  }
  int32_t node = (int32_t)b->out->nodes.size, n_splits = 0;
  if (add_node(b, (const int32_t (*)[2])span)) return LSCFG_ENOMEM;
  for (int32_t k = i; k < j; k++) {
    int32_t left = *node_at(b, i, k), right = *node_at(b, k + 1, j);
    if (left < 0 || right < 0) continue;
    if (add_edge(b, 2)) return LSCFG_ENOMEM;
    add_tail(b, left);
    add_tail(b, right);
    n_splits++;
  }
  *node_at(b, i, j) = node;
  return n_splits ? LSCFG_OK : add_maximal_children(b, i, j);
}

int decomposition_build(decomposition *out, const lscfg_derivations *d, const linked_words *c) {
  const int32_t whole[2] = {(int32_t)d->pair.words[SRC].size, (int32_t)d->pair.words[TGT].size};
  const span_pair span = {{0, whole[SRC]}, {0, whole[TGT]}};
  builder b = {.out = out, .c = c, .n = c->n[SRC], .n_tgt = whole[TGT]};
  int32_t n = b.n;
  int64_t cells = (int64_t)n * n;
  out->nodes.size = out->first_tail.size = out->tails.size = out->work.size = 0;
  if (ARRAY_RESERVE(out->work, 3 * cells + 1)) return LSCFG_ENOMEM;
  b.node = out->work.data;
  b.hull = out->work.data + cells;
  b.whole_is_tight = n && c->position[SRC][0] == 0 && c->position[SRC][n - 1] == whole[SRC] - 1;
  if (n) find_phrases(&b);
  for (int32_t width = 1; width <= n; width++)
    for (int32_t i = 0; i + width <= n; i++)
      if (*node_at(&b, i, i + width - 1) == TO_COME && make_node(&b, i, i + width - 1)) return LSCFG_ENOMEM;
  if (b.whole_is_tight) return LSCFG_OK;
  int32_t tight = (int32_t)out->nodes.size - 1; /* the last node, if there is a link */
  if (add_node(&b, span) || add_edge(&b, 1)) return LSCFG_ENOMEM;
  if (n) add_tail(&b, tight);
  return LSCFG_OK;
}

int32_t decomposition_tails(const decomposition *f, lscfg_derivations *d, int64_t edge, const int32_t **tails) {
  int32_t first = f->first_tail.data[edge], arity = decomposition_last_tail(f, edge) - first;
  *tails = f->tails.data + first;
  if (pair_reserve_children(d, arity)) return LSCFG_ENOMEM;
  for (int32_t k = 0; k < arity; k++)
    memcpy(d->child_spans[k], f->nodes.data[(*tails)[k]].span, sizeof d->child_spans[k]);
  return arity;
}

void decomposition_release(decomposition *f) {
  free(f->nodes.data);
  free(f->first_tail.data);
  free(f->tails.data);
  free(f->work.data);
}
