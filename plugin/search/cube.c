/* Cube pruning with an n-gram language model (Chiang 2007, section 5.3), candidates in the order of cdec.
 *
 * A word is scored at once with the context inside its item. The words of an item's left edge are scored again once the
 * words before them are known, and the difference is added. Item states are minimal as in Li and Khudanpur (2008): if
 * no n-gram of the model extends to the left of a left word, the words before it can change only back-off weights,
 * which depend on the words before it only. That word ends the left edge. It is kept, since scoring it again applies
 * those weights, but it does not distinguish two states.
 *
 * A target side may have its nonterminals in any order, so an application of more than two tails needs the items of all
 * of them at once. An item of a node for the rest of the tails is a choice of items; the list has those of the best
 * sums of scores, up to the pop limit. After a choice come those with the next item of one tail, as in a cube of all
 * tails, and in cdec: the next sum in the list may be that of unrelated items, and gave 2 of 100 sentences a worse
 * translation. */
#include "search/cube.h"

#include "forest/forest.h"
#include "forest/grammar.h"

#include <math.h>

/* Appends one word to the candidate: its log10 p, or 0 and *code if the model fails. */
static inline double add_word(search *s, candidate *c, int32_t *left, int32_t word, int32_t *reach, int *code) {
  const lm_slot *slot = lm_find(s->lm, c->right, word, code);
  if (!slot) return 0;
  double p = slot->log10p;
  *reach = lm_reach(slot);
  c->right = lm_next(slot);
  if (!c->full) {
    left[c->n_left++] = word;
    c->left_score += p;
    if (*reach != LSCFG_LM_UNKNOWN_EXTENDS && *reach < c->n_left) {
      c->full = 1;
      c->n_key = (uint8_t)(c->n_left - 1);
    } else {
      c->n_key = c->n_left;
      c->full = c->n_left == s->max_left;
    }
  }
  return p;
}

/* The items of all tails of an edge whose second tail is a choice for the rest of them. */
static void list_tails(const hypergraph *g, const int32_t tail[2], int32_t *items) {
  for (const item_edge *edge; is_rest(g, edge = &g->edges.data[g->items.data[tail[1]].edge]); tail = edge->tail)
    *items++ = tail[0];
  items[0] = tail[0];
  items[1] = tail[1];
}

/* Language-model score and state of an application to the items of its tails. */
static int walk_target(search *s, candidate *c, const int32_t *items, int32_t *left) {
  const int32_t *symbol = s->graph.app_tgt[c->app], *end = symbol + s->graph.app_length[c->app];
  int code = LSCFG_OK, empty = 1;
  c->right = LSCFG_LM_NULL;
  c->n_left = c->n_key = 0;
  c->full = s->max_left == 0;
  for (; symbol < end; symbol++) {
    int32_t reach = 0;
    if (*symbol >= 0) {
      c->lm += add_word(s, c, left, *symbol, &reach, &code);
      if (code) return code;
      c->oov += reach < 0;
      empty = 0;
      continue;
    }
    const item *tail = s->graph.items.data + items[-1 - *symbol];
    const int32_t *tail_left = s->graph.left.data + (int64_t)items[-1 - *symbol] * s->graph.stride;
    if (!tail->full && !tail->n_left) continue; /* no words at all */
    if (empty) {
      c->right = tail->right;
      c->left_score = tail->left_score;
      c->n_left = tail->n_left;
      c->n_key = tail->n_key;
      c->full = tail->full;
      for (int32_t i = 0; i < tail->n_left; i++) left[i] = tail_left[i];
      empty = 0;
      continue;
    }
    /* Without context, the scores of the tail's words stay. */
    if (!c->full || c->right != LSCFG_LM_NULL) {
      double sum = 0;
      for (int32_t i = 0; i < tail->n_left; i++) {
        sum += add_word(s, c, left, tail_left[i], &reach, &code);
        if (code) return code;
      }
      c->lm += sum - tail->left_score;
      if (!tail->full) continue;
      if (!c->full) c->n_key = c->n_left;
      c->full = 1;
    }
    c->right = tail->right;
  }
  return LSCFG_OK;
}

