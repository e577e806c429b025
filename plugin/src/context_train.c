/* Weights of a log-linear model of target sides (see context.h) by stochastic gradient descent on the penalised likelihood
 * of rule tokens, with a step of its own for each weight (AdaGrad: Duchi, Hazan and Singer 2011). */
#include "context.h"

#include <math.h>

enum { SKETCH_BITS = 26 };

/* A weight and what its learning needs; key: outcome * items + item. */
typedef struct {
  int64_t key; /* -1: empty */
  float weight, squares, visits;
  int32_t count; /* in the tokens' own target sides */
} weight_slot;

struct lscfg_context_trainer {
  lscfg_context_problem problem;
  int64_t n_items, base;
  uint8_t *sketch; /* counts of hashed keys, at most 255; only until the weights are known */
  weight_slot *table; /* open addressing */
  int64_t slots, used;
  int64_t *outcome_begin; /* [rules + 1] of each rule in outcomes */
  ARRAY(int64_t) outcomes; /* a rule's own, its target words, its shape */
  uint8_t *wordy;          /* [rules] whether there are words on the source side: then there are items of the bag */
  double *plain;           /* [rules] logarithms of their counts */
  ARRAY(int64_t) items;    /* of the token in hand, those of the bag last */
  int64_t n_near;          /* those before */
  ARRAY(double) scores;    /* of its choices: by frequency, in context */
  ARRAY(weight_slot *) met; /* the learned weights in their scores, one choice behind the other */
  ARRAY(int64_t) met_end;  /* where those of a choice end */
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

static uint64_t hash_key(int64_t key) { return hash_mix((uint64_t)key + 0x9e3779b97f4a7c15u); }

static weight_slot *find_weight(const lscfg_context_trainer *t, int64_t key) {
  int64_t at = (int64_t)(hash_key(key) & (uint64_t)(t->slots - 1));
  while (t->table[at].key >= 0 && t->table[at].key != key) at = (at + 1) & (t->slots - 1);
  return &t->table[at];
}

static int grow(lscfg_context_trainer *t) {
  weight_slot *old = t->table;
  int64_t n = t->slots;
  t->slots = n ? 2 * n : 1 << 16;
  if (!(t->table = malloc((size_t)t->slots * sizeof *t->table))) {
    t->table = old;
    t->slots = n;
    return LSCFG_ENOMEM;
  }
  for (int64_t k = 0; k < t->slots; k++) t->table[k] = (weight_slot){.key = -1};
  for (int64_t k = 0; k < n; k++)
    if (old[k].key >= 0) *find_weight(t, old[k].key) = old[k];
  free(old);
  return LSCFG_OK;
}

/* How many of the token's items there are weights of for the outcome of a rule. */
static int64_t n_items_of(const lscfg_context_trainer *t, int64_t rule, int64_t outcome) {
  return t->wordy[rule] && outcome < first_shape(t->problem.rules) ? t->items.size : t->n_near;
}

typedef int (*key_function)(lscfg_context_trainer *, int64_t key);

/* Calls a function for the key of every weight that the rule's score is a sum of. */
static int for_keys(lscfg_context_trainer *t, int64_t rule, key_function work) {
  int code = LSCFG_OK;
  for (int64_t o = t->outcome_begin[rule]; o < t->outcome_begin[rule + 1] && !code; o++) {
    int64_t n = n_items_of(t, rule, t->outcomes.data[o]), first = t->outcomes.data[o] * t->n_items;
    for (int64_t k = 0; k < n && !code; k++) code = work(t, first + t->items.data[k]);
  }
  return code;
}

static int count_roughly(lscfg_context_trainer *t, int64_t key) {
  uint8_t *count = &t->sketch[hash_key(key) >> (64 - SKETCH_BITS)];
  if (*count < 255) ++*count;
  return LSCFG_OK;
}

/* Counts the keys that are not too rare for sure. */
static int count_exactly(lscfg_context_trainer *t, int64_t key) {
  int32_t least = t->problem.min_count < 255 ? t->problem.min_count : 255;
  if (t->sketch[hash_key(key) >> (64 - SKETCH_BITS)] < least) return LSCFG_OK;
  if (2 * (t->used + 1) > t->slots && grow(t)) return LSCFG_ENOMEM;
  weight_slot *slot = find_weight(t, key);
  t->used += slot->key < 0;
  slot->key = key;
  slot->count++;
  return LSCFG_OK;
}

static int is_learned(const lscfg_context_trainer *t, const weight_slot *slot) {
  return slot->key >= 0 && slot->count >= t->problem.min_count;
}

static int count_visit(lscfg_context_trainer *t, int64_t key) {
  weight_slot *slot = find_weight(t, key);
  if (is_learned(t, slot)) slot->visits++;
  return LSCFG_OK;
}

/* The score of a rule; adds its learned weights to those that were met. */
static int score(lscfg_context_trainer *t, int64_t rule, double *sum) {
  int64_t outcomes = t->outcome_begin[rule + 1] - t->outcome_begin[rule];
  if (ARRAY_RESERVE(t->met, outcomes * t->items.size)) return LSCFG_ENOMEM;
  for (int64_t o = t->outcome_begin[rule]; o < t->outcome_begin[rule + 1]; o++) {
    int64_t n = n_items_of(t, rule, t->outcomes.data[o]), first = t->outcomes.data[o] * t->n_items;
    for (int64_t k = 0; k < n; k++) {
      weight_slot *slot = find_weight(t, first + t->items.data[k]);
      if (!is_learned(t, slot)) continue;
      t->met.data[t->met.size++] = slot;
      *sum += slot->weight;
    }
  }
  return LSCFG_OK;
}

/* A step against the gradient of the likelihood and the penalty, which is shared out among the visits of one pass. */
static void step(const lscfg_context_trainer *t, weight_slot *slot, double gradient) {
  float along = (float)gradient + (float)t->problem.penalty * slot->weight / slot->visits;
  slot->squares += along * along;
  slot->weight -= (float)t->problem.rate * along / sqrtf(slot->squares + 1e-4f);
}

/* ---- tokens ---- */

/* Calls a function for the weights of the tokens' rules, or of all that are chosen among. */
static int for_tokens(lscfg_context_trainer *t, int all, key_function work) {
  const lscfg_context_problem *p = &t->problem;
  int code = LSCFG_OK;
  for (int64_t k = 0; k < p->n_tokens && !code; k++) {
    int32_t rule = p->tokens[k].rule, side = p->side[rule];
    code = find_items(t, &p->tokens[k]);
    if (!all && !code) code = for_keys(t, rule, work);
    for (int64_t c = p->choice_begin[side]; all && c < p->choice_begin[side + 1] && !code; c++)
      code = for_keys(t, p->choices[c], work);
  }
  return code;
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
  t->sketch = calloc((size_t)1 << SKETCH_BITS, 1);
  int code = t->outcome_begin && t->wordy && t->plain && t->sketch ? grow(t) : LSCFG_ENOMEM;
  for (int64_t r = 0; r < n && !code; r++) code = add_outcomes(t, r);
  if (!code) code = for_tokens(t, 0, count_roughly);
  if (!code) code = for_tokens(t, 0, count_exactly);
  free(t->sketch);
  t->sketch = NULL;
  if (!code) code = for_tokens(t, 1, count_visit);
  if (code) {
    lscfg_context_trainer_free(t);
    return out_of_memory(error);
  }
  *made = t;
  return LSCFG_OK;
}

void lscfg_context_trainer_free(lscfg_context_trainer *t) {
  if (!t) return;
  free(t->table);
  free(t->outcome_begin);
  free(t->outcomes.data);
  free(t->wordy);
  free(t->plain);
  free(t->sketch);
  free(t->items.data);
  free(t->scores.data);
  free(t->met.data);
  free(t->met_end.data);
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
  t->met.size = t->met_end.size = 0;
  if (find_items(t, token) || ARRAY_RESERVE(t->scores, 2 * n) || ARRAY_RESERVE(t->met_end, n)) return LSCFG_ENOMEM;
  double *plain = t->scores.data, *here = plain + n, most[2], right[2];
  for (int64_t c = 0; c < n; c++) {
    if (choices[c] == token->rule) own = c;
    plain[c] = t->plain[choices[c]];
    here[c] = plain[c];
    if (score(t, choices[c], &here[c])) return LSCFG_ENOMEM;
    t->met_end.data[c] = t->met.size;
  }
  right[0] = plain[own];
  right[1] = here[own];
  double total = exponentials(here, n, &most[1]);
  loss[0] += log(exponentials(plain, n, &most[0])) + most[0] - right[0];
  loss[1] += log(total) + most[1] - right[1];
  for (int64_t c = 0; c < n; c++) {
    double gradient = here[c] / total - (c == own);
    if (fabs(gradient) <= 1e-4) continue;
    for (int64_t k = c ? t->met_end.data[c - 1] : 0; k < t->met_end.data[c]; k++) step(t, t->met.data[k], gradient);
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
  int64_t n = 0;
  for (int64_t k = 0; k < t->slots; k++) {
    if (!is_learned(t, &t->table[k]) || t->table[k].weight == 0) continue;
    if (keys) keys[n] = t->table[k].key;
    if (weights) weights[n] = t->table[k].weight;
    n++;
  }
  return n;
}
