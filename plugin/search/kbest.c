/* The k best derivations of the hypergraph: algorithm 3 of Huang and Chiang (2005), with an explicit stack instead of
 * recursion. If translations must differ, each item keeps only the best derivation of each of its word strings, which
 * loses no string of the root: exchanging a part for a better one with the same words and the same item improves every
 * derivation. */
#include "search/kbest.h"

#include "base/heap.h"
#include "base/index.h"
#include "search/rank_set.h"

/* A derivation of an item: an edge and the ranks of its tails' derivations. */
typedef struct {
  double score, lm;
  int32_t oov;
  int32_t edge;
  int32_t rank[2];
  uint64_t hash, power; /* of the words, see concatenate */
} derivation;

typedef struct {
  ARRAY(heap_entry) heap; /* waiting derivations, at most one step after those taken */
  ARRAY(int32_t) best;    /* derivations taken, best first */
  int32_t last;           /* taken, and its successors not yet in the heap; -1 if there is none */
  int32_t started, exhausted;
  int64_t inspected;
} item_best;

/* the item needs its derivation of this rank if it exists */
typedef struct {
  int32_t item, rank;
} demand;

/* State of listing the words or applications of a derivation. */
typedef struct {
  int32_t derivation, symbol;
} position;

typedef struct {
  const hypergraph *graph;
  int32_t k, unique;
  int32_t *item_best_of; /* item -> number in bests, -1 before the first request */
  ARRAY(item_best) bests;
  ARRAY(derivation) derivations;
  ARRAY(demand) demands;
  rank_set visited;   /* derivations of two tails, by edge */
  index_table yields; /* derivations taken, by item and words; only for unique */
  ARRAY(position) positions;
} extraction;

/* ---- hashes of word strings: polynomials modulo 2^61 - 1, so that parts can be joined without reading them ---- */

static const uint64_t PRIME = ((uint64_t)1 << 61) - 1;
static const uint64_t BASE = 0x12d687e1c4f0a1b3u % (((uint64_t)1 << 61) - 1);

static uint64_t multiply(uint64_t a, uint64_t b) {
  uint64_t a_high = a >> 32, a_low = a & UINT32_MAX, b_high = b >> 32, b_low = b & UINT32_MAX;
  uint64_t middle = a_high * b_low + a_low * b_high; /* < 2^62: the high parts have 29 bits */
  /* 2^64 = 8 and 2^61 = 1 modulo the prime; middle * 2^32 is split at bit 29 */
  uint64_t low = a_low * b_low;
  uint64_t sum = (a_high * b_high << 3) + (middle >> 29) + ((middle & 0x1fffffff) << 32) + (low >> 61) + (low & PRIME);
  sum = (sum >> 61) + (sum & PRIME);
  return sum >= PRIME ? sum - PRIME : sum;
}

/* Appends a string with hash h and power BASE^length. */
static void concatenate(derivation *d, uint64_t h, uint64_t power) {
  d->hash = (multiply(d->hash, power) + h) % PRIME;
  d->power = multiply(d->power, power);
}

static uint64_t word_hash(int32_t word) { return hash_mix((uint64_t)(uint32_t)word + 0x632be59bd9b4e019u) % PRIME; }

/* ---- lists of items ---- */

static item_best *best_of(extraction *x, int32_t item) {
  int32_t b = x->item_best_of[item];
  return b < 0 ? NULL : x->bests.data + b;
}

static int has_rank(extraction *x, int32_t item, int32_t rank) {
  const item_best *b = best_of(x, item);
  return b && b->best.size > rank;
}

static const derivation *ranked(extraction *x, int32_t item, int32_t rank) {
  return x->derivations.data + best_of(x, item)->best.data[rank];
}

static int add_derivation(extraction *x, item_best *b, int32_t edge, const int32_t *rank, double score) {
  if (x->derivations.size == INT32_MAX || ARRAY_RESERVE(x->derivations, 1) || ARRAY_RESERVE(b->heap, 1))
    return LSCFG_ENOMEM;
  int32_t id = (int32_t)x->derivations.size++;
  x->derivations.data[id] = (derivation){.score = score, .edge = edge, .rank = {rank[0], rank[1]}};
  heap_up(b->heap.data, b->heap.size++, (heap_entry){score, id});
  return LSCFG_OK;
}

