/* Minimal derivation trees of word-aligned sentence pairs (Zhang, Gildea & Chiang 2008): the normalized decomposition
 * tree by shift-reduce. A node is a tight phrase pair, the root the whole sentence. Words without a link are terminals
 * of the lowest node whose span covers them. */
#include "extract/derive_forests.h"

/* Minimal rules depend on every link, so a pair may have one tree per alignment. Unlinked words become terminals
 * of the lowest node that covers them; source words outside all links get a node of the whole sentence above the
 * tight root, because a rule [X,1] -> ... would rewrite a span into itself. Shift-reduce is linear: a scan down
 * the stack joins two items for good where a target word is linked to the left of their boundary, since no phrase
 * can begin there any more. */

/* ---- closed words: target words all of whose links lie in the source words shifted so far ---- */

/* Runs of closed words, as disjoint sets; the time of all queries together is linear but for the inverse Ackermann
 * function. */
typedef struct {
  int32_t *up;   /* [n] parent in the run's tree, -1 while the word is open */
  int32_t *size; /* [n] of the run, at its root */
  int32_t *next; /* [n] the word after the run, at its root */
  int32_t *due;  /* [source words] first target word that closes there; the next one in due_next */
  int32_t *due_next;
} closed_words;

static int32_t run_of(const closed_words *w, int32_t t) {
  for (; w->up[t] != t; t = w->up[t]) w->up[t] = w->up[w->up[t]];
  return t;
}

/* The first open word from t on. */
static int32_t next_open(const closed_words *w, int32_t t) { return w->up[t] < 0 ? t : w->next[run_of(w, t)]; }

static void join_runs(closed_words *w, int32_t a, int32_t b) {
  int32_t left = run_of(w, a), right = run_of(w, b), end = w->next[right];
  int32_t root = w->size[left] >= w->size[right] ? left : right, other = root == left ? right : left;
  w->up[other] = root;
  w->size[root] += w->size[other];
  w->next[root] = end;
}

static void close_words(closed_words *w, int32_t source, int32_t n_tgt) {
  for (int32_t t = w->due[source]; t >= 0; t = w->due_next[t]) {
    w->up[t] = t;
    w->size[t] = 1;
    w->next[t] = t + 1;
    if (t && w->up[t - 1] >= 0) join_runs(w, t - 1, t);
    if (t + 1 < n_tgt && w->up[t + 1] >= 0) join_runs(w, t, t + 1);
  }
}

/* ---- the tree ---- */

/* Appends b's list of phrases to a's; a is then the item of both. */
static void join_items(phrase *phrases, stack_item *a, const stack_item *b) {
  if (b->tgt[0] < a->tgt[0]) a->tgt[0] = b->tgt[0];
  if (b->tgt[1] > a->tgt[1]) a->tgt[1] = b->tgt[1];
  if (a->last >= 0) phrases[a->last].next_sibling = b->first;
  if (a->first < 0) a->first = b->first;
  if (b->last >= 0) a->last = b->last;
  a->is_phrase = 0;
}

/* Replaces the top items of the stack by the smallest phrase pair that they end and that is not the top item itself; 0
 * if there is none.
 *
 * The scan may walk down the whole stack in vain, so it must end early. Let the items from b to the top span the target
 * words T. If a word of T is open, so it is for every b below, and the scan ends. If all are closed but have links to
 * the left of b, no phrase will ever begin at b, since T only grows: b is joined to the item below for good. Otherwise
 * the items are a phrase pair. So a step is the scan's last one or removes an item, except the step over a top item
 * that is a phrase already. */
