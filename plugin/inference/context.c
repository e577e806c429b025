/* Features of what is around a rule application: how a log-linear model shares an edge out among its target sides,
 * against their frequencies (thesis, chapter 4). estimate/loglinear.c estimates it. */
#include "inference/context.h"
#include "inference/around.h"
#include "forest/forest.h"
#include "base/int_map.h"

#include <math.h>

enum { NO_ROW_HERE = -1 };

/* For an outcome with at least this many times more weights than possible items of a sentence, the items are
 * looked up. */
enum { LOOKED_UP = 8 };

/* Weights of at least the first and less than the second have sums, of thousands of them, that are exact in double
 * precision, in any order. */
static const float least_exact = 1.f / (1 << 19), most_exact = 4;

/* A part of an edge's surroundings that many edges with the same rules share: words next to the span, or at one end of
 * a nonterminal, or the length of a nonterminal. */
enum { AT_BEGIN, AT_END, IN_GAPS, LENGTHS = IN_GAPS + 4, N_PARTS = LENGTHS + 2 };

/* The row of an outcome of a rule; bag: its bag counts too. */
typedef struct {
  int64_t begin; /* in arena */
  int bag;
} outcome_row;

/* Values of a rule that hold in all its applications in the sentence: its rows, and the logarithm of its count, 0 for a
 * rule outside the context. */
typedef struct {
  int64_t begin, end; /* in of_rules */
  double plain;
  int bag;     /* the bag of one of its rows counts */
  int inexact; /* the order of its sums matters */
} known_rule;

/* Values of an edge's rules that hold in all edges with the same ones. */
typedef struct {
  int64_t begin; /* of as many numbers as there are rules, in rules_of_sides and known_of_sides */
  int32_t n;
  int32_t n_known;  /* rules that the context has */
  int32_t n_composed; /* rules outside the context, if they are scored too */
  double plain_sum; /* log of the sum of the known ones' counts */
  int64_t parts;    /* of [N_PARTS][words + 1] places in part_at; -1: scores are summed rule by rule */
  int bag;          /* as of its rules */
} known_side;

/* Positions in a row of the words around an edge, and the borders of its bag. */
typedef struct {
  int64_t at[BAG + 2];
  int32_t n, left, right;
  int32_t key[N_PARTS]; /* of each part, at most the number of words; -1: the edge lacks it */
} edge_positions;

/* One row for each outcome so far: for each kind of words, the weight of the word at each position -1 .. n of the
 * sentence; for the bag's kind, the sums of the weights of all words before a position; then the weights of the
 * lengths. */
struct contexts {
  const lscfg_binding *binding;
  const context_model *model;
  const lscfg_forest *forest;
  int32_t n;             /* words of the sentence */
  int32_t known_words;   /* of which the model has so many */
  int64_t base;          /* words of the model, and the two ends of a sentence */
  int32_t *first, *next; /* model word -> first position + 1 in the sentence; position -> the next one; 0 at the end */
  int32_t *present;      /* the model's words that are in the sentence, ascending, its two ends last */
  int32_t n_present;
  uint64_t *is_present;  /* a bit for each model word: few bytes to read for each weight */
  int_map rows;          /* outcome -> begin of its row in arena, NO_ROW_HERE: no item of it is in the sentence */
  ARRAY(float) arena;
  int_map met; /* rule, or after all of the grammar's -> 1 + its number in known */
  ARRAY(known_rule) known;
  ARRAY(outcome_row) of_rules; /* the rows of the known rules */
  int_map met_sides;           /* first rule of an edge -> 1 + the number in sides of the last such edge's */
  ARRAY(known_side) sides;
  ARRAY(int32_t) rules_of_sides; /* of applications */
  ARRAY(int32_t) known_of_sides; /* numbers in known; -2 - number of a rule that the context does not have, -1: none */
  ARRAY(int64_t) part_at;        /* where the scores of a part of a side's edges begin in part_scores; 0: not yet */
  ARRAY(double) part_scores;     /* of the side's rules in the context, then of the composed ones */
  ARRAY(double) scores;          /* of an edge's applications */
  ARRAY(int64_t) outcomes;       /* of the rule in hand */
  int joint;                     /* the file's context scores are a part of scores */
  int compose;                   /* rules outside the context are scored too */
  ARRAY(int32_t) symbols;        /* of such a rule */
  words_around words;            /* as it sees them */
};

