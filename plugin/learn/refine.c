/* Hypergraphs whose items are split until each edge completes known n-grams of the references, and expectations over
 * their derivations (Li and Eisner, "First- and Second-Order Expectation Semirings", 2009). */
#include <math.h>

#include "base/index.h"
#include "lscfg/learn.h"
#include "search/hypergraph.h"
#include "search/references.h"

/* What matters of an item's words: its length, and the longest n-grams of up to three words at its beginning and its
 * end. No n-gram of the references joins words further inside the item with words outside it. */
typedef struct {
  int32_t begin, end; /* n-grams of the references */
  int32_t whole;      /* the item has no words but those of begin */
  int32_t length;     /* words, at most three */
} ends;

struct lscfg_refined {
  int32_t n_items;
  ARRAY(int32_t) head;
  ARRAY(int32_t) tail;
  ARRAY(int32_t) edge;
  ARRAY(int32_t) sizes;
  ARRAY(int64_t) gram_offsets;
  ARRAY(int32_t) grams;
  ARRAY(int32_t) order;
  ARRAY(int32_t) most;
};

typedef struct {
  const lscfg_hypergraph_view *graph;
  references refs;
  int32_t *first; /* [n_items + 1]: the refined items of each item */
  ARRAY(ends) items;
  ARRAY(int32_t) made_by; /* by refined item: its first edge */
  index_table known;      /* refined items of the item in hand */
  ARRAY(int32_t) parts;   /* refined items by nonterminal of the edge in hand */
  lscfg_refined *out;
} refiner;

/* Appends a word. N-grams of up to `counted` words that end in it lie inside a tail and were counted there. */
static int put_word(refiner *r, ends *e, int32_t word, int32_t counted) {
  const references *refs = &r->refs;
  e->end = references_step(refs, e->end, word);
  for (int32_t gram = e->end; refs->length.data[gram] > counted; gram = refs->suffix.data[gram]) {
    if (ARRAY_RESERVE(r->out->grams, 1)) return LSCFG_ENOMEM;
    r->out->grams.data[r->out->grams.size++] = gram - 1;
  }
  int32_t longer = e->whole && e->length < BLEU_ORDER - 1 ? trie_child(&refs->children, e->begin, word) : -1;
  if (longer >= 0)
    e->begin = longer;
  else
    e->whole = 0;
  e->length++;
  return LSCFG_OK;
}

static int put_item(refiner *r, ends *e, const ends *tail) {
  const references *refs = &r->refs;
  int32_t words[BLEU_ORDER], n = refs->length.data[tail->begin];
  for (int32_t gram = tail->begin, k = n; k-- > 0; gram = refs->prefix.data[gram]) words[k] = refs->word.data[gram];
  for (int32_t k = 0; k < n; k++)
    if (put_word(r, e, words[k], k + 1)) return LSCFG_ENOMEM;
  if (tail->whole) return LSCFG_OK;
  e->whole = 0;
  e->end = tail->end;
  e->length += tail->length - n;
  return LSCFG_OK;
}

/* Lists the refined items of all tails, including those of a chain for the rest. */
static int list_parts(refiner *r, const int32_t tail[2]) {
  int32_t t[2] = {tail[0], tail[1]};
  r->parts.size = 0;
  for (;;) {
    if (ARRAY_RESERVE(r->parts, 2)) return LSCFG_ENOMEM;
    if (t[0] >= 0) r->parts.data[r->parts.size++] = t[0];
    if (t[1] < 0) return LSCFG_OK;
    int32_t by = r->made_by.data[t[1]];
    if (!joins_rest(r->graph, r->out->edge.data[by])) break;
    memcpy(t, r->out->tail.data + 2 * (int64_t)by, sizeof t);
  }
  r->parts.data[r->parts.size++] = t[1];
  return LSCFG_OK;
}

/* The refined item of these ends, -1 if it is new. */
static int32_t find_item(refiner *r, uint32_t hash, const ends *e) {
  int64_t at = -1;
  for (int32_t id; (id = index_next(&r->known, hash, &at)) >= 0;) {
    const ends *other = r->items.data + id;
    if (!memcmp(other, e, sizeof *e)) return id;
  }
  return -1;
}

/* Adds the words of the edge to its refined item, and how many n-grams of each order it completes. Lengths above three
 * words count as three, which changes both terms of the difference by the same number. */
