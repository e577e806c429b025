/* Upper envelopes of lines score + x * slope: of k-best lists (Och 2003) and of hypergraphs (Kumar et al. 2009), and
 * the line search over them. */
#include <math.h>

#include "base/heap.h"
#include "learn/metric.h"
#include "search/hypergraph.h"

/* A line that is highest from x on, until the next one. */
typedef struct {
  double x;
  int64_t line;
} segment;

/* The lines that are the highest somewhere, by ascending slope; segments and alive have room for n. Of equal lines the
 * first one counts. Lines leave the list once their slope is at most that of the envelope so far: the few lines
 * that remain need no sorting. */
static int64_t upper_envelope(const double *score, const double *slope, int64_t n, int64_t *alive, segment *segments) {
  int64_t count = 0, left = n, now = 0;
  for (int64_t i = 0; i < n; i++) {
    alive[i] = i;
    if (slope[i] < slope[now] || (slope[i] == slope[now] && score[i] > score[now])) now = i;
  }
  if (!n) return 0;
  segments[count++] = (segment){-INFINITY, now};
  for (;;) {
    int64_t kept = 0, next = -1;
    double nearest = INFINITY;
    for (int64_t k = 0; k < left; k++) {
      int64_t i = alive[k];
      double rise = slope[i] - slope[now];
      if (!(rise > 0)) continue;
      alive[kept++] = i;
      double x = (score[now] - score[i]) / rise;
      if (!(x < INFINITY)) continue; /* it is never met within the range of doubles */
      if (x < nearest ||
          (x == nearest && (slope[i] > slope[next] || (slope[i] == slope[next] && score[i] > score[next])))) {
        nearest = x;
        next = i;
      }
    }
    if (next < 0) return count;
    left = kept;
    now = next;
    double before = segments[count - 1].x;
    segments[count++] = (segment){nearest > before ? nearest : before, now}; /* rounding may go back a little */
  }
}

/* ---- line search ---- */

typedef struct {
  ARRAY(segment) segments; /* of all sentences, concatenated */
  int64_t *next;           /* [n_sentences] the segment that comes next */
  int64_t *last;           /* [n_sentences] after the last one */
  heap_entry *heap;        /* sentences by the x of their next segment */
  int64_t *alive;
} sweep;

static void exchange(int64_t *sum, const int32_t *stats, int width, int64_t out, int64_t in) {
  for (int i = 0; i < width; i++) sum[i] += stats[in * width + i] - stats[out * width + i];
}

/* Keeps the better one of the best interval and (left, right). */
static void compare(int metric, const int64_t *sum, double left, double right, double *step, double *best) {
  /* No number lies between them. */
  if (isfinite(left) && !(right - left > 1e-9 * (1 + fabs(left)))) return;
  double middle = (left + right) / 2;
  if (left == -INFINITY)
    middle = right == INFINITY ? 0 : right - 1;
  else if (right == INFINITY)
    middle = left + 1;
  double score = metric_score(metric, sum);
  if (score > *best || (score == *best && fabs(middle) < fabs(*step))) {
    *best = score;
    *step = middle;
  }
}

static int run_sweep(sweep *w, int64_t n_sentences, const int64_t *first, const double *scores, const double *slopes,
                     int metric, const int32_t *stats, double *step, double *best) {
  int64_t sum[LSCFG_MAX_STATS] = {0}, n_heap = 0;
  int width = lscfg_stats_width(metric);
  for (int64_t s = 0; s < n_sentences; s++) {
    int64_t begin = first[s], n = first[s + 1] - begin;
    w->next[s] = w->last[s] = 0;
    if (!n) continue;
    if (ARRAY_RESERVE(w->segments, n)) return LSCFG_ENOMEM;
    segment *found = w->segments.data + w->segments.size;
    int64_t count = upper_envelope(scores + begin, slopes + begin, n, w->alive, found);
    for (int64_t k = 0; k < count; k++) found[k].line += begin;
    for (int i = 0; i < width; i++) sum[i] += stats[found[0].line * width + i];
    w->next[s] = w->segments.size + 1;
    w->last[s] = w->segments.size += count;
    if (count > 1) w->heap[n_heap++] = (heap_entry){-found[1].x, (int32_t)s};
  }
  heap_build(w->heap, n_heap);
  double left = -INFINITY;
  *best = -INFINITY;
  *step = 0;
  while (n_heap) {
    int32_t s = w->heap[0].id;
    const segment *now = w->segments.data + w->next[s]++;
    if (now->x > left) {
      compare(metric, sum, left, now->x, step, best);
      left = now->x;
    }
    exchange(sum, stats, width, now[-1].line, now->line);
    if (w->next[s] < w->last[s])
      heap_down(w->heap, n_heap, 0, (heap_entry){-now[1].x, s});
    else
      heap_pop(w->heap, n_heap), n_heap--;
  }
  compare(metric, sum, left, INFINITY, step, best);
  return LSCFG_OK;
}

