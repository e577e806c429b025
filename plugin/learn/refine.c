/* Hypergraphs whose items are split until each edge completes known n-grams of the references, and expectations over
 * their derivations (Li and Eisner, "First- and Second-Order Expectation Semirings", 2009). */
#include <math.h>

#include "base/index.h"
#include "lscfg/learn.h"
#include "search/references.h"

/* An item of the hypergraph with what later words can see of it: the longest n-grams of up to three words at its
 * beginning and its end. Words beyond these can be in no n-gram of the references together with words around it. */
typedef struct {
  int32_t begin, end; /* n-grams of the references */
  int32_t whole;      /* the item has no words but those of begin */
} ends;

struct lscfg_refined {
  int32_t n_items;
  ARRAY(int32_t) head;
  ARRAY(int32_t) tail;
  ARRAY(int32_t) edge;
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

/* Appends a word. Its n-grams of up to `counted` words lie within a tail, whose edges complete them. */
static int put_word(refiner *r, ends *e, int32_t *length, int32_t word, int32_t counted) {
  const references *refs = &r->refs;
  e->end = references_step(refs, e->end, word);
  for (int32_t gram = e->end; refs->length.data[gram] > counted; gram = refs->suffix.data[gram]) {
    if (ARRAY_RESERVE(r->out->grams, 1)) return LSCFG_ENOMEM;
    r->out->grams.data[r->out->grams.size++] = gram - 1;
  }
  int32_t longer = e->whole && *length < BLEU_ORDER - 1 ? trie_child(&refs->children, e->begin, word) : -1;
  if (longer >= 0)
    e->begin = longer;
  else
    e->whole = 0;
  ++*length;
  return LSCFG_OK;
}

static int put_item(refiner *r, ends *e, int32_t *length, const ends *tail) {
  const references *refs = &r->refs;
  int32_t words[BLEU_ORDER], n = refs->length.data[tail->begin];
  for (int32_t gram = tail->begin, k = n; k-- > 0; gram = refs->prefix.data[gram]) words[k] = refs->word.data[gram];
  for (int32_t k = 0; k < n; k++)
    if (put_word(r, e, length, words[k], k + 1)) return LSCFG_ENOMEM;
  if (tail->whole) return LSCFG_OK;
  e->whole = 0;
  e->end = tail->end;
  return LSCFG_OK;
}

static int joins_rest(const lscfg_hypergraph_view *g, int32_t edge) {
  return g->tail[2 * (int64_t)edge + 1] >= 0 && g->symbol[edge] == g->symbol[edge + 1];
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
    if (other->begin == e->begin && other->end == e->end && other->whole == e->whole) return id;
  }
  return -1;
}

static int add_edge(refiner *r, int32_t edge, const int32_t tail[2], int is_goal) {
  const lscfg_hypergraph_view *g = r->graph;
  lscfg_refined *out = r->out;
  ends e = {.whole = 1};
  int32_t length = 0, rest = joins_rest(g, edge);
  if (list_parts(r, tail)) return LSCFG_ENOMEM;
  for (int64_t k = g->symbol[edge]; k < g->symbol[edge + 1]; k++) {
    int32_t symbol = g->symbols[k];
    if (symbol >= 0 ? put_word(r, &e, &length, symbol, 0)
                    : put_item(r, &e, &length, r->items.data + r->parts.data[-1 - symbol]))
      return LSCFG_ENOMEM;
  }
  if (r->refs.length.data[e.end] == BLEU_ORDER) e.end = r->refs.suffix.data[e.end];
  if (is_goal) e = (ends){0, 0, 0};
  uint32_t hash = (uint32_t)hash_ints((const int32_t[3]){e.begin, e.end, e.whole}, 3, 0);
  if (index_reserve(&r->known) || ARRAY_RESERVE(r->items, 1) || ARRAY_RESERVE(r->made_by, 1) ||
      ARRAY_RESERVE(out->head, 1) || ARRAY_RESERVE(out->tail, 2) || ARRAY_RESERVE(out->edge, 1) ||
      ARRAY_RESERVE(out->gram_offsets, 1) || out->edge.size == INT32_MAX || r->items.size == INT32_MAX)
    return LSCFG_ENOMEM;
  int32_t item = rest ? -1 : find_item(r, hash, &e); /* each choice of a rest is separate */
  if (item < 0) {
    item = (int32_t)r->items.size++;
    r->items.data[item] = e;
    r->made_by.data[r->made_by.size++] = (int32_t)out->edge.size;
    index_put(&r->known, hash, item);
  }
  out->head.data[out->head.size++] = item;
  for (int t = 0; t < 2; t++) out->tail.data[out->tail.size++] = tail[t];
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
  free(r->gram_offsets.data);
  free(r->grams.data);
  free(r->order.data);
  free(r->most.data);
  free(r);
}