static int reduce(lscfg_derivations *d, const linked_words *c, const closed_words *closed, int32_t end) {
  stack_item *items = d->stack.data, top = items[d->stack.size - 1];
  int32_t b = (int32_t)d->stack.size - 1 - (top.is_phrase != 0);
  int32_t tgt[2] = {top.tgt[0], top.tgt[1]};
  for (; b >= 0; b--) {
    if (items[b].tgt[0] < tgt[0]) tgt[0] = items[b].tgt[0];
    if (items[b].tgt[1] > tgt[1]) tgt[1] = items[b].tgt[1];
    if (next_open(closed, tgt[0]) <= tgt[1]) return 0;
    if (pair_closed(c, items[b].begin, end, tgt)) break;
    join_items(d->phrases.data, &items[b - 1], &items[b]); /* b > 0: the first item has no left neighbour */
    if (top.is_phrase) items[b] = top;
    d->stack.size--;
  }
  if (b < 0) return 0;
  if (top.is_phrase) join_items(d->phrases.data, &items[b], &top);
  int32_t number = (int32_t)d->phrases.size++;
  d->phrases.data[number] = (phrase){{items[b].begin, end}, {tgt[0], tgt[1]}, items[b].first, -1};
  items[b].first = items[b].last = number;
  items[b].is_phrase = 1;
  d->stack.size = b + 1;
  return 1;
}

/* Builds the tree, sequences bracketed to the left; its root is the last phrase. */
static int shift_and_reduce(lscfg_derivations *d, const linked_words *c) {
  int32_t n = c->n[SRC], m = c->n[TGT];
  d->phrases.size = d->stack.size = d->children.size = 0;
  if (!n) return LSCFG_OK;
  /* every phrase except those of one word has a boundary between two words that no phrase below it has */
  if (ARRAY_RESERVE(d->phrases, 2 * (int64_t)n + 1) || ARRAY_RESERVE(d->stack, n + 1) ||
      ARRAY_RESERVE(d->children, (int64_t)n + 4 * (int64_t)m))
    return LSCFG_ENOMEM;
  int32_t *p = d->children.data;
  closed_words closed = {p, p + m, p + 2 * (int64_t)m, p + 4 * (int64_t)m, p + 3 * (int64_t)m};
  memset(closed.up, 0xff, (size_t)m * sizeof *p);
  memset(closed.due, 0xff, (size_t)n * sizeof *p);
  for (int32_t t = 0; t < m; t++) {
    closed.due_next[t] = closed.due[c->last[t]];
    closed.due[c->last[t]] = t;
  }
  for (int32_t i = 0; i < n; i++) {
    d->stack.data[d->stack.size++] = (stack_item){i, {c->low[i], c->high[i]}, -1, -1, 0};
    close_words(&closed, i, m);
    while (reduce(d, c, &closed, i)) {
    }
  }
  return LSCFG_OK;
}

/* ---- other bracketings ---- */

/* True if a phrase is two phrases side by side and no linked word: 1 in the same order on both sides, -1 in opposite
 * order, 0 if it is not. */
static int orientation(const phrase *phrases, const phrase *p) {
  if (p->first_child < 0) return 0;
  const phrase *a = &phrases[p->first_child];
  if (a->next_sibling < 0) return 0;
  const phrase *b = &phrases[a->next_sibling];
  if (b->next_sibling >= 0 || a->src[0] != p->src[0] || a->src[1] + 1 != b->src[0] || b->src[1] != p->src[1]) return 0;
  if (a->tgt[0] == p->tgt[0] && a->tgt[1] + 1 == b->tgt[0] && b->tgt[1] == p->tgt[1]) return 1;
  return b->tgt[0] == p->tgt[0] && b->tgt[1] + 1 == a->tgt[0] && a->tgt[1] == p->tgt[1] ? -1 : 0;
}

typedef struct {
  phrase *phrases;
  const int32_t *members; /* the sequence, last one first */
  int32_t n_members, balanced;
  const int32_t *free; /* phrases for its nodes, taken from the front */
} rebracketing;

