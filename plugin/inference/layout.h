#ifndef LSCFG_LAYOUT_H
#define LSCFG_LAYOUT_H

#include "inference/pass.h"

/* True if the rules are the pass-through rule. */
int is_pass(const pass *, const rule_set *);
/* Sum of the tensors of rules without tails that rewrite a node; NULL: zero. */
const double *leaf_tensor(const pass *, const rule_set *, int32_t head);

/* Lays a pass out; marginals [applications] is where they go. To be followed by pass_end, whatever comes back. */
int pass_begin(pass *, const lscfg_binding *, const lscfg_forest *, double *marginals, lscfg_error *);
void pass_end(pass *);

#endif
