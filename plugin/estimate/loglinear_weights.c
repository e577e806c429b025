/* The set of weights of a log-linear context model (see loglinear.c), and their slots. */
#include "estimate/loglinear_weights.h"
#include "inference/context.h"

#include <math.h>

/* ---- items ---- */

int find_items(const lscfg_context_trainer *t, const lscfg_context_token *token, token_items *found) {
  const lscfg_context_problem *p = &t->problem;
  const int32_t *words = p->words + p->first[token->sentence];
  const int32_t *gap[2] = {token->gap[0][0] < 0 ? NULL : token->gap[0], token->gap[1][0] < 0 ? NULL : token->gap[1]};
  int32_t n = (int32_t)(p->first[token->sentence + 1] - p->first[token->sentence]);
  surroundings s = look_around(token->span, gap, n);
  found->items.size = found->hashes.size = 0;
  if (ARRAY_RESERVE(found->items, n + BAG + 2) || ARRAY_RESERVE(found->hashes, n + BAG + 2)) return LSCFG_ENOMEM;
  int32_t *items = found->items.data, base = (int32_t)t->base, size = 0;
  for (int k = 0; k < BAG; k++) {
    int32_t position = s.position[k];
    if (position < -1) continue;
    int32_t word = position < 0 ? base - 2 : position >= n ? base - 1 : words[position];
    if (word >= 0) items[size++] = k * base + word;
  }
  for (int k = 0; k < 2; k++)
    if (s.length[k] >= 0) items[size++] = WORD_KINDS * base + k * N_LENGTHS + s.length[k];
  found->n_near = size;
  for (int32_t position = 0; position < n; position++)
    if ((position < token->span[0] - 2 || position >= token->span[1] + 2) && words[position] >= 0)
      items[size++] = BAG * base + words[position];
  for (int32_t k = 0; k < size; k++) found->hashes.data[k] = hash_item(items[k]);
  found->items.size = found->hashes.size = size;
  return LSCFG_OK;
}

void release_items(token_items *found) {
  free(found->items.data);
  free(found->hashes.data);
}

/* ---- outcomes ---- */

static int add_outcomes(lscfg_context_trainer *t, int64_t rule) {
  const lscfg_rules *rules = t->problem.rules;
  if (ARRAY_RESERVE(t->outcomes, rules->offsets[rule + 1] - rules->offsets[rule] + 2)) return LSCFG_ENOMEM;
  t->outcomes.size += rule_outcomes(rules, rule, t->outcomes.data + t->outcomes.size);
  t->outcome_begin[rule + 1] = t->outcomes.size;
  t->wordy[rule] = (uint8_t)has_source_words(rules, rule);
  return LSCFG_OK;
}

/* Lists the rules of each outcome. */
static int list_rules(lscfg_context_trainer *t) {
  int64_t n = t->problem.rules->n;
  if (!(t->rules = malloc((size_t)(t->outcomes.size + 1) * sizeof *t->rules))) return LSCFG_ENOMEM;
  for (int64_t k = 0; k < t->outcomes.size; k++) t->rule_begin[t->outcomes.data[k] + 1]++;
  for (int64_t o = 0; o < t->n_outcomes; o++) t->rule_begin[o + 1] += t->rule_begin[o];
  for (int64_t r = n - 1; r >= 0; r--)
    for (int64_t k = t->outcome_begin[r]; k < t->outcome_begin[r + 1]; k++)
      t->rules[--t->rule_begin[t->outcomes.data[k] + 1]] = (int32_t)r;
  for (int64_t o = 0; o < t->n_outcomes; o++) t->rule_begin[o] = t->rule_begin[o + 1];
  t->rule_begin[t->n_outcomes] = t->outcomes.size;
  return LSCFG_OK;
}