/* Positions of words next to the nonterminals, on both sides, and a swap of two nonterminals: 0 .. N_SHAPES-1; -1: a
 * rule without nonterminals. */
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

/* Target words and shape, of which words from n_words on are no outcomes. */
static int32_t symbol_outcomes(const lscfg_rules *rules, const int32_t *symbols, int32_t n_src, int32_t n,
                               int64_t *outcomes) {
  int32_t shape = rule_shape(symbols, n_src, n), size = 0;
  for (int32_t k = n_src; k < n; k++) {
    int again = symbols[k] < 0 || symbols[k] >= rules->n_words;
    for (int32_t other = n_src; other < k && !again; other++) again = symbols[other] == symbols[k];
    if (!again) outcomes[size++] = rules->n + symbols[k];
  }
  if (shape >= 0) outcomes[size++] = first_shape(rules) + shape;
  return size;
}

int32_t rule_outcomes(const lscfg_rules *rules, int64_t rule, int64_t *outcomes) {
  const int32_t *symbols = rules->symbols + rules->offsets[rule];
  outcomes[0] = rule;
  return 1 + symbol_outcomes(rules, symbols, rules->src_length[rule],
                             (int32_t)(rules->offsets[rule + 1] - rules->offsets[rule]), outcomes + 1);
}

int has_source_words(const lscfg_rules *rules, int64_t rule) {
  const int32_t *symbols = rules->symbols + rules->offsets[rule];
  for (int32_t k = 0; k < rules->src_length[rule]; k++)
    if (symbols[k] >= 0) return 1;
  return 0;
}

surroundings look_around(const int32_t *span, const int32_t *const gap[2], int32_t n) {
  surroundings s = {.span = span};
  s.position[0] = span[0] - 1;
  s.position[1] = span[0] < 2 ? -1 : span[0] - 2;
  s.position[2] = span[1];
  s.position[3] = span[1] + 1 < n ? span[1] + 1 : n;
  for (int k = 0; k < 2; k++) {
    s.position[4 + 2 * k] = gap[k] ? gap[k][0] : -2;
    s.position[5 + 2 * k] = gap[k] ? gap[k][1] - 1 : -2;
    s.length[k] = gap[k] ? length_class(gap[k][1] - gap[k][0]) : -1;
  }
  return s;
}

static int compare_words(const void *a, const void *b) {
  int32_t one = *(const int32_t *)a, other = *(const int32_t *)b;
  return (one > other) - (one < other);
}

static int start(contexts *c, const lscfg_binding *b, const lscfg_forest *f) {
  const context_model *model = b->model->context;
  *c = (contexts){.binding = b, .model = model, .forest = f, .n = f->n_words, .base = model->rules.n_words + 2};
  c->first = calloc((size_t)c->base, sizeof *c->first);
  c->next = calloc((size_t)c->n + 3, sizeof *c->next);
  c->present = malloc(((size_t)c->n + 2) * sizeof *c->present);
  c->is_present = calloc((size_t)c->base / 64 + 1, sizeof *c->is_present);
  if (!c->first || !c->next || !c->present || !c->is_present) return LSCFG_ENOMEM;
  for (int32_t position = c->n; position >= -1; position--) {
    int64_t word = position < 0 ? model->rules.n_words : position == c->n ? model->rules.n_words + 1 : -1;
    if (word < 0 && f->words[position] >= 0 && f->words[position] < b->n_vocab)
      word = b->word_in_context[f->words[position]];
    if (word < 0) continue;
    c->known_words += word < model->rules.n_words;
    if (!c->first[word]) c->present[c->n_present++] = (int32_t)word;
    c->is_present[word / 64] |= (uint64_t)1 << word % 64;
    c->next[position + 1] = c->first[word];
    c->first[word] = position + 2;
  }
  qsort(c->present, (size_t)c->n_present, sizeof *c->present, compare_words);
  c->joint = model->scores.kind == &joint_score;
  return c->joint ? start_around(&c->words, b, f) : LSCFG_OK;
}

