/* Scores of target words by the neural model, from single applications: see neural/network.h. */
#include "inference/families.h"
#include "forest/extra_rules.h"

/* Units and scores of a sentence, which many applications share. */
typedef struct {
  const feature_work *work;
  const neural_network *net;
  int32_t n;
  int32_t *rows;                  /* [n] source rows */
  float *sums;                    /* [n][hidden] */
  double *fertility;              /* [n][classes] */
  int_map contexts;               /* number + 1 of the units, by place and words before */
  ARRAY(float) units;             /* [contexts][hidden] */
  int_map scores;                 /* bits of a score + 1, by context and word */
  ARRAY(int32_t) room;            /* of a rule: rows of both sides, places, fertilities */
} neural_work;

enum { NONE = LSCFG_ROW_TARGET_NONE };
static const int32_t no_words[LSCFG_NEURAL_HISTORY] = {NONE, NONE, NONE};

/* Whether the keys of all places and words before are numbers. */
static int has_keys(const neural_network *net, int64_t n) {
  int64_t most = INT64_MAX;
  for (int32_t h = 0; h < net->history; h++) most /= net->targets;
  return n <= most;
}

/* The number of the units at a place after these words, or LSCFG_ENOMEM. */
static int64_t find_units(neural_work *w, int32_t place, const int32_t *before) {
  const neural_network *net = w->net;
  int64_t key = place;
  for (int32_t h = 0; h < net->history; h++) key = key * net->targets + before[h];
  int64_t *number = int_map_at(&w->contexts, key);
  if (!number) return LSCFG_ENOMEM;
  if (!*number) {
    if (ARRAY_RESERVE(w->units, net->hidden)) return LSCFG_ENOMEM;
    network_units(net, w->sums + (int64_t)place * net->hidden, before, w->units.data + w->units.size);
    w->units.size += net->hidden;
    *number = w->contexts.size;
  }
  return *number - 1;
}

static int add_score(neural_work *w, int32_t place, const int32_t *before, int32_t word, double *sum) {
  int64_t units = find_units(w, place, before);
  if (units < 0) return LSCFG_ENOMEM;
  int64_t *bits = int_map_at(&w->scores, units * w->net->targets + word);
  if (!bits) return LSCFG_ENOMEM;
  float score;
  uint32_t known;
  if (!*bits) {
    score = network_score(w->net, w->units.data + units * w->net->hidden, word);
    memcpy(&known, &score, sizeof known);
    *bits = (int64_t)known + 1;
  }
  known = (uint32_t)(*bits - 1);
  memcpy(&score, &known, sizeof score);
  *sum += (double)score;
  return LSCFG_OK;
}

/* Scores both sides of a rule; tails: spans of its nonterminals. */
static int score_sides(neural_work *w, int32_t application, const int32_t *src, int32_t n_src, const int32_t *tgt,
                       int32_t n_tgt, const int32_t *place, const int32_t *fertility, int32_t begin,
                       const int32_t *tails) {
  int32_t before[LSCFG_NEURAL_HISTORY];
  double alone = 0, after = 0, linked = 0;
  memcpy(before, no_words, sizeof before);
  for (int32_t x = 0; x < n_tgt; x++) {
    if (tgt[x] < 0) {
      memcpy(before, no_words, sizeof before);
      continue;
    }
    if (add_score(w, place[x], no_words, tgt[x], &alone) || add_score(w, place[x], before, tgt[x], &after))
      return LSCFG_ENOMEM;
    for (int h = LSCFG_NEURAL_HISTORY - 1; h > 0; h--) before[h] = before[h - 1];
    before[0] = tgt[x];
  }
  for (int32_t k = 0, at = begin, gap = 0; k < n_src; k++) {
    int32_t most = LSCFG_NEURAL_FERTILITY - 1;
    if (src[k] >= 0)
      linked += w->fertility[(int64_t)LSCFG_NEURAL_FERTILITY * at + (fertility[k] < most ? fertility[k] : most)];
    at = src[k] < 0 ? tails[2 * gap++ + 1] : at + 1;
  }
  put_feature(w->work, application, LSCFG_NEURAL_SOURCE, alone);
  put_feature(w->work, application, LSCFG_NEURAL_RULE, after);
  put_feature(w->work, application, LSCFG_NEURAL_LINKED, linked);
  return LSCFG_OK;
}

