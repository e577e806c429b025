/* Derivation trees that come from a file: anything may be wrong with them. */
#include <stdlib.h>

#include "lscfg/extract.h"
#include "base/common.h"

/* Nodes whose parent is still to come, in a walk from the last node of a tree to the first. In preorder the last one is
 * the first child of the next node with children. */
typedef struct {
  int32_t *nodes;
  int64_t size;
} open_nodes;

static int32_t child(const open_nodes *open, int64_t slot) { return open->nodes[open->size - 1 - slot]; }

/* The symbols of one side of a rule. */
static const int32_t *side_symbols(const lscfg_rules *r, int64_t rule, int side, int64_t *n) {
  int64_t begin = r->offsets[rule], n_src = r->src_length[rule];
  *n = side ? r->offsets[rule + 1] - begin - n_src : n_src;
  return r->symbols + begin + (side ? n_src : 0);
}

/* Lays the symbols over the span of a node's side: a terminal is one word, a nonterminal its child. The words go to
 * words[0 ... n_words), unless that is NULL. Returns the number of nonterminals, -1: they do not fit. */
static int64_t lay_out(const lscfg_trees *t, const int32_t *symbols, int64_t n, int64_t node, int side,
                       const open_nodes *open, int32_t *words, int64_t n_words) {
  const int32_t *span = t->span + 4 * node + 2 * side;
  int64_t at = span[0], found = 0;
  for (int64_t k = 0; k < n; k++) {
    if (symbols[k] < 0) {
      int64_t slot = side ? -1 - (int64_t)symbols[k] : found;
      if (slot >= open->size) return -1;
      const int32_t *below = t->span + 4 * (int64_t)child(open, slot) + 2 * side;
      if (below[0] != at) return -1;
      at = below[1];
      found++;
    } else {
      if (words && (at < 0 || at >= n_words)) return -1;
      if (words) words[at] = symbols[k];
      at++;
    }
  }
  return at == span[1] ? found : -1;
}

static int bad_node(lscfg_error *error, int64_t node, const char *what) {
  return lscfg_fail(error, LSCFG_EINPUT, 0, "node %lld %s", (long long)node, what);
}

/* Moves from a node's children to the node. */
static int close_node(const lscfg_trees *t, const lscfg_rules *r, int64_t node, open_nodes *open,
                      int32_t *const words[2], const int64_t n_words[2], lscfg_error *error) {
  if (t->rule[node] < 0 || t->rule[node] >= r->n) return bad_node(error, node, "has a rule that is not in the table");
  int64_t n_src, n_tgt;
  const int32_t *src = side_symbols(r, t->rule[node], LSCFG_SRC, &n_src);
  const int32_t *tgt = side_symbols(r, t->rule[node], LSCFG_TGT, &n_tgt);
  int64_t arity = lay_out(t, src, n_src, node, LSCFG_SRC, open, words[0], n_words[0]);
  if (arity < 0 || lay_out(t, tgt, n_tgt, node, LSCFG_TGT, open, words[1], n_words[1]) != arity)
    return bad_node(error, node, "has a rule that does not fit its span and its children");
  for (int64_t slot = 0; slot < arity; slot++)
    if (t->parent[child(open, slot)] != node || t->slot[child(open, slot)] != slot)
      return bad_node(error, child(open, slot), "is not in preorder");
  open->size -= arity;
  open->nodes[open->size++] = (int32_t)node;
  return LSCFG_OK;
}

/* The nodes from first to end are one tree over whole sentences. */
static int read_tree(const lscfg_trees *t, const lscfg_rules *r, int64_t first, int64_t end, open_nodes *open,
                     int32_t *words[2], lscfg_error *error) {
  int64_t n_words[2] = {t->span[4 * first + 1], t->span[4 * first + 3]};
  open->size = 0;
  for (int64_t node = end; node-- > first;) {
    int code = close_node(t, r, node, open, words, n_words, error);
    if (code) return code;
  }
  if (open->size != 1 || t->parent[first] != -1 || t->slot[first] || t->span[4 * first] || t->span[4 * first + 2])
    return bad_node(error, first, "begins a tree, but is not the root of all of it");
  for (int side = LSCFG_SRC; side <= LSCFG_TGT; side++)
    if (words[side]) words[side] += n_words[side];
  return LSCFG_OK;
}

static int check_ends(const lscfg_trees *t, int64_t *longest, lscfg_error *error) {
  *longest = 0;
  for (int64_t k = 0; k < t->n_trees; k++) {
    if (t->trees[k] < 0 || t->trees[k + 1] < t->trees[k] || t->trees[k + 1] > t->n_nodes)
      return lscfg_fail(error, LSCFG_EINPUT, 0, "the trees are not in order");
    if (t->trees[k + 1] - t->trees[k] > *longest) *longest = t->trees[k + 1] - t->trees[k];
  }
  if (t->trees[0] || t->trees[t->n_trees] != t->n_nodes || t->n_nodes > INT32_MAX)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "the trees do not contain all nodes");
  return LSCFG_OK;
}

int lscfg_trees_read(const lscfg_trees *t, const lscfg_rules *r, int32_t *src, int32_t *tgt, lscfg_error *error) {
  int32_t *words[2] = {src, tgt};
  open_nodes open = {0};
  int64_t longest;
  int code = check_ends(t, &longest, error);
  if (code) return code;
  if (!(open.nodes = malloc(((size_t)longest + 1) * sizeof *open.nodes))) return out_of_memory(error);
  for (int64_t k = 0; k < t->n_trees && !code; k++)
    if (t->trees[k] < t->trees[k + 1]) code = read_tree(t, r, t->trees[k], t->trees[k + 1], &open, words, error);
  free(open.nodes);
  return code;
}
