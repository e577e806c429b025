/* The best derivation of a given translation.
 *
 * Each node gets the intervals of the translation that it can yield, with the score of the best way. A target side is
 * spelled symbol by symbol from each place where it can begin: words move along the translation, and a tail adds its
 * scores to those of all places reached so far. Words of a translation usually differ, and nodes yield few intervals;
 * where words repeat, a node may yield all. So it keeps, for each beginning, the ends from the first to the last one.
 *
 * No back-pointers are kept. The best derivation is found from the root down by spelling the target sides of its nodes
 * once more, with the same sums. */
#include <math.h>

#include "base/int_map.h"
#include "forest/forest.h"
#include "forest/grammar.h"
#include "lscfg/search.h"
#include "search/targets.h"

/* Ends of intervals with one beginning: none if last < first. */
typedef struct {
  int32_t first, last;
  int64_t at; /* the score of the first end */
} ends;

/* The intervals of a node. */
typedef struct {
  ends *from;     /* [n + 1]; NULL: the node yields nothing */
  double *scores; /* -INFINITY between ends that the node can yield */
} yields;

typedef struct {
  lscfg_forest_view forest;
  const double *app_scores;
  const int32_t *words; /* of the translation */
  int32_t n;
  int_map present; /* the words of the translation */
  const int32_t **tgt;
  int32_t *tgt_length;
  double *rows;   /* [longest + 1][n + 1]: scores of the places after each symbol of a target side */
  int32_t *reach; /* [longest + 1][2]: the first and the last place of each row */
  yields *found;  /* [n_nodes] */
  yields draft;   /* of the node in hand, with room for all intervals */
} forcing;

static double *row_of(const forcing *p, int32_t k) { return p->rows + (int64_t)k * (p->n + 1); }

/* Raises to[0..n-1] to row[k] + more. */
static void raise_to(double *restrict to, const double *restrict row, double more, int32_t n) {
  for (int32_t k = 0; k < n; k++) {
    double sum = row[k] + more;
    to[k] = to[k] > sum ? to[k] : sum;
  }
}

static int spell_word(const forcing *p, int32_t k, int32_t word) {
  const double *row = row_of(p, k);
  double *to = row_of(p, k + 1);
  const int32_t *reach = p->reach + 2 * k;
  int32_t first = p->n + 1, last = -1;
  for (int32_t place = reach[0]; place <= reach[1] && place < p->n; place++) {
    to[place + 1] = -INFINITY;
    if (p->words[place] != word || row[place] == -INFINITY) continue;
    to[place + 1] = row[place];
    if (first > place + 1) first = place + 1;
    last = place + 1;
  }
  p->reach[2 * k + 2] = first;
  p->reach[2 * k + 3] = last;
  return first <= last;
}

static int spell_tail(const forcing *p, int32_t k, const yields *tail) {
  const double *row = row_of(p, k);
  double *to = row_of(p, k + 1);
  const int32_t *reach = p->reach + 2 * k;
  int32_t first = p->n + 1, last = -1;
  for (int32_t place = reach[0]; place <= reach[1]; place++) {
    const ends *e = tail->from + place;
    if (row[place] == -INFINITY || e->last < e->first) continue;
    if (first > e->first) first = e->first;
    if (last < e->last) last = e->last;
  }
  for (int32_t place = first; place <= last; place++) to[place] = -INFINITY;
  for (int32_t place = reach[0]; place <= reach[1] && first <= last; place++) {
    const ends *e = tail->from + place;
    if (row[place] != -INFINITY && e->first <= e->last)
      raise_to(to + e->first, tail->scores + e->at, row[place], e->last - e->first + 1);
  }
  p->reach[2 * k + 2] = first;
  p->reach[2 * k + 3] = last;
  return first <= last;
}