static int score_rule(neural_work *w, int32_t application, const grammar_rule *rule, int32_t begin,
                      const int32_t *tails) {
  const lscfg_binding *b = w->work->binding;
  int32_t n = rule->n_src + rule->n_tgt;
  w->room.size = 0;
  if (ARRAY_RESERVE(w->room, 2 * (int64_t)n + 1)) return LSCFG_ENOMEM;
  int32_t *src = w->room.data, *tgt = src + rule->n_src, *place = tgt + rule->n_tgt, *fertility = place + rule->n_tgt;
  rows_of_rule(b, &b->neural, rule, src);
  lscfg_affiliate(&w->net->links, src, rule->n_src, tgt, rule->n_tgt, begin, tails, place, fertility);
  return score_sides(w, application, src, rule->n_src, tgt, rule->n_tgt, place, fertility, begin, tails);
}

/* A word that is passed through is linked to itself. */
static int score_passed(neural_work *w, int32_t application, int32_t begin) {
  static const int32_t no_tails[2] = {0, 0};
  int32_t word = w->work->forest->words[begin], one = 1, target = row_of_word(&w->work->binding->neural, 1, word);
  return score_sides(w, application, &w->rows[begin], 1, &target, 1, &begin, &one, begin, no_tails);
}

static int score_edge(neural_work *w, int32_t edge) {
  const lscfg_forest *f = w->work->forest;
  const lscfg_binding *b = w->work->binding;
  int32_t tails[4], head = f->edge_head.data[edge], begin = f->node_span.data[2 * (int64_t)head];
  if (node_category(b, f, head) < 0 || !edge_is_wanted(w->work, edge) || !tail_spans(f, edge, tails)) return LSCFG_OK;
  int code = LSCFG_OK;
  for (int32_t a = f->edge_apps.data[edge]; a < f->edge_apps.data[edge + 1] && !code; a++) {
    int32_t rule = f->app_rule.data[a], extra = rule - b->n_rules;
    if (extra < 0)
      code = score_rule(w, a, &b->grammar->rules.data[rule], begin, tails);
    else if (extra_passes(extra))
      code = score_passed(w, a, begin);
  }
  return code;
}

static int prepare(neural_work *w) {
  const lscfg_forest *f = w->work->forest;
  size_t n = (size_t)w->n + 1, hidden = (size_t)w->net->hidden;
  w->rows = calloc(n, sizeof *w->rows);
  w->sums = malloc(n * hidden * sizeof *w->sums);
  w->fertility = malloc(n * LSCFG_NEURAL_FERTILITY * sizeof *w->fertility);
  if (!w->rows || !w->sums || !w->fertility) return LSCFG_ENOMEM;
  for (int32_t k = 0; k < w->n; k++) w->rows[k] = row_of_word(&w->work->binding->neural, 0, f->words[k]);
  network_places(w->net, w->rows, w->n, w->sums);
  for (int32_t k = 0; k < w->n; k++) {
    int64_t units = find_units(w, k, no_words);
    if (units < 0) return LSCFG_ENOMEM;
    network_fertility(w->net, w->units.data + units * w->net->hidden, w->fertility + k * LSCFG_NEURAL_FERTILITY);
  }
  return LSCFG_OK;
}

static void release(void *kept) {
  neural_work *w = kept;
  if (!w) return;
  free(w->rows);
  free(w->sums);
  free(w->fertility);
  free(w->contexts.entries);
  free(w->units.data);
  free(w->scores.entries);
  free(w->room.data);
  free(w);
}

static int compute(const feature_work *work, void **kept, lscfg_error *error) {
  const lscfg_forest *f = work->forest;
  if (!has_words_around(f)) return LSCFG_OK;
  neural_work *w = *kept;
  int code = LSCFG_OK;
  if (!has_keys(work->binding->model->neural, f->n_words))
    return lscfg_fail(error, LSCFG_EINPUT, 0, "a sentence of %ld words is too long for the neural network",
                      (long)f->n_words);
  if (!w) {
    if (!(w = *kept = malloc(sizeof *w))) return out_of_memory(error);
    *w = (neural_work){.net = work->binding->model->neural, .n = f->n_words, .work = work};
    code = prepare(w);
  }
  w->work = work;
  for (int32_t e = f->node_edges.data[work->first_node]; e < f->node_edges.data[work->end_node] && !code; e++)
    code = score_edge(w, e);
  return code ? out_of_memory(error) : LSCFG_OK;
}

static int is_in(const lscfg_model *model) { return model->neural != NULL; }

static const feature_row rows[] = {
    {"NeuralSource", 0, "log probability of the target words, given the source words around each"},
    {"NeuralRule", 0, "the same, given the words before in the rule, too"},
    {"NeuralFertility", 0, "log probability of how many target words each source word is linked to"},
};
const feature_family neural_family = {"neural", LSCFG_NEURAL_SOURCE, N_ROWS(rows), 0,
                                      rows,     compute,             release,      is_in,        "neural network",
                                      "estimate the model with --neural"};
