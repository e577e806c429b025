#ifndef LSCFG_MARGINALS_H
#define LSCFG_MARGINALS_H

#include "inference/pass.h"

/* The marginals of all applications, once inside and outside are there; those of low rank are there already. */
int application_marginals(pass *);

#endif
