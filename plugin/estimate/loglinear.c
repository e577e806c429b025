/* Weights of a log-linear context model (see context.h) by stochastic gradient descent on the penalised likelihood of
 * rule tokens, with a separate step for each weight (AdaGrad: Duchi, Hazan and Singer 2011).
 *
 * Tokens come in batches. Gradients of a batch are computed from the weights before it, by tokens; then the weights
 * change one gradient after the other, by outcomes. So threads share both steps, and the weights depend on the batches
 * alone. */
#include "estimate/loglinear_weights.h"

#include <math.h>

/* Gradients of a batch come before its steps, so that threads share both: pieces of the batch find gradients,
 * shards of the outcomes take steps in the order of the tokens. Their number does not depend on that of the
 * threads. Batches grow from 32 to 4,096 tokens, because the first steps of large batches go too far. A lookup
 * compares 16 bits of a hash with eight entries at once, since learning waits for memory, not for arithmetic. */

/* Asks for memory ahead of use, for which learning would wait. */
static inline void fetch(const void *memory) {
#if defined(__GNUC__)
  __builtin_prefetch(memory);
#else
  (void)memory;
#endif
}

static void fetch_buckets(const lscfg_context_trainer *t, int32_t side, const token_items *token) {
  for (int64_t i = t->met_begin[side]; i < t->met_begin[side + 1]; i++) {
    const weight_block *b = &t->met.data[i];
    int64_t n = n_items_of(token, b->wide);
    for (int64_t k = 0; k < n; k++) fetch(&t->buckets[first_bucket(b, token->hashes.data[k])]);
  }
}

/* The highest bit of each 16 that are all 0; of the bits above the lowest such ones, others may be set, too. */
static inline uint64_t zeros_among(uint64_t x) { return (x - 0x0001000100010001u) & ~x & 0x8000800080008000u; }

static inline uint32_t lowest_bit(uint64_t x) {
#if defined(__GNUC__)
  return (uint32_t)__builtin_ctzll(x);
#else
  uint32_t k = 0;
  while (!(x >> k & 1)) k++;
  return k;
#endif
}

/* A slot with the mark of the item, if *found is 1: most likely that of the item. No branch depends on that. */
static inline uint32_t guess_slot(const lscfg_context_trainer *t, const weight_block *b, uint32_t hash,
                                  uint32_t *found) {
  uint64_t mark = mark_of(hash) * 0x0001000100010001u, zeros;
  uint32_t at = first_bucket(b, hash);
  for (;; at = next_bucket(b, at)) {
    const mark_bucket *bucket = &t->buckets[at];
    zeros = zeros_among(bucket->marks[0] ^ mark) >> 15 | zeros_among(bucket->marks[1] ^ mark) >> 14;
    if (zeros || !is_full(bucket)) break; /* there always is an empty slot */
  }
  *found = zeros != 0;
  uint32_t bit = lowest_bit(zeros | (uint64_t)1 << 63);
  return BUCKET * at + bit / 16 + 4 * (bit & 1);
}

/* The slot of the item, or -1. */
static int64_t find_slot(const lscfg_context_trainer *t, const weight_block *b, int32_t item) {
  for (uint32_t at = first_bucket(b, hash_item(item));; at = next_bucket(b, at)) {
    for (uint32_t k = BUCKET * at; k < BUCKET * (at + 1); k++)
      if (t->weights[k].item == item) return k;
    if (!is_full(&t->buckets[at])) return -1;
  }
}

/* Guesses the slots of a block's weights for the token's items; returns their number. */
static int64_t guess_slots(const lscfg_context_trainer *t, const weight_block *b, const token_items *token,
                           uint32_t *slots, int32_t *wanted) {
  int64_t n = n_items_of(token, b->wide), size = 0;
  for (int64_t k = 0; k < n; k++) {
    uint32_t found;
    slots[size] = guess_slot(t, b, token->hashes.data[k], &found);
    wanted[size] = token->items.data[k];
    size += found;
  }
  for (int64_t k = 0; k < size; k++) fetch(&t->weights[slots[k]]);
  return size;
}

/* Writes the slots of the existing weights among the n wanted ones, possibly over the guessed ones; returns their
 * number. */
static int64_t check_slots(const lscfg_context_trainer *t, const weight_block *b, const uint32_t *guessed,
                           const int32_t *wanted, int64_t n, uint32_t *slots) {
  int64_t size = 0;
  for (int64_t k = 0; k < n; k++) {
    int64_t slot = t->weights[guessed[k]].item == wanted[k] ? (int64_t)guessed[k] : find_slot(t, b, wanted[k]);
    if (slot >= 0) slots[size++] = (uint32_t)slot;
  }
  return size;
}

/* ---- visits ---- */

