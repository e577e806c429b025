/* Gains of the words around an application for its target side; see context.c. */
#include "inference/context.h"
#include "inference/families.h"

static int compute(const feature_work *w, void **kept, lscfg_error *error) {
  if (!has_words_around(w->forest)) return LSCFG_OK;
  if (!*kept) *kept = contexts_new(w->binding, w->forest, w->column[LSCFG_CONTEXT_COMPOSED] >= 0);
  return !*kept || context_features(*kept, w, largest_log_ratio) ? out_of_memory(error) : LSCFG_OK;
}

static void release(void *kept) { contexts_free(kept); }

/* A context model with scores may lack log-linear weights. */
static int is_in(const lscfg_model *model) {
  const context_model *context = model->context;
  return context && (!context->scores.kind || context->offsets[context_outcomes(&context->rules)]);
}

static const char missing[] = "log-linear context weights";
static const char cure[] = "add them with lscfg context, or choose other features, such as ratios or paper";

static const feature_row rows[] = {
    {"ContextTarget0", 0, "gain of the surrounding source words for the target side; rules without nonterminals"},
    {"ContextTargetBare", 0, "the same; rules with source sides of two nonterminals alone"},
    {"ContextTargetN", 0, "the same; all other rules"},
};
const feature_family context_family = {"context", LSCFG_CONTEXT_0, N_ROWS(rows), 0,   rows,
                                       compute,   release,         is_in,        missing, cure};

static const feature_row composed[] = {
    {"ContextComposed", 0, "the same for rules that the context model does not list, by target words and shape"},
};
const feature_family composed_family = {"composed", LSCFG_CONTEXT_COMPOSED, N_ROWS(composed), 0,   composed,
                                        compute,    release,                is_in,            missing, cure};
