/* Features of what is around a rule application: how a log-linear model shares an edge out among its target sides,
 * against their frequencies (thesis, chapter 4). estimate/loglinear.c estimates it. */
#include "inference/context.h"
#include "forest/forest.h"
#include "base/int_map.h"

#include <math.h>

enum { NO_ROW_HERE = -1 };

/* The row of an outcome of a rule, and whether its bag counts, too. */
typedef struct {
  int64_t begin; /* in arena */
  int bag;
} outcome_row;

/* What a rule has in all its applications in the sentence: its rows, and the logarithm of its count. */
typedef struct {
  int64_t begin, end; /* in of_rules */
  double plain;
} known_rule;

/* One row for each outcome that was met: for each kind of words, the weight of the word at each place -1 .. n of the
 * sentence; of the bag's kind the sums of the weights of all words before a place; then those of the lengths. */
typedef struct {
  const lscfg_binding *binding;
  const context_model *model;
  const lscfg_forest *forest;
  int32_t n;             /* words of the sentence */
  int64_t base;          /* words of the model, and the two ends of a sentence */
  int32_t *first, *next; /* model word -> first place + 1 in the sentence; place -> the next one; 0 at the end */
  int_map rows;          /* outcome -> begin of its row in arena, NO_ROW_HERE: no item of it is in the sentence */
  ARRAY(float) arena;
  int_map met;           /* rule -> 1 + its number in known */
  ARRAY(known_rule) known;
  ARRAY(outcome_row) of_rules; /* the rows of the known rules */
  ARRAY(double) scores;        /* of an edge's applications: in context, by frequency */
  ARRAY(int64_t) outcomes;     /* of the rule in hand */
} contexts;

/* Where words stand beside the nonterminals, on both sides, and whether two of these change places: 0 .. N_SHAPES-1;
 * -1: a rule without nonterminals. */
static int32_t rule_shape(const int32_t *symbols, int32_t n_src, int32_t n) {
  int32_t words[2] = {0, 0}, arity = 0, swapped = 0;
  for (int32_t side = 0; side < 2; side++) {
    int32_t met = 0; /* nonterminals before the symbol */
    for (int32_t k = side ? n_src : 0; k < (side ? n : n_src); k++) {
      if (symbols[k] >= 0)
        words[side] |= 1 << met;
      else if (side && !met++)
        swapped = symbols[k] == -2;
      else if (!side)
        met++;
    }
    arity = side ? arity : met;
  }
  return arity == 0 ? -1 : arity == 1 ? words[0] | words[1] << 2 : 16 + (words[0] | words[1] << 3 | swapped << 6);
}

int32_t rule_outcomes(const lscfg_rules *rules, int64_t rule, int64_t *outcomes) {
  const int32_t *symbols = rules->symbols + rules->offsets[rule];
  int32_t n_src = rules->src_length[rule], n = (int32_t)(rules->offsets[rule + 1] - rules->offsets[rule]), size = 0;
  int32_t shape = rule_shape(symbols, n_src, n);
  outcomes[size++] = rule;
  for (int32_t k = n_src; k < n; k++) {
    int again = symbols[k] < 0;
    for (int32_t other = n_src; other < k && !again; other++) again = symbols[other] == symbols[k];
    if (!again) outcomes[size++] = rules->n + symbols[k];
  }
  if (shape >= 0) outcomes[size++] = first_shape(rules) + shape;
  return size;
}

int has_source_words(const lscfg_rules *rules, int64_t rule) {
  const int32_t *symbols = rules->symbols + rules->offsets[rule];
  for (int32_t k = 0; k < rules->src_length[rule]; k++)
    if (symbols[k] >= 0) return 1;
  return 0;
}

surroundings look_around(const int32_t *span, const int32_t *const gap[2], int32_t n) {
  surroundings s = {.span = span};
  s.place[0] = span[0] - 1;
  s.place[1] = span[0] < 2 ? -1 : span[0] - 2;
  s.place[2] = span[1];
  s.place[3] = span[1] + 1 < n ? span[1] + 1 : n;
  for (int k = 0; k < 2; k++) {
    s.place[4 + 2 * k] = gap[k] ? gap[k][0] : -2;
    s.place[5 + 2 * k] = gap[k] ? gap[k][1] - 1 : -2;
    s.length[k] = gap[k] ? length_class(gap[k][1] - gap[k][0]) : -1;
  }
  return s;
}