void contexts_free(contexts *c) {
  if (!c) return;
  stop_around(&c->words);
  free(c->first);
  free(c->next);
  free(c->present);
  free(c->is_present);
  free(c->rows.entries);
  free(c->arena.data);
  free(c->met.entries);
  free(c->known.data);
  free(c->of_rules.data);
  free(c->met_sides.entries);
  free(c->sides.data);
  free(c->rules_of_sides.data);
  free(c->known_of_sides.data);
  free(c->part_at.data);
  free(c->part_scores.data);
  free(c->scores.data);
  free(c->outcomes.data);
  free(c->symbols.data);
  free(c);
}

contexts *contexts_new(const lscfg_binding *b, const lscfg_forest *f, int compose) {
  contexts *c = malloc(sizeof *c);
  if (!c) return NULL;
  if (!start(c, b, f)) {
    c->compose = compose;
    return c;
  }
  contexts_free(c);
  return NULL;
}

/* True if the order matters in which the weight is added to others. */
static inline int is_inexact(float weight) {
  float size = weight < 0 ? -weight : weight;
  return !(size >= least_exact && size < most_exact) && size != 0;
}

/* Puts a weight where the word stands in the sentence; 1 if it does. */
static inline int put_word(const contexts *c, float *values_of_kind, int64_t word, float weight, int *inexact) {
  if (!(c->is_present[word / 64] >> word % 64 & 1)) return 0;
  *inexact |= is_inexact(weight);
  for (int32_t at = c->first[word]; at; at = c->next[at - 1]) values_of_kind[at - 1] = weight;
  return 1;
}

/* The first of items[from .. end-1], which ascend, that is not below the item. It is looked for near the beginning. */
static int64_t seek_item(const int32_t *items, int64_t from, int64_t end, int64_t item) {
  int64_t step = 1;
  while (from + step < end && items[from + step] < item) {
    from += step;
    step *= 2;
  }
  end = from + step < end ? from + step : end;
  while (from < end) {
    int64_t middle = from + (end - from) / 2;
    if (items[middle] < item)
      from = middle + 1;
    else
      end = middle;
  }
  return from;
}

/* The last number of a row is not 0 if the order of its sums matters. */
static int64_t row_size(const contexts *c) { return WORD_KINDS * (int64_t)(c->n + 2) + 2 * N_LENGTHS + 1; }

/* Writes the weights begin .. end-1 of an outcome to its row; returns 0 if no item of it is in the sentence. */
static int fill_row(const contexts *c, int64_t begin, int64_t end, float *values) {
  int inexact = 0;
  const int32_t *items = c->model->items;
  const float *weights = c->model->weights;
  int64_t width = c->n + 2, lengths = WORD_KINDS * c->base, k = begin, base = 0, found = 0;
  if (end - begin < LOOKED_UP * WORD_KINDS * c->n_present) { /* reads all weights, */
    for (int64_t kind = 0; k < end && items[k] < lengths; k++) {
      for (; items[k] >= base + c->base; kind++) base += c->base; /* without a division, since there are many weights */
      found |= put_word(c, values + kind * width, items[k] - base, weights[k], &inexact);
    }
  } else { /* or looks up the items of the sentence */
    for (int64_t kind = 0; kind < WORD_KINDS; kind++, base += c->base)
      for (int32_t w = 0; w < c->n_present; w++) {
        k = seek_item(items, k, end, base + c->present[w]);
        if (k < end && items[k] == base + c->present[w])
          found |= put_word(c, values + kind * width, c->present[w], weights[k], &inexact);
      }
    k = seek_item(items, k, end, lengths);
  }
  found |= k < end;
  for (; k < end; k++) {
    values[WORD_KINDS * width + items[k] - lengths] = weights[k];
    inexact |= is_inexact(weights[k]);
  }
  values[row_size(c) - 1] = (float)inexact;
  return found != 0;
}