int lscfg_line_search(int64_t n_sentences, const int64_t *first, const double *scores, const double *slopes,
                      int metric, const int32_t *stats, double *step, double *best, lscfg_error *error) {
  sweep w = {.heap = NULL};
  int64_t most = 1;
  int code = LSCFG_ENOMEM;
  if (n_sentences > INT32_MAX) return lscfg_fail(error, LSCFG_EINPUT, 0, "too many sentences");
  for (int64_t s = 0; s < n_sentences; s++)
    if (first[s + 1] - first[s] > most) most = first[s + 1] - first[s];
  w.next = malloc((size_t)(n_sentences + 1) * sizeof *w.next);
  w.last = malloc((size_t)(n_sentences + 1) * sizeof *w.last);
  w.heap = malloc((size_t)(n_sentences + 1) * sizeof *w.heap);
  w.alive = malloc((size_t)most * sizeof *w.alive);
  if (w.next && w.last && w.heap && w.alive)
    code = run_sweep(&w, n_sentences, first, scores, slopes, metric, stats, step, best);
  free(w.segments.data);
  free(w.next);
  free(w.last);
  free(w.heap);
  free(w.alive);
  return code ? out_of_memory(error) : LSCFG_OK;
}

/* ---- envelopes of hypergraphs ---- */

/* A derivation on the envelope of an item: an edge over lines of its tails. */
typedef struct {
  double x; /* highest from here on */
  int32_t edge;
  int32_t part[2];
} back_line;

/* State of listing the words of a line. */
typedef struct {
  int64_t line;
  int64_t symbol;
} position;

typedef struct {
  const lscfg_hypergraph_view *graph;
  int64_t *first; /* [n_items + 1]: lines of each item */
  ARRAY(back_line) lines;
  ARRAY(double) score;
  ARRAY(double) slope;
  /* candidates of the item in hand */
  ARRAY(back_line) drafts;
  ARRAY(double) draft_score;
  ARRAY(double) draft_slope;
  ARRAY(int64_t) alive;
  ARRAY(segment) segments;
  ARRAY(position) stack;
} hull;

struct lscfg_envelope {
  ARRAY(double) score;
  ARRAY(double) slope;
  ARRAY(int64_t) word_offsets;
  ARRAY(int32_t) words;
};

static int add_draft(hull *h, int32_t edge, int64_t part0, int64_t part1, double score, double slope) {
  if (ARRAY_RESERVE(h->drafts, 1) || ARRAY_RESERVE(h->draft_score, 1) || ARRAY_RESERVE(h->draft_slope, 1))
    return LSCFG_ENOMEM;
  h->drafts.data[h->drafts.size++] = (back_line){0, edge, {(int32_t)part0, (int32_t)part1}};
  h->draft_score.data[h->draft_score.size++] = score;
  h->draft_slope.data[h->draft_slope.size++] = slope;
  return LSCFG_OK;
}

/* The lines of an edge: those of one tail shifted, or the Minkowski sum of those of two: from left to right, the two
 * lines that are highest at each x. */
static int add_edge(hull *h, int32_t e, double score, double slope) {
  const int32_t *tail = h->graph->tail + 2 * (int64_t)e;
  if (tail[0] < 0) return add_draft(h, e, -1, -1, score, slope);
  int64_t i = h->first[tail[0]], last_i = h->first[tail[0] + 1];
  int64_t j = tail[1] < 0 ? -1 : h->first[tail[1]], last_j = tail[1] < 0 ? 0 : h->first[tail[1] + 1];
  for (;;) {
    double s = score + h->score.data[i] + (j < 0 ? 0 : h->score.data[j]);
    double a = slope + h->slope.data[i] + (j < 0 ? 0 : h->slope.data[j]);
    if (add_draft(h, e, i, j, s, a)) return LSCFG_ENOMEM;
    double next_i = i + 1 < last_i ? h->lines.data[i + 1].x : INFINITY;
    double next_j = j >= 0 && j + 1 < last_j ? h->lines.data[j + 1].x : INFINITY;
    if (next_i == INFINITY && next_j == INFINITY) return LSCFG_OK;
    if (next_i <= next_j) i++;
    if (next_j <= next_i) j++;
  }
}