/* Fills the rows before and after each symbol of a target side that begins at a place. Returns 0 if it does not fit. */
static int spell(const forcing *p, int32_t app, const int32_t *tails, int32_t begin) {
  const int32_t *side = p->tgt[app];
  row_of(p, 0)[begin] = 0;
  p->reach[0] = p->reach[1] = begin;
  for (int32_t k = 0; k < p->tgt_length[app]; k++)
    if (!(side[k] >= 0 ? spell_word(p, k, side[k]) : spell_tail(p, k, p->found + tails[-1 - side[k]]))) return 0;
  return 1;
}

/* True if all words of a target side occur in the translation, and all its tails yield something. */
static int can_occur(const forcing *p, int32_t app, const int32_t *tails, int32_t n_tails) {
  for (int32_t k = 0; k < n_tails; k++)
    if (!p->found[tails[k]].from) return 0;
  for (int32_t k = 0; k < p->tgt_length[app]; k++)
    if (p->tgt[app][k] >= 0 && int_map_slot(&p->present, p->tgt[app][k])->key < 0) return 0;
  return 1;
}

/* True if the first symbol of a target side can begin at a place. */
static int can_begin(const forcing *p, int32_t app, const int32_t *tails, int32_t begin) {
  if (!p->tgt_length[app]) return 1;
  int32_t symbol = p->tgt[app][0];
  if (symbol >= 0) return begin < p->n && p->words[begin] == symbol;
  const ends *e = p->found[tails[-1 - symbol]].from + begin;
  return e->first <= e->last;
}

static void add_application(forcing *p, int32_t app, const int32_t *tails) {
  for (int32_t begin = 0; begin <= p->n; begin++) {
    if (!can_begin(p, app, tails, begin) || !spell(p, app, tails, begin)) continue;
    int32_t first = p->reach[2 * p->tgt_length[app]], last = p->reach[2 * p->tgt_length[app] + 1];
    ends *to = p->draft.from + begin;
    raise_to(p->draft.scores + to->at + first, row_of(p, p->tgt_length[app]) + first, p->app_scores[app],
             last - first + 1);
    if (to->first > first) to->first = first;
    if (to->last < last) to->last = last;
  }
}

/* Moves the intervals of the node in hand to memory of their size, and empties them. */
static int keep(forcing *p, yields *node) {
  int64_t n = 0;
  for (int32_t begin = 0; begin <= p->n; begin++) {
    const ends *e = p->draft.from + begin;
    if (e->first <= e->last) n += e->last - e->first + 1;
  }
  if (!n) return LSCFG_OK;
  node->from = malloc(((size_t)p->n + 1) * sizeof *node->from);
  node->scores = malloc((size_t)n * sizeof *node->scores);
  if (!node->from || !node->scores) return LSCFG_ENOMEM;
  n = 0;
  for (int32_t begin = 0; begin <= p->n; begin++) {
    ends *e = p->draft.from + begin, *kept = node->from + begin;
    *kept = (ends){e->first, e->last, n};
    for (int32_t end = e->first; end <= e->last; end++) {
      node->scores[n++] = p->draft.scores[e->at + end];
      p->draft.scores[e->at + end] = -INFINITY;
    }
    e->first = p->n + 1;
    e->last = -1;
  }
  return LSCFG_OK;
}

static int force_node(forcing *p, int32_t node) {
  const lscfg_forest_view *f = &p->forest;
  if (f->node_cat[node] == LSCFG_REST) return LSCFG_OK;
  for (int32_t edge = f->node_edges[node]; edge < f->node_edges[node + 1]; edge++) {
    int32_t tails[MAX_ARITY], n_tails = forest_tails(f, edge, tails);
    for (int32_t app = f->edge_apps[edge]; app < f->edge_apps[edge + 1]; app++)
      if (can_occur(p, app, tails, n_tails)) add_application(p, app, tails);
  }
  return keep(p, p->found + node);
}

/* ---- from the root down ---- */

