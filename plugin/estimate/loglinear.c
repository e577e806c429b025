/* Weights of a log-linear model of target sides (see context.h) by stochastic gradient descent on the penalised
 * likelihood of rule tokens, with a step of its own for each weight (AdaGrad: Duchi, Hazan and Singer 2011). */
#include "lscfg/estimate.h"
#include "inference/context.h"
#include "base/int_map.h"

#include <math.h>

/* Occurrences of keys that are counted at the same time, at most: more are counted outcomes by outcomes. */
enum { COUNTED_AT_ONCE = 1 << 25 };

/* A weight of an outcome and what its learning needs. */
typedef struct {
  int32_t item; /* -1: empty */
  float weight, squares, visits;
} weight_slot;

/* An outcome of the token in hand, and what it adds to the score of a choice that has it. */
typedef struct {
  int64_t outcome;
  int64_t begin, end; /* of its weights in met */
  double sum;
} met_outcome;

struct lscfg_context_trainer {
  lscfg_context_problem problem;
  int64_t n_items, base;
  int_map counts; /* outcome * items + item -> how often the tokens' own target sides have both; only until it is known
                         * which weights there are */
  ARRAY(int64_t) keys;     /* of the weights there are, likewise */
  int64_t *block;          /* [outcomes + 1]: where the weights of each one begin; a block has 0 or 2^k places */
  weight_slot *weights;    /* open addressing in each block: what is looked up together lies together */
  int64_t *outcome_begin;  /* [rules + 1] of each rule in outcomes */
  ARRAY(int64_t) outcomes; /* a rule's own, its target words, its shape */
  uint8_t *wordy;          /* [rules] whether there are words on the source side: then there are items of the bag */
  double *plain;           /* [rules] logarithms of their counts */
  ARRAY(int64_t) items;    /* of the token in hand, those of the bag last */
  int64_t n_near;          /* those before */
  ARRAY(double) scores;    /* of its choices: by frequency, in context */
  ARRAY(met_outcome) outcomes_met; /* those of its choices, each once */
  int32_t *number;                 /* [outcomes] their numbers in outcomes_met, -1: not there */
  ARRAY(weight_slot *) met;        /* their weights that the token has items for */
};

/* ---- outcomes and items ---- */

static int add_outcomes(lscfg_context_trainer *t, int64_t rule) {
  const lscfg_rules *rules = t->problem.rules;
  if (ARRAY_RESERVE(t->outcomes, rules->offsets[rule + 1] - rules->offsets[rule] + 2)) return LSCFG_ENOMEM;
  t->outcomes.size += rule_outcomes(rules, rule, t->outcomes.data + t->outcomes.size);
  t->outcome_begin[rule + 1] = t->outcomes.size;
  t->wordy[rule] = (uint8_t)has_source_words(rules, rule);
  t->plain[rule] = log(t->problem.counts[rule]);
  return LSCFG_OK;
}

/* Puts the token's items into t->items. */
static int find_items(lscfg_context_trainer *t, const lscfg_context_token *token) {
  const lscfg_context_problem *p = &t->problem;
  const int32_t *words = p->words + p->first[token->sentence];
  const int32_t *gap[2] = {token->gap[0][0] < 0 ? NULL : token->gap[0], token->gap[1][0] < 0 ? NULL : token->gap[1]};
  int64_t n = p->first[token->sentence + 1] - p->first[token->sentence], size = 0;
  surroundings s = look_around(token->span, gap, (int32_t)n);
  if (ARRAY_RESERVE(t->items, n + BAG + 2)) return LSCFG_ENOMEM;
  int64_t *items = t->items.data;
  for (int k = 0; k < BAG; k++) {
    int32_t place = s.place[k];
    if (place < -1) continue;
    int64_t word = place < 0 ? t->base - 2 : place >= n ? t->base - 1 : words[place];
    if (word >= 0) items[size++] = k * t->base + word;
  }
  for (int k = 0; k < 2; k++)
    if (s.length[k] >= 0) items[size++] = WORD_KINDS * t->base + k * N_LENGTHS + s.length[k];
  t->n_near = size;
  for (int32_t place = 0; place < n; place++)
    if ((place < token->span[0] - 2 || place >= token->span[1] + 2) && words[place] >= 0)
      items[size++] = BAG * t->base + words[place];
  t->items.size = size;
  return LSCFG_OK;
}

/* ---- weights ---- */