int lscfg_context_trainer_new(const lscfg_context_problem *problem, lscfg_context_trainer **made, lscfg_error *error) {
  lscfg_context_trainer *t = calloc(1, sizeof *t);
  int64_t n = problem->rules->n, n_choices = problem->choice_begin[problem->n_sides];
  *made = NULL;
  if (!t) return out_of_memory(error);
  t->problem = *problem;
  t->base = problem->rules->n_words + 2;
  t->n_items = context_items(problem->rules->n_words);
  t->n_outcomes = context_outcomes(problem->rules);
  t->token_begin = calloc((size_t)n + 1, sizeof *t->token_begin);
  t->outcome_begin = calloc((size_t)n + 1, sizeof *t->outcome_begin);
  t->wordy = calloc((size_t)n + 1, 1);
  t->rule_begin = calloc((size_t)t->n_outcomes + 1, sizeof *t->rule_begin);
  t->n_weights = calloc((size_t)t->n_outcomes, sizeof *t->n_weights);
  t->blocks = calloc((size_t)t->n_outcomes, sizeof *t->blocks);
  t->met_begin = calloc((size_t)problem->n_sides + 1, sizeof *t->met_begin);
  t->number_begin = calloc((size_t)n_choices + 1, sizeof *t->number_begin);
  t->plain = malloc(((size_t)n_choices + 1) * sizeof *t->plain);
  t->plain_sum = malloc(((size_t)problem->n_sides + 1) * sizeof *t->plain_sum);
  int code = t->token_begin && t->outcome_begin && t->wordy && t->rule_begin && t->n_weights && t->blocks &&
                     t->met_begin && t->number_begin && t->plain && t->plain_sum
                 ? LSCFG_OK
                 : LSCFG_ENOMEM;
  for (int64_t k = 0; k < problem->n_tokens && !code; k++) t->token_begin[problem->tokens[k].rule + 1]++;
  for (int64_t r = 0; r < n && !code; r++) {
    t->token_begin[r + 1] += t->token_begin[r];
    code = add_outcomes(t, r);
  }
  if (!code) code = list_rules(t);
  if (code) {
    lscfg_context_trainer_free(t);
    return out_of_memory(error);
  }
  *made = t;
  return LSCFG_OK;
}

void lscfg_context_trainer_free(lscfg_context_trainer *t) {
  if (!t) return;
  free(t->token_begin);
  free(t->outcome_begin);
  free(t->outcomes.data);
  free(t->wordy);
  free(t->rule_begin);
  free(t->rules);
  for (int k = 0; k < PARTS; k++) free(t->found[k].data);
  free(t->n_weights);
  free(t->blocks);
  free(t->buckets);
  free(t->weights);
  free(t->visits);
  free(t->met_begin);
  free(t->met.data);
  free(t->number_begin);
  free(t->numbers.data);
  free(t->dense);
  free(t->dense_squares);
  free(t->dense_shrinkage);
  free(t->plain);
  free(t->plain_sum);
  for (int k = 0; k < PIECES; k++) {
    token_work *w = &t->work[k];
    for (int i = 0; i < 2; i++) release_items(&w->token[i]);
    free(w->slots.data);
    free(w->wanted.data);
    free(w->scores.data);
    for (int i = 0; i < SHARDS; i++) free(w->found[i].data);
  }
  free(t);
}

/* ---- which weights there are ---- */

/* Counts of items; only those of the last outcome are not 0. */
typedef struct {
  int32_t *counts; /* [items] */
  ARRAY(int32_t) met;
  token_items token;
} item_counts;

/* Adds the items of the tokens of a rule. */
static int count_rule(const lscfg_context_trainer *t, int32_t rule, int wide, item_counts *c) {
  for (int64_t k = t->token_begin[rule]; k < t->token_begin[rule + 1]; k++) {
    if (find_items(t, &t->problem.tokens[k], &c->token)) return LSCFG_ENOMEM;
    int64_t n = n_items_of(&c->token, wide);
    if (ARRAY_RESERVE(c->met, n)) return LSCFG_ENOMEM;
    for (int64_t i = 0; i < n; i++) {
      int32_t item = c->token.items.data[i];
      if (!c->counts[item]++) c->met.data[c->met.size++] = item;
    }
  }
  return LSCFG_OK;
}

static int find_outcome(lscfg_context_trainer *t, int64_t outcome, int part, item_counts *c) {
  const lscfg_rules *rules = t->problem.rules;
  for (int64_t k = t->rule_begin[outcome]; k < t->rule_begin[outcome + 1]; k++) {
    int wide = t->wordy[t->rules[k]] && outcome < first_shape(rules);
    if (count_rule(t, t->rules[k], wide, c)) return LSCFG_ENOMEM;
  }
  if (ARRAY_RESERVE(t->found[part], c->met.size)) return LSCFG_ENOMEM;
  int64_t before = t->found[part].size;
  for (int64_t k = 0; k < c->met.size; k++) {
    int32_t item = c->met.data[k];
    if (c->counts[item] >= t->problem.min_count) t->found[part].data[t->found[part].size++] = item;
    c->counts[item] = 0;
  }
  c->met.size = 0;
  t->n_weights[outcome] = t->found[part].size - before;
  return LSCFG_OK;
}

static int64_t first_of_part(const lscfg_context_trainer *t, int part) { return t->n_outcomes * part / PARTS; }

