/* Orientations of the nonterminals of a rule (Galley & Manning 2008, sections 2 and 3), from single applications. */
#include "inference/families.h"

enum { NONE = -1 };

/* Probabilities of a forest's spans, which many applications share. */
typedef struct {
  const feature_work *work;
  const orientation_model *model;
  double *log_p;          /* [nodes][sides][orientations] */
  ARRAY(int32_t) room;    /* of a rule: rows of both sides, places, linked words */
} orientation_work;

/* A rule over a part of the sentence. */
typedef struct {
  const int32_t *src, *tgt, *place, *linked, *tails;
  int32_t n_src, n_tgt, arity;
} placed_rule;

static int32_t row_at(const feature_work *w, int32_t position) {
  if (position < 0) return LSCFG_ROW_SOURCE_BEGIN;
  if (position >= w->forest->n_words) return LSCFG_ROW_SOURCE_END;
  return row_of_word(&w->binding->orientation, 0, w->forest->words[position]);
}

static int prepare(orientation_work *w) {
  const lscfg_forest *f = w->work->forest;
  enum { N = N_ORIENTATION_SIDES * N_ORIENTATIONS };
  w->log_p = malloc((size_t)f->node_cat.size * N * sizeof *w->log_p);
  if (!w->log_p) return LSCFG_ENOMEM;
  for (int64_t q = 0; q < f->node_cat.size; q++) {
    int32_t i = f->node_span.data[2 * q], j = f->node_span.data[2 * q + 1];
    const int32_t rows[N_ORIENTATION_WORDS] = {row_at(w->work, i), row_at(w->work, j - 1), row_at(w->work, i - 1),
                                               row_at(w->work, j)};
    orientation_log_p(w->model, rows, length_class(j - i), w->log_p + N * q);
  }
  return LSCFG_OK;
}

/* Extends hull [2] by what a target symbol covers; a word without a link covers nothing. */
static void cover(const placed_rule *r, int32_t index, int32_t *hull) {
  int32_t begin = r->place[index], end = begin + 1;
  if (r->tgt[index] < 0) {
    begin = r->tails[2 * (-1 - r->tgt[index])];
    end = r->tails[2 * (-1 - r->tgt[index]) + 1];
  } else {
    for (int32_t k = 0; k < r->arity; k++) /* a place that a neighbour has given it */
      if (begin >= r->tails[2 * k] && begin < r->tails[2 * k + 1]) return;
  }
  if (begin < hull[0]) hull[0] = begin;
  if (end > hull[1]) hull[1] = end;
}

/* The orientation of the nonterminal at an index of the target side; NONE at the rule's border. Source words of the
 * rule without a link, next to the nonterminal, may lie in between. */
static int32_t orientation_of(const placed_rule *r, int32_t index, int side) {
  int32_t hull[2] = {INT32_MAX, -1}, tail = -1 - r->tgt[index], at = 0;
  int32_t first = side == ORIENTATION_BEFORE ? 0 : index + 1, end = side == ORIENTATION_BEFORE ? index : r->n_tgt;
  for (int32_t x = first; x < end; x++) cover(r, x, hull);
  if (hull[1] < 0) return NONE;
  for (int32_t seen = 0; at < r->n_src; at++)
    if (r->src[at] < 0 && seen++ == tail) break;
  int32_t i = r->tails[2 * tail], j = r->tails[2 * tail + 1], least = i, most = j;
  for (int32_t k = at - 1; k >= 0 && r->src[k] >= 0 && !r->linked[k]; k--) least--;
  for (int32_t k = at + 1; k < r->n_src && r->src[k] >= 0 && !r->linked[k]; k++) most++;
  int on_left = hull[1] <= i && hull[1] >= least, on_right = hull[0] >= j && hull[0] <= most;
  if (on_left) return side == ORIENTATION_BEFORE ? ORIENTATION_MONOTONE : ORIENTATION_SWAP;
  if (on_right) return side == ORIENTATION_BEFORE ? ORIENTATION_SWAP : ORIENTATION_MONOTONE;
  return ORIENTATION_DISCONTINUOUS;
}

