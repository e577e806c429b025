/* lscfg: latent-variable synchronous context-free grammars, the C interface.
 *
 * The library has no global state. *_new, *_read or *_open functions create objects, and the *_free function of the
 * type (which accepts NULL) releases them. Threads may share an object that is passed as const. Functions that can fail
 * return LSCFG_OK or a negative code and fill the lscfg_error; they never print, exit or abort. If memory runs out
 * (LSCFG_ENOMEM) while an object is filled, release it: it may contain half of the additions.
 *
 * Symbols of rules are int32. On the source side a word is its vocabulary id (>= 0) and a nonterminal of category c is
 * -1-c. On the target side a word is its vocabulary id and the k-th nonterminal of the source side (k = 0, 1, ...) is
 * -1-k. Spans are half-open: [i, j) covers words i .. j-1.
 *
 * Each layer of the library has its own header. A decoder needs inference.h and the headers that it includes. The
 * Python wrapper reads the declarations between the two marks of each header: plain C declarations only. */
#ifndef LSCFG_H
#define LSCFG_H

#include "lscfg/base.h"
#include "lscfg/forest.h"
#include "lscfg/neural.h"
#include "lscfg/inference.h"
#include "lscfg/extract.h"
#include "lscfg/demand.h"
#include "lscfg/estimate.h"
#include "lscfg/search.h"
#include "lscfg/learn.h"
#include "lscfg/induce.h"
#include "lscfg/sample.h"
#include "lscfg/biparse.h"

#endif