/* The score of an interval of a node, -INFINITY if the node does not yield it. */
static double score_of(const forcing *p, int32_t node, int32_t begin, int32_t end) {
  const yields *y = p->found + node;
  if (!y->from || end < y->from[begin].first || end > y->from[begin].last) return -INFINITY;
  return y->scores[y->from[begin].at + end - y->from[begin].first];
}

/* The intervals of the tails, from the rows of a target side that ends at a place. */
static void split(const forcing *p, int32_t app, const int32_t *tails, int32_t end, int32_t (*parts)[2]) {
  for (int32_t k = p->tgt_length[app] - 1; k >= 0; k--) {
    int32_t symbol = p->tgt[app][k];
    if (symbol >= 0) {
      end--;
      continue;
    }
    double wanted = row_of(p, k + 1)[end];
    int32_t middle = p->reach[2 * k];
    while (row_of(p, k)[middle] + score_of(p, tails[-1 - symbol], middle, end) != wanted) middle++;
    parts[-1 - symbol][0] = middle;
    parts[-1 - symbol][1] = end;
    end = middle;
  }
}

/* The first application with which a node yields an interval best, its tails and their intervals. */
static int32_t best_application(const forcing *p, int32_t node, const int32_t *interval, int32_t *tails,
                                int32_t *n_tails, int32_t (*parts)[2]) {
  const lscfg_forest_view *f = &p->forest;
  int32_t begin = interval[0], end = interval[1];
  double wanted = score_of(p, node, begin, end);
  for (int32_t edge = f->node_edges[node]; edge < f->node_edges[node + 1]; edge++) {
    *n_tails = forest_tails(f, edge, tails);
    for (int32_t app = f->edge_apps[edge]; app < f->edge_apps[edge + 1]; app++) {
      if (!can_occur(p, app, tails, *n_tails) || !can_begin(p, app, tails, begin) || !spell(p, app, tails, begin))
        continue;
      const int32_t *reach = p->reach + 2 * p->tgt_length[app];
      if (end < reach[0] || end > reach[1] || row_of(p, p->tgt_length[app])[end] + p->app_scores[app] != wanted)
        continue;
      split(p, app, tails, end, parts);
      return app;
    }
  }
  return -1; /* not reached: the same sums are equal */
}

/* Writes the derivation of the whole translation, and returns its length. Nodes wait at the end of the arrays, which
 * have room for all nodes; no derivation contains a node twice. */
static int32_t derive(const forcing *p, int32_t *apps, int32_t *intervals) {
  int32_t room = p->forest.n_nodes, waiting = room - 1, n = 0;
  apps[waiting] = room - 1;
  intervals[2 * (int64_t)waiting] = 0;
  intervals[2 * (int64_t)waiting + 1] = p->n;
  while (waiting < room) {
    int32_t tails[MAX_ARITY], n_tails, parts[MAX_ARITY][2], node = apps[waiting];
    int32_t interval[2] = {intervals[2 * (int64_t)waiting], intervals[2 * (int64_t)waiting + 1]};
    waiting++;
    int32_t app = best_application(p, node, interval, tails, &n_tails, parts);
    if (app < 0) return -1;
    apps[n] = app;
    memcpy(intervals + 2 * (int64_t)n++, interval, sizeof interval);
    if (waiting - n < n_tails) return -1;
    for (int32_t k = n_tails - 1; k >= 0; k--) {
      apps[--waiting] = tails[k];
      memcpy(intervals + 2 * (int64_t)waiting, parts[k], sizeof parts[k]);
    }
  }
  return n;
}

/* ---- the whole ---- */

