/* Cube pruning with an n-gram language model (Chiang 2007, section 5.3), candidates in the order in which cdec takes
 * them.
 *
 * A word is counted at once with whatever context there is inside its item. The words of an item's left edge are
 * counted again once words in front of them are known, and the difference is added. Item states are minimal as in Li
 * and Khudanpur (2008): where no n-gram of the model goes on to the left of a left word, all that words in front can
 * change are back-off weights, which depend on the words before it only. That word ends the left edge. It is kept,
 * since counting it again is what charges those weights, but it does not make two states differ. */
#include "forest.h"
#include "search.h"

#include <math.h>

typedef struct {
  double score, local, lm, left_score;
  int32_t app, tail[2], oov;
  int32_t right, n_left, n_key, full;
  int32_t rank[2]; /* tails by their rank in the lists of their nodes */
} candidate;

/* Items of the node in hand, before they are sorted by score and get their final numbers. */
typedef struct {
  double score;
  int32_t candidate; /* the first, whose state is the item's */
  int32_t first_edge, last_edge;
} draft;

typedef struct {
  lscfg_forest_view forest;
  lscfg_lm *lm;
  int32_t max_left; /* words of a left edge: order - 1 */
  lscfg_search_options options;
  const double *app_scores;
  int32_t *node_items; /* [n_nodes + 1]: a node's items, best first, are neighbours */
  hypergraph graph;
  /* of the node in hand */
  ARRAY(candidate) candidates;
  ARRAY(int32_t) left; /* stride words for each candidate */
  ARRAY(heap_entry) heap;
  ARRAY(draft) drafts;
  index_table states;  /* drafts by state */
  index_table visited; /* candidates of two tails by application and ranks */
} search;

int index_reserve(index_table *t) {
  if ((t->used + 1) * 2 <= t->count) return LSCFG_OK;
  index_table bigger = {NULL, t->count ? 2 * t->count : 512, 0};
  bigger.slots = malloc((size_t)bigger.count * sizeof *bigger.slots);
  if (!bigger.slots) return LSCFG_ENOMEM;
  memset(bigger.slots, 0xff, (size_t)bigger.count * sizeof *bigger.slots);
  for (int64_t i = 0; i < t->count; i++)
    if (t->slots[i].id >= 0) index_put(&bigger, t->slots[i].hash, t->slots[i].id);
  free(t->slots);
  *t = bigger;
  return LSCFG_OK;
}

void index_clear(index_table *t) {
  if (t->used) memset(t->slots, 0xff, (size_t)t->count * sizeof *t->slots);
  t->used = 0;
}

/* Puts one word behind what the candidate has: its log10 p, or 0 and *code where the model fails. */
static inline double add_word(search *s, candidate *c, int32_t *left, int32_t word, int32_t *reach, int *code) {
  const lm_slot *slot = lm_find(s->lm, c->right, word, code);
  if (!slot) return 0;
  double p = slot->log10p;
  *reach = lm_reach(slot);
  c->right = lm_next(slot);
  if (!c->full) {
    left[c->n_left++] = word;
    c->left_score += p;
    if (*reach < c->n_left) {
      c->full = 1;
      c->n_key = c->n_left - 1;
    } else {
      c->n_key = c->n_left;
      c->full = c->n_left == s->max_left;
    }
  }
  return p;
}

