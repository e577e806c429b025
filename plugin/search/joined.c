/* Several language models as one automaton: a state is a tuple of states, and log10 p the weighted sum. The search then
 * needs one number for a state and one look-up for a word, whatever the number of models. */
#include "lscfg/search.h"

#include "base/common.h"
#include "base/index.h"
#include "search/lm.h"

struct lscfg_joined {
  int32_t n, end_word;
  lscfg_lm **models;
  double *weights, *oov_weights;
  ARRAY(int32_t) states; /* n states of the models for each state */
  index_table known;     /* states by their tuples */
};

lscfg_joined *lscfg_joined_new(int32_t n, lscfg_lm *const *models, const double *weights, const double *oov_weights,
                               int32_t end_word) {
  if (n < 1) return NULL;
  size_t count = (size_t)n;
  lscfg_joined *j = calloc(1, sizeof *j);
  if (!j) return NULL;
  j->n = n;
  j->end_word = end_word;
  j->models = malloc(count * sizeof *j->models);
  j->weights = malloc(count * sizeof *j->weights);
  j->oov_weights = malloc(count * sizeof *j->oov_weights);
  if (!j->models || !j->weights || !j->oov_weights || ARRAY_RESERVE(j->states, 2 * (int64_t)n)) {
    lscfg_joined_free(j);
    return NULL;
  }
  memcpy(j->models, models, count * sizeof *models);
  memcpy(j->weights, weights, count * sizeof *weights);
  memcpy(j->oov_weights, oov_weights, count * sizeof *oov_weights);
  for (int32_t state = LSCFG_LM_NULL; state <= LSCFG_LM_BEGIN; state++) {
    int32_t *tuple = j->states.data + j->states.size;
    for (int32_t k = 0; k < n; k++) tuple[k] = state;
    if (index_reserve(&j->known)) {
      lscfg_joined_free(j);
      return NULL;
    }
    index_put(&j->known, (uint32_t)hash_ints(tuple, n, 0), state);
    j->states.size += n;
  }
  return j;
}

void lscfg_joined_free(lscfg_joined *j) {
  if (!j) return;
  free(j->models);
  free(j->weights);
  free(j->oov_weights);
  free(j->states.data);
  index_release(&j->known);
  free(j);
}

/* The number of the tuple after the last one, which becomes the last one if it is new; negative: memory is out. */
static int32_t number_of(lscfg_joined *j) {
  const int32_t *tuple = j->states.data + j->states.size;
  uint32_t hash = (uint32_t)hash_ints(tuple, j->n, 0);
  int32_t id;
  for (int64_t at = -1; (id = index_next(&j->known, hash, &at)) >= 0;)
    if (!memcmp(j->states.data + (int64_t)id * j->n, tuple, (size_t)j->n * sizeof *tuple)) return id;
  if (index_reserve(&j->known)) return LSCFG_ENOMEM;
  id = (int32_t)(j->states.size / j->n);
  index_put(&j->known, hash, id);
  j->states.size += j->n;
  return id;
}

int lscfg_joined_step(void *joined, int32_t state, int32_t word, float *log10p, int32_t *next, int32_t *reach) {
  lscfg_joined *j = joined;
  double sum = 0;
  *reach = 0;
  if (ARRAY_RESERVE(j->states, j->n)) return LSCFG_ENOMEM;
  for (int32_t k = 0; k < j->n; k++) {
    int code = LSCFG_OK;
    int32_t own_word = word == j->end_word ? j->models[k]->end_word : word;
    const lm_slot *slot = lm_find(j->models[k], j->states.data[(int64_t)state * j->n + k], own_word, &code);
    if (!slot) return code;
    int32_t own = lm_reach(slot);
    sum += j->weights[k] * slot->log10p;
    if (own < 0) sum += j->oov_weights[k];
    /* a word before can matter as soon as it does in one model */
    if (own == LSCFG_LM_UNKNOWN_EXTENDS || *reach == LSCFG_LM_UNKNOWN_EXTENDS)
      *reach = LSCFG_LM_UNKNOWN_EXTENDS;
    else if (own > *reach)
      *reach = own;
    j->states.data[j->states.size + k] = lm_next(slot);
  }
  *log10p = (float)sum;
  *next = number_of(j);
  return *next < 0 ? LSCFG_ENOMEM : LSCFG_OK;
}

int lscfg_lm_score(lscfg_lm *lm, const int32_t *words, int32_t n, double *log10p, int32_t *unknown,
                   lscfg_error *error) {
  int32_t state = LSCFG_LM_BEGIN;
  *log10p = 0;
  *unknown = 0;
  for (int32_t i = 0; i <= n; i++) {
    int code = LSCFG_OK;
    const lm_slot *slot = lm_find(lm, state, i < n ? words[i] : lm->end_word, &code);
    if (!slot && code == LSCFG_ENOMEM) return out_of_memory(error);
    if (!slot) return lscfg_fail(error, code, 0, "the language model failed or gave an invalid answer");
    *log10p += slot->log10p;
    *unknown += i < n && lm_reach(slot) < 0;
    state = lm_next(slot);
  }
  return LSCFG_OK;
}
