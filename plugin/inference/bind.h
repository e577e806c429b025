/* Checks what is used with a binding. */
#ifndef LSCFG_INFERENCE_BIND_H
#define LSCFG_INFERENCE_BIND_H

#include "inference/binding.h"

/* Refuses a forest of another rule table, for example of another grammar. */
int binding_check_forest(const lscfg_binding *, const lscfg_forest *, lscfg_error *);

#endif