/* Makes the row of an outcome; *begin: as in rows. */
static int make_row(contexts *c, int64_t outcome, int64_t *begin) {
  int64_t width = c->n + 2, size = row_size(c);
  if (!c->arena.size) c->arena.size = 1; /* 0: an outcome that was not met before */
  if (ARRAY_RESERVE(c->arena, size)) return LSCFG_ENOMEM;
  float *values = c->arena.data + c->arena.size;
  memset(values, 0, (size_t)size * sizeof *values);
  int found = fill_row(c, c->model->offsets[outcome], c->model->offsets[outcome + 1], values);
  *begin = found ? c->arena.size : NO_ROW_HERE;
  if (!found) return LSCFG_OK;
  float *bag = values + BAG * width, sum = 0;
  for (int64_t position = 0; position < width;
       position++) { /* position + 1; the ends of a sentence are no items of the bag */
    float value = position == 0 || position == width - 1 ? 0 : bag[position];
    bag[position] = sum;
    sum += value;
  }
  c->arena.size += size;
  return LSCFG_OK;
}

/* Computes the values of a rule in all its applications, from n outcomes; outcomes without a weight for a word of the
 * sentence are skipped. bag: words far away are items too. */
static int make_known(contexts *c, int32_t n, int bag, double plain) {
  const lscfg_rules *rules = &c->model->rules;
  if (ARRAY_RESERVE(c->of_rules, n) || ARRAY_RESERVE(c->known, 1)) return LSCFG_ENOMEM;
  known_rule made = {.begin = c->of_rules.size, .plain = plain};
  for (int32_t k = 0; k < n; k++) {
    int64_t outcome = c->outcomes.data[k], *begin = int_map_at(&c->rows, outcome);
    if (!begin || (!*begin && make_row(c, outcome, begin))) return LSCFG_ENOMEM;
    if (*begin == NO_ROW_HERE) continue;
    int of_bag = bag && outcome < first_shape(rules);
    c->of_rules.data[c->of_rules.size++] = (outcome_row){*begin, of_bag};
    made.bag |= of_bag;
    made.inexact |= c->arena.data[*begin + row_size(c) - 1] != 0;
  }
  made.end = c->of_rules.size;
  c->known.data[c->known.size++] = made;
  return LSCFG_OK;
}

static int make_context_rule(contexts *c, int64_t rule) {
  const lscfg_rules *rules = &c->model->rules;
  if (ARRAY_RESERVE(c->outcomes, rules->offsets[rule + 1] - rules->offsets[rule] + 2)) return LSCFG_ENOMEM;
  int32_t n = rule_outcomes(rules, rule, c->outcomes.data);
  return make_known(c, n, has_source_words(rules, rule), log(c->model->counts[rule]));
}