int lscfg_context_find(lscfg_context_trainer *t, int32_t part, lscfg_error *error) {
  item_counts c = {.counts = calloc((size_t)t->n_items, sizeof *c.counts)};
  int code = c.counts ? LSCFG_OK : LSCFG_ENOMEM;
  for (int64_t o = first_of_part(t, part); o < first_of_part(t, part + 1) && !code; o++)
    code = find_outcome(t, o, part, &c);
  free(c.counts);
  free(c.met.data);
  release_items(&c.token);
  return code ? out_of_memory(error) : LSCFG_OK;
}

/* ---- where they are ---- */

/* Makes the blocks, and room for the weights. */
static int lay_out_blocks(lscfg_context_trainer *t, lscfg_error *error) {
  int64_t begin = 0;
  for (int64_t o = 0; o < t->n_outcomes; o++) {
    int64_t size = (t->n_weights[o] + 4) / 5; /* five items for the eight slots of a bucket */
    if (begin + size > UINT32_MAX / BUCKET) return lscfg_fail(error, LSCFG_EINPUT, 0, "too many context weights");
    t->blocks[o] = (weight_block){(uint32_t)begin, (uint32_t)size, (int32_t)(hash_item((int32_t)o) % SHARDS), 0,
                                  (int32_t)o};
    begin += size;
  }
  t->n_buckets = begin;
  t->buckets = calloc((size_t)begin + 1, sizeof *t->buckets);
  t->weights = malloc((size_t)(BUCKET * begin + 1) * sizeof *t->weights);
  t->visits = calloc((size_t)(BUCKET * begin + 1), sizeof *t->visits);
  if (!t->buckets || !t->weights || !t->visits) return out_of_memory(error);
  for (int64_t k = 0; k < BUCKET * begin; k++) t->weights[k] = (learned_weight){.item = -1};
  return LSCFG_OK;
}

static void put_item(lscfg_context_trainer *t, const weight_block *b, int32_t item) {
  uint32_t hash = hash_item(item), at = first_bucket(b, hash), k = 0;
  while (is_full(&t->buckets[at])) at = next_bucket(b, at);
  while (t->weights[BUCKET * at + k].item >= 0) k++;
  t->weights[BUCKET * at + k].item = item;
  t->buckets[at].marks[k / 4] |= mark_of(hash) << 16 * (k % 4);
}

/* Puts the items of a part into their blocks, and forgets the list. */
static void fill_blocks(lscfg_context_trainer *t, int part) {
  const int32_t *next = t->found[part].data;
  for (int64_t o = first_of_part(t, part); o < first_of_part(t, part + 1); o++)
    for (int64_t k = 0; k < t->n_weights[o]; k++, next++)
      put_item(t, &t->blocks[o], *next);
  free(t->found[part].data);
  t->found[part].data = NULL;
}

/* Lists the blocks that a side's tokens meet. number [outcomes]: -1 everywhere, before and after. */
static int list_met(lscfg_context_trainer *t, int32_t side, int32_t *number) {
  const lscfg_context_problem *p = &t->problem;
  int64_t begin = t->met.size;
  for (int64_t c = p->choice_begin[side]; c < p->choice_begin[side + 1]; c++) {
    int64_t first = t->outcome_begin[p->choices[c]], end = t->outcome_begin[p->choices[c] + 1];
    if (ARRAY_RESERVE(t->met, end - first) || ARRAY_RESERVE(t->numbers, end - first)) return LSCFG_ENOMEM;
    for (int64_t k = first; k < end; k++) {
      int64_t outcome = t->outcomes.data[k];
      if (!t->n_weights[outcome]) continue;
      if (number[outcome] < 0) {
        number[outcome] = (int32_t)(t->met.size - begin);
        t->met.data[t->met.size] = t->blocks[outcome];
        t->met.data[t->met.size++].wide = t->wordy[p->choices[c]] && outcome < first_shape(p->rules);
      }
      t->numbers.data[t->numbers.size++] = number[outcome];
    }
    t->number_begin[c + 1] = t->numbers.size;
  }
  for (int64_t c = p->choice_begin[side]; c < p->choice_begin[side + 1]; c++)
    for (int64_t k = t->outcome_begin[p->choices[c]]; k < t->outcome_begin[p->choices[c] + 1]; k++)
      number[t->outcomes.data[k]] = -1;
  t->met_begin[side + 1] = t->met.size;
  return LSCFG_OK;
}

