/* The translation of a forest that is closest to references: the decoder's search with BLEU of single sentences instead
 * of a model (Xiao et al. 2012, footnote 4).
 *
 * An item is a forest node with everything on which BLEU can depend: its count of each n-gram of the references, its
 * length, and the longest n-gram of up to three words at its beginning and its end. Words beyond these can be in no
 * n-gram of the references together with words around the item. So items of equal states are worth the same wherever
 * they are used, and without limits the search is exact. */
#include <math.h>

#include "base/heap.h"
#include "base/index.h"
#include "forest/forest.h"
#include "forest/grammar.h"
#include "search/kbest.h"
#include "search/rank_set.h"
#include "search/references.h"
#include "search/targets.h"

typedef struct {
  double score; /* BLEU of the item's words, from 0 to 1 */
  int64_t length;
  int32_t app, tail[2];
  int32_t rank[2];        /* tails by their rank in the lists of their nodes */
  int32_t begin, end;     /* n-grams of the references */
  int32_t matches[BLEU_ORDER];
} match_item;

/* Items with the counts of the references' n-grams, stride for each. */
typedef struct {
  ARRAY(match_item) items;
  ARRAY(uint8_t) counts;
} match_list;

typedef struct {
  lscfg_forest_view forest;
  references refs;
  lscfg_oracle_options options;
  const int32_t **tgt;
  int32_t *tgt_length;
  int64_t stride;
  int32_t *node_items; /* [n_nodes + 1]: a node's items, best first, are neighbours in kept */
  match_list kept;
  /* of the node in hand */
  int rest; /* the node is the rest of an edge's tails */
  double length_wanted;
  match_list found; /* candidates */
  ARRAY(heap_entry) heap;
  ARRAY(heap_entry) drafts; /* candidates of different states */
  index_table states;       /* drafts by state */
  rank_set visited;         /* candidates of two tails, by application */
  ARRAY(int32_t) stack;     /* of what is being listed */
} oracle;

static int is_whole(const oracle *o, const match_item *m) { return m->length == o->refs.length.data[m->begin]; }

/* Appends a word to the item. Its n-grams of up to `counted` words have been counted already. */
static void put_word(const oracle *o, match_item *m, uint8_t *counts, int32_t word, int32_t counted) {
  const references *r = &o->refs;
  m->end = references_step(r, m->end, word);
  for (int32_t gram = m->end; r->length.data[gram] > counted; gram = r->suffix.data[gram])
    if (counts[gram] < r->most.data[gram]) {
      counts[gram]++;
      m->matches[r->length.data[gram] - 1]++;
    }
  if (is_whole(o, m) && m->length < BLEU_ORDER - 1) {
    int32_t longer = trie_child(&r->children, m->begin, word);
    if (longer >= 0) m->begin = longer;
  }
  m->length++;
}

static void put_item(const oracle *o, match_item *m, uint8_t *counts, int32_t id) {
  const references *r = &o->refs;
  const match_item *tail = o->kept.items.data + id;
  const uint8_t *more = o->kept.counts.data + id * o->stride, *most = r->most.data;
  for (int32_t order = 0; order < BLEU_ORDER; order++) {
    int32_t sum = 0;
    for (int32_t gram = r->first[order]; gram < r->first[order + 1]; gram++) {
      int32_t count = counts[gram] + more[gram];
      count = count < most[gram] ? count : most[gram];
      counts[gram] = (uint8_t)count;
      sum += count;
    }
    m->matches[order] = sum;
  }
  int32_t words[BLEU_ORDER], n = r->length.data[tail->begin];
  for (int32_t gram = tail->begin, k = n; k-- > 0; gram = r->prefix.data[gram]) words[k] = r->word.data[gram];
  for (int32_t k = 0; k < n; k++) put_word(o, m, counts, words[k], k + 1);
  if (is_whole(o, tail)) return;
  m->length += tail->length - n;
  m->end = tail->end;
}

