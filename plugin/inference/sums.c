/* Sums of the tensors of all rules with one source side.
 *
 * The inside and outside passes need only these sums. A sum is computed when a sentence first needs it and kept for all
 * threads, up to a limit; beyond the limit, each sentence computes it again. */
#include "inference/sums.h"

#include <math.h>
#include <stdatomic.h>

/* Source sides are parsed, target sides are listed: the forest has one edge per source side, whose target tensors
 * are summed once, and only marginals look at single target sides. The sum is made when first needed and kept for
 * all threads, up to 256 MB; sums of packed tensors are kept packed, and each sentence unpacks its own. */

enum { KEPT_BYTES = 256 << 20 };

struct group_sums {
  int64_t n;
  _Atomic(int64_t) bytes;
  _Atomic(double *) *sum; /* [n], NULL: not made yet */
};

group_sums *group_sums_new(int64_t n_groups) {
  group_sums *sums = calloc(1, sizeof *sums);
  if (!sums) return NULL;
  sums->n = n_groups;
  sums->sum = calloc((size_t)n_groups + 1, sizeof *sums->sum);
  if (sums->sum) return sums;
  free(sums);
  return NULL;
}

void group_sums_free(group_sums *sums) {
  if (!sums) return;
  for (int64_t k = 0; k < sums->n; k++) free(atomic_load(&sums->sum[k]));
  free(sums->sum);
  free(sums);
}

/* The sum, newly allocated; NULL in *sum where no rule has a tensor. */
static int make_sum(const lscfg_binding *b, const int32_t *rules, int32_t n, int32_t arity, int32_t category,
                    double **sum, lscfg_error *error) {
  int64_t length = tensor_length(b->model->rank, arity);
  *sum = NULL;
  for (int32_t k = 0; k < n; k++) {
    int32_t row = binding_row(b, rules[k]);
    if (row == NO_ROW) continue;
    if (!*sum && !(*sum = calloc((size_t)length, sizeof **sum))) return out_of_memory(error);
    if (row == OOV_ROW)
      for (int32_t h = 0; h < b->model->rank; h++) (*sum)[h] += model_unk(b->model, category)[h];
    else
      model_add_tensor(b->model, arity, row, *sum);
  }
  for (int64_t k = 0; *sum && k < length; k++)
    if (!isfinite((*sum)[k])) { /* so is one of its terms, as no sum of floats overflows a double but by intent */
      free(*sum);
      *sum = NULL;
      return lscfg_fail(error, LSCFG_EINPUT, 0, "the model has a tensor with a value that is not finite");
    }
  return LSCFG_OK;
}

/* True if the rules are all of their group, in its order. Rules of no probability, which expanded forests omit, are
 * ignored, except for rules of words, which may get a probability later. */
static int is_group(const lscfg_binding *b, const grammar_group *group, const int32_t *rules, int32_t n,
                    int32_t arity) {
  const int32_t *all = b->grammar->by_source + group->rules_begin;
  int32_t n_all = group->rules_end - group->rules_begin, i = 0, k = 0;
  while (i < n || k < n_all)
    if (i < n && k < n_all && rules[i] == all[k])
      i++, k++;
    else if (k < n_all && arity && b->rule_row[all[k]] == NO_ROW)
      k++;
    else
      return 0;
  return 1;
}

/* Values of a kept sum of an arity. */
static int64_t kept_length(const lscfg_model *model, int32_t arity) {
  return model->packing[arity].support ? model->packing[arity].n_support : tensor_length(model->rank, arity);
}

/* The sum as it is kept: itself, or packed and newly allocated; NULL: memory is out. */
static double *to_keep(const lscfg_model *model, int32_t arity, double *sum) {
  const int32_t *support = model->packing[arity].support;
  int64_t n = kept_length(model, arity);
  double *packed = support ? malloc((size_t)(n + 1) * sizeof *packed) : sum;
  for (int64_t k = 0; support && packed && k < n; k++) packed[k] = sum[support[k]];
  return packed;
}

/* The whole sum of one that is kept; where it must be unpacked, newly allocated, also in *made. NULL: memory is out. */
static const double *from_kept(const lscfg_model *model, int32_t arity, const double *kept, double **made) {
  const int32_t *support = model->packing[arity].support;
  if (!support) return kept;
  *made = calloc((size_t)tensor_length(model->rank, arity), sizeof **made);
  for (int64_t k = 0; *made && k < model->packing[arity].n_support; k++) (*made)[support[k]] = kept[k];
  return *made;
}

int binding_sum(const lscfg_binding *b, const int32_t *rules, int32_t n, int32_t arity, int32_t category,
                const double **sum, double **made, lscfg_error *error) {
  const lscfg_grammar *g = b->grammar;
  _Atomic(double *) *place = NULL;
  *made = NULL;
  if (rules[0] < lscfg_grammar_size(g) && is_group(b, &g->groups.data[b->rule_group[rules[0]]], rules, n, arity)) {
    place = &b->sums->sum[b->rule_group[rules[0]]];
    const double *kept = atomic_load_explicit(place, memory_order_acquire);
    if (kept) return (*sum = from_kept(b->model, arity, kept, made)) ? LSCFG_OK : out_of_memory(error);
  }
  int code = make_sum(b, rules, n, arity, category, made, error);
  *sum = *made;
  if (code || !*made || !place) return code;
  int64_t bytes = kept_length(b->model, arity) * (int64_t)sizeof **made;
  if (atomic_fetch_add(&b->sums->bytes, bytes) + bytes > KEPT_BYTES) {
    atomic_fetch_sub(&b->sums->bytes, bytes);
    return LSCFG_OK;
  }
  double *other = NULL, *kept = to_keep(b->model, arity, *made);
  if (!kept) {
    atomic_fetch_sub(&b->sums->bytes, bytes);
    free(*made);
    *made = NULL;
    return out_of_memory(error);
  }
  if (atomic_compare_exchange_strong(place, &other, kept)) {
    if (kept == *made) *made = NULL;
    return LSCFG_OK;
  }
  atomic_fetch_sub(&b->sums->bytes, bytes); /* another thread was faster; its sum is the same */
  if (kept != *made) {
    free(kept);
    return LSCFG_OK;
  }
  *sum = other;
  free(*made);
  *made = NULL;
  return LSCFG_OK;
}