/* *known: words of the sentence that the model has, too. */
static int start(contexts *c, const lscfg_binding *b, const lscfg_forest *f, int32_t *known) {
  const context_model *model = b->model->context;
  *c = (contexts){.binding = b, .model = model, .forest = f, .n = f->n_words, .base = model->rules.n_words + 2};
  c->first = calloc((size_t)c->base, sizeof *c->first);
  c->next = calloc((size_t)c->n + 3, sizeof *c->next);
  if (!c->first || !c->next) return LSCFG_ENOMEM;
  *known = 0;
  for (int32_t place = c->n; place >= -1; place--) {
    int64_t word = place < 0 ? model->rules.n_words : place == c->n ? model->rules.n_words + 1 : -1;
    if (word < 0 && f->words[place] >= 0 && f->words[place] < b->n_vocab) word = b->word_in_context[f->words[place]];
    if (word < 0) continue;
    *known += word < model->rules.n_words;
    c->next[place + 1] = c->first[word];
    c->first[word] = place + 2;
  }
  return LSCFG_OK;
}

static void stop(contexts *c) {
  free(c->first);
  free(c->next);
  free(c->rows.entries);
  free(c->arena.data);
  free(c->met.entries);
  free(c->known.data);
  free(c->of_rules.data);
  free(c->scores.data);
  free(c->outcomes.data);
}

/* Makes the row of an outcome; *begin: as in rows. */
static int make_row(contexts *c, int64_t outcome, int64_t *begin) {
  const context_model *model = c->model;
  int64_t width = c->n + 2, size = WORD_KINDS * width + 2 * N_LENGTHS, lengths = WORD_KINDS * c->base;
  if (!c->arena.size) c->arena.size = 1; /* 0 stands for an outcome that was not met before */
  if (ARRAY_RESERVE(c->arena, size)) return LSCFG_ENOMEM;
  float *values = c->arena.data + c->arena.size;
  int found = 0;
  memset(values, 0, (size_t)size * sizeof *values);
  int64_t kind = 0, kind_begin = 0;
  for (int64_t k = model->offsets[outcome]; k < model->offsets[outcome + 1]; k++) {
    int64_t item = model->items[k];
    if (item >= lengths) {
      values[WORD_KINDS * width + item - lengths] = model->weights[k];
      found = 1;
      continue;
    }
    if (item < kind_begin) kind = kind_begin = 0; /* of a file whose items do not ascend */
    for (; item >= kind_begin + c->base; kind++) kind_begin += c->base; /* no division: there are many weights */
    for (int32_t at = c->first[item - kind_begin]; at; at = c->next[at - 1], found = 1)
      values[kind * width + at - 1] = model->weights[k];
  }
  *begin = found ? c->arena.size : NO_ROW_HERE;
  if (!found) return LSCFG_OK;
  float *bag = values + BAG * width, sum = 0;
  for (int64_t place = 0; place < width; place++) { /* place + 1, of them all the ends are no items of the bag */
    float value = place == 0 || place == width - 1 ? 0 : bag[place];
    bag[place] = sum;
    sum += value;
  }
  c->arena.size += size;
  return LSCFG_OK;
}

/* Makes what a rule has in all its applications; outcomes without a weight for a word of the sentence are left out. */
static int make_known(contexts *c, int64_t rule) {
  const lscfg_rules *rules = &c->model->rules;
  int64_t most = rules->offsets[rule + 1] - rules->offsets[rule] + 2;
  if (ARRAY_RESERVE(c->outcomes, most) || ARRAY_RESERVE(c->of_rules, most) || ARRAY_RESERVE(c->known, 1))
    return LSCFG_ENOMEM;
  known_rule made = {.begin = c->of_rules.size, .plain = log(c->model->counts[rule])};
  int bag = has_source_words(rules, rule);
  int32_t n = rule_outcomes(rules, rule, c->outcomes.data);
  for (int32_t k = 0; k < n; k++) {
    int64_t outcome = c->outcomes.data[k], *begin = int_map_at(&c->rows, outcome);
    if (!begin || (!*begin && make_row(c, outcome, begin))) return LSCFG_ENOMEM;
    if (*begin == NO_ROW_HERE) continue;
    c->of_rules.data[c->of_rules.size++] = (outcome_row){*begin, bag && outcome < first_shape(rules)};
  }
  made.end = c->of_rules.size;
  c->known.data[c->known.size++] = made;
  return LSCFG_OK;
}

/* Finds a rule, which is made when it is first met. */
static int find_known(contexts *c, int64_t rule, known_rule *found) {
  int64_t *number = int_map_at(&c->met, rule);
  if (!number || (!*number && make_known(c, rule))) return LSCFG_ENOMEM;
  if (!*number) *number = c->known.size;
  *found = c->known.data[*number - 1];
  return LSCFG_OK;
}

