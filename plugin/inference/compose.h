/* Rules outside a model, as derivations by rules of the model; see compose.c. */
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
/* Sets *kind if the rule is composed. */
int composition_kind(const lscfg_binding *, int32_t rule, uint8_t *kind);
/* Composes these rules where possible, if the binding has a composition; to be called before their rows are read.
 * *composed: non-zero if any is. */
int binding_compose(const lscfg_binding *, const int32_t *rules, int64_t n, int *composed);

/* Composed rules may be read between these two calls; other threads wait before they compose more. */
void composition_lock(composition *);
void composition_unlock(composition *);
/* The composite of a rule of the grammar, negative: none. */
int32_t composition_of(const composition *, int32_t rule);
const composite *composition_composite(const composition *, int32_t composite);
const production *composition_production(const composition *, int32_t production);

#endif