/* The same for a rule of the grammar outside the context, by its target words and its shape. */
static int make_composed(contexts *c, int32_t number) {
  const lscfg_rules *rules = &c->model->rules;
  const grammar_rule *rule = &c->binding->grammar->rules.data[number];
  const int32_t *own = c->binding->grammar->symbols.data + rule->src; /* the target side follows the source side */
  int32_t n = rule->n_src + rule->n_tgt, words = 0;
  if (ARRAY_RESERVE(c->symbols, n) || ARRAY_RESERVE(c->outcomes, n + 1)) return LSCFG_ENOMEM;
  for (int32_t k = 0; k < n; k++) {
    int32_t word = own[k] < 0 ? -1 : c->binding->word_in_context[own[k]];
    c->symbols.data[k] = own[k] < 0 ? own[k] : word < 0 ? (int32_t)rules->n_words : word;
    words += k < rule->n_src && own[k] >= 0;
  }
  return make_known(c, symbol_outcomes(rules, c->symbols.data, rule->n_src, n, c->outcomes.data), words > 0, 0);
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

/* Finds the number of a rule of the grammar in known, and creates it at first use, by its number in the context, -1:
 * none. */
static int find_known(contexts *c, int32_t rule, int32_t in_context, int32_t *found) {
  int64_t *number = int_map_at(&c->met, in_context < 0 ? c->model->rules.n + rule : in_context);
  if (!number) return LSCFG_ENOMEM;
  if (!*number && (in_context < 0 ? make_composed(c, rule) : make_context_rule(c, in_context))) return LSCFG_ENOMEM;
  if (!*number) *number = c->known.size;
  *found = (int32_t)*number - 1;
  return LSCFG_OK;
}

/* True if a rule that the context does not have is scored. */
static int is_composed(const contexts *c, int32_t rule) {
  const lscfg_grammar *g = c->binding->grammar;
  return c->compose && rule < lscfg_grammar_size(g) && binding_category(c->binding, g->rules.data[rule].lhs) >= 0 &&
         g->rules.data[rule].arity <= MAX_TENSOR_ARITY;
}

/* Fetches what make_context_rule will read for later rules, which lies all over the model: in two steps, as the second
 * needs the places that the first fetches. */
static inline void fetch_rules(const contexts *c, const int32_t *rules, int32_t k, int32_t n) {
#ifdef __GNUC__
  enum { FIRST = 8, SECOND = 4 };
  const context_model *model = c->model;
  int32_t far = k + FIRST < n ? context_rule(c->binding, rules[k + FIRST]) : -1;
  int32_t near = k + SECOND < n ? context_rule(c->binding, rules[k + SECOND]) : -1;
  if (far >= 0) {
    __builtin_prefetch(model->offsets + far);
    __builtin_prefetch(model->counts + far);
    __builtin_prefetch(model->rules.offsets + far);
    __builtin_prefetch(model->rules.src_length + far);
  }
  if (near >= 0) {
    __builtin_prefetch(model->items + model->offsets[near]);
    __builtin_prefetch(model->weights + model->offsets[near]);
    __builtin_prefetch(model->rules.symbols + model->rules.offsets[near]);
  }
#else
  (void)c, (void)rules, (void)k, (void)n;
#endif
}

/* Computes the common values of edges with these rules. */
static int make_side(contexts *c, const int32_t *rules, int32_t n) {
  if (ARRAY_RESERVE(c->sides, 1) || ARRAY_RESERVE(c->rules_of_sides, n) || ARRAY_RESERVE(c->known_of_sides, n) ||
      ARRAY_RESERVE(c->scores, n))
    return LSCFG_ENOMEM;
  known_side made = {.begin = c->rules_of_sides.size, .n = n, .parts = -1};
  int exact = 1, arity = 0;
  int32_t *known = c->known_of_sides.data + made.begin;
  memcpy(c->rules_of_sides.data + made.begin, rules, (size_t)n * sizeof *rules);
  for (int32_t k = 0; k < n; k++) {
    int32_t rule = context_rule(c->binding, rules[k]);
    fetch_rules(c, rules, k, n);
    known[k] = -1;
    if (rule < 0 && !is_composed(c, rules[k])) continue;
    if (find_known(c, rules[k], rule, &known[k])) return LSCFG_ENOMEM;
    exact &= !c->known.data[known[k]].inexact;
    made.bag |= c->known.data[known[k]].bag;
    arity = c->binding->grammar->rules.data[rules[k]].arity;
    if (rule < 0) {
      known[k] = -2 - known[k];
      made.n_composed++;
    } else {
      c->scores.data[made.n_known++] = c->known.data[known[k]].plain;
    }
  }
  if (made.n_known) made.plain_sum = log_sum(c->scores.data, made.n_known);
  if (arity && exact) {
    int64_t size = N_PARTS * (int64_t)(c->n + 1);
    if (ARRAY_RESERVE(c->part_at, size)) return LSCFG_ENOMEM;
    memset(c->part_at.data + c->part_at.size, 0, (size_t)size * sizeof *c->part_at.data);
    made.parts = c->part_at.size;
    c->part_at.size += size;
  }
  c->rules_of_sides.size += n;
  c->known_of_sides.size += n;
  c->sides.data[c->sides.size++] = made;
  return LSCFG_OK;
}

/* Finds the common values of the edges with these rules, usually by their first rule. */
static int find_side(contexts *c, const int32_t *rules, int32_t n, known_side *found) {
  int64_t *number = int_map_at(&c->met_sides, rules[0]);
  if (!number) return LSCFG_ENOMEM;
  const known_side *last = *number ? &c->sides.data[*number - 1] : NULL;
  if (!last || last->n != n || memcmp(c->rules_of_sides.data + last->begin, rules, (size_t)n * sizeof *rules)) {
    if (make_side(c, rules, n)) return LSCFG_ENOMEM;
    *number = c->sides.size;
  }
  *found = c->sides.data[*number - 1];
  return LSCFG_OK;
}

static edge_positions look_around_edge(const contexts *c, int32_t edge) {
  const int32_t *tail = c->forest->edge_tail.data + 2 * (int64_t)edge, *spans = c->forest->node_span.data;
  const int32_t *gap[2];
  for (int k = 0; k < 2; k++) gap[k] = tail[k] < 0 ? NULL : spans + 2 * (int64_t)tail[k];
  surroundings s = look_around(spans + 2 * (int64_t)c->forest->edge_head.data[edge], gap, c->n);
  int64_t width = c->n + 2;
  edge_positions found = {.left = s.span[0] > 2 ? s.span[0] - 2 : 0,
                          .right = s.span[1] + 2 < c->n ? s.span[1] + 2 : c->n};
  found.key[AT_BEGIN] = s.span[0];
  found.key[AT_END] = s.span[1];
  for (int k = 0; k < BAG; k++) {
    if (s.position[k] > -2) found.at[found.n++] = k * width + s.position[k] + 1;
    if (k >= 4) found.key[IN_GAPS + k - 4] = s.position[k] > -2 ? s.position[k] : -1;
  }
  for (int k = 0; k < 2; k++) {
    if (s.length[k] >= 0) found.at[found.n++] = WORD_KINDS * width + k * N_LENGTHS + s.length[k];
    found.key[LENGTHS + k] = s.length[k];
  }
  return found;
}

/* The score of a rule by the words at n positions and, if wanted, the bag. */
static inline double sum_rule(const contexts *c, const known_rule *rule, const edge_positions *around,
                              const int64_t *at, int32_t n, int bag) {
  const float *words = c->arena.data + BAG * (c->n + 2) + 1; /* [p] of a row: the sum of the words before position p */
  double score = 0;
  for (int64_t k = rule->begin; k < rule->end; k++) {
    const outcome_row *of = &c->of_rules.data[k];
    const float *row = c->arena.data + of->begin, *before = words + of->begin;
    for (int32_t i = 0; i < n; i++) score += row[at[i]];
    if (of->bag && bag) score += before[around->left] + (before[c->n] - before[around->right]);
  }
  return score;
}

/* Sums n positions for all scored rules of a side: those of the context, then the composed ones. */
static void sum_rules(const contexts *c, const known_side *side, const edge_positions *around, const int64_t *at,
                      int32_t n, int bag, double *scores) {
  const int32_t *known = c->known_of_sides.data + side->begin;
  for (int32_t k = 0; k < side->n; k++)
    if (known[k] >= 0) *scores++ = sum_rule(c, &c->known.data[known[k]], around, at, n, bag);
  for (int32_t k = 0; k < side->n && side->n_composed; k++)
    if (known[k] < -1) *scores++ = sum_rule(c, &c->known.data[-2 - known[k]], around, at, n, bag);
}

/* The scores of a part of an edge's surroundings, which are computed at first use. */
static int find_part(contexts *c, const known_side *side, const edge_positions *around, int part, const int64_t *at,
                     int32_t n, int64_t *found) {
  int64_t *place = c->part_at.data + side->parts + part * (int64_t)(c->n + 1) + around->key[part];
  if (!*place) {
    int32_t scored = side->n_known + side->n_composed;
    if (!c->part_scores.size) c->part_scores.size = 1;
    if (ARRAY_RESERVE(c->part_scores, scored)) return LSCFG_ENOMEM;
    sum_rules(c, side, around, at, n, 0, c->part_scores.data + c->part_scores.size);
    *place = c->part_scores.size;
    c->part_scores.size += scored;
  }
  *found = *place;
  return LSCFG_OK;
}

/* The scores of a side's rules in the surroundings of an edge, as of sum_rules. */
static int score_side(contexts *c, const known_side *side, const edge_positions *around, double *scores) {
  int32_t n = side->n_known + side->n_composed, used = 0;
  int64_t found[N_PARTS], n_found = 0;
  if (side->parts < 0) {
    sum_rules(c, side, around, around->at, around->n, 1, scores);
    return LSCFG_OK;
  }
  for (int part = 0; part < N_PARTS; part++) {
    int32_t size = part < IN_GAPS ? 2 : 1;
    if (around->key[part] < 0) continue;
    if (find_part(c, side, around, part, around->at + used, size, &found[n_found++])) return LSCFG_ENOMEM;
    used += size;
  }
  if (side->bag)
    sum_rules(c, side, around, NULL, 0, 1, scores);
  else
    memset(scores, 0, (size_t)n * sizeof *scores);
  for (int64_t k = 0; k < n_found; k++) {
    const double *more = c->part_scores.data + found[k];
    for (int32_t i = 0; i < n; i++) scores[i] += more[i];
  }
  return LSCFG_OK;
}

/* Adds the context scores of an edge's known rules. */
static void add_scores(contexts *c, int32_t edge, const known_side *side, double *here) {
  if (!take_edge(&c->words, edge)) return;
  for (int32_t k = 0; k < side->n; k++) {
    if (c->known_of_sides.data[side->begin + k] < 0) continue;
    int32_t row = c->model->scores.row[context_rule(c->binding, c->rules_of_sides.data[side->begin + k])];
    if (row >= 0) *here += score_around(&c->words, row);
    here++;
  }
}

static double within(double value, double limit) {
  return value > limit ? limit : value < -limit ? -limit : value;
}

/* column: of the edge's first application, for rules of the context; the next application is n_columns further.
 * composed: the same for rules outside the context, which count as seen once. NULL: not wanted. */
static int edge_features(contexts *c, int32_t edge, double limit, double *column, double *composed, int32_t n_columns) {
  const lscfg_forest *f = c->forest;
  int32_t begin = f->edge_apps.data[edge], end = f->edge_apps.data[edge + 1], n = 0;
  known_side side;
  if ((!column && !composed) || end - begin < 2) return LSCFG_OK;
  if (find_side(c, f->app_rule.data + begin, end - begin, &side)) return LSCFG_ENOMEM;
  if (side.n_known < 2) column = NULL;
  if (!side.n_composed || side.n_known + side.n_composed < 2) composed = NULL;
  if (!column && !composed) return LSCFG_OK;
  if (ARRAY_RESERVE(c->scores, side.n)) return LSCFG_ENOMEM;
  const int32_t *known = c->known_of_sides.data + side.begin;
  const known_rule *rules = c->known.data;
  double *here = c->scores.data;
  edge_positions around = look_around_edge(c, edge);
  if (score_side(c, &side, &around, here)) return LSCFG_ENOMEM;
  for (int32_t k = 0; k < side.n; k++)
    if (known[k] >= 0) here[n++] += rules[known[k]].plain;
  if (c->joint) add_scores(c, edge, &side, here);
  if (column) {
    double shift = side.plain_sum - log_sum(here, n);
    n = 0;
    for (int32_t k = 0; k < side.n; k++)
      if (known[k] >= 0)
        column[(int64_t)n_columns * k] = within(here[n++] - rules[known[k]].plain + shift, limit);
  }
  if (composed) {
    double plain = (side.n_known ? exp(side.plain_sum) : 0) + side.n_composed;
    double shift = log(plain) - log_sum(here, side.n_known + side.n_composed);
    n = side.n_known;
    for (int32_t k = 0; k < side.n; k++)
      if (known[k] < -1) composed[(int64_t)n_columns * k] = within(here[n++] + shift, limit);
  }
  return LSCFG_OK;
}

int context_features(contexts *c, const feature_work *w, double limit) {
  const lscfg_forest *f = w->forest;
  int code = LSCFG_OK;
  int32_t composed = w->column[LSCFG_CONTEXT_COMPOSED], end = f->node_edges.data[w->end_node];
  for (int32_t e = f->node_edges.data[w->first_node]; e < end && !code && c->known_words; e++) {
    if (node_category(c->binding, f, f->edge_head.data[e]) < 0 || !edge_is_wanted(w, e)) continue;
    int32_t begin = f->edge_apps.data[e];
    int32_t feature = f->edge_tail.data[2 * (int64_t)e] < 0                      ? LSCFG_CONTEXT_0
                      : grammar_is_bare(c->binding->grammar, f->app_rule.data[begin]) ? LSCFG_CONTEXT_BARE
                                                                                      : LSCFG_CONTEXT_N;
    double *row = features_of_app(w, begin), *own = w->column[feature] >= 0 ? row + w->column[feature] : NULL;
    code = edge_features(c, e, limit, own, composed >= 0 ? row + composed : NULL, w->options->n_columns);
  }
  return code;
}