static int put_words(refiner *r, int32_t edge, ends *e, int32_t sizes[BLEU_ORDER]) {
  const lscfg_hypergraph_view *g = r->graph;
  for (int64_t k = g->symbol[edge]; k < g->symbol[edge + 1]; k++) {
    if (g->symbols[k] >= 0) {
      if (put_word(r, e, g->symbols[k], 0)) return LSCFG_ENOMEM;
      continue;
    }
    const ends *tail = r->items.data + r->parts.data[-1 - g->symbols[k]];
    if (put_item(r, e, tail)) return LSCFG_ENOMEM;
    for (int32_t n = 0; n < BLEU_ORDER; n++) sizes[n] -= tail->length > n ? tail->length - n : 0;
  }
  for (int32_t n = 0; n < BLEU_ORDER; n++) sizes[n] += e->length > n ? e->length - n : 0;
  if (r->refs.length.data[e->end] == BLEU_ORDER) e->end = r->refs.suffix.data[e->end];
  if (e->length >= BLEU_ORDER) e->length = BLEU_ORDER - 1;
  return LSCFG_OK;
}

static int add_edge(refiner *r, int32_t edge, const int32_t tail[2], int is_goal) {
  lscfg_refined *out = r->out;
  ends e = {.whole = 1};
  int32_t sizes[BLEU_ORDER] = {0}, item = -1;
  if (list_parts(r, tail) || put_words(r, edge, &e, sizes)) return LSCFG_ENOMEM;
  if (is_goal) e = (ends){0};
  uint32_t hash = (uint32_t)hash_ints((const int32_t[4]){e.begin, e.end, e.whole, e.length}, 4, 0);
  if (index_reserve(&r->known) || ARRAY_RESERVE(r->items, 1) || ARRAY_RESERVE(r->made_by, 1) ||
      ARRAY_RESERVE(out->head, 1) || ARRAY_RESERVE(out->tail, 2) || ARRAY_RESERVE(out->edge, 1) ||
      ARRAY_RESERVE(out->sizes, BLEU_ORDER) || ARRAY_RESERVE(out->gram_offsets, 1) || out->edge.size == INT32_MAX)
    return LSCFG_ENOMEM;
  int rest = joins_rest(r->graph, edge); /* each choice of a rest is separate */
  if (!rest) item = find_item(r, hash, &e);
  if (item < 0) {
    item = (int32_t)r->items.size++;
    r->items.data[item] = e;
    r->made_by.data[r->made_by.size++] = (int32_t)out->edge.size;
    if (!rest) index_put(&r->known, hash, item);
  }
  out->head.data[out->head.size++] = item;
  for (int t = 0; t < 2; t++) out->tail.data[out->tail.size++] = tail[t];
  for (int n = 0; n < BLEU_ORDER; n++) out->sizes.data[out->sizes.size++] = sizes[n];
  out->edge.data[out->edge.size++] = edge;
  out->gram_offsets.data[out->gram_offsets.size++] = out->grams.size;
  return LSCFG_OK;
}

static int add_item(refiner *r, int32_t item) {
  const lscfg_hypergraph_view *g = r->graph;
  index_clear(&r->known);
  r->first[item] = (int32_t)r->items.size;
  for (int32_t e = g->item_edges[item]; e < g->item_edges[item + 1]; e++) {
    const int32_t *tail = g->tail + 2 * (int64_t)e;
    int32_t begin[2], end[2];
    for (int t = 0; t < 2; t++) {
      begin[t] = tail[t] < 0 ? -1 : r->first[tail[t]];
      end[t] = tail[t] < 0 ? 0 : r->first[tail[t] + 1];
    }
    for (int32_t i = begin[0]; i < end[0]; i++)
      for (int32_t j = begin[1]; j < end[1]; j++)
        if (add_edge(r, e, (const int32_t[2]){i, j}, item == g->n_items - 1)) return LSCFG_ENOMEM;
  }
  r->first[item + 1] = (int32_t)r->items.size;
  return LSCFG_OK;
}

static int list_grams(refiner *r) {
  lscfg_refined *out = r->out;
  int64_t n = r->refs.word.size - 1;
  if (ARRAY_RESERVE(out->order, n) || ARRAY_RESERVE(out->most, n)) return LSCFG_ENOMEM;
  for (int64_t k = 1; k <= n; k++) {
    out->order.data[out->order.size++] = r->refs.length.data[k];
    out->most.data[out->most.size++] = r->refs.most.data[k];
  }
  return LSCFG_OK;
}

static int refine(refiner *r) {
  if (ARRAY_RESERVE(r->out->gram_offsets, 1)) return LSCFG_ENOMEM;
  r->out->gram_offsets.data[r->out->gram_offsets.size++] = 0;
  for (int32_t item = 0; item < r->graph->n_items; item++)
    if (add_item(r, item)) return LSCFG_ENOMEM;
  r->out->n_items = (int32_t)r->items.size;
  return list_grams(r);
}

