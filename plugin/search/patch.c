/* Costs of deriving a translation if rules may be missing, or may swap two neighbours.
 *
 * Each node gets a matrix, the cost of each interval of the translation, by places between its words. A target side is
 * spelled symbol by symbol from each place where it can begin. Words move along the translation, and a tail adds its
 * matrix to the costs of all places reached so far. */
#include "base/int_map.h"
#include "forest/forest.h"
#include "forest/grammar.h"
#include "lscfg/search.h"
#include "search/targets.h"

typedef struct {
  lscfg_forest_view forest;
  lscfg_patch_options options;
  const uint8_t *missing;
  const int32_t *words; /* of the translation */
  int32_t n, stride;    /* words, and costs of a row */
  int_map first;        /* 1 + first place of each word of the translation */
  int32_t *next;        /* [n]: 1 + next place of the same word, 0 for none */
  const int32_t **tgt;
  int32_t *tgt_length;
  int32_t *side;  /* a target side with two symbols swapped */
  int16_t *rows[2]; /* costs before and after a symbol */
  uint8_t *live;  /* [n_nodes][n + 1]: an interval of the node begins there */
  int16_t *costs;
} patching;

static int16_t *costs_of(const patching *p, int32_t node) {
  return p->costs + (int64_t)node * (p->n + 1) * p->stride;
}

/* Lowers to[k] to row[k] + more, from place `from` on. */
static void lower(int16_t *restrict to, const int16_t *restrict row, int32_t more, int32_t from, int32_t stride) {
  for (int32_t k = from & ~7; k < stride; k++) {
    int16_t sum = (int16_t)(row[k] + more);
    to[k] = to[k] < sum ? to[k] : sum;
  }
}

static void fill(int16_t *row, int64_t n) {
  for (int64_t k = 0; k < n; k++) row[k] = LSCFG_PATCH_NEVER;
}

static int32_t first_place(patching *p, int32_t word) {
  return p->first.slots ? (int32_t)int_map_slot(&p->first, word)->value : 0;
}

/* True if all words of a target side occur in the translation. */
static int occurs(patching *p, const int32_t *side, int32_t length) {
  for (int32_t k = 0; k < length; k++)
    if (side[k] >= 0 && (int_map_slot(&p->first, side[k])->key < 0)) return 0;
  return 1;
}

/* The costs after all symbols of a target side that begins at a place; the first tail is not copied. NULL: it does not
 * fit. *at: the place after a side of words only, whose cost is 0. */
static const int16_t *spell(patching *p, const int32_t *side, int32_t length, const int32_t *tails, int32_t begin,
                            int32_t *at) {
  const int16_t *row = NULL;
  int32_t from = begin;
  int other = 0;
  for (int32_t k = 0; k < length; k++) {
    if (!row && side[k] >= 0) { /* words before the first tail */
      if (from >= p->n || p->words[from] != side[k]) return NULL;
      from++;
      continue;
    }
    int16_t *to = p->rows[other];
    if (side[k] >= 0) {
      fill(to, p->stride);
      int32_t found = 0;
      for (int32_t place = first_place(p, side[k]); place; place = p->next[place - 1])
        if (place - 1 >= from && row[place - 1] < LSCFG_PATCH_NEVER) {
          to[place] = row[place - 1];
          found++;
        }
      if (!found) return NULL;
      from++;
    } else {
      int32_t tail = tails[-1 - side[k]];
      const int16_t *costs = costs_of(p, tail);
      const uint8_t *live = p->live + (int64_t)tail * (p->n + 1);
      if (!row) {
        if (!live[from]) return NULL;
        row = costs + (int64_t)from * p->stride;
        continue;
      }
      fill(to, p->stride);
      int32_t found = 0;
      for (int32_t place = from; place <= p->n; place++)
        if (live[place] && row[place] < LSCFG_PATCH_NEVER) {
          lower(to, costs + (int64_t)place * p->stride, row[place], place, p->stride);
          found++;
        }
      if (!found) return NULL;
      for (int32_t place = 0; place < p->stride; place++)
        if (to[place] > LSCFG_PATCH_NEVER) to[place] = LSCFG_PATCH_NEVER;
    }
    row = to;
    other = !other;
  }
  *at = from;
  return row ? row : p->rows[0];
}

/* Lowers the costs of a node by those of a target side with additional costs. */
static void add_side(patching *p, int16_t *costs, const int32_t *side, int32_t length, const int32_t *tails,
                     int32_t more) {
  int with_tails = 0;
  for (int32_t k = 0; k < length; k++) with_tails |= side[k] < 0;
  int32_t begin = length && side[0] >= 0 ? first_place(p, side[0]) - 1 : 0;
  while (begin >= 0 && begin <= p->n) {
    int32_t at = 0;
    const int16_t *row = spell(p, side, length, tails, begin, &at);
    int16_t *to = costs + (int64_t)begin * p->stride;
    if (row && with_tails)
      lower(to, row, more, begin, p->stride);
    else if (row && to[at] > more)
      to[at] = (int16_t)more;
    begin = length && side[0] >= 0 ? p->next[begin] - 1 : begin + 1;
  }
}