static void sum_counts(lscfg_context_trainer *t, int32_t side) {
  const lscfg_context_problem *p = &t->problem;
  double sum = 0;
  for (int64_t c = p->choice_begin[side]; c < p->choice_begin[side + 1]; c++) {
    sum += p->counts[p->choices[c]];
    t->plain[c] = log(p->counts[p->choices[c]]);
  }
  t->plain_sum[side] = log(sum);
}

/* Makes room for the weights of dense values, and shares their penalty out. */
static int lay_out_dense(lscfg_context_trainer *t) {
  size_t size = (size_t)(t->n_outcomes * 2 * t->problem.dims);
  t->dense = calloc(size + 1, sizeof *t->dense);
  t->dense_squares = calloc(size + 1, sizeof *t->dense_squares);
  t->dense_shrinkage = calloc((size_t)t->n_outcomes, sizeof *t->dense_shrinkage);
  if (!t->dense || !t->dense_squares || !t->dense_shrinkage) return LSCFG_ENOMEM;
  const lscfg_context_problem *p = &t->problem;
  for (int64_t s = 0; s < p->n_sides; s++) {
    float visits = 0;
    for (int64_t c = p->choice_begin[s]; c < p->choice_begin[s + 1]; c++)
      visits += (float)(t->token_begin[p->choices[c] + 1] - t->token_begin[p->choices[c]]);
    for (int64_t i = t->met_begin[s]; i < t->met_begin[s + 1]; i++)
      t->dense_shrinkage[t->met.data[i].outcome] += visits;
  }
  for (int64_t o = 0; o < t->n_outcomes; o++)
    if (t->dense_shrinkage[o] > 0) t->dense_shrinkage[o] = (float)p->dense_penalty / t->dense_shrinkage[o];
  return LSCFG_OK;
}

int lscfg_context_lay_out(lscfg_context_trainer *t, lscfg_error *error) {
  int32_t *number = malloc((size_t)t->n_outcomes * sizeof *number);
  int code = number ? lay_out_blocks(t, error) : out_of_memory(error);
  for (int part = 0; part < PARTS && !code; part++) fill_blocks(t, part);
  for (int64_t o = 0; o < t->n_outcomes && !code; o++) number[o] = -1;
  for (int32_t s = 0; s < t->problem.n_sides && !code; s++) {
    sum_counts(t, s);
    if (list_met(t, s, number)) code = out_of_memory(error);
  }
  if (!code && t->problem.dims && lay_out_dense(t)) code = out_of_memory(error);
  free(number);
  return code;
}

/* ---- what was learned ---- */

typedef struct {
  int32_t item;
  float weight;
} item_weight;

static int compare_items(const void *a, const void *b) {
  int32_t one = ((const item_weight *)a)->item, other = ((const item_weight *)b)->item;
  return (one > other) - (one < other);
}

int64_t lscfg_context_weights(const lscfg_context_trainer *t, int64_t *offsets, int32_t *items, float *weights,
                              lscfg_error *error) {
  ARRAY(item_weight) sorted = {0};
  int64_t n = 0;
  for (int64_t o = 0; o < t->n_outcomes; o++) {
    const weight_block *b = &t->blocks[o];
    sorted.size = 0;
    if (ARRAY_RESERVE(sorted, t->n_weights[o])) {
      free(sorted.data);
      return out_of_memory(error);
    }
    const learned_weight *first = t->weights + BUCKET * (int64_t)b->begin;
    for (const learned_weight *w = first; w < first + BUCKET * (int64_t)b->size; w++)
      if (w->item >= 0 && w->weight != 0) sorted.data[sorted.size++] = (item_weight){w->item, w->weight};
    if (offsets) offsets[o] = n;
    if (items) {
      qsort(sorted.data, (size_t)sorted.size, sizeof *sorted.data, compare_items);
      for (int64_t k = 0; k < sorted.size; k++) {
        items[n + k] = sorted.data[k].item;
        weights[n + k] = sorted.data[k].weight;
      }
    }
    n += sorted.size;
  }
  if (offsets) offsets[t->n_outcomes] = n;
  free(sorted.data);
  return n;
}

void lscfg_context_dense(const lscfg_context_trainer *t, float *sums) {
  int64_t width = 2 * t->problem.dims;
  memset(sums, 0, (size_t)(t->problem.rules->n * width) * sizeof *sums);
  for (int64_t r = 0; r < t->problem.rules->n; r++)
    for (int64_t k = t->outcome_begin[r]; k < t->outcome_begin[r + 1]; k++)
      for (int64_t i = 0; i < width; i++) sums[r * width + i] += t->dense[t->outcomes.data[k] * width + i];
}
