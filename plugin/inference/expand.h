#ifndef LSCFG_EXPAND_H
#define LSCFG_EXPAND_H

#include "forest/forest.h"
#include "inference/binding.h"

/* A forest for inference: edges of whole groups or of one rule. Its rules are those of binding->inner. */
typedef struct {
  lscfg_forest *forest;
  int32_t *node;      /* node of the first forest -> node */
  ARRAY(int32_t) app; /* application -> that of the first forest, -1: inside a composed rule */
} expansion;

/* LSCFG_OK or LSCFG_ENOMEM; to be released in either case. */
int expansion_make(const lscfg_binding *, const lscfg_forest *, expansion *);
void expansion_release(expansion *);

#endif
