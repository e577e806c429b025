/* lscfg: latent-variable synchronous context-free grammars, the C interface.
 *
 * The library keeps no global state. Every object is created by a *_new, *_read or *_open function and given back with
 * the *_free function of its type (which accepts NULL). An object that is passed as const may be shared by threads.
 * Functions that can fail return LSCFG_OK or a negative code and fill the lscfg_error; they never print, exit or abort.
 * An object that was being filled when memory ran out (LSCFG_ENOMEM) is to be freed: it may have half of what was
 * added.
 *
 * Symbols of rules are int32. On the source side a word is its vocabulary id (>= 0) and a nonterminal of category c is
 * -1-c. On the target side a word is its vocabulary id and the k-th nonterminal of the source side (k = 0, 1, ...) is
 * -1-k. Spans are half-open: [i, j) covers words i .. j-1.
 *
 * Each layer of the library has a header of its own. A decoder needs inference.h and what that includes. The
 * declarations between the two marks of each are also what the Python wrapper reads: plain C declarations only.
 */
#ifndef LSCFG_H
#define LSCFG_H

#include "lscfg/base.h"
#include "lscfg/forest.h"
#include "lscfg/inference.h"
#include "lscfg/extract.h"
#include "lscfg/estimate.h"
#include "lscfg/search.h"
#include "lscfg/learn.h"
#include "lscfg/induce.h"
#include "lscfg/sample.h"
#include "lscfg/biparse.h"

#endif