/* Fetches the memory that the candidates after this one will read. */
static inline void fetch_successors(const search *s, const candidate *c) {
#ifdef __GNUC__
  for (int t = 0; t < 2 && c->tail[t] >= 0; t++) {
    __builtin_prefetch(s->graph.items.data + c->tail[t] + 1);
    __builtin_prefetch(s->graph.left.data + (int64_t)(c->tail[t] + 1) * s->graph.stride);
  }
#endif
}

static int add_candidate(search *s, int32_t app, int32_t rank0, int32_t rank1) {
  int32_t id = (int32_t)s->candidates.size;
  if (id == INT32_MAX || ARRAY_RESERVE(s->candidates, 1) || ARRAY_RESERVE(s->left, s->graph.stride))
    return LSCFG_ENOMEM;
  candidate *c = s->candidates.data + id;
  int32_t *left = s->left.data + s->left.size;
  const int32_t *tail = s->forest.edge_tail + 2 * (int64_t)s->forest.app_edge[app];
  *c = (candidate){.app = app, .tail = {-1, -1}, .rank = {rank0, rank1}};
  if (tail[0] >= 0) c->tail[0] = s->node_items[tail[0]] + rank0;
  if (tail[1] >= 0) c->tail[1] = s->node_items[tail[1]] + rank1;
  if (s->lm) {
    int32_t all[MAX_ARITY];
    int more = tail[1] >= 0 && s->forest.node_cat[tail[1]] == LSCFG_REST;
    if (more) list_tails(&s->graph, c->tail, all);
    int code = walk_target(s, c, more ? all : c->tail, left);
    if (code) return code;
  }
  c->local = s->app_scores[app] + s->options.lm_weight * c->lm + s->options.oov_weight * c->oov;
  c->score = c->local;
  if (c->tail[0] >= 0) c->score += s->graph.items.data[c->tail[0]].score;
  if (c->tail[1] >= 0) c->score += s->graph.items.data[c->tail[1]].score;
  s->candidates.size++;
  s->left.size += s->graph.stride;
  return LSCFG_OK;
}

static int push(search *s) {
  if (ARRAY_RESERVE(s->heap, 1)) return LSCFG_ENOMEM;
  int32_t id = (int32_t)s->candidates.size - 1;
  heap_up(s->heap.data, s->heap.size++, (heap_entry){s->candidates.data[id].score, id});
  return LSCFG_OK;
}

/* The index of the choice of these items in the list of a node for the rest of tails; -1: not in the list. */
static int32_t find_choice(const search *s, int32_t node, int32_t first, int32_t second) {
  const hypergraph *g = &s->graph;
  for (int32_t i = s->node_items[node]; i < s->node_items[node + 1]; i++) {
    const int32_t *tail = g->edges.data[g->items.data[i].edge].tail;
    if (tail[0] == first && tail[1] == second) return i;
  }
  return -1;
}

/* Fills next with the indices of the items after one, and returns their number: the next in the list, or, for the rest
 * of tails, the choices with the next item of one tail. */
static int32_t items_behind(const search *s, int32_t node, int32_t id, int32_t *next) {
  int32_t n = 0, below[MAX_ARITY];
  if (s->forest.node_cat[node] != LSCFG_REST) {
    if (id + 1 < s->node_items[node + 1]) next[n++] = id + 1;
    return n;
  }
  const int32_t *tail = s->graph.edges.data[s->graph.items.data[id].edge].tail;
  const int32_t *nodes = s->forest.edge_tail + 2 * (int64_t)s->forest.node_edges[node];
  for (int side = 0; side < 2; side++) {
    int32_t found = items_behind(s, nodes[side], tail[side], below);
    for (int32_t k = 0; k < found; k++) {
      next[n] = side ? find_choice(s, node, tail[0], below[k]) : find_choice(s, node, below[k], tail[1]);
      n += next[n] >= 0;
    }
  }
  return n;
}