/* Language-model score and state of an application to its tails. */
static int walk_target(search *s, candidate *c, int32_t *left) {
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
    const item *tail = s->graph.items.data + c->tail[-1 - *symbol];
    const int32_t *tail_left = s->graph.left.data + (int64_t)c->tail[-1 - *symbol] * s->graph.stride;
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
    /* Without context nothing changes for the tail's words. */
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
    int code = walk_target(s, c, left);
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

/* Candidates of two tails can be reached on two ways. */
static int already_pushed(search *s, int32_t app, const int32_t *rank, int *code) {
  uint32_t hash = (uint32_t)hash_mix(((uint64_t)(uint32_t)rank[0] << 32 | (uint32_t)rank[1]) * 31 + (uint32_t)app);
  if ((*code = index_reserve(&s->visited))) return 1;
  for (int64_t i = hash & (s->visited.count - 1); s->visited.slots[i].id >= 0; i = (i + 1) & (s->visited.count - 1)) {
    if (s->visited.slots[i].hash != hash) continue;
    const candidate *c = s->candidates.data + s->visited.slots[i].id;
    if (c->app == app && c->rank[0] == rank[0] && c->rank[1] == rank[1]) return 1;
  }
  index_put(&s->visited, hash, (int32_t)s->candidates.size);
  return 0;
}

static int push_successors(search *s, int32_t id) {
  int32_t app = s->candidates.data[id].app;
  const int32_t *tail = s->forest.edge_tail + 2 * (int64_t)s->forest.app_edge[app];
  for (int t = 0; t < 2 && tail[t] >= 0; t++) {
    int32_t rank[2] = {s->candidates.data[id].rank[0], s->candidates.data[id].rank[1]};
    int code = LSCFG_OK;
    if (++rank[t] >= s->node_items[tail[t] + 1] - s->node_items[tail[t]]) continue;
    if (tail[1] >= 0 && already_pushed(s, app, rank, &code)) {
      if (code) return code;
      continue;
    }
    if ((code = add_candidate(s, app, rank[0], rank[1])) || (code = push(s))) return code;
  }
  return LSCFG_OK;
}

static int same_state(const candidate *a, const int32_t *left_a, const candidate *b, const int32_t *left_b) {
  if (a->right != b->right || a->n_key != b->n_key || a->full != b->full) return 0;
  for (int32_t i = 0; i < a->n_key; i++)
    if (left_a[i] != left_b[i]) return 0;
  return 1;
}

/* The draft with the candidate's state, a new one if there is none. */
static int find_draft(search *s, int32_t id, int32_t *found) {
  const candidate *c = s->candidates.data + id;
  const int32_t *left = s->left.data + (int64_t)id * s->graph.stride;
  uint32_t hash = (uint32_t)hash_ints(left, c->n_key, (uint64_t)(uint32_t)c->right << 1 | (uint64_t)c->full);
  if (index_reserve(&s->states) || ARRAY_RESERVE(s->drafts, 1)) return LSCFG_ENOMEM;
  for (int64_t i = hash & (s->states.count - 1); s->states.slots[i].id >= 0; i = (i + 1) & (s->states.count - 1)) {
    if (s->states.slots[i].hash != hash) continue;
    *found = s->states.slots[i].id;
    int32_t other = s->drafts.data[*found].candidate;
    if (same_state(c, left, s->candidates.data + other, s->left.data + (int64_t)other * s->graph.stride))
      return LSCFG_OK;
  }
  *found = (int32_t)s->drafts.size++;
  s->drafts.data[*found] = (draft){c->score, id, -1, -1};
  index_put(&s->states, hash, *found);
  return LSCFG_OK;
}

/* Makes an edge of a candidate that was taken from the heap. */
static int keep(search *s, int32_t id) {
  int32_t d;
  if (find_draft(s, id, &d) || s->graph.edges.size == INT32_MAX || ARRAY_RESERVE(s->graph.edges, 1))
    return LSCFG_ENOMEM;
  const candidate *c = s->candidates.data + id;
  int32_t edge = (int32_t)s->graph.edges.size++;
  s->graph.edges.data[edge] = (item_edge){c->local, c->lm, c->oov, c->app, {c->tail[0], c->tail[1]}, -1, -1};
  if (s->drafts.data[d].last_edge < 0)
    s->drafts.data[d].first_edge = edge;
  else
    s->graph.edges.data[s->drafts.data[d].last_edge].next = edge;
  s->drafts.data[d].last_edge = edge;
  if (c->score > s->drafts.data[d].score) s->drafts.data[d].score = c->score;
  return LSCFG_OK;
}

/* Gives the drafts, best first, their numbers as items. */
static int make_items(search *s) {
  int64_t n = s->drafts.size;
  s->heap.size = 0;
  if (ARRAY_RESERVE(s->heap, n) || s->graph.items.size + n > INT32_MAX || ARRAY_RESERVE(s->graph.items, n) ||
      ARRAY_RESERVE(s->graph.left, n * s->graph.stride))
    return LSCFG_ENOMEM;
  for (int64_t i = 0; i < n; i++) s->heap.data[i] = (heap_entry){s->drafts.data[i].score, (int32_t)i};
  heap_build(s->heap.data, n);
  for (; n > 0; n--) {
    const draft *d = s->drafts.data + heap_pop(s->heap.data, n).id;
    const candidate *c = s->candidates.data + d->candidate;
    int32_t id = (int32_t)s->graph.items.size++;
    s->graph.items.data[id] = (item){d->score, c->left_score, c->right, c->n_left, c->n_key, c->full, d->first_edge};
    for (int32_t i = 0; i < c->n_left; i++)
      s->graph.left.data[s->graph.left.size + i] = s->left.data[(int64_t)d->candidate * s->graph.stride + i];
    s->graph.left.size += s->graph.stride;
    for (int32_t e = d->first_edge; e >= 0; e = s->graph.edges.data[e].next) s->graph.edges.data[e].head = id;
  }
  return LSCFG_OK;
}

static int search_node(search *s, int32_t node) {
  const lscfg_forest_view *f = &s->forest;
  int32_t first = f->edge_apps[f->node_edges[node]], last = f->edge_apps[f->node_edges[node + 1]];
  int code = LSCFG_OK;
  s->candidates.size = s->left.size = s->drafts.size = 0;
  index_clear(&s->states);
  index_clear(&s->visited);
  if (ARRAY_RESERVE(s->heap, last - first)) return LSCFG_ENOMEM;
  for (int32_t app = first; app < last; app++) {
    if ((code = add_candidate(s, app, 0, 0))) return code;
    s->heap.data[app - first] = (heap_entry){s->candidates.data[app - first].score, app - first};
  }
  s->heap.size = last - first;
  heap_build(s->heap.data, s->heap.size);
  for (int32_t pops = 0; pops < s->options.pop_limit && s->heap.size; pops++) {
    int32_t id = heap_pop(s->heap.data, s->heap.size--).id;
    if ((code = push_successors(s, id)) || (code = keep(s, id))) return code;
  }
  return make_items(s);
}

/* <s> before and </s> behind each item of the root: edges into one last item. */
static int add_goal(search *s) {
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
    g->edges.data[g->edges.size++] =
        (item_edge){s->options.lm_weight * lm, lm, 0, -1, {root, -1}, g->goal, next};
  }
  return LSCFG_OK;
}

