/* The shape of the extra rules. An extra rule is given by its number minus the size of its grammar. */
#ifndef LSCFG_EXTRA_RULES_H
#define LSCFG_EXTRA_RULES_H

#include "lscfg/forest.h"

/* True for a word that is passed through. */
static inline int extra_passes(int32_t extra) { return extra == LSCFG_RULE_PASS || extra == LSCFG_RULE_PASS_KNOWN; }

/* Number of nonterminals, -1: any. */
static inline int32_t extra_arity(int32_t extra) {
  switch (extra) {
    case LSCFG_RULE_GLUE_TOP: return 1;
    case LSCFG_RULE_GLUE: return 2;
    case LSCFG_RULE_PASS:
    case LSCFG_RULE_PASS_KNOWN: return 0;
    default: return -1;
  }
}

#endif