static int add_item(hull *h, int32_t item, const double *scores, const double *slopes) {
  h->drafts.size = h->draft_score.size = h->draft_slope.size = 0;
  for (int32_t e = h->graph->item_edges[item]; e < h->graph->item_edges[item + 1]; e++)
    if (add_edge(h, e, scores[e], slopes[e])) return LSCFG_ENOMEM;
  int64_t n = h->drafts.size;
  if (ARRAY_RESERVE(h->alive, n) || ARRAY_RESERVE(h->segments, n)) return LSCFG_ENOMEM;
  int64_t count = upper_envelope(h->draft_score.data, h->draft_slope.data, n, h->alive.data, h->segments.data);
  if (h->lines.size + count > INT32_MAX || ARRAY_RESERVE(h->lines, count) || ARRAY_RESERVE(h->score, count) ||
      ARRAY_RESERVE(h->slope, count))
    return LSCFG_ENOMEM;
  for (int64_t k = 0; k < count; k++) {
    int64_t d = h->segments.data[k].line;
    h->lines.data[h->lines.size] = h->drafts.data[d];
    h->lines.data[h->lines.size++].x = h->segments.data[k].x;
    h->score.data[h->score.size++] = h->draft_score.data[d];
    h->slope.data[h->slope.size++] = h->draft_slope.data[d];
  }
  h->first[item + 1] = h->lines.size;
  return LSCFG_OK;
}

/* The part of a line for a nonterminal of its target side. An edge of two tails without a target side holds the rest of
 * the tails of another. */
static int32_t part_of(const hull *h, const back_line *b, int32_t nonterminal) {
  const lscfg_hypergraph_view *g = h->graph;
  while (nonterminal) {
    const back_line *second = h->lines.data + b->part[1];
    if (!joins_rest(g, second->edge)) return b->part[1];
    b = second;
    nonterminal--;
  }
  return b->part[0];
}

static int list_words(hull *h, lscfg_envelope *out, int64_t line) {
  const lscfg_hypergraph_view *g = h->graph;
  h->stack.size = 0;
  if (ARRAY_RESERVE(h->stack, 1)) return LSCFG_ENOMEM;
  h->stack.data[h->stack.size++] = (position){line, g->symbol[h->lines.data[line].edge]};
  while (h->stack.size) {
    position *p = h->stack.data + h->stack.size - 1;
    const back_line *b = h->lines.data + p->line;
    if (p->symbol == g->symbol[b->edge + 1]) {
      h->stack.size--;
      continue;
    }
    int32_t symbol = g->symbols[p->symbol++];
    if (symbol >= 0) {
      if (ARRAY_RESERVE(out->words, 1)) return LSCFG_ENOMEM;
      out->words.data[out->words.size++] = symbol;
    } else {
      int32_t part = part_of(h, b, -1 - symbol);
      if (ARRAY_RESERVE(h->stack, 1)) return LSCFG_ENOMEM;
      h->stack.data[h->stack.size++] = (position){part, g->symbol[h->lines.data[part].edge]};
    }
  }
  return LSCFG_OK;
}

static int fill_envelope(hull *h, const double *scores, const double *slopes, lscfg_envelope *out) {
  int32_t n = h->graph->n_items;
  h->first[0] = 0;
  for (int32_t item = 0; item < n; item++)
    if (add_item(h, item, scores, slopes)) return LSCFG_ENOMEM;
  int64_t count = h->first[n] - h->first[n - 1];
  if (ARRAY_RESERVE(out->score, count) || ARRAY_RESERVE(out->slope, count) ||
      ARRAY_RESERVE(out->word_offsets, count + 1))
    return LSCFG_ENOMEM;
  out->word_offsets.data[out->word_offsets.size++] = 0;
  for (int64_t line = h->first[n - 1]; line < h->first[n]; line++) {
    out->score.data[out->score.size++] = h->score.data[line];
    out->slope.data[out->slope.size++] = h->slope.data[line];
    if (list_words(h, out, line)) return LSCFG_ENOMEM;
    out->word_offsets.data[out->word_offsets.size++] = out->words.size;
  }
  return LSCFG_OK;
}

int lscfg_hypergraph_envelope(const lscfg_hypergraph_view *graph, const double *scores, const double *slopes,
                              lscfg_envelope **envelope, lscfg_error *error) {
  hull h = {.graph = graph};
  lscfg_envelope *out = calloc(1, sizeof *out);
  int code = LSCFG_ENOMEM;
  *envelope = NULL;
  h.first = malloc(((size_t)graph->n_items + 1) * sizeof *h.first);
  if (out && h.first) code = fill_envelope(&h, scores, slopes, out);
  free(h.first);
  free(h.lines.data);
  free(h.score.data);
  free(h.slope.data);
  free(h.drafts.data);
  free(h.draft_score.data);
  free(h.draft_slope.data);
  free(h.alive.data);
  free(h.segments.data);
  free(h.stack.data);
  if (code) {
    lscfg_envelope_free(out);
    return out_of_memory(error);
  }
  *envelope = out;
  return LSCFG_OK;
}

void lscfg_envelope_free(lscfg_envelope *e) {
  if (!e) return;
  free(e->score.data);
  free(e->slope.data);
  free(e->word_offsets.data);
  free(e->words.data);
  free(e);
}

void lscfg_envelope_get(const lscfg_envelope *e, lscfg_envelope_view *view) {
  *view = (lscfg_envelope_view){e->score.size, e->score.data, e->slope.data, e->word_offsets.data, e->words.data};
}