int lscfg_context_visit(lscfg_context_trainer *t, int32_t part, lscfg_error *error) {
  const lscfg_context_problem *p = &t->problem;
  int64_t first = p->choice_begin[p->n_sides * part / PARTS], end = p->choice_begin[p->n_sides * (part + 1) / PARTS];
  token_items token = {0};
  ARRAY(uint32_t) slots = {0};
  ARRAY(int32_t) wanted = {0};
  int code = LSCFG_OK;
  for (int64_t c = first; c < end; c++) {
    int32_t side = p->side[p->choices[c]];
    for (int64_t k = t->token_begin[p->choices[c]]; k < t->token_begin[p->choices[c] + 1] && !code; k++) {
      if (find_items(t, &p->tokens[k], &token) || ARRAY_RESERVE(slots, token.items.size + 1) ||
          ARRAY_RESERVE(wanted, token.items.size + 1))
        code = LSCFG_ENOMEM;
      for (int64_t i = t->met_begin[side]; i < t->met_begin[side + 1] && !code; i++) {
        const weight_block *b = &t->met.data[i];
        int64_t n = guess_slots(t, b, &token, slots.data, wanted.data);
        n = check_slots(t, b, slots.data, wanted.data, n, slots.data);
        for (int64_t j = 0; j < n; j++) atomic_fetch_add_explicit(&t->visits[slots.data[j]], 1, memory_order_relaxed);
      }
    }
  }
  release_items(&token);
  free(slots.data);
  free(wanted.data);
  return code ? out_of_memory(error) : LSCFG_OK;
}

void lscfg_context_count_visits(lscfg_context_trainer *t) {
  float penalty = (float)t->problem.penalty;
  for (int64_t k = 0; k < BUCKET * t->n_buckets; k++)
    if (t->visits[k]) t->weights[k].shrinkage = penalty / (float)t->visits[k];
  free(t->visits);
  t->visits = NULL;
}

/* ---- gradients ---- */

/* Replaces scores by exp(scores - maximum) and returns their sum. */
static double exponentials(double *scores, int64_t n, double *most) {
  double sum = 0;
  *most = scores[0];
  for (int64_t c = 1; c < n; c++) *most = scores[c] > *most ? scores[c] : *most;
  for (int64_t c = 0; c < n; c++) sum += scores[c] = exp(scores[c] - *most);
  return sum;
}

/* The rows of a token's dense values. */
static void dense_rows(const lscfg_context_trainer *t, const lscfg_context_token *token, uint32_t rows[2]) {
  int64_t first = t->problem.first[token->sentence] + token->sentence;
  for (int k = 0; k < 2; k++) rows[k] = (uint32_t)(first + token->span[k]);
}

/* Passes a gradient and the slots of its weights to the shard of their outcome. */
static int hand_over(token_work *w, const weight_block *of, float gradient, const uint32_t rows[2],
                     const uint32_t *slots, int64_t n) {
  if (ARRAY_RESERVE(w->found[of->shard], n + HEAD)) return LSCFG_ENOMEM;
  uint32_t *to = w->found[of->shard].data + w->found[of->shard].size;
  memcpy(to + GRADIENT, &gradient, sizeof *to);
  to[NUMBER] = (uint32_t)n;
  to[OUTCOME] = (uint32_t)of->outcome;
  to[ROW_LEFT] = rows[0];
  to[ROW_RIGHT] = rows[1];
  memcpy(to + HEAD, slots, (size_t)n * sizeof *slots);
  w->found[of->shard].size += n + HEAD;
  return LSCFG_OK;
}

/* The score of an outcome for the dense values of a token. */
static double dense_sum(const lscfg_context_trainer *t, int64_t outcome, const uint32_t rows[2]) {
  int64_t dims = t->problem.dims;
  const float *weights = t->dense + outcome * 2 * dims;
  const float *left = t->problem.left + rows[0] * dims, *right = t->problem.right + rows[1] * dims;
  float part[8] = {0};
  double sum = 0;
  int64_t k = 0;
  for (; k + 8 <= dims; k += 8)
    for (int i = 0; i < 8; i++) part[i] += weights[k + i] * left[k + i] + weights[dims + k + i] * right[k + i];
  for (int i = 0; k < dims; k++, i++) part[i] += weights[k] * left[k] + weights[dims + k] * right[k];
  for (int i = 0; i < 8; i++) sum += (double)part[i];
  return sum;
}