/* Makes a node of members first .. first + n - 1, n > 1. Recursive for balanced trees only, which are low. */
static int32_t bracket(rebracketing *r, int32_t first, int32_t n) {
  int32_t top = *r->free++, node = top;
  for (;;) {
    phrase *p = &r->phrases[node];
    int32_t n_left = r->balanced ? (n + 1) / 2 : 1, last = r->n_members - 1;
    const phrase *a = &r->phrases[r->members[last - first]], *b = &r->phrases[r->members[last - (first + n - 1)]];
    p->src[0] = a->src[0];
    p->src[1] = b->src[1];
    p->tgt[0] = a->tgt[0] < b->tgt[0] ? a->tgt[0] : b->tgt[0];
    p->tgt[1] = a->tgt[1] > b->tgt[1] ? a->tgt[1] : b->tgt[1];
    int32_t left = n_left == 1 ? r->members[last - first] : bracket(r, first, n_left);
    first += n_left;
    n -= n_left;
    int32_t right = n == 1 ? r->members[last - first] : r->balanced ? bracket(r, first, n) : *r->free++;
    p->first_child = left;
    r->phrases[left].next_sibling = right;
    r->phrases[right].next_sibling = -1;
    if (n == 1 || r->balanced) return top;
    node = right;
  }
}

/* Rebrackets all sequences of the tree. A sequence is a chain of first children of one orientation. */
static int rebracket(lscfg_derivations *d) {
  phrase *phrases = d->phrases.data;
  int64_t n = d->phrases.size;
  d->children.size = 0;
  if (ARRAY_RESERVE(d->children, 3 * n + 1)) return LSCFG_ENOMEM;
  int32_t *done = d->children.data, *members = done + n, *nodes = members + n + 1;
  memset(done, 0, (size_t)n * sizeof *done);
  for (int32_t top = (int32_t)n - 1; top >= 0; top--) { /* children come before parents */
    int way = orientation(phrases, &phrases[top]);
    if (done[top] || !way) continue;
    int32_t n_members = 0, n_nodes = 0, next = phrases[top].next_sibling;
    for (int32_t node = top;; node = phrases[node].first_child) {
      if (orientation(phrases, &phrases[node]) != way) {
        members[n_members++] = node;
        break;
      }
      done[node] = 1;
      nodes[n_nodes++] = node;
      members[n_members++] = phrases[phrases[node].first_child].next_sibling;
    }
    rebracketing r = {phrases, members, n_members, d->options.bracketing == LSCFG_BRACKET_BALANCED, nodes};
    bracket(&r, 0, n_members);
    phrases[top].next_sibling = next;
  }
  return LSCFG_OK;
}

/* ---- from phrases to nodes and rules ---- */

/* Source words before or after all links: a node of the whole sentence covers them, over the tight root. Target words
 * alone do not create one: its rule would be [X,1] on the source side, which no decoder could apply only once. */
static void cover_sentence(lscfg_derivations *d, const linked_words *c) {
  int32_t root = (int32_t)d->phrases.size - 1, last = (int32_t)d->pair.words[SRC].size - 1;
  if (c->position[SRC][0] == 0 && c->position[SRC][c->n[SRC] - 1] == last) return;
  d->phrases.data[d->phrases.size] = d->phrases.data[root];
  d->phrases.data[d->phrases.size++].first_child = root;
}

/* Takes children out of the list until limit remain: the smallest ones, so that their words become terminals of the
 * rule; of equal size the last. Returns the number that remain. */