/* BLEU with what is added to all counts of n-grams, as the brevity penalty is for the node. */
static double score_of(const oracle *o, const match_item *m) {
  if (!m->length) return 0;
  double sum = 0, add = o->options.smoothing;
  for (int32_t k = 0; k < BLEU_ORDER; k++) {
    double all = m->length > k ? (double)(m->length - k) : 0;
    sum += log((m->matches[k] + add) / (all + add));
  }
  double brevity = (double)m->length < o->length_wanted ? 1 - o->length_wanted / (double)m->length : 0;
  return exp(sum / BLEU_ORDER + brevity);
}

/* True if an application joins the tails of another but its first. */
static int is_choice(const oracle *o, const match_item *m) {
  return m->tail[1] >= 0 && m->app >= 0 && !o->tgt_length[m->app];
}

/* The items of all tails, including those of its chain for the rest. */
static void list_tails(const oracle *o, const int32_t tail[2], int32_t *items) {
  while (tail[1] >= 0 && is_choice(o, o->kept.items.data + tail[1])) {
    *items++ = tail[0];
    tail = o->kept.items.data[tail[1]].tail;
  }
  items[0] = tail[0];
  items[1] = tail[1];
}

/* A new candidate, on the heap. */
static int add_candidate(oracle *o, int32_t app, int32_t rank0, int32_t rank1) {
  match_list *list = &o->found;
  if (list->items.size == INT32_MAX || ARRAY_RESERVE(list->items, 1) || ARRAY_RESERVE(list->counts, o->stride) ||
      ARRAY_RESERVE(o->heap, 1))
    return LSCFG_ENOMEM;
  int32_t id = (int32_t)list->items.size++, items[MAX_ARITY];
  match_item *m = list->items.data + id;
  uint8_t *counts = list->counts.data + list->counts.size;
  list->counts.size += o->stride;
  memset(counts, 0, (size_t)o->stride);
  const int32_t *tail = o->forest.edge_tail + 2 * (int64_t)o->forest.app_edge[app];
  *m = (match_item){.app = app, .tail = {-1, -1}, .rank = {rank0, rank1}};
  if (tail[0] >= 0) m->tail[0] = o->node_items[tail[0]] + rank0;
  if (tail[1] >= 0) m->tail[1] = o->node_items[tail[1]] + rank1;
  list_tails(o, m->tail, items);
  if (o->rest)
    for (int32_t t = 0; t < 2; t++) put_item(o, m, counts, m->tail[t]);
  else
    for (int32_t k = 0; k < o->tgt_length[app]; k++) {
      int32_t symbol = o->tgt[app][k];
      if (symbol >= 0)
        put_word(o, m, counts, symbol, 0);
      else
        put_item(o, m, counts, items[-1 - symbol]);
    }
  if (o->refs.length.data[m->end] == BLEU_ORDER) m->end = o->refs.suffix.data[m->end];
  m->score = score_of(o, m);
  heap_up(o->heap.data, o->heap.size++, (heap_entry){m->score, id});
  return LSCFG_OK;
}

static int add_successors(oracle *o, int32_t id) {
  const match_item m = o->found.items.data[id];
  const int32_t *tail = o->forest.edge_tail + 2 * (int64_t)o->forest.app_edge[m.app];
  for (int t = 0; t < 2 && tail[t] >= 0; t++) {
    int32_t rank[2] = {m.rank[0], m.rank[1]};
    if (++rank[t] == o->node_items[tail[t] + 1] - o->node_items[tail[t]]) continue;
    int code = tail[1] >= 0 ? rank_set_add(&o->visited, m.app, rank) : LSCFG_OK;
    if (code < 0) return code;
    if (code) continue;
    if ((code = add_candidate(o, m.app, rank[0], rank[1]))) return code;
  }
  return LSCFG_OK;
}

/* Keeps a candidate unless another has its state. Each choice of a rest is separate. */
static int keep(oracle *o, int32_t id) {
  const match_item *m = o->found.items.data + id;
  const uint8_t *counts = o->found.counts.data + id * o->stride;
  uint64_t seed = hash_mix((uint64_t)m->length << 32 ^ (uint64_t)(uint32_t)m->begin << 16 ^ (uint32_t)m->end);
  uint32_t hash = (uint32_t)(hash_bytes((const char *)counts, (size_t)o->stride) ^ seed);
  if (ARRAY_RESERVE(o->drafts, 1) || index_reserve(&o->states)) return LSCFG_ENOMEM;
  int64_t at = -1;
  for (int32_t other; !o->rest && (other = index_next(&o->states, hash, &at)) >= 0;) {
    const match_item *known = o->found.items.data + other;
    if (known->begin == m->begin && known->end == m->end && known->length == m->length &&
        !memcmp(counts, o->found.counts.data + other * o->stride, (size_t)o->stride))
      return LSCFG_OK;
  }
  index_put(&o->states, hash, id);
  heap_up(o->drafts.data, o->drafts.size++, (heap_entry){m->score, id});
  return LSCFG_OK;
}