static int64_t first_place(int64_t item, int64_t size) {
  return (int64_t)(((uint64_t)item * 0x9e3779b97f4a7c15u) >> 32) & (size - 1);
}

/* The place of an item among the weights of an outcome that has some; an empty place if it has none for the item. */
static weight_slot *find_weight(const lscfg_context_trainer *t, int64_t outcome, int64_t item) {
  int64_t size = t->block[outcome + 1] - t->block[outcome], at = first_place(item, size);
  weight_slot *block = t->weights + t->block[outcome];
  while (block[at].item >= 0 && block[at].item != item) at = (at + 1) & (size - 1);
  return &block[at];
}

/* Asks for memory ahead of use, for which learning would wait. */
static void fetch_weights(const lscfg_context_trainer *t, int64_t outcome, int64_t n_items) {
#if defined(__GNUC__)
  int64_t size = t->block[outcome + 1] - t->block[outcome];
  for (int64_t k = 0; k < n_items; k++)
    __builtin_prefetch(&t->weights[t->block[outcome] + first_place(t->items.data[k], size)], 1);
#else
  (void)t, (void)outcome, (void)n_items;
#endif
}

/* How many of the token's items there are weights of for the outcome of a rule. */
static int64_t n_items_of(const lscfg_context_trainer *t, int64_t rule, int64_t outcome) {
  return t->wordy[rule] && outcome < first_shape(t->problem.rules) ? t->items.size : t->n_near;
}

/* Counts the token's own keys whose outcomes are of the part, of so many. */
static int count_keys(lscfg_context_trainer *t, const lscfg_context_token *token, int64_t part, int64_t parts) {
  int found = 0;
  for (int64_t o = t->outcome_begin[token->rule]; o < t->outcome_begin[token->rule + 1]; o++) {
    int64_t outcome = t->outcomes.data[o];
    if (outcome % parts != part) continue;
    if (!found++ && find_items(t, token)) return LSCFG_ENOMEM;
    int64_t n = n_items_of(t, token->rule, outcome);
    for (int64_t k = 0; k < n; k++) {
      int64_t *count = int_map_at(&t->counts, outcome * t->n_items + t->items.data[k]);
      if (!count) return LSCFG_ENOMEM;
      ++*count;
    }
  }
  return LSCFG_OK;
}

/* At least as many as the token's own rule has keys. */
static int64_t n_own_keys(const lscfg_context_trainer *t, const lscfg_context_token *token) {
  const lscfg_context_problem *p = &t->problem;
  int64_t words = p->first[token->sentence + 1] - p->first[token->sentence];
  return (words + BAG + 2) * (t->outcome_begin[token->rule + 1] - t->outcome_begin[token->rule]);
}

/* Finds the keys of the weights that are not too rare. */
static int find_keys(lscfg_context_trainer *t) {
  const lscfg_context_problem *p = &t->problem;
  int64_t most = 0;
  for (int64_t k = 0; k < p->n_tokens; k++) most += n_own_keys(t, &p->tokens[k]);
  int64_t parts = 1 + most / COUNTED_AT_ONCE;
  for (int64_t part = 0; part < parts; part++) {
    int_map_clear(&t->counts);
    for (int64_t k = 0; k < p->n_tokens; k++)
      if (count_keys(t, &p->tokens[k], part, parts)) return LSCFG_ENOMEM;
    for (int64_t k = 0; k < t->counts.slots; k++) {
      const int_entry *found = &t->counts.entries[k];
      if (found->key < 0 || found->value < p->min_count) continue;
      if (ARRAY_RESERVE(t->keys, 1)) return LSCFG_ENOMEM;
      t->keys.data[t->keys.size++] = found->key;
    }
  }
  free(t->counts.entries);
  t->counts = (int_map){0};
  return LSCFG_OK;
}

/* Makes room for the weights, and forgets their keys. */
static int lay_out_weights(lscfg_context_trainer *t) {
  int64_t n = context_outcomes(t->problem.rules), *size = t->block + 1;
  for (int64_t k = 0; k < t->keys.size; k++) size[t->keys.data[k] / t->n_items]++;
  for (int64_t o = 0; o < n; o++) {
    int64_t room = 1;
    while (2 * room < 3 * size[o]) room *= 2; /* at most two thirds are full */
    size[o] = t->block[o] + (size[o] ? room : 0);
  }
  if (!(t->weights = malloc((size_t)(t->block[n] + 1) * sizeof *t->weights))) return LSCFG_ENOMEM;
  for (int64_t k = 0; k < t->block[n]; k++) t->weights[k] = (weight_slot){.item = -1};
  for (int64_t k = 0; k < t->keys.size; k++) {
    int64_t item = t->keys.data[k] % t->n_items;
    find_weight(t, t->keys.data[k] / t->n_items, item)->item = (int32_t)item;
  }
  free(t->keys.data);
  t->keys.data = NULL;
  return LSCFG_OK;
}