/* The target side of each application as it was added to the grammar or follows from an extra rule. */
static int collect_targets(search *s, const lscfg_grammar *grammar, const int32_t **tgt, int32_t *length,
                           lscfg_error *error) {
  static const int32_t glue[2] = {-1, -2};
  const lscfg_forest_view *f = &s->forest;
  int32_t size = lscfg_grammar_size(grammar);
  for (int32_t a = 0; a < f->n_apps; a++) {
    int32_t rule = f->app_rule[a];
    if (rule == size + LSCFG_RULE_UNKNOWN)
      return lscfg_fail(error, LSCFG_EINPUT, 0, "the forest has a rule that the grammar has not: no target side is known");
    if (rule < 0 || rule >= size + LSCFG_EXTRA_RULES)
      return lscfg_fail(error, LSCFG_EINPUT, 0, "the forest is not one of this grammar: it has a rule %ld", (long)rule);
    if (rule < size) {
      tgt[a] = lscfg_grammar_tgt(grammar, rule, length + a);
    } else if (rule == size + LSCFG_RULE_PASS || rule == size + LSCFG_RULE_PASS_KNOWN) {
      tgt[a] = forest_passed_word(f, f->app_edge[a]);
      length[a] = 1;
      if (*tgt[a] < 0) return lscfg_fail(error, LSCFG_EINPUT, 0, "a word without an id cannot be passed through");
    } else {
      tgt[a] = glue;
      length[a] = rule == size + LSCFG_RULE_GLUE ? 2 : 1;
    }
    for (int32_t k = 0; k < length[a]; k++)
      if (tgt[a][k] < 0 && f->edge_tail[2 * (int64_t)f->app_edge[a] + (-1 - tgt[a][k])] < 0)
        return lscfg_fail(error, LSCFG_EINPUT, 0, "the forest is not one of this grammar: rule %ld has more nonterminals",
                          (long)rule);
  }
  s->graph.app_tgt = tgt;
  s->graph.app_length = length;
  return LSCFG_OK;
}