static int push_successors(search *s, int32_t id) {
  const candidate c = s->candidates.data[id];
  const int32_t *tail = s->forest.edge_tail + 2 * (int64_t)s->forest.app_edge[c.app];
  for (int t = 0; t < 2 && tail[t] >= 0; t++) {
    int32_t next[MAX_ARITY], n = items_behind(s, tail[t], c.tail[t], next);
    for (int32_t k = 0; k < n; k++) {
      int32_t rank[2] = {c.rank[0], c.rank[1]};
      rank[t] = next[k] - s->node_items[tail[t]];
      int code = tail[1] >= 0 ? rank_set_add(&s->visited, c.app, rank) : LSCFG_OK;
      if (code < 0) return code;
      if (code) continue;
      if ((code = add_candidate(s, c.app, rank[0], rank[1])) || (code = push(s))) return code;
    }
  }
  return LSCFG_OK;
}

static int same_state(const candidate *a, const int32_t *left_a, const candidate *b, const int32_t *left_b) {
  if (a->right != b->right || a->n_key != b->n_key || a->full != b->full) return 0;
  for (int32_t i = 0; i < a->n_key; i++)
    if (left_a[i] != left_b[i]) return 0;
  return 1;
}

static int add_draft(search *s, double score, int32_t id) {
  if (ARRAY_RESERVE(s->drafts, 1)) return LSCFG_ENOMEM;
  s->drafts.data[s->drafts.size++] = (draft){score, id, -1, -1, -1};
  return LSCFG_OK;
}

/* The draft with the candidate's state, created if necessary. */
static int find_draft(search *s, int32_t id, int32_t *found) {
  const candidate *c = s->candidates.data + id;
  if (s->rest) { /* each choice of items is separate */
    *found = (int32_t)s->drafts.size;
    return add_draft(s, c->score, id);
  }
  const int32_t *left = s->left.data + (int64_t)id * s->graph.stride;
  uint32_t hash = (uint32_t)hash_ints(left, c->n_key, (uint64_t)(uint32_t)c->right << 1 | (uint64_t)c->full);
  if (index_reserve(&s->states)) return LSCFG_ENOMEM;
  for (int64_t at = -1; (*found = index_next(&s->states, hash, &at)) >= 0;) {
    int32_t other = s->drafts.data[*found].candidate;
    if (same_state(c, left, s->candidates.data + other, s->left.data + (int64_t)other * s->graph.stride))
      return LSCFG_OK;
  }
  *found = (int32_t)s->drafts.size;
  index_put(&s->states, hash, *found);
  return add_draft(s, c->score, id);
}

/* Creates an edge for a candidate from the heap; its head is the draft until make_items. */
static int keep(search *s, int32_t id) {
  int32_t d;
  if (find_draft(s, id, &d) || s->graph.edges.size == INT32_MAX || ARRAY_RESERVE(s->graph.edges, 1))
    return LSCFG_ENOMEM;
  const candidate *c = s->candidates.data + id;
  int32_t edge = (int32_t)s->graph.edges.size++;
  s->graph.edges.data[edge] = (item_edge){c->local, c->lm, c->oov, c->app, {c->tail[0], c->tail[1]}, d, -1};
  if (s->drafts.data[d].last_edge < 0)
    s->drafts.data[d].first_edge = edge;
  else
    s->graph.edges.data[s->drafts.data[d].last_edge].next = edge;
  s->drafts.data[d].last_edge = edge;
  if (c->score > s->drafts.data[d].score) s->drafts.data[d].score = c->score;
  return LSCFG_OK;
}