/* Finds the items of the token, the outcomes of its choices and their weights. */
static int meet(lscfg_context_trainer *t, const lscfg_context_token *token) {
  const lscfg_context_problem *p = &t->problem;
  int32_t side = p->side[token->rule];
  for (int64_t k = 0; k < t->outcomes_met.size; k++) t->number[t->outcomes_met.data[k].outcome] = -1;
  t->outcomes_met.size = t->met.size = 0;
  if (find_items(t, token)) return LSCFG_ENOMEM;
  for (int64_t c = p->choice_begin[side]; c < p->choice_begin[side + 1]; c++) {
    int64_t begin = t->outcome_begin[p->choices[c]], end = t->outcome_begin[p->choices[c] + 1];
    if (ARRAY_RESERVE(t->outcomes_met, end - begin)) return LSCFG_ENOMEM;
    for (int64_t o = begin; o < end; o++) {
      int64_t outcome = t->outcomes.data[o];
      if (t->number[outcome] >= 0 || t->block[outcome] == t->block[outcome + 1]) continue;
      t->number[outcome] = (int32_t)t->outcomes_met.size;
      t->outcomes_met.data[t->outcomes_met.size++] = (met_outcome){.outcome = outcome};
      fetch_weights(t, outcome, n_items_of(t, token->rule, outcome));
    }
  }
  if (ARRAY_RESERVE(t->met, t->outcomes_met.size * t->items.size)) return LSCFG_ENOMEM;
  for (int64_t i = 0; i < t->outcomes_met.size; i++) {
    met_outcome *m = &t->outcomes_met.data[i];
    int64_t n = n_items_of(t, token->rule, m->outcome);
    m->begin = t->met.size;
    for (int64_t k = 0; k < n; k++) {
      weight_slot *slot = find_weight(t, m->outcome, t->items.data[k]);
      if (slot->item < 0) continue;
      t->met.data[t->met.size++] = slot;
      m->sum += slot->weight;
    }
    m->end = t->met.size;
  }
  return LSCFG_OK;
}

/* What was met of an outcome of a rule; nothing of one that has no weights. */
static const met_outcome *met_of(const lscfg_context_trainer *t, int64_t o) {
  static const met_outcome nothing;
  int32_t number = t->number[t->outcomes.data[o]];
  return number < 0 ? &nothing : &t->outcomes_met.data[number];
}

/* A step against the gradient of the likelihood and the penalty, which is shared out among the visits of one pass. */
static void step(const lscfg_context_trainer *t, weight_slot *slot, double gradient) {
  float along = (float)gradient + (float)t->problem.penalty * slot->weight / slot->visits;
  slot->squares += along * along;
  slot->weight -= (float)t->problem.rate * along / sqrtf(slot->squares + 1e-4f);
}

/* ---- tokens ---- */

/* How often a pass comes by each weight. */
static int count_visits(lscfg_context_trainer *t) {
  const lscfg_context_problem *p = &t->problem;
  for (int64_t k = 0; k < p->n_tokens; k++) {
    int32_t side = p->side[p->tokens[k].rule];
    if (meet(t, &p->tokens[k])) return LSCFG_ENOMEM;
    for (int64_t c = p->choice_begin[side]; c < p->choice_begin[side + 1]; c++)
      for (int64_t o = t->outcome_begin[p->choices[c]]; o < t->outcome_begin[p->choices[c] + 1]; o++) {
        const met_outcome *m = met_of(t, o);
        for (int64_t i = m->begin; i < m->end; i++) t->met.data[i]->visits++;
      }
  }
  return LSCFG_OK;
}