/* The best drafts become the node's items, best first. */
static int make_items(oracle *o) {
  int64_t n = o->drafts.size, wanted = n < o->options.beam ? n : o->options.beam;
  match_list *kept = &o->kept;
  if (kept->items.size + wanted > INT32_MAX || ARRAY_RESERVE(kept->items, wanted) ||
      ARRAY_RESERVE(kept->counts, wanted * o->stride))
    return LSCFG_ENOMEM;
  for (; wanted > 0; wanted--, n--) {
    int32_t id = heap_pop(o->drafts.data, n).id;
    kept->items.data[kept->items.size++] = o->found.items.data[id];
    memcpy(kept->counts.data + kept->counts.size, o->found.counts.data + id * o->stride, (size_t)o->stride);
    kept->counts.size += o->stride;
  }
  return LSCFG_OK;
}

static int oracle_node(oracle *o, int32_t node) {
  const lscfg_forest_view *f = &o->forest;
  const int32_t *span = f->node_span + 2 * (int64_t)node, *all = f->node_span + 2 * ((int64_t)f->n_nodes - 1);
  int code = LSCFG_OK;
  o->rest = f->node_cat[node] == LSCFG_REST;
  o->length_wanted = ceil((double)o->refs.shortest * (span[1] - span[0]) / (all[1] - all[0]));
  o->found.items.size = o->found.counts.size = o->heap.size = o->drafts.size = 0;
  index_clear(&o->states);
  rank_set_clear(&o->visited);
  for (int32_t app = f->edge_apps[f->node_edges[node]]; app < f->edge_apps[f->node_edges[node + 1]]; app++)
    if ((code = add_candidate(o, app, 0, 0))) return code;
  for (int32_t pops = 0; pops < o->options.pop_limit && o->heap.size; pops++) {
    int32_t id = heap_pop(o->heap.data, o->heap.size--).id;
    if ((code = keep(o, id)) || (code = add_successors(o, id))) return code;
  }
  return make_items(o);
}

/* ---- output ---- */

/* The words of an item from left to right. The stack holds words that wait, and items as their complements. */
static int list_words(oracle *o, lscfg_kbest *out, int32_t root) {
  o->stack.size = 0;
  if (ARRAY_RESERVE(o->stack, 1)) return LSCFG_ENOMEM;
  o->stack.data[o->stack.size++] = ~root;
  while (o->stack.size) {
    int32_t next = o->stack.data[--o->stack.size], items[MAX_ARITY];
    if (next >= 0) {
      if (ARRAY_RESERVE(out->words, 1)) return LSCFG_ENOMEM;
      out->words.data[out->words.size++] = next;
      continue;
    }
    const match_item *m = o->kept.items.data + ~next;
    list_tails(o, m->tail, items);
    if (ARRAY_RESERVE(o->stack, o->tgt_length[m->app])) return LSCFG_ENOMEM;
    for (int32_t k = o->tgt_length[m->app]; k-- > 0;) {
      int32_t symbol = o->tgt[m->app][k];
      o->stack.data[o->stack.size++] = symbol >= 0 ? symbol : ~items[-1 - symbol];
    }
  }
  return LSCFG_OK;
}

/* Its applications from the root down, first tail first. */
static int list_apps(oracle *o, lscfg_kbest *out, int32_t root) {
  o->stack.size = 0;
  if (ARRAY_RESERVE(o->stack, 1)) return LSCFG_ENOMEM;
  o->stack.data[o->stack.size++] = root;
  while (o->stack.size) {
    const match_item *m = o->kept.items.data + o->stack.data[--o->stack.size];
    if (ARRAY_RESERVE(out->apps, 1) || ARRAY_RESERVE(o->stack, 2)) return LSCFG_ENOMEM;
    if (!is_choice(o, m)) out->apps.data[out->apps.size++] = m->app;
    for (int t = 1; t >= 0; t--)
      if (m->tail[t] >= 0) o->stack.data[o->stack.size++] = m->tail[t];
  }
  return LSCFG_OK;
}