/* The gradients of a token. */
static int meet(const lscfg_context_trainer *t, const lscfg_context_token *token, const token_items *items,
                token_work *w, double loss[2]) {
  const lscfg_context_problem *p = &t->problem;
  int32_t side = p->side[token->rule];
  int64_t first = p->choice_begin[side], n = p->choice_begin[side + 1] - first, own = 0;
  const weight_block *met = t->met.data + t->met_begin[side];
  int64_t n_met = t->met_begin[side + 1] - t->met_begin[side];
  int64_t room = n_met * (items->items.size + 2) + 1;
  if (ARRAY_RESERVE(w->scores, n + 2 * n_met) || ARRAY_RESERVE(w->slots, room) || ARRAY_RESERVE(w->wanted, room))
    return LSCFG_ENOMEM;
  double *here = w->scores.data, *sums = here + n, *gradients = sums + n_met, most;
  uint32_t rows[2];
  dense_rows(t, token, rows);
  uint32_t *guessed = w->slots.data, *slots = guessed;
  int32_t *wanted = w->wanted.data;
  for (int64_t i = 0; i < n_met; i++) {
    *guessed = (uint32_t)guess_slots(t, &met[i], items, guessed + 1, wanted);
    wanted += *guessed;
    guessed += *guessed + 1;
  }
  guessed = slots;
  wanted = w->wanted.data;
  for (int64_t i = 0; i < n_met; i++) {
    uint32_t n_guessed = *guessed;
    *slots = (uint32_t)check_slots(t, &met[i], guessed + 1, wanted, n_guessed, slots + 1);
    sums[i] = gradients[i] = 0;
    for (uint32_t k = 1; k <= *slots; k++) sums[i] += t->weights[slots[k]].weight;
    if (p->dims) sums[i] += dense_sum(t, met[i].outcome, rows);
    wanted += n_guessed;
    guessed += n_guessed + 1;
    slots += *slots + 1;
  }
  for (int64_t c = 0; c < n; c++) {
    if (p->choices[first + c] == token->rule) own = c;
    here[c] = t->plain[first + c];
    for (int64_t k = t->number_begin[first + c]; k < t->number_begin[first + c + 1]; k++)
      here[c] += sums[t->numbers.data[k]];
  }
  double right = here[own], total = exponentials(here, n, &most);
  loss[0] += t->plain_sum[side] - t->plain[first + own];
  loss[1] += log(total) + most - right;
  for (int64_t c = 0; c < n; c++)
    for (int64_t k = t->number_begin[first + c]; k < t->number_begin[first + c + 1]; k++)
      gradients[t->numbers.data[k]] += here[c] / total - (c == own);
  slots = w->slots.data;
  for (int64_t i = 0; i < n_met; slots += *slots + 1, i++)
    if ((*slots || p->dims) && fabs(gradients[i]) > 1e-4 &&
        hand_over(w, &met[i], (float)gradients[i], rows, slots + 1, *slots))
      return LSCFG_ENOMEM;
  return LSCFG_OK;
}

int lscfg_context_meet(lscfg_context_trainer *t, int32_t piece, const lscfg_context_token *tokens, int64_t n,
                       double loss[2], lscfg_error *error) {
  token_work *w = &t->work[piece];
  loss[0] = loss[1] = 0;
  for (int k = 0; k < SHARDS; k++) w->found[k].size = 0;
  for (int64_t k = 0; k <= n; k++) { /* fetches each token before the previous one is finished */
    token_items *items = &w->token[k & 1];
    if (k < n && find_items(t, &tokens[k], items)) return out_of_memory(error);
    if (k < n) fetch_buckets(t, t->problem.side[tokens[k].rule], items);
    if (k > 0 && meet(t, &tokens[k - 1], &w->token[(k - 1) & 1], w, loss)) return out_of_memory(error);
  }
  return LSCFG_OK;
}

/* ---- steps ---- */

/* Of the weights of an outcome for the dense values of a side, 0 or 1. */
static void step_dense(const lscfg_context_trainer *t, float gradient, int64_t outcome, const float *values, int side) {
  int64_t dims = t->problem.dims, begin = (2 * outcome + side) * dims;
  float *weights = t->dense + begin, *squares = t->dense_squares + begin, rate = (float)t->problem.rate;
  for (int64_t k = 0; k < dims; k++) {
    float along = gradient * values[k] + t->dense_shrinkage[outcome] * weights[k];
    squares[k] += along * along;
    weights[k] -= rate * along / sqrtf(squares[k] + 1e-4f);
  }
}

void lscfg_context_step(lscfg_context_trainer *t, int32_t shard) {
  const lscfg_context_problem *p = &t->problem;
  float rate = (float)p->rate;
  for (int piece = 0; piece < PIECES; piece++) {
    const uint32_t *found = t->work[piece].found[shard].data, *end = found + t->work[piece].found[shard].size;
    while (found < end) {
      float gradient;
      memcpy(&gradient, found + GRADIENT, sizeof gradient);
      for (uint32_t k = 0; k < found[NUMBER]; k++) {
        learned_weight *w = &t->weights[found[HEAD + k]];
        float along = gradient + w->shrinkage * w->weight;
        w->squares += along * along;
        w->weight -= rate * along / sqrtf(w->squares + 1e-4f);
      }
      if (p->dims) {
        step_dense(t, gradient, found[OUTCOME], p->left + found[ROW_LEFT] * p->dims, 0);
        step_dense(t, gradient, found[OUTCOME], p->right + found[ROW_RIGHT] * p->dims, 1);
      }
      found += HEAD + found[NUMBER];
    }
  }
}