/* Each incoming edge over the best derivations of its tails, whose scores are stored in the items. */
static int start(extraction *x, item_best *b, int32_t item_id) {
  const hypergraph *g = x->graph;
  b->started = 1;
  for (int32_t e = g->items.data[item_id].edge; e >= 0; e = g->edges.data[e].next) {
    const item_edge *edge = g->edges.data + e;
    double score = edge->local;
    for (int t = 0; t < 2; t++)
      if (edge->tail[t] >= 0) score += g->items.data[edge->tail[t]].score;
    if (add_derivation(x, b, e, (const int32_t[2]){0, 0}, score)) return LSCFG_ENOMEM;
  }
  return LSCFG_OK;
}

/* Requests an item's derivation of a rank; 1 if it exists, or never will, 0 if work remains. */
static int ask(extraction *x, int32_t item, int32_t rank, int *code) {
  if (x->item_best_of[item] < 0) {
    if (ARRAY_RESERVE(x->bests, 1)) {
      *code = LSCFG_ENOMEM;
      return 0;
    }
    x->item_best_of[item] = (int32_t)x->bests.size;
    x->bests.data[x->bests.size++] = (item_best){.last = -1};
  }
  const item_best *b = best_of(x, item);
  if (b->best.size > rank || b->exhausted) return 1;
  if (ARRAY_RESERVE(x->demands, 1))
    *code = LSCFG_ENOMEM;
  else
    x->demands.data[x->demands.size++] = (demand){item, rank};
  return 0;
}

/* Pushes the successors of the last derivation to the heap, or first requests the tails' next derivations. */
static int push_next(extraction *x, int32_t item) {
  const derivation last = x->derivations.data[best_of(x, item)->last];
  const item_edge *edge = x->graph->edges.data + last.edge;
  int code = LSCFG_OK;
  for (int t = 0; t < 2; t++)
    if (edge->tail[t] >= 0 && !ask(x, edge->tail[t], last.rank[t] + 1, &code)) return code;
  for (int t = 0; t < 2; t++) {
    int32_t rank[2] = {last.rank[0], last.rank[1]};
    rank[t]++;
    if (edge->tail[t] < 0 || !has_rank(x, edge->tail[t], rank[t])) continue;
    if (edge->tail[1] >= 0 && (code = rank_set_add(&x->visited, last.edge, rank))) {
      if (code < 0) return code;
      continue;
    }
    double score = edge->local + ranked(x, edge->tail[0], rank[0])->score;
    if (edge->tail[1] >= 0) score += ranked(x, edge->tail[1], rank[1])->score;
    if ((code = add_derivation(x, best_of(x, item), last.edge, rank, score))) return code;
  }
  best_of(x, item)->last = -1;
  return LSCFG_OK;
}

/* The part of a derivation for a nonterminal of its target side. */
static const derivation *part_of(extraction *x, const derivation *d, int32_t nonterminal) {
  const item_edge *edge = x->graph->edges.data + d->edge;
  while (nonterminal) {
    const derivation *second = ranked(x, edge->tail[1], d->rank[1]);
    const item_edge *next = x->graph->edges.data + second->edge;
    if (!is_rest(x->graph, next)) return second;
    d = second;
    edge = next;
    nonterminal--;
  }
  return ranked(x, edge->tail[0], d->rank[0]);
}

/* Sums up a derivation with all its parts. */
static void complete(extraction *x, derivation *d) {
  const item_edge *edge = x->graph->edges.data + d->edge;
  const derivation *part[2] = {NULL, NULL};
  d->lm = edge->lm;
  d->oov = edge->oov;
  for (int t = 0; t < 2; t++) {
    if (edge->tail[t] < 0) continue;
    part[t] = ranked(x, edge->tail[t], d->rank[t]);
    d->lm += part[t]->lm;
    d->oov += part[t]->oov;
  }
  if (!x->unique) return;
  d->hash = 0;
  d->power = 1;
  if (edge->app < 0) {
    concatenate(d, part[0]->hash, part[0]->power);
    return;
  }
  if (is_rest(x->graph, edge)) { /* the words of each tail count, wherever they will stand */
    concatenate(d, part[0]->hash, part[0]->power);
    concatenate(d, word_hash(-1), BASE);
    concatenate(d, part[1]->hash, part[1]->power);
    return;
  }
  for (int32_t i = 0; i < x->graph->app_length[edge->app]; i++) {
    int32_t symbol = x->graph->app_tgt[edge->app][i];
    if (symbol >= 0) {
      concatenate(d, word_hash(symbol), BASE);
    } else {
      const derivation *own = part_of(x, d, -1 - symbol);
      concatenate(d, own->hash, own->power);
    }
  }
}

