/* Rules that a model does not know, as derivations by rules that it knows; see compose.c. */
#ifndef LSCFG_COMPOSE_H
#define LSCFG_COMPOSE_H

#include "model.h"

/* For the binding's rules of [X] that have no tensor. words [grammar vocabulary] are the words' numbers in the model, which
 * belong to the composition from then on. NULL: memory is out. */
composition *composition_new(const lscfg_binding *, int32_t *words);
void composition_free(composition *);
/* The kind of a rule if it is composed; else *kind stays. */
int composition_kind(const lscfg_binding *, int32_t rule, uint8_t *kind);

#endif
