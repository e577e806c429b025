/* Sums of tensors. */
#ifndef LSCFG_SUMS_H
#define LSCFG_SUMS_H

#include "inference/binding.h"

/* The sums of the tensors of all rules of one source side, made when they are first needed; see sums.c. */
group_sums *group_sums_new(int64_t n_groups);
void group_sums_free(group_sums *);

/* Sum of the tensors of some rules of a category of the model [m^(arity+1)]; NULL: none of them has one. If *made is
 * not NULL, the caller frees it after use. Fails if a value is not finite. */
int binding_sum(const lscfg_binding *, const int32_t *rules, int32_t n, int32_t arity, int32_t category,
                const double **sum, double **made, lscfg_error *);

#endif