void lscfg_refined_get(const lscfg_refined *r, lscfg_refined_view *view) {
  *view = (lscfg_refined_view){r->n_items,         (int32_t)r->edge.size,  r->head.data,  r->tail.data,
                               r->edge.data,       r->gram_offsets.data,   r->grams.data, (int32_t)r->order.size,
                               r->order.data,      r->most.data};
}

/* ---- expectations ---- */

typedef struct {
  double log, mean; /* log of the weight, and the mean of the values that it belongs to */
} weighted;

static void add(weighted *sum, double log_weight, double mean) {
  double high = log_weight > sum->log ? log_weight : sum->log, low = log_weight > sum->log ? sum->log : log_weight;
  double log_total = high + log1p(exp(low - high));
  sum->mean += (mean - sum->mean) * exp(log_weight - log_total);
  sum->log = log_total;
}

int lscfg_expect(int32_t n_items, int32_t n_edges, const int32_t *head, const int32_t *tail, const double *scores,
                 const double *values, double *inside, double *posterior, double *moment, lscfg_error *error) {
  weighted *in = malloc(((size_t)n_items + 1) * sizeof *in), *out = malloc(((size_t)n_items + 1) * sizeof *out);
  double *mean_of_root = malloc(((size_t)n_items + 1) * sizeof *mean_of_root); /* of the graph of each item */
  if (!in || !out || !mean_of_root) {
    free(in);
    free(out);
    free(mean_of_root);
    return out_of_memory(error);
  }
  for (int32_t i = 0; i < n_items; i++) in[i] = out[i] = (weighted){-INFINITY, 0};
  for (int32_t e = 0; e < n_edges; e++) {
    weighted all = {scores[e], values[e]};
    for (int t = 0; t < 2; t++)
      if (tail[2 * (int64_t)e + t] >= 0) {
        all.log += in[tail[2 * (int64_t)e + t]].log;
        all.mean += in[tail[2 * (int64_t)e + t]].mean;
      }
    add(in + head[e], all.log, all.mean);
  }
  for (int32_t e = n_edges; e-- > 0;) {
    weighted *up = out + head[e];
    if (up->log == -INFINITY) { /* nothing uses it: the root of a graph */
      *up = (weighted){-in[head[e]].log, 0};
      mean_of_root[head[e]] = in[head[e]].mean;
    }
    weighted all = {up->log + scores[e], up->mean + values[e]};
    for (int t = 0; t < 2; t++)
      if (tail[2 * (int64_t)e + t] >= 0) {
        all.log += in[tail[2 * (int64_t)e + t]].log;
        all.mean += in[tail[2 * (int64_t)e + t]].mean;
      }
    for (int t = 0; t < 2; t++) {
      int32_t item = tail[2 * (int64_t)e + t];
      if (item < 0) continue;
      mean_of_root[item] = mean_of_root[head[e]];
      add(out + item, all.log - in[item].log, all.mean - in[item].mean);
    }
    posterior[e] = exp(all.log);
    moment[e] = posterior[e] * (all.mean - mean_of_root[head[e]]);
  }
  for (int32_t i = 0; i < n_items; i++) inside[i] = in[i].log;
  free(in);
  free(out);
  free(mean_of_root);
  return LSCFG_OK;
}