static int32_t drop_small_children(lscfg_derivations *d, int32_t n, int32_t limit) {
  int32_t *children = d->children.data, kept = 0;
  for (; kept < limit; kept++) { /* moves the largest of the rest to the front, keeping the others in order */
    int32_t best = kept, best_size = -1;
    for (int32_t k = kept; k < n; k++) {
      const int32_t (*s)[2] = d->child_spans[k];
      int32_t size = s[SRC][1] - s[SRC][0] + s[TGT][1] - s[TGT][0];
      if (size > best_size) {
        best = k;
        best_size = size;
      }
    }
    int32_t child = children[best];
    span_pair span;
    memcpy(span, d->child_spans[best], sizeof span);
    memmove(children + kept + 1, children + kept, (size_t)(best - kept) * sizeof *children);
    memmove(d->child_spans + kept + 1, d->child_spans + kept, (size_t)(best - kept) * sizeof span);
    children[kept] = child;
    memcpy(d->child_spans[kept], span, sizeof span);
  }
  for (int32_t k = 1; k < kept; k++) /* back to source order */
    for (int32_t j = k; j > 0 && d->child_spans[j][SRC][0] < d->child_spans[j - 1][SRC][0]; j--) {
      int32_t child = children[j];
      span_pair span;
      memcpy(span, d->child_spans[j], sizeof span);
      children[j] = children[j - 1];
      memcpy(d->child_spans[j], d->child_spans[j - 1], sizeof span);
      children[j - 1] = child;
      memcpy(d->child_spans[j - 1], span, sizeof span);
    }
  return kept;
}

static int add_node(lscfg_derivations *d, int32_t rule, int32_t parent, int32_t slot, const span_pair span) {
  if (ARRAY_RESERVE(d->node_rule, 1) || ARRAY_RESERVE(d->node_parent, 1) || ARRAY_RESERVE(d->node_slot, 1) ||
      ARRAY_RESERVE(d->node_span, 4))
    return LSCFG_ENOMEM;
  d->rule_count.data[rule]++;
  d->node_rule.data[d->node_rule.size++] = rule;
  d->node_parent.data[d->node_parent.size++] = parent;
  d->node_slot.data[d->node_slot.size++] = slot;
  memcpy(d->node_span.data + d->node_span.size, span, sizeof(span_pair));
  d->node_span.size += 4;
  return LSCFG_OK;
}

/* Appends the nodes in preorder, children in source order. */
static int write_tree(lscfg_derivations *d, const linked_words *c) {
  int64_t first = d->trees.data[d->trees.size - 1], limit = d->options.max_arity;
  int32_t n_nodes = 0, above = 0;
  d->todo.size = d->children.size = 0;
  if (ARRAY_RESERVE(d->todo, d->phrases.size + 1) || ARRAY_RESERVE(d->children, d->phrases.size + 1) ||
      pair_reserve_children(d, d->phrases.size + 1))
    return LSCFG_ENOMEM;
  d->todo.data[d->todo.size++] = (pending_node){(int32_t)d->phrases.size - 1, 0, -1};
  while (d->todo.size) {
    pending_node node = d->todo.data[--d->todo.size];
    const phrase *p = node.item < 0 ? NULL : &d->phrases.data[node.item];
    span_pair span = {{0, (int32_t)d->pair.words[SRC].size}, {0, (int32_t)d->pair.words[TGT].size}};
    if (node.parent >= 0) {
      pair_span(c, SRC, p->src[0], p->src[1], span[SRC]);
      pair_span(c, TGT, p->tgt[0], p->tgt[1], span[TGT]);
    }
    int32_t arity = 0;
    for (int32_t k = p ? p->first_child : -1; k >= 0; k = d->phrases.data[k].next_sibling, arity++) {
      const phrase *child = &d->phrases.data[k];
      d->children.data[arity] = k;
      pair_span(c, SRC, child->src[0], child->src[1], d->child_spans[arity][SRC]);
      pair_span(c, TGT, child->tgt[0], child->tgt[1], d->child_spans[arity][TGT]);
    }
    if (d->options.binarise && arity > limit) arity = drop_small_children(d, arity, (int32_t)limit);
    above |= arity > limit;
    int32_t rule = pair_rule(d, (const int32_t (*)[2])span, (const span_pair *)d->child_spans, arity);
    int32_t parent = node.parent < 0 ? -1 : (int32_t)(first + node.parent);
    if (rule < 0 || add_node(d, rule, parent, node.slot, (const int32_t (*)[2])span)) return LSCFG_ENOMEM;
    for (int32_t k = arity - 1; k >= 0; k--) /* the first child is processed next */
      d->todo.data[d->todo.size++] = (pending_node){d->children.data[k], k, n_nodes};
    n_nodes++;
  }
  d->n_above += above;
  return LSCFG_OK;
}

