#ifndef LSCFG_CONTEXT_H
#define LSCFG_CONTEXT_H

#include "common.h"

enum { CONTEXT_KINDS = 9 }; /* kinds of context items: item = kind * (words of the model + 2) + word; see context.c */

/* Adds LSCFG_CONTEXT_... of the wanted kinds to features [applications][LSCFG_N_FEATURES], in [-limit, limit]; the model
 * has context weights and one state. LSCFG_OK or LSCFG_ENOMEM. */
int context_features(const lscfg_binding *, const lscfg_forest *, uint32_t wanted, double limit, double *features);

#endif