static int allocate(forcing *p) {
  size_t places = (size_t)p->n + 1, apps = (size_t)p->forest.n_apps + 1;
  p->tgt = malloc(apps * sizeof *p->tgt);
  p->tgt_length = malloc(apps * sizeof *p->tgt_length);
  p->found = calloc((size_t)p->forest.n_nodes, sizeof *p->found);
  p->draft.from = malloc(places * sizeof *p->draft.from);
  p->draft.scores = malloc(places * places * sizeof *p->draft.scores);
  if (!p->tgt || !p->tgt_length || !p->found || !p->draft.from || !p->draft.scores) return LSCFG_ENOMEM;
  for (size_t k = 0; k < places * places; k++) p->draft.scores[k] = -INFINITY;
  for (size_t k = 0; k < places; k++) p->draft.from[k] = (ends){(int32_t)places, -1, (int64_t)(k * places)};
  for (int32_t k = 0; k < p->n; k++)
    if (!int_map_at(&p->present, p->words[k])) return LSCFG_ENOMEM;
  return LSCFG_OK;
}

static int allocate_rows(forcing *p) {
  size_t longest = 1;
  for (int32_t app = 0; app < p->forest.n_apps; app++)
    if ((size_t)p->tgt_length[app] + 1 > longest) longest = (size_t)p->tgt_length[app] + 1;
  p->rows = malloc(longest * ((size_t)p->n + 1) * sizeof *p->rows);
  p->reach = malloc(2 * longest * sizeof *p->reach);
  return p->rows && p->reach ? LSCFG_OK : LSCFG_ENOMEM;
}

static void release(forcing *p) {
  for (int32_t node = 0; p->found && node < p->forest.n_nodes; node++) {
    free(p->found[node].from);
    free(p->found[node].scores);
  }
  free(p->found);
  free(p->draft.from);
  free(p->draft.scores);
  free(p->present.entries);
  free(p->tgt);
  free(p->tgt_length);
  free(p->rows);
  free(p->reach);
}

static int check_input(const forcing *p, lscfg_error *error) {
  if (!p->forest.n_nodes) return lscfg_fail(error, LSCFG_EINPUT, 0, "the forest has no nodes");
  if (p->n < 1 || p->n > LSCFG_PATCH_WORDS)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "the translation has %ld words; 1 to %d are possible", (long)p->n,
                      LSCFG_PATCH_WORDS);
  for (int32_t k = 0; k < p->n; k++)
    if (p->words[k] < 0) return lscfg_fail(error, LSCFG_EINPUT, 0, "word %ld of the translation has no id", (long)k);
  for (int32_t app = 0; app < p->forest.n_apps; app++)
    if (!(fabs(p->app_scores[app]) < 1e200)) /* sums stay finite */
      return lscfg_fail(error, LSCFG_EINPUT, 0, "the score of application %ld is %g", (long)app, p->app_scores[app]);
  return LSCFG_OK;
}

int lscfg_force(const lscfg_forest *forest, const lscfg_grammar *grammar, const double *app_scores,
                const int32_t *words, int32_t n_words, int32_t *apps, int32_t *intervals, int32_t *n_apps,
                double *score, lscfg_error *error) {
  forcing p = {.app_scores = app_scores, .words = words, .n = n_words};
  *n_apps = 0;
  lscfg_forest_get(forest, &p.forest);
  if (check_input(&p, error)) return LSCFG_EINPUT;
  int code = allocate(&p);
  if (code) out_of_memory(error);
  if (!code) code = collect_targets(forest, grammar, p.tgt, p.tgt_length, error);
  if (!code && allocate_rows(&p)) code = out_of_memory(error);
  for (int32_t node = 0; !code && node < p.forest.n_nodes; node++)
    if (force_node(&p, node)) code = out_of_memory(error);
  if (!code && (*score = score_of(&p, p.forest.n_nodes - 1, 0, n_words)) == -INFINITY) code = LSCFG_NO_PARSE;
  if (!code && (*n_apps = derive(&p, apps, intervals)) < 0) {
    *n_apps = 0;
    code = lscfg_fail(error, LSCFG_EINPUT, 0, "a derivation of the forest has a node twice");
  }
  release(&p);
  return code;
}