static surroundings look_around_edge(const contexts *c, int32_t edge) {
  const int32_t *tail = c->forest->edge_tail.data + 2 * (int64_t)edge, *spans = c->forest->node_span.data;
  const int32_t *gap[2];
  for (int k = 0; k < 2; k++) gap[k] = tail[k] < 0 ? NULL : spans + 2 * (int64_t)tail[k];
  return look_around(spans + 2 * (int64_t)c->forest->edge_head.data[edge], gap, c->n);
}

static double add_row(const contexts *c, const outcome_row *of, const surroundings *s, double score) {
  const float *row = c->arena.data + of->begin;
  int64_t width = c->n + 2;
  for (int k = 0; k < BAG; k++)
    if (s->place[k] > -2) score += row[k * width + s->place[k] + 1];
  for (int k = 0; k < 2; k++)
    if (s->length[k] >= 0) score += row[WORD_KINDS * width + k * N_LENGTHS + s->length[k]];
  if (!of->bag) return score;
  const float *before = row + BAG * width + 1; /* before[p]: the sum of the words before place p */
  int32_t left = s->span[0] > 2 ? s->span[0] - 2 : 0, right = s->span[1] + 2 < c->n ? s->span[1] + 2 : c->n;
  return score + (before[left] + (before[c->n] - before[right]));
}

/* The score of a rule in the surroundings of an edge. */
static double score_rule(const contexts *c, const known_rule *rule, const surroundings *s) {
  double score = 0;
  for (int64_t k = rule->begin; k < rule->end; k++) score = add_row(c, &c->of_rules.data[k], s, score);
  return score;
}

static double log_sum(const double *scores, int64_t n) {
  double most = scores[0], sum = 0;
  for (int64_t k = 1; k < n; k++) most = scores[k] > most ? scores[k] : most;
  for (int64_t k = 0; k < n; k++) sum += exp(scores[k] - most);
  return most + log(sum);
}

/* The application's rule in the context, or -1. */
static int32_t context_rule(const lscfg_binding *b, int32_t rule) {
  return rule < lscfg_grammar_size(b->grammar) ? b->context_rule[rule] : -1;
}

/* column: of the forest's first application; that of the next one is n_columns further. */
static int edge_features(contexts *c, int32_t edge, double limit, double *column, int32_t n_columns) {
  const lscfg_forest *f = c->forest;
  int32_t begin = f->edge_apps.data[edge], end = f->edge_apps.data[edge + 1];
  int64_t n = 0;
  if (end - begin < 2) return LSCFG_OK;
  if (ARRAY_RESERVE(c->scores, 2 * (int64_t)(end - begin))) return LSCFG_ENOMEM;
  double *here = c->scores.data, *plain = here + (end - begin);
  surroundings s = look_around_edge(c, edge);
  for (int32_t a = begin; a < end; a++) {
    int32_t rule = context_rule(c->binding, f->app_rule.data[a]);
    if (rule < 0) continue;
    known_rule known;
    if (find_known(c, rule, &known)) return LSCFG_ENOMEM;
    plain[n] = known.plain;
    here[n] = score_rule(c, &known, &s) + plain[n];
    n++;
  }
  if (n < 2) return LSCFG_OK;
  double shift = log_sum(plain, n) - log_sum(here, n);
  n = 0;
  for (int32_t a = begin; a < end; a++) {
    if (context_rule(c->binding, f->app_rule.data[a]) < 0) continue;
    double value = here[n] - plain[n] + shift;
    column[(int64_t)n_columns * a] = value > limit ? limit : value < -limit ? -limit : value;
    n++;
  }
  return LSCFG_OK;
}

int context_features(const lscfg_binding *b, const lscfg_forest *f, const int32_t *column, int32_t n_columns,
                     double limit, double *features) {
  /* of a lattice, or a forest that a decoder has built of one: no words around */
  if (f->origin == FOREST_LATTICE || f->node_span.data[2 * f->node_cat.size - 1] != f->n_words) return LSCFG_OK;
  contexts c;
  int32_t known;
  int code = start(&c, b, f, &known);
  for (int32_t e = 0; e < f->edge_head.size && !code && known; e++) {
    if (f->node_cat.data[f->edge_head.data[e]] != CATEGORY_X) continue;
    int32_t rule = f->app_rule.data[f->edge_apps.data[e]];
    int32_t feature = f->edge_tail.data[2 * (int64_t)e] < 0 ? LSCFG_CONTEXT_0
                      : grammar_is_bare(b->grammar, rule)   ? LSCFG_CONTEXT_BARE
                                                            : LSCFG_CONTEXT_N;
    if (column[feature] >= 0) code = edge_features(&c, e, limit, features + column[feature], n_columns);
  }
  stop(&c);
  return code;
}