/* True if the item has a derivation with the same words already; notes them if not. */
static int is_repeated(extraction *x, int32_t item, int32_t id, int *code) {
  const derivation *d = x->derivations.data + id;
  uint32_t hash = (uint32_t)hash_mix(d->hash * 31 + d->power + ((uint64_t)(uint32_t)item << 32));
  if ((*code = index_reserve(&x->yields))) return 1;
  int64_t at = -1;
  for (int32_t known; (known = index_next(&x->yields, hash, &at)) >= 0;) {
    const derivation *other = x->derivations.data + known;
    if (other->hash == d->hash && other->power == d->power && x->graph->edges.data[other->edge].head == item) return 1;
  }
  index_put(&x->yields, hash, id);
  return 0;
}

/* Takes the best derivation from the heap, or first requests its parts. */
static int take(extraction *x, int32_t item) {
  item_best *b = best_of(x, item);
  const derivation *top = x->derivations.data + b->heap.data[0].id;
  const int32_t *tail = x->graph->edges.data[top->edge].tail;
  int code = LSCFG_OK;
  for (int t = 0; t < 2; t++)
    if (tail[t] >= 0 && !ask(x, tail[t], top->rank[t], &code)) return code;
  b = best_of(x, item); /* the request may have moved the lists */
  int32_t id = heap_pop(b->heap.data, b->heap.size--).id;
  complete(x, x->derivations.data + id);
  b->last = id;
  b->inspected++;
  if (x->unique && is_repeated(x, item, id, &code)) return code;
  if (ARRAY_RESERVE(b->best, 1)) return LSCFG_ENOMEM;
  b->best.data[b->best.size++] = id;
  return LSCFG_OK;
}

/* Works until the item has its derivation of the rank or has no more. */
static int fill(extraction *x, int32_t root, int32_t rank) {
  int code = LSCFG_OK;
  ask(x, root, rank, &code);
  while (!code && x->demands.size) {
    demand d = x->demands.data[x->demands.size - 1];
    item_best *b = best_of(x, d.item);
    /* If nearly all derivations repeat the same few strings, the search must end at some point. */
    if (x->unique && b->inspected >= 20 * (int64_t)x->k + 1000) b->exhausted = 1;
    if (b->best.size > d.rank || b->exhausted)
      x->demands.size--;
    else if (!b->started)
      code = start(x, b, d.item);
    else if (b->last >= 0)
      code = push_next(x, d.item);
    else if (b->heap.size)
      code = take(x, d.item);
    else
      b->exhausted = 1;
  }
  return code;
}

/* ---- output ---- */

/* Words from left to right, and applications from the root down, first tail first. */
static int list_words(extraction *x, lscfg_kbest *out, int32_t root) {
  x->positions.size = 0;
  if (ARRAY_RESERVE(x->positions, 1)) return LSCFG_ENOMEM;
  x->positions.data[x->positions.size++] = (position){root, 0};
  while (x->positions.size) {
    position *p = x->positions.data + x->positions.size - 1;
    const derivation *d = x->derivations.data + p->derivation;
    const item_edge *edge = x->graph->edges.data + d->edge;
    int32_t symbol = -1, length = 1;
    if (edge->app >= 0) length = x->graph->app_length[edge->app];
    if (p->symbol == length) {
      x->positions.size--;
      continue;
    }
    if (edge->app >= 0) symbol = x->graph->app_tgt[edge->app][p->symbol];
    p->symbol++;
    if (symbol >= 0) {
      if (ARRAY_RESERVE(out->words, 1)) return LSCFG_ENOMEM;
      out->words.data[out->words.size++] = symbol;
    } else {
      int32_t part = (int32_t)(part_of(x, d, -1 - symbol) - x->derivations.data);
      if (ARRAY_RESERVE(x->positions, 1)) return LSCFG_ENOMEM;
      x->positions.data[x->positions.size++] = (position){part, 0};
    }
  }
  return LSCFG_OK;
}