static int score_rule(orientation_work *w, int32_t application, const grammar_rule *rule, int32_t begin,
                      const int32_t *tail, const int32_t *tails) {
  const lscfg_binding *b = w->work->binding;
  int32_t n = rule->n_src + rule->n_tgt;
  double sum[N_ORIENTATIONS] = {0};
  w->room.size = 0;
  if (ARRAY_RESERVE(w->room, 2 * (int64_t)n + 1)) return LSCFG_ENOMEM;
  int32_t *src = w->room.data, *tgt = src + rule->n_src, *place = tgt + rule->n_tgt, *linked = place + rule->n_tgt;
  rows_of_rule(b, &b->orientation, rule, src);
  lscfg_affiliate(&w->model->links, src, rule->n_src, tgt, rule->n_tgt, begin, tails, place, linked);
  placed_rule r = {src, tgt, place, linked, tails, rule->n_src, rule->n_tgt, rule->arity};
  for (int32_t x = 0; x < rule->n_tgt; x++)
    for (int side = 0; side < N_ORIENTATION_SIDES && tgt[x] < 0; side++) {
      int32_t found = orientation_of(&r, x, side), node = tail[-1 - tgt[x]];
      if (found != NONE) sum[found] += w->log_p[((int64_t)node * N_ORIENTATION_SIDES + side) * N_ORIENTATIONS + found];
    }
  for (int32_t o = 0; o < N_ORIENTATIONS; o++) put_feature(w->work, application, LSCFG_ORIENT_MONOTONE + o, sum[o]);
  return LSCFG_OK;
}

static int score_edge(orientation_work *w, int32_t edge) {
  const lscfg_forest *f = w->work->forest;
  const lscfg_binding *b = w->work->binding;
  const int32_t *tail = f->edge_tail.data + 2 * (int64_t)edge;
  int32_t tails[4] = {0}, head = f->edge_head.data[edge], begin = f->node_span.data[2 * (int64_t)head];
  if (tail[0] < 0 || node_category(b, f, head) < 0 || !edge_is_wanted(w->work, edge)) return LSCFG_OK;
  if (!tail_spans(f, edge, tails)) return LSCFG_OK;
  int code = LSCFG_OK;
  for (int32_t a = f->edge_apps.data[edge]; a < f->edge_apps.data[edge + 1] && !code; a++)
    if (f->app_rule.data[a] < b->n_rules)
      code = score_rule(w, a, &b->grammar->rules.data[f->app_rule.data[a]], begin, tail, tails);
  return code;
}

static void release(void *kept) {
  orientation_work *w = kept;
  if (!w) return;
  free(w->log_p);
  free(w->room.data);
  free(w);
}

static int compute(const feature_work *work, void **kept, lscfg_error *error) {
  const lscfg_forest *f = work->forest;
  if (!has_words_around(f)) return LSCFG_OK;
  orientation_work *w = *kept;
  int code = LSCFG_OK;
  if (!w) {
    if (!(w = *kept = malloc(sizeof *w))) return out_of_memory(error);
    *w = (orientation_work){.model = work->binding->model->orientation, .work = work};
    code = prepare(w);
  }
  w->work = work;
  for (int32_t e = f->node_edges.data[work->first_node]; e < f->node_edges.data[work->end_node] && !code; e++)
    code = score_edge(w, e);
  return code ? out_of_memory(error) : LSCFG_OK;
}

static int is_in(const lscfg_model *model) { return model->orientation != NULL; }

static const feature_row rows[] = {
    {"OrientM", 0, "log probability of nonterminals that continue in order"},
    {"OrientS", 0, "log probability of nonterminals that swap with their neighbours"},
    {"OrientD", 0, "log probability of nonterminals that do neither"},
};
const feature_family orientation_family = {
    "orientation", LSCFG_ORIENT_MONOTONE, N_ROWS(rows), 0, rows, compute, release, is_in, "orientations",
    "estimate the model with --orientation"};
