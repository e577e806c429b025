/* The phrase-decomposition forest of a word-aligned sentence pair (Chung, Fang, Gildea & Stefankovic 2014, section 3):
 * all tight phrase pairs, joined by all minimal rules, built bottom-up over source spans. By their lemma 2 a node has
 * several edges only if all of them are splits into two phrases; any other node has one edge, into its maximal
 * children. Words without a link are terminals of the lowest node that covers them, as in the trees of derive.c. */
#include "extract/derivations.h"
#include "forest/forest.h"

enum { CATEGORY = 0, REST = -1, NO_RULE = -1 };

typedef struct {
  lscfg_derivations *d;
  const linked_words *c;
  lscfg_forest *forest;
  int32_t n; /* linked source words */
  int32_t
      *node; /* [n][n]: the node over linked source words i .. j, -1 where they are no phrase, -2 before it is made */
  int32_t *hull;      /* [n][n][2]: linked target words of i .. j */
  int whole_is_tight; /* the root is a tight phrase but for unlinked target words, which are given to it */
} decomposer;

enum { NO_PHRASE = -1, TO_COME = -2 };

static int32_t *node_at(const decomposer *p, int32_t i, int32_t j) { return &p->node[(int64_t)i * p->n + j]; }

static void find_phrases(decomposer *p) {
  const linked_words *c = p->c;
  for (int32_t i = 0; i < p->n; i++) {
    int32_t tgt[2] = {c->low[i], c->high[i]};
    for (int32_t j = i; j < p->n; j++) {
      if (c->low[j] < tgt[0]) tgt[0] = c->low[j];
      if (c->high[j] > tgt[1]) tgt[1] = c->high[j];
      *node_at(p, i, j) = pair_closed(c, i, j, tgt) ? TO_COME : NO_PHRASE;
      memcpy(&p->hull[2 * ((int64_t)i * p->n + j)], tgt, sizeof tgt);
    }
  }
}

/* Spans of the phrase pair over linked source words i .. j. */
static void phrase_spans(const decomposer *p, int32_t i, int32_t j, span_pair span) {
  const int32_t *tgt = &p->hull[2 * ((int64_t)i * p->n + j)];
  pair_span(p->c, SRC, i, j, span[SRC]);
  pair_span(p->c, TGT, tgt[0], tgt[1], span[TGT]);
}

static int add_forest_node(decomposer *p, int32_t category, const span_pair span) {
  int32_t node = forest_add_node(p->forest, category, span[SRC][0], span[SRC][1]);
  return node < 0 || forest_set_target(p->forest, span[TGT][0], span[TGT][1]) ? LSCFG_ENOMEM : node;
}

/* The edge into the last node from the first arity children, whose spans lie in child_spans. */
static int add_forest_edge(decomposer *p, const span_pair span, int32_t tail0, int32_t tail1, int32_t arity) {
  int32_t rule = pair_rule(p->d, span, (const span_pair *)p->d->child_spans, arity);
  return rule < 0 || forest_add_edge(p->forest, tail0, tail1, &rule, 1) < 0 ? LSCFG_ENOMEM : LSCFG_OK;
}

/* A node for tails first .. arity - 1 of an edge, made of the last two and then one more at a time. */
static int32_t add_rest(decomposer *p, int32_t first, int32_t arity) {
  const int32_t rule = NO_RULE;
  int32_t rest = p->d->children.data[arity - 1];
  span_pair span;
  memcpy(span, p->d->child_spans[arity - 1], sizeof span);
  for (int32_t k = arity - 2; k >= first; k--) {
    const int32_t (*s)[2] = p->d->child_spans[k];
    span[SRC][0] = s[SRC][0];
    if (s[TGT][0] < span[TGT][0]) span[TGT][0] = s[TGT][0];
    if (s[TGT][1] > span[TGT][1]) span[TGT][1] = s[TGT][1];
    int32_t node = add_forest_node(p, REST, (const int32_t (*)[2])span);
    if (node < 0 || forest_add_edge(p->forest, p->d->children.data[k], rest, &rule, 1) < 0) return LSCFG_ENOMEM;
    rest = node;
  }
  return rest;
}

/* The maximal phrases inside i .. j, into children and child_spans; returns their number. */
static int32_t maximal_children(decomposer *p, int32_t i, int32_t j) {
  int32_t arity = 0;
  for (int32_t begin = i; begin <= j;) {
    int32_t end = begin == i ? j - 1 : j;
    while (end >= begin && *node_at(p, begin, end) < 0) end--;
    if (end < begin) {
      begin++;
      continue;
    }
    p->d->children.data[arity] = *node_at(p, begin, end);
    phrase_spans(p, begin, end, p->d->child_spans[arity++]);
    begin = end + 1;
  }
  return arity;
}

