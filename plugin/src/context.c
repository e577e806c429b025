/* Features of the source words around a rule application: how a log-linear model shares an edge out among its target
 * sides, against relative frequencies (thesis, chapter 4). Python estimates it (lscfg/estimate/context.py). */
#include "context.h"
#include "forest.h"
#include "model.h"

#include <math.h>

enum { BAG = CONTEXT_KINDS - 1 }; /* the kind of items that are any word away from the span */

/* One row for each outcome that was met: for each kind, the weight of the word at each place -1 .. n of the sentence; of
 * the bag's kind the sums of the weights of all words before a place. */
typedef struct {
  const lscfg_binding *binding;
  const lscfg_forest *forest;
  int32_t n;               /* words of the sentence */
  int64_t base;            /* words of the model, and the two ends of a sentence */
  int32_t *first, *next;   /* model word -> first place + 1 in the sentence; place -> the next one; 0 at the end */
  int64_t *row;            /* [rules + words] -> begin of the row in arena, 0: none of the items is here, -1: not looked at */
  ARRAY(float) arena;
  ARRAY(double) scores;    /* of an edge's applications: in context, by frequency */
} contexts;

/* *known: words of the sentence that the model has, too. */
static int start(contexts *c, const lscfg_binding *b, const lscfg_forest *f, int32_t *known) {
  const lscfg_model *model = b->model;
  int64_t outcomes = model->n_rules + model->n_words;
  *c = (contexts){.binding = b, .forest = f, .n = f->n_words, .base = model->n_words + 2};
  c->first = calloc((size_t)c->base, sizeof *c->first);
  c->next = calloc((size_t)c->n + 3, sizeof *c->next);
  c->row = malloc(((size_t)outcomes + 1) * sizeof *c->row);
  if (!c->first || !c->next || !c->row) return LSCFG_ENOMEM;
  memset(c->row, 0xff, (size_t)outcomes * sizeof *c->row);
  *known = 0;
  for (int32_t place = c->n; place >= -1; place--) {
    int64_t word = place < 0 ? model->n_words : place == c->n ? model->n_words + 1 : -1;
    if (word < 0 && f->words[place] >= 0 && f->words[place] < b->n_vocab) word = b->word_in_model[f->words[place]];
    if (word < 0) continue;
    *known += word < model->n_words;
    c->next[place + 1] = c->first[word];
    c->first[word] = place + 2;
  }
  return LSCFG_OK;
}

static void stop(contexts *c) {
  free(c->first);
  free(c->next);
  free(c->row);
  free(c->arena.data);
  free(c->scores.data);
}

/* The outcome's row, made when it is first needed; *row NULL: no weight of it is for a word of the sentence. */
static int find_row(contexts *c, int64_t outcome, const float **row) {
  const lscfg_model *model = c->binding->model;
  *row = NULL;
  if (c->row[outcome] < 0) {
    int64_t width = c->n + 2, size = CONTEXT_KINDS * width;
    if (!c->arena.size) c->arena.size = 1; /* 0 stands for no row */
    if (ARRAY_RESERVE(c->arena, size)) return LSCFG_ENOMEM;
    float *values = c->arena.data + c->arena.size;
    int found = 0;
    memset(values, 0, (size_t)size * sizeof *values);
    for (int64_t k = model->context_offsets[outcome]; k < model->context_offsets[outcome + 1]; k++) {
      int64_t kind = model->context_items[k] / c->base, word = model->context_items[k] % c->base;
      for (int32_t at = c->first[word]; at; at = c->next[at - 1], found = 1)
        values[kind * width + at - 1] = model->context_weights[k];
    }
    if (found) {
      float *bag = values + BAG * width, sum = 0;
      for (int64_t place = 0; place < width; place++) { /* place + 1, of them all the ends are no items of the bag */
        float value = place == 0 || place == width - 1 ? 0 : bag[place];
        bag[place] = sum;
        sum += value;
      }
      c->row[outcome] = c->arena.size;
      c->arena.size += size;
    } else {
      c->row[outcome] = 0;
    }
  }
  if (c->row[outcome]) *row = c->arena.data + c->row[outcome];
  return LSCFG_OK;
}

/* Where the words of kinds 0 to 7 are, from -1 to n; -2: there is no such word. */
static void places(const contexts *c, int32_t edge, int32_t *place) {
  const int32_t *tail = c->forest->edge_tail.data + 2 * (int64_t)edge;
  const int32_t *span = c->forest->node_span.data + 2 * (int64_t)c->forest->edge_head.data[edge];
  place[0] = span[0] - 1;
  place[1] = span[0] < 2 ? -1 : span[0] - 2;
  place[2] = span[1];
  place[3] = span[1] + 1 < c->n ? span[1] + 1 : c->n;
  for (int k = 0; k < 2; k++) {
    const int32_t *child = c->forest->node_span.data + 2 * (int64_t)tail[k];
    place[4 + 2 * k] = tail[k] < 0 ? -2 : child[0];
    place[5 + 2 * k] = tail[k] < 0 ? -2 : child[1] - 1;
  }
}