static int list_apps(extraction *x, lscfg_kbest *out, int32_t root) {
  x->positions.size = 0;
  if (ARRAY_RESERVE(x->positions, 1)) return LSCFG_ENOMEM;
  x->positions.data[x->positions.size++] = (position){root, 0};
  while (x->positions.size) {
    const derivation *d = x->derivations.data + x->positions.data[--x->positions.size].derivation;
    const item_edge *edge = x->graph->edges.data + d->edge;
    if (ARRAY_RESERVE(out->apps, 1) || ARRAY_RESERVE(x->positions, 2)) return LSCFG_ENOMEM;
    if (edge->app >= 0 && !is_rest(x->graph, edge)) out->apps.data[out->apps.size++] = edge->app;
    for (int t = 1; t >= 0; t--)
      if (edge->tail[t] >= 0)
        x->positions.data[x->positions.size++] = (position){best_of(x, edge->tail[t])->best.data[d->rank[t]], 0};
  }
  return LSCFG_OK;
}

static int add_hypothesis(extraction *x, lscfg_kbest *out, int32_t id) {
  if (list_words(x, out, id) || list_apps(x, out, id) || ARRAY_RESERVE(out->score, 1) || ARRAY_RESERVE(out->lm, 1) ||
      ARRAY_RESERVE(out->oov, 1) || ARRAY_RESERVE(out->word_offsets, 1) || ARRAY_RESERVE(out->app_offsets, 1))
    return LSCFG_ENOMEM;
  const derivation *d = x->derivations.data + id;
  out->score.data[out->score.size++] = d->score;
  out->lm.data[out->lm.size++] = d->lm;
  out->oov.data[out->oov.size++] = d->oov;
  out->word_offsets.data[out->word_offsets.size++] = out->words.size;
  out->app_offsets.data[out->app_offsets.size++] = out->apps.size;
  return LSCFG_OK;
}

static int extract(extraction *x, lscfg_kbest *out) {
  int code = LSCFG_OK;
  if (ARRAY_RESERVE(out->word_offsets, 1) || ARRAY_RESERVE(out->app_offsets, 1)) return LSCFG_ENOMEM;
  out->word_offsets.data[out->word_offsets.size++] = 0;
  out->app_offsets.data[out->app_offsets.size++] = 0;
  for (int32_t rank = 0; rank < x->k && !code; rank++) {
    if ((code = fill(x, x->graph->goal, rank)) || !has_rank(x, x->graph->goal, rank)) break;
    code = add_hypothesis(x, out, best_of(x, x->graph->goal)->best.data[rank]);
  }
  return code;
}

int kbest_extract(const hypergraph *graph, const lscfg_search_options *options, lscfg_kbest **kbest,
                  lscfg_error *error) {
  extraction x = {.graph = graph, .k = options->k, .unique = options->unique};
  size_t bytes = (size_t)graph->items.size * sizeof *x.item_best_of;
  lscfg_kbest *out = calloc(1, sizeof *out);
  int code = LSCFG_ENOMEM;
  x.item_best_of = malloc(bytes);
  if (out && x.item_best_of) {
    memset(x.item_best_of, 0xff, bytes);
    code = extract(&x, out);
  }
  for (int64_t b = 0; b < x.bests.size; b++) {
    free(x.bests.data[b].heap.data);
    free(x.bests.data[b].best.data);
  }
  free(x.item_best_of);
  free(x.bests.data);
  free(x.derivations.data);
  free(x.demands.data);
  rank_set_release(&x.visited);
  index_release(&x.yields);
  free(x.positions.data);
  if (code) {
    lscfg_kbest_free(out);
    return out_of_memory(error);
  }
  *kbest = out;
  return LSCFG_OK;
}

void lscfg_kbest_free(lscfg_kbest *kbest) {
  if (!kbest) return;
  free(kbest->score.data);
  free(kbest->lm.data);
  free(kbest->oov.data);
  free(kbest->word_offsets.data);
  free(kbest->words.data);
  free(kbest->app_offsets.data);
  free(kbest->apps.data);
  free(kbest);
}

void lscfg_kbest_get(const lscfg_kbest *kbest, lscfg_kbest_view *view) {
  *view = (lscfg_kbest_view){(int32_t)kbest->score.size, kbest->score.data, kbest->lm.data,          kbest->oov.data,
                             kbest->word_offsets.data,   kbest->words.data, kbest->app_offsets.data, kbest->apps.data};
}