static int add_tree(lscfg_derivations *d) {
  linked_words c;
  if (ARRAY_RESERVE(d->trees, 1) || pair_condense(d, &c) || link_counts_add_pair(&d->tables.lexicon, &d->pair) ||
      shift_and_reduce(d, &c))
    return LSCFG_ENOMEM;
  if (d->options.bracketing >= LSCFG_BRACKET_RIGHT && rebracket(d)) return LSCFG_ENOMEM;
  if (c.n[SRC]) cover_sentence(d, &c);
  if (write_tree(d, &c) || (d->decomposed && forests_append(d, &c))) return LSCFG_ENOMEM;
  int64_t last = d->trees.size - 1;
  d->trees.data[last + 1] = d->trees.data[0] + d->node_rule.size;
  d->trees.size++;
  return LSCFG_OK;
}

static int derive_pair(lscfg_derivations *d, const char *const line[3], const size_t length[3], int32_t *stream,
                       lscfg_error *error) {
  int reason = sentence_pair_read(&d->pair, &d->tables.vocab, line, length, d->options.max_words, stream, error);
  if (reason > 0) {
    if (reason != LSCFG_PAIR_TOO_LONG && !d->options.drop) return LSCFG_EINPUT;
    if (ARRAY_RESERVE(d->trees, 1)) return out_of_memory(error);
    d->trees.data[d->trees.size] = d->trees.data[d->trees.size - 1];
    d->trees.size++;
    if (d->decomposed && ARRAY_RESERVE(d->forests, 1)) return out_of_memory(error);
    if (d->decomposed) {
      d->forests.data[d->forests.size] = d->forests.data[d->forests.size - 1];
      d->forests.size++;
    }
    d->dropped[reason]++;
    return LSCFG_OK;
  }
  if (reason < 0) return reason;
  *stream = LSCFG_SRC;
  int64_t words = d->pair.words[SRC].size;
  if (d->trees.data[d->trees.size - 1] + 2 * words + 1 > INT32_MAX ||
      (d->decomposed && d->forests.data[d->forests.size - 1] + forests_most_nodes(words) > INT32_MAX))
    return lscfg_fail(error, LSCFG_EINPUT, 0, "more than 2147483647 nodes; split the corpus");
  return add_tree(d) ? out_of_memory(error) : LSCFG_OK;
}

int lscfg_derive(lscfg_derivations *d, const char *src, size_t n_src, const char *tgt, size_t n_tgt, const char *links,
                 size_t n_links, int32_t *stream, lscfg_error *error) {
  return derive_pair(d, (const char *const[3]){src, tgt, links}, (const size_t[3]){n_src, n_tgt, n_links}, stream,
                     error);
}

int lscfg_derive_lines(lscfg_derivations *d, const char *const text[3], const size_t length[3], int64_t n_pairs,
                       int32_t *stream, lscfg_error *error) {
  const char *next[3] = {text[0], text[1], text[2]};
  for (int64_t pair = 0; pair < n_pairs; pair++) {
    const char *line[3];
    size_t size[3];
    for (int s = 0; s < 3; s++) {
      size_t left = length[s] - (size_t)(next[s] - text[s]);
      const char *end = left ? memchr(next[s], '\n', left) : NULL;
      line[s] = next[s];
      size[s] = end ? (size_t)(end - next[s]) : left;
      next[s] += size[s] + (end != NULL);
      if (end && size[s] && end[-1] == '\r') size[s]--;
    }
    int code = derive_pair(d, line, size, stream, error);
    if (code) {
      if (error) error->line = pair + 1;
      return code;
    }
  }
  return LSCFG_OK;
}
