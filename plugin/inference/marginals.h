#ifndef LSCFG_MARGINALS_H
#define LSCFG_MARGINALS_H

#include "inference/pass.h"

/* The marginals of all applications, after inside and outside, except those of low rank, which the passes compute. */
int application_marginals(pass *);

#endif