static int add_outcome(contexts *c, int64_t outcome, const int32_t *place, const int32_t *span, int bag, double *score) {
  const float *row;
  int code = find_row(c, outcome, &row);
  if (code || !row) return code;
  int64_t width = c->n + 2;
  for (int k = 0; k < BAG; k++)
    if (place[k] > -2) *score += row[k * width + place[k] + 1];
  if (!bag) return LSCFG_OK;
  const float *before = row + BAG * width + 1; /* before[p]: the sum of the words before place p */
  int32_t left = span[0] > 2 ? span[0] - 2 : 0, right = span[1] + 2 < c->n ? span[1] + 2 : c->n;
  *score += before[left] + (before[c->n] - before[right]);
  return LSCFG_OK;
}

/* The score of a rule in the context of an edge. */
static int score_rule(contexts *c, int64_t rule, const int32_t *place, const int32_t *span, double *score) {
  const lscfg_model *model = c->binding->model;
  int64_t begin = model->rule_offsets[rule] + model->src_length[rule], end = model->rule_offsets[rule + 1];
  int bag = 0;
  *score = 0;
  for (int64_t k = model->rule_offsets[rule]; k < end && !bag; k++) bag = model->symbols[k] >= 0 && k < begin;
  int code = add_outcome(c, rule, place, span, bag, score);
  for (int64_t k = begin; k < end && !code; k++) {
    int32_t word = model->symbols[k];
    int again = word < 0;
    for (int64_t other = begin; other < k && !again; other++) again = model->symbols[other] == word;
    if (!again) code = add_outcome(c, model->n_rules + word, place, span, bag, score);
  }
  return code;
}

static double log_sum(const double *scores, int64_t n) {
  double most = scores[0], sum = 0;
  for (int64_t k = 1; k < n; k++) most = scores[k] > most ? scores[k] : most;
  for (int64_t k = 0; k < n; k++) sum += exp(scores[k] - most);
  return most + log(sum);
}

/* The application's rule in the model, -1: it has none of its own, or no frequency. */
static int64_t model_rule(const lscfg_binding *b, int32_t rule, int32_t arity) {
  if (rule >= b->n_rules || b->rule_kind[rule] != LSCFG_RULE_IS_KNOWN) return -1;
  int64_t found = b->model->first_of_arity[arity] + b->rule_row[rule];
  return *((const double *)b->model->one_state->tensor[0] + found) > 0 ? found : -1;
}

static int edge_features(contexts *c, int32_t edge, int32_t feature, double limit, double *features) {
  const lscfg_binding *b = c->binding;
  const lscfg_forest *f = c->forest;
  int32_t begin = f->edge_apps.data[edge], end = f->edge_apps.data[edge + 1], place[BAG];
  const int32_t *tail = f->edge_tail.data + 2 * (int64_t)edge;
  const int32_t *span = f->node_span.data + 2 * (int64_t)f->edge_head.data[edge];
  int32_t arity = (tail[0] >= 0) + (tail[1] >= 0);
  int64_t n = 0;
  if (end - begin < 2) return LSCFG_OK;
  if (ARRAY_RESERVE(c->scores, 2 * (int64_t)(end - begin))) return LSCFG_ENOMEM;
  double *here = c->scores.data, *plain = here + (end - begin);
  places(c, edge, place);
  for (int32_t a = begin; a < end; a++) {
    int64_t rule = model_rule(b, f->app_rule.data[a], arity);
    if (rule < 0) continue;
    if (score_rule(c, rule, place, span, here + n)) return LSCFG_ENOMEM;
    plain[n] = log(((const double *)b->model->one_state->tensor[0])[rule]);
    here[n] += plain[n];
    n++;
  }
  if (n < 2) return LSCFG_OK;
  double shift = log_sum(plain, n) - log_sum(here, n);
  n = 0;
  for (int32_t a = begin; a < end; a++) {
    if (model_rule(b, f->app_rule.data[a], arity) < 0) continue;
    double value = here[n] - plain[n] + shift;
    features[(int64_t)LSCFG_N_FEATURES * a + feature] = value > limit ? limit : value < -limit ? -limit : value;
    n++;
  }
  return LSCFG_OK;
}

int context_features(const lscfg_binding *b, const lscfg_forest *f, uint32_t wanted, double limit, double *features) {
  if (f->node_span.data[2 * f->node_cat.size - 1] != f->n_words) return LSCFG_OK; /* of a lattice: no words around */
  contexts c;
  int32_t known;
  int code = start(&c, b, f, &known);
  for (int32_t e = 0; e < f->edge_head.size && !code && known; e++) {
    if (f->node_cat.data[f->edge_head.data[e]] != CATEGORY_X) continue;
    int32_t rule = f->app_rule.data[f->edge_apps.data[e]];
    int32_t feature = f->edge_tail.data[2 * (int64_t)e] < 0 ? LSCFG_CONTEXT_0
                      : grammar_is_bare(b->grammar, rule)   ? LSCFG_CONTEXT_BARE
                                                            : LSCFG_CONTEXT_N;
    if (wanted >> feature & 1) code = edge_features(&c, e, feature, limit, features);
  }
  stop(&c);
  return code;
}