static void add_application(patching *p, int16_t *costs, int32_t app, const int32_t *tails) {
  const int32_t *side = p->tgt[app];
  int32_t length = p->tgt_length[app];
  if (!occurs(p, side, length)) return;
  add_side(p, costs, side, length, tails, 0);
  if (p->options.swap < 0 || length < 2) return;
  memcpy(p->side, side, (size_t)length * sizeof *side);
  for (int32_t k = 0; k + 1 < length; k++) {
    p->side[k] = side[k + 1];
    p->side[k + 1] = side[k];
    add_side(p, costs, p->side, length, tails, p->options.swap);
    p->side[k] = side[k];
  }
}

/* A missing rule yields any words at a cost of the words on both sides. */
static void add_missing(patching *p, int16_t *costs, int32_t covered) {
  for (int32_t i = 0; i <= p->n; i++)
    for (int32_t j = i + 1; j <= p->n && j - i <= p->options.longest; j++) {
      int16_t *to = costs + (int64_t)i * p->stride + j;
      int32_t cost = covered + j - i;
      if (*to > cost) *to = (int16_t)cost;
    }
}

static void patch_node(patching *p, int32_t node) {
  const lscfg_forest_view *f = &p->forest;
  int16_t *costs = costs_of(p, node);
  fill(costs, (int64_t)(p->n + 1) * p->stride);
  uint8_t *live = p->live + (int64_t)node * (p->n + 1);
  memset(live, 0, (size_t)p->n + 1);
  if (f->node_cat[node] == LSCFG_REST) return;
  int32_t covered = f->node_span[2 * (int64_t)node + 1] - f->node_span[2 * (int64_t)node], some_missing = 0;
  for (int32_t edge = f->node_edges[node]; edge < f->node_edges[node + 1]; edge++) {
    int32_t tails[MAX_ARITY];
    forest_tails(f, edge, tails);
    for (int32_t app = f->edge_apps[edge]; app < f->edge_apps[edge + 1]; app++)
      if (p->missing[app])
        some_missing = 1;
      else
        add_application(p, costs, app, tails);
  }
  if (some_missing) add_missing(p, costs, covered);
  for (int32_t i = 0; i <= p->n; i++)
    for (int32_t j = i; j <= p->n; j++) {
      int16_t *cost = costs + (int64_t)i * p->stride + j;
      if (*cost > LSCFG_PATCH_NEVER) *cost = LSCFG_PATCH_NEVER;
      live[i] |= *cost < LSCFG_PATCH_NEVER;
    }
}

static int read_words(patching *p) {
  for (int32_t place = p->n; place > 0; place--) {
    int64_t *first = int_map_at(&p->first, p->words[place - 1]);
    if (!first) return LSCFG_ENOMEM;
    p->next[place - 1] = (int32_t)*first;
    *first = place;
  }
  return LSCFG_OK;
}

static int allocate(patching *p) {
  size_t apps = (size_t)p->forest.n_apps + 1;
  p->next = malloc((size_t)p->n * sizeof *p->next);
  p->tgt = malloc(apps * sizeof *p->tgt);
  p->tgt_length = malloc(apps * sizeof *p->tgt_length);
  p->live = malloc((size_t)p->forest.n_nodes * ((size_t)p->n + 1));
  for (int t = 0; t < 2; t++) p->rows[t] = malloc((size_t)p->stride * sizeof *p->rows[t]);
  return p->next && p->tgt && p->tgt_length && p->live && p->rows[0] && p->rows[1] ? read_words(p) : LSCFG_ENOMEM;
}

int lscfg_patch(const lscfg_forest *forest, const lscfg_grammar *grammar, const uint8_t *missing,
                const int32_t *words, int32_t n_words, const lscfg_patch_options *options, int16_t *costs,
                lscfg_error *error) {
  patching p = {.options = *options, .missing = missing, .words = words, .n = n_words, .costs = costs};
  lscfg_forest_get(forest, &p.forest);
  if (!p.forest.n_nodes) return lscfg_fail(error, LSCFG_EINPUT, 0, "the forest has no nodes");
  if (n_words < 1 || n_words > LSCFG_PATCH_WORDS)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "the translation has %ld words; 1 to %d are possible", (long)n_words,
                      LSCFG_PATCH_WORDS);
  for (int32_t k = 0; k < n_words; k++)
    if (words[k] < 0) return lscfg_fail(error, LSCFG_EINPUT, 0, "word %ld of the translation has no id", (long)k);
  if (options->swap > LSCFG_PATCH_WORDS)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "a swap costs at most %d", LSCFG_PATCH_WORDS);
  p.stride = (n_words + 8) & ~7;
  int code = allocate(&p);
  if (code)
    out_of_memory(error);
  else
    code = collect_targets(forest, grammar, p.tgt, p.tgt_length, error);
  int32_t longest = 1;
  for (int32_t app = 0; !code && app < p.forest.n_apps; app++)
    if (p.tgt_length[app] > longest) longest = p.tgt_length[app];
  if (!code && !(p.side = malloc((size_t)longest * sizeof *p.side))) code = out_of_memory(error);
  for (int32_t node = 0; !code && node < p.forest.n_nodes; node++) patch_node(&p, node);
  free(p.first.entries);
  free(p.next);
  free(p.tgt);
  free(p.tgt_length);
  free(p.side);
  free(p.live);
  free(p.rows[0]);
  free(p.rows[1]);
  return code;
}
