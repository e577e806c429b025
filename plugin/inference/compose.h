/* Rules that a model does not know, as derivations by rules that it knows; see compose.c. */
#ifndef LSCFG_COMPOSE_H
#define LSCFG_COMPOSE_H

#include "inference/binding.h"

/* One way to make a composite: a rule of the model over other composites, or over nonterminals of the composite. */
typedef struct {
  int32_t rule; /* of the model, or OOV_PART */
  int32_t child[2];
} production;

enum { OOV_PART = -1, NO_CHILD = -1, OWN_TAIL = -2 };

/* A pair of sides with all its derivations of the fewest OOV parts. Equal parts of different rules are one composite.
 * */
typedef struct {
  int32_t productions_begin, productions_end;
  int32_t arity, oov_parts;
} composite;

/* For the binding's rules of [X] that have no tensor. words [grammar vocabulary] are the words' numbers in the model,
 * which belong to the composition from then on. NULL: memory is out. */
composition *composition_new(const lscfg_binding *, int32_t *words);
void composition_free(composition *);
/* The kind of a rule if it is composed; else *kind stays. */
int composition_kind(const lscfg_binding *, int32_t rule, uint8_t *kind);
/* Finds out which of these rules are composed, if the binding has a composition: before it is asked for their rows.
 * *composed: whether there is any. */
int binding_compose(const lscfg_binding *, const int32_t *rules, int64_t n, int *composed);

/* What is composed may be read between these two; other threads compose no more meanwhile. */
void composition_lock(composition *);
void composition_unlock(composition *);
/* The composite of a rule of the grammar, negative: none. */
int32_t composition_of(const composition *, int32_t rule);
const composite *composition_composite(const composition *, int32_t composite);
const production *composition_production(const composition *, int32_t production);

#endif
