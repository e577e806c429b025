/* What the words around an application say of its target side; see context.c. */
#include "inference/context.h"
#include "inference/families.h"

static int compute(const feature_work *w, lscfg_error *error) {
  int code = context_features(w->binding, w->forest, w->column, w->options->n_columns, largest_log_ratio, w->features);
  return code ? out_of_memory(error) : LSCFG_OK;
}

static const char *const names[] = {"ContextTarget0", "ContextTargetBare", "ContextTargetN"};
static const double start[] = {0, 0, 0};
const feature_family context_family = {"context", LSCFG_CONTEXT_0, 3, NEEDS_CONTEXT, names, start, compute};

static const char *const composed[] = {"ContextComposed"};
const feature_family composed_family = {"composed", LSCFG_CONTEXT_COMPOSED, 1, NEEDS_CONTEXT, composed, start, compute};