/* Gives the drafts, best first, their numbers as items; the node's edges begin at `edge`. */
static int make_items(search *s, int64_t edge) {
  int64_t n = s->drafts.size;
  s->heap.size = 0;
  if (ARRAY_RESERVE(s->heap, n) || s->graph.items.size + n > INT32_MAX || ARRAY_RESERVE(s->graph.items, n) ||
      ARRAY_RESERVE(s->graph.left, n * s->graph.stride))
    return LSCFG_ENOMEM;
  for (int64_t i = 0; i < n; i++) s->heap.data[i] = (heap_entry){s->drafts.data[i].score, (int32_t)i};
  heap_sort_nearly(s->heap.data, n);
  for (int64_t k = 0; k < n; k++) {
    draft *d = s->drafts.data + s->heap.data[k].id;
    const candidate *c = s->candidates.data + d->candidate;
    d->item = (int32_t)s->graph.items.size++;
    s->graph.items.data[d->item] =
        (item){d->score, c->left_score, c->right, d->first_edge, c->n_left, c->n_key, c->full};
    for (int32_t i = 0; i < c->n_left; i++)
      s->graph.left.data[s->graph.left.size + i] = s->left.data[(int64_t)d->candidate * s->graph.stride + i];
    s->graph.left.size += s->graph.stride;
  }
  for (; edge < s->graph.edges.size; edge++) {
    item_edge *e = s->graph.edges.data + edge;
    e->head = s->drafts.data[e->head].item;
  }
  return LSCFG_OK;
}

int search_node(search *s, int32_t node) {
  const lscfg_forest_view *f = &s->forest;
  int32_t first = f->edge_apps[f->node_edges[node]], last = f->edge_apps[f->node_edges[node + 1]];
  int64_t edge = s->graph.edges.size;
  int code = LSCFG_OK;
  s->rest = f->node_cat[node] == LSCFG_REST;
  s->candidates.size = s->left.size = s->drafts.size = 0;
  index_clear(&s->states);
  rank_set_clear(&s->visited);
  if (ARRAY_RESERVE(s->heap, last - first)) return LSCFG_ENOMEM;
  for (int32_t app = first; app < last; app++) {
    if ((code = add_candidate(s, app, 0, 0))) return code;
    s->heap.data[app - first] = (heap_entry){s->candidates.data[app - first].score, app - first};
  }
  s->heap.size = last - first;
  heap_build(s->heap.data, s->heap.size);
  for (int32_t pops = 0; pops < s->options.pop_limit && s->heap.size; pops++) {
    int32_t id = heap_pop(s->heap.data, s->heap.size--).id;
    if (s->heap.size) fetch_successors(s, s->candidates.data + s->heap.data[0].id); /* the next one, probably */
    if (pops + 1 < s->options.pop_limit && (code = push_successors(s, id))) return code;
    if ((code = keep(s, id))) return code;
  }
  return make_items(s, edge);
}

/* Adds <s> before and </s> after each item of the root: edges into one last item. */
int search_goal(search *s) {
  hypergraph *g = &s->graph;
  int32_t first = s->node_items[s->forest.n_nodes - 1], last = s->node_items[s->forest.n_nodes];
  int code = LSCFG_OK;
  if (ARRAY_RESERVE(g->items, 1) || g->edges.size + (last - first) > INT32_MAX || ARRAY_RESERVE(g->edges, last - first))
    return LSCFG_ENOMEM;
  g->goal = (int32_t)g->items.size++;
  g->items.data[g->goal] = (item){.edge = (int32_t)g->edges.size};
  for (int32_t root = first; root < last; root++) {
    const item *tail = g->items.data + root;
    double lm = 0;
    if (s->lm) {
      candidate c = {.right = LSCFG_LM_BEGIN, .full = 1};
      int32_t reach;
      for (int32_t i = 0; i < tail->n_left; i++)
        lm += add_word(s, &c, NULL, g->left.data[(int64_t)root * g->stride + i], &reach, &code);
      lm -= tail->left_score;
      if (tail->full) c.right = tail->right;
      lm += add_word(s, &c, NULL, s->lm->end_word, &reach, &code);
      if (code) return code;
    }
    int32_t next = root + 1 < last ? (int32_t)g->edges.size + 1 : -1;
    g->edges.data[g->edges.size++] = (item_edge){s->options.lm_weight * lm, lm, 0, -1, {root, -1}, g->goal, next};
  }
  return LSCFG_OK;
}
