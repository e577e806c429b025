/* The phrase-decomposition forest of a sentence pair as a forest of the kernel, with its minimal rules. */
#include "extract/decomposition.h"
#include "forest/forest.h"

/* An edge has at most two tails: where a rule has more nonterminals, the second tail is a node of category -1 for
 * all but the first. By lemma 2 of Chung et al. (2014) only splits into two phrases need a search. */

enum { CATEGORY = 0, REST = -1, NO_RULE = -1 };

typedef struct {
  lscfg_derivations *d;
  decomposition phrases;
  lscfg_forest *forest;
  ARRAY(int32_t) node; /* of the forest, by node of phrases */
} decomposer;

static int32_t add_forest_node(decomposer *p, int32_t category, const span_pair span) {
  int32_t node = forest_add_node(p->forest, category, span[SRC][0], span[SRC][1]);
  return node < 0 || forest_set_target(p->forest, span[TGT][0], span[TGT][1]) ? LSCFG_ENOMEM : node;
}

/* A node for tails first .. arity - 1 of an edge, built from the last two and then one more at a time. */
static int32_t add_rest(decomposer *p, const int32_t *tails, int32_t first, int32_t arity) {
  const int32_t rule = NO_RULE;
  int32_t rest = p->node.data[tails[arity - 1]];
  span_pair span;
  memcpy(span, p->d->child_spans[arity - 1], sizeof span);
  for (int32_t k = arity - 2; k >= first; k--) {
    const int32_t (*s)[2] = p->d->child_spans[k];
    span[SRC][0] = s[SRC][0];
    if (s[TGT][0] < span[TGT][0]) span[TGT][0] = s[TGT][0];
    if (s[TGT][1] > span[TGT][1]) span[TGT][1] = s[TGT][1];
    int32_t node = add_forest_node(p, REST, (const int32_t (*)[2])span);
    if (node < 0 || forest_add_edge(p->forest, p->node.data[tails[k]], rest, &rule, 1) < 0) return LSCFG_ENOMEM;
    rest = node;
  }
  return rest;
}

/* A node with its edges. Only the edge of a node with one edge can have more than two tails, and the nodes for their
 * rest come before the node itself. */
static int convert_node(decomposer *p, int64_t number) {
  const phrase_node *from = &p->phrases.nodes.data[number];
  const int32_t (*span)[2] = (const int32_t (*)[2])from->span, *tails;
  int32_t node = -1, last = decomposition_last_edge(&p->phrases, number);
  for (int32_t edge = from->first_edge; edge < last; edge++) {
    int32_t arity = decomposition_tails(&p->phrases, p->d, edge, &tails);
    if (arity < 0) return LSCFG_ENOMEM;
    int32_t second = arity > 2 ? add_rest(p, tails, 1, arity) : arity == 2 ? p->node.data[tails[1]] : -1;
    if (second == LSCFG_ENOMEM || (node < 0 && (node = add_forest_node(p, CATEGORY, span)) < 0)) return LSCFG_ENOMEM;
    int32_t rule = pair_rule(p->d, span, (const span_pair *)p->d->child_spans, arity);
    int32_t first = arity ? p->node.data[tails[0]] : -1;
    if (rule < 0 || forest_add_edge(p->forest, first, second, &rule, 1) < 0) return LSCFG_ENOMEM;
  }
  p->node.data[p->node.size++] = node;
  return LSCFG_OK;
}

static int decompose_pair(decomposer *p, const linked_words *c) {
  if (!p->forest || decomposition_build(&p->phrases, p->d, c) || ARRAY_RESERVE(p->node, p->phrases.nodes.size))
    return LSCFG_ENOMEM;
  for (int64_t k = 0; k < p->phrases.nodes.size; k++)
    if (convert_node(p, k)) return LSCFG_ENOMEM;
  return LSCFG_OK;
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
  decomposer p = {.d = d, .forest = forest_new(d->pair.words[SRC].data, (int32_t)d->pair.words[SRC].size)};
  code = decompose_pair(&p, &c);
  decomposition_release(&p.phrases);
  free(p.node.data);
  if (!code) {
    *forest = p.forest;
    return LSCFG_OK;
  }
  lscfg_forest_free(p.forest);
  return out_of_memory(error);
}