/* The items of the root are translations, no two of them equal. */
static int list_translations(oracle *o, lscfg_kbest *out) {
  int32_t first = o->node_items[o->forest.n_nodes - 1], last = o->node_items[o->forest.n_nodes], n = last - first;
  if (ARRAY_RESERVE(out->score, n) || ARRAY_RESERVE(out->lm, n) || ARRAY_RESERVE(out->oov, n) ||
      ARRAY_RESERVE(out->word_offsets, n + 1) || ARRAY_RESERVE(out->app_offsets, n + 1))
    return LSCFG_ENOMEM;
  out->word_offsets.data[out->word_offsets.size++] = 0;
  out->app_offsets.data[out->app_offsets.size++] = 0;
  for (int32_t item = first; item < last; item++) {
    if (list_words(o, out, item) || list_apps(o, out, item)) return LSCFG_ENOMEM;
    out->score.data[out->score.size++] = o->kept.items.data[item].score;
    out->lm.data[out->lm.size++] = 0;
    out->oov.data[out->oov.size++] = 0;
    out->word_offsets.data[out->word_offsets.size++] = out->words.size;
    out->app_offsets.data[out->app_offsets.size++] = out->apps.size;
  }
  return LSCFG_OK;
}

static int run(oracle *o, lscfg_kbest **kbest, lscfg_error *error) {
  int code = LSCFG_OK;
  o->node_items[0] = 0;
  for (int32_t q = 0; q < o->forest.n_nodes && !code; q++) {
    code = oracle_node(o, q);
    o->node_items[q + 1] = (int32_t)o->kept.items.size;
  }
  lscfg_kbest *out = code ? NULL : calloc(1, sizeof *out);
  if (!out || list_translations(o, out)) {
    lscfg_kbest_free(out);
    return out_of_memory(error);
  }
  *kbest = out;
  return LSCFG_OK;
}

int lscfg_oracle(const lscfg_forest *forest, const lscfg_grammar *grammar, int32_t n_references,
                 const int64_t *offsets, const int32_t *words, const lscfg_oracle_options *options,
                 lscfg_kbest **kbest, lscfg_error *error) {
  oracle o = {.options = *options};
  *kbest = NULL;
  lscfg_forest_get(forest, &o.forest);
  if (options->pop_limit < 1 || options->beam < 1)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "pop limit and beam must be 1 or more");
  if (!(options->smoothing > 0 && isfinite(options->smoothing)))
    return lscfg_fail(error, LSCFG_EINPUT, 0, "the number added to counts must be above 0");
  if (!o.forest.n_nodes) return lscfg_fail(error, LSCFG_EINPUT, 0, "the forest has no nodes");
  int code = references_read(&o.refs, n_references, offsets, words, error);
  if (!code) {
    o.stride = o.refs.word.size;
    o.tgt = malloc(((size_t)o.forest.n_apps + 1) * sizeof *o.tgt);
    o.tgt_length = malloc(((size_t)o.forest.n_apps + 1) * sizeof *o.tgt_length);
    o.node_items = malloc(((size_t)o.forest.n_nodes + 1) * sizeof *o.node_items);
    if (!o.tgt || !o.tgt_length || !o.node_items)
      code = out_of_memory(error);
    else if (!(code = collect_targets(forest, grammar, o.tgt, o.tgt_length, error)))
      code = run(&o, kbest, error);
  }
  references_release(&o.refs);
  free(o.tgt);
  free(o.tgt_length);
  free(o.node_items);
  free(o.kept.items.data);
  free(o.kept.counts.data);
  free(o.found.items.data);
  free(o.found.counts.data);
  free(o.heap.data);
  free(o.drafts.data);
  free(o.stack.data);
  index_release(&o.states);
  rank_set_release(&o.visited);
  return code;
}