int lscfg_context_trainer_new(const lscfg_context_problem *problem, lscfg_context_trainer **made, lscfg_error *error) {
  lscfg_context_trainer *t = calloc(1, sizeof *t);
  int64_t n = problem->rules->n;
  *made = NULL;
  if (!t) return out_of_memory(error);
  t->problem = *problem;
  t->base = problem->rules->n_words + 2;
  t->n_items = context_items(problem->rules->n_words);
  t->outcome_begin = calloc((size_t)n + 1, sizeof *t->outcome_begin);
  t->wordy = calloc((size_t)n + 1, 1);
  t->plain = malloc(((size_t)n + 1) * sizeof *t->plain);
  t->block = calloc((size_t)context_outcomes(problem->rules) + 1, sizeof *t->block);
  t->number = malloc((size_t)context_outcomes(problem->rules) * sizeof *t->number);
  int code = t->outcome_begin && t->wordy && t->plain && t->block && t->number ? LSCFG_OK : LSCFG_ENOMEM;
  for (int64_t o = 0; o < context_outcomes(problem->rules) && !code; o++) t->number[o] = -1;
  for (int64_t r = 0; r < n && !code; r++) code = add_outcomes(t, r);
  if (!code) code = find_keys(t);
  if (!code) code = lay_out_weights(t);
  if (!code) code = count_visits(t);
  if (code) {
    lscfg_context_trainer_free(t);
    return out_of_memory(error);
  }
  *made = t;
  return LSCFG_OK;
}

void lscfg_context_trainer_free(lscfg_context_trainer *t) {
  if (!t) return;
  free(t->counts.entries);
  free(t->block);
  free(t->weights);
  free(t->outcome_begin);
  free(t->outcomes.data);
  free(t->wordy);
  free(t->plain);
  free(t->keys.data);
  free(t->items.data);
  free(t->scores.data);
  free(t->met.data);
  free(t->number);
  free(t->outcomes_met.data);
  free(t);
}

/* Leaves exp(scores - their most) in place and returns their sum. */
static double exponentials(double *scores, int64_t n, double *most) {
  double sum = 0;
  *most = scores[0];
  for (int64_t c = 1; c < n; c++) *most = scores[c] > *most ? scores[c] : *most;
  for (int64_t c = 0; c < n; c++) sum += scores[c] = exp(scores[c] - *most);
  return sum;
}

/* One token; adds its loss without and with context. */
static int learn(lscfg_context_trainer *t, const lscfg_context_token *token, double loss[2]) {
  const lscfg_context_problem *p = &t->problem;
  int32_t side = p->side[token->rule];
  const int32_t *choices = p->choices + p->choice_begin[side];
  int64_t n = p->choice_begin[side + 1] - p->choice_begin[side], own = 0;
  if (meet(t, token) || ARRAY_RESERVE(t->scores, 2 * n)) return LSCFG_ENOMEM;
  double *plain = t->scores.data, *here = plain + n, most[2], right[2];
  for (int64_t c = 0; c < n; c++) {
    if (choices[c] == token->rule) own = c;
    plain[c] = t->plain[choices[c]];
    here[c] = plain[c];
    for (int64_t o = t->outcome_begin[choices[c]]; o < t->outcome_begin[choices[c] + 1]; o++)
      here[c] += met_of(t, o)->sum;
  }
  right[0] = plain[own];
  right[1] = here[own];
  double total = exponentials(here, n, &most[1]);
  loss[0] += log(exponentials(plain, n, &most[0])) + most[0] - right[0];
  loss[1] += log(total) + most[1] - right[1];
  for (int64_t c = 0; c < n; c++) {
    double gradient = here[c] / total - (c == own);
    if (fabs(gradient) <= 1e-4) continue;
    for (int64_t o = t->outcome_begin[choices[c]]; o < t->outcome_begin[choices[c] + 1]; o++) {
      const met_outcome *m = met_of(t, o);
      for (int64_t i = m->begin; i < m->end; i++) step(t, t->met.data[i], gradient);
    }
  }
  return LSCFG_OK;
}

int lscfg_context_learn(lscfg_context_trainer *t, const int64_t *order, int64_t n, double loss[2], lscfg_error *error) {
  loss[0] = loss[1] = 0;
  for (int64_t k = 0; k < n; k++)
    if (learn(t, &t->problem.tokens[order[k]], loss)) return out_of_memory(error);
  return LSCFG_OK;
}

int64_t lscfg_context_weights(const lscfg_context_trainer *t, int64_t *keys, float *weights) {
  int64_t outcomes = context_outcomes(t->problem.rules), n = 0;
  for (int64_t o = 0; o < outcomes; o++)
    for (int64_t k = t->block[o]; k < t->block[o + 1]; k++) {
      if (t->weights[k].item < 0 || t->weights[k].weight == 0) continue;
      if (keys) keys[n] = o * t->n_items + t->weights[k].item;
      if (weights) weights[n] = t->weights[k].weight;
      n++;
    }
  return n;
}
