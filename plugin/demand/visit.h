/* Visits of the rule tokens at the places of patterns. */
#ifndef LSCFG_DEMAND_VISIT_H
#define LSCFG_DEMAND_VISIT_H

#include "demand/index.h"

typedef int token_visit(lscfg_index *, const phrase_pair *, const rule_token *, double share, int32_t pattern);
/* Visits the rule tokens at the places of all patterns of a side, in the order of the text. */
int visit_tokens(lscfg_index *, int text, int side, token_visit *, lscfg_error *);

#endif