static int run(search *s, lscfg_kbest **kbest, int32_t max_edges, lscfg_hypergraph **kept, lscfg_error *error) {
  int code = LSCFG_OK;
  s->node_items[0] = 0;
  for (int32_t q = 0; q < s->forest.n_nodes && !code; q++) {
    code = search_node(s, q);
    s->node_items[q + 1] = (int32_t)s->graph.items.size;
  }
  if (!code) code = add_goal(s);
  if (code == LSCFG_ECALLBACK) return lscfg_fail(error, code, 0, "the language model failed or gave no valid answer");
  if (code) return out_of_memory(error);
  if ((code = kbest_extract(&s->graph, &s->options, kbest, error)) || !kept) return code;
  if (!(code = hypergraph_keep(&s->graph, max_edges, kept, error))) return LSCFG_OK;
  lscfg_kbest_free(*kbest);
  *kbest = NULL;
  return code;
}

static int check_input(const search *s, lscfg_error *error) {
  if (s->options.pop_limit < 1 || s->options.k < 1)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "pop limit and k must be 1 or more");
  if (!s->forest.n_nodes) return lscfg_fail(error, LSCFG_EINPUT, 0, "the forest has no nodes");
  if (!isfinite(s->options.lm_weight) || !isfinite(s->options.oov_weight))
    return lscfg_fail(error, LSCFG_EINPUT, 0, "a weight is not finite");
  for (int32_t a = 0; a < s->forest.n_apps; a++)
    if (!isfinite(s->app_scores[a]))
      return lscfg_fail(error, LSCFG_EINPUT, 0, "the score of application %ld is not finite", (long)a);
  return LSCFG_OK;
}

static int search_forest(const lscfg_forest *forest, const lscfg_grammar *grammar, lscfg_lm *lm,
                         const double *app_scores, const lscfg_search_options *options, lscfg_kbest **kbest,
                         int32_t max_edges, lscfg_hypergraph **kept, lscfg_error *error) {
  search s = {.lm = lm, .options = *options, .app_scores = app_scores};
  *kbest = NULL;
  lscfg_forest_get(forest, &s.forest);
  int code = check_input(&s, error);
  if (code) return code;
  s.max_left = lm ? lm->order - 1 : 0;
  s.graph.stride = s.max_left ? s.max_left : 1;
  size_t n_apps = (size_t)s.forest.n_apps;
  const int32_t **tgt = malloc((n_apps + 1) * sizeof *tgt);
  int32_t *length = malloc((n_apps + 1) * sizeof *length);
  s.node_items = malloc(((size_t)s.forest.n_nodes + 1) * sizeof *s.node_items);
  if (!tgt || !length || !s.node_items)
    code = out_of_memory(error);
  else if (!(code = collect_targets(&s, grammar, tgt, length, error)))
    code = run(&s, kbest, max_edges, kept, error);
  free(tgt);
  free(length);
  free(s.node_items);
  free(s.graph.items.data);
  free(s.graph.left.data);
  free(s.graph.edges.data);
  free(s.candidates.data);
  free(s.left.data);
  free(s.heap.data);
  free(s.drafts.data);
  free(s.states.slots);
  free(s.visited.slots);
  return code;
}

int lscfg_search(const lscfg_forest *forest, const lscfg_grammar *grammar, lscfg_lm *lm, const double *app_scores,
                 const lscfg_search_options *options, lscfg_kbest **kbest, lscfg_error *error) {
  return search_forest(forest, grammar, lm, app_scores, options, kbest, 0, NULL, error);
}

int lscfg_search_hypergraph(const lscfg_forest *forest, const lscfg_grammar *grammar, lscfg_lm *lm,
                            const double *app_scores, const lscfg_search_options *options, int32_t max_edges,
                            lscfg_kbest **kbest, lscfg_hypergraph **kept, lscfg_error *error) {
  *kept = NULL;
  *kbest = NULL;
  if (max_edges < 1) return lscfg_fail(error, LSCFG_EINPUT, 0, "a hypergraph needs room for 1 edge or more");
  return search_forest(forest, grammar, lm, app_scores, options, kbest, max_edges, kept, error);
}
