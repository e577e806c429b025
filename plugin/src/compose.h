/* Rules that a model does not know, as derivations by rules that it knows, and the forests that inference sees. */
#ifndef LSCFG_COMPOSE_H
#define LSCFG_COMPOSE_H

#include "model.h"

/* One way to make a composite: a rule of the model over other composites, or over nonterminals of the composite. */
typedef struct {
  int32_t rule; /* of the model, or OOV_PART */
  int32_t child[2];
} production;

enum { OOV_PART = -1, NO_CHILD = -1, OWN_TAIL = -2 };

/* A pair of sides with all its derivations of the fewest OOV parts. Equal parts of different rules are one composite. */
typedef struct {
  int32_t productions_begin, productions_end;
  int32_t arity, oov_parts;
} composite;

struct composition {
  ARRAY(composite) composites;
  ARRAY(production) productions;
  int32_t *of_rule; /* grammar rule -> composite, -1: none */
};

/* Looks for the derivations of the grammar's rules of [X] that have no tensor. words [grammar vocabulary] are the words'
 * numbers in the model. NULL: memory is out. */
composition *composition_new(const lscfg_binding *, const int32_t *words, int oov_parts);
void composition_free(composition *);

#endif