static int make_node(decomposer *p, int32_t i, int32_t j) {
  span_pair span;
  phrase_spans(p, i, j, span);
  if (i == 0 && j == p->n - 1 && p->whole_is_tight) {
    span[TGT][0] = 0;
    span[TGT][1] = (int32_t)p->d->pair.words[TGT].size;
  }
  const int32_t (*spans)[2] = (const int32_t (*)[2])span;
  int32_t node = NO_PHRASE;
  for (int32_t k = i; k < j; k++) {
    int32_t left = *node_at(p, i, k), right = *node_at(p, k + 1, j);
    if (left < 0 || right < 0) continue;
    if (node < 0 && (node = add_forest_node(p, CATEGORY, spans)) < 0) return LSCFG_ENOMEM;
    phrase_spans(p, i, k, p->d->child_spans[0]);
    phrase_spans(p, k + 1, j, p->d->child_spans[1]);
    if (add_forest_edge(p, spans, left, right, 2)) return LSCFG_ENOMEM;
  }
  if (node < 0) {
    int32_t arity = maximal_children(p, i, j);
    const int32_t *children = p->d->children.data;
    int32_t second = arity > 2 ? add_rest(p, 1, arity) : arity == 2 ? children[1] : -1;
    if (second == LSCFG_ENOMEM || (node = add_forest_node(p, CATEGORY, spans)) < 0 ||
        add_forest_edge(p, spans, arity ? children[0] : -1, second, arity))
      return LSCFG_ENOMEM;
  }
  *node_at(p, i, j) = node;
  return LSCFG_OK;
}

static int decompose_pair(decomposer *p) {
  lscfg_derivations *d = p->d;
  int32_t whole[2] = {(int32_t)d->pair.words[SRC].size, (int32_t)d->pair.words[TGT].size}, n = p->n;
  const span_pair span = {{0, whole[SRC]}, {0, whole[TGT]}};
  d->children.size = 0;
  if (ARRAY_RESERVE(d->children, n + 2) || pair_reserve_children(d, n + 2)) return LSCFG_ENOMEM;
  p->whole_is_tight = n && p->c->position[SRC][0] == 0 && p->c->position[SRC][n - 1] == whole[SRC] - 1;
  if (n) find_phrases(p);
  for (int32_t width = 1; width <= n; width++)
    for (int32_t i = 0; i + width <= n; i++)
      if (*node_at(p, i, i + width - 1) == TO_COME && make_node(p, i, i + width - 1)) return LSCFG_ENOMEM;
  if (p->whole_is_tight) return LSCFG_OK;
  int32_t tight = (int32_t)p->forest->node_cat.size - 1; /* the last node, if there is a link */
  if (n) phrase_spans(p, 0, n - 1, d->child_spans[0]);
  if (add_forest_node(p, CATEGORY, span) < 0) return LSCFG_ENOMEM;
  return add_forest_edge(p, span, tight, -1, n > 0);
}

int lscfg_decompose(lscfg_derivations *d, const char *src, size_t n_src, const char *tgt, size_t n_tgt,
                    const char *links, size_t n_links, lscfg_forest **forest, int32_t *stream, lscfg_error *error) {
  const char *const line[3] = {src, tgt, links};
  const size_t length[3] = {n_src, n_tgt, n_links};
  linked_words c;
  *forest = NULL;
  int code = sentence_pair_read(&d->pair, &d->tables.vocab, line, length, d->options.max_words, stream, error);
  if (code) return code > 0 ? LSCFG_EINPUT : code;
  if (pair_condense(d, &c)) return out_of_memory(error);
  decomposer p = {.d = d, .c = &c, .n = c.n[SRC]};
  size_t cells = (size_t)c.n[SRC] * (size_t)c.n[SRC];
  p.forest = forest_new(d->pair.words[SRC].data, (int32_t)d->pair.words[SRC].size);
  p.node = malloc((cells + 1) * sizeof *p.node);
  p.hull = malloc((2 * cells + 1) * sizeof *p.hull);
  code = p.forest && p.node && p.hull ? decompose_pair(&p) : LSCFG_ENOMEM;
  free(p.node);
  free(p.hull);
  if (!code) {
    *forest = p.forest;
    return LSCFG_OK;
  }
  lscfg_forest_free(p.forest);
  return out_of_memory(error);
}