int lscfg_hypergraph_refine(const lscfg_hypergraph_view *graph, int32_t n_references, const int64_t *offsets,
                            const int32_t *words, lscfg_refined **refined, lscfg_error *error) {
  refiner r = {.graph = graph};
  *refined = NULL;
  int code = references_read(&r.refs, n_references, offsets, words, error);
  if (!code) {
    r.out = calloc(1, sizeof *r.out);
    r.first = malloc(((size_t)graph->n_items + 1) * sizeof *r.first);
    if (!r.out || !r.first || refine(&r)) code = out_of_memory(error);
  }
  references_release(&r.refs);
  index_release(&r.known);
  free(r.first);
  free(r.items.data);
  free(r.made_by.data);
  free(r.parts.data);
  if (code)
    lscfg_refined_free(r.out);
  else
    *refined = r.out;
  return code;
}

void lscfg_refined_free(lscfg_refined *r) {
  if (!r) return;
  free(r->head.data);
  free(r->tail.data);
  free(r->edge.data);
  free(r->sizes.data);
  free(r->gram_offsets.data);
  free(r->grams.data);
  free(r->order.data);
  free(r->most.data);
  free(r);
}

void lscfg_refined_get(const lscfg_refined *r, lscfg_refined_view *view) {
  *view = (lscfg_refined_view){.n_items = r->n_items,
                               .n_edges = (int32_t)r->edge.size,
                               .head = r->head.data,
                               .tail = r->tail.data,
                               .edge = r->edge.data,
                               .sizes = r->sizes.data,
                               .gram_offsets = r->gram_offsets.data,
                               .grams = r->grams.data,
                               .n_grams = (int32_t)r->order.size,
                               .order = r->order.data,
                               .most = r->most.data};
}

/* ---- expectations ---- */

typedef struct {
  double inside;        /* log of the sum of exp(score) of its derivations */
  double mean;          /* mean value of its derivations */
  double posterior;     /* probability that a derivation uses it; -1 before any edge does */
  double outside;       /* posterior times the mean value around it in derivations that use it */
  double mean_of_graph; /* mean value of the derivations of its graph */
} item_sums;

static double log_add(double a, double b) {
  double high = a > b ? a : b, low = a > b ? b : a;
  return high == -INFINITY ? high : high + log1p(exp(low - high));
}

/* The sum over the tails of an edge. */
static double of_tails(const item_sums *items, const int32_t tail[2], int mean) {
  double sum = 0;
  for (int t = 0; t < 2; t++)
    if (tail[t] >= 0) sum += mean ? items[tail[t]].mean : items[tail[t]].inside;
  return sum;
}

int lscfg_edge_moments(int32_t n_items, int32_t n_edges, const int32_t *head, const int32_t *tail,
                       const double *scores, const double *values, double *share, double *posterior, double *moment,
                       lscfg_error *error) {
  item_sums *items = malloc(((size_t)n_items + 1) * sizeof *items);
  if (!items) return out_of_memory(error);
  for (int32_t i = 0; i < n_items; i++) items[i] = (item_sums){-INFINITY, 0, -1, 0, 0};
  for (int32_t e = 0; e < n_edges; e++) {
    item_sums *up = items + head[e];
    up->inside = log_add(up->inside, scores[e] + of_tails(items, tail + 2 * (int64_t)e, 0));
  }
  for (int32_t e = 0; e < n_edges; e++) {
    const int32_t *t = tail + 2 * (int64_t)e;
    share[e] = exp(scores[e] + of_tails(items, t, 0) - items[head[e]].inside);
    items[head[e]].mean += share[e] * (values[e] + of_tails(items, t, 1));
  }
  for (int32_t e = n_edges; e-- > 0;) {
    const int32_t *t = tail + 2 * (int64_t)e;
    item_sums *up = items + head[e];
    if (up->posterior < 0) { /* no edge uses it: the goal of a graph */
      up->posterior = 1;
      up->mean_of_graph = up->mean;
    }
    double around = up->posterior > 0 ? up->outside / up->posterior : 0;
    double mean = around + values[e] + of_tails(items, t, 1);
    posterior[e] = up->posterior * share[e];
    moment[e] = posterior[e] * (mean - up->mean_of_graph);
    for (int k = 0; k < 2; k++) {
      if (t[k] < 0) continue;
      item_sums *below = items + t[k];
      below->posterior = (below->posterior < 0 ? 0 : below->posterior) + posterior[e];
      below->outside += posterior[e] * (mean - below->mean);
      below->mean_of_graph = up->mean_of_graph;
    }
  }
  free(items);
  return LSCFG_OK;
}
