/* The target sides of a forest's applications. */
#include "search/targets.h"

#include "forest/extra_rules.h"

int collect_targets(const lscfg_forest *forest, const lscfg_grammar *grammar, const int32_t **tgt, int32_t *length,
                    lscfg_error *error) {
  static const int32_t glue[2] = {-1, -2};
  lscfg_forest_view view, *f = &view;
  lscfg_forest_get(forest, f);
  int32_t size = lscfg_grammar_size(grammar), end = size + LSCFG_EXTRA_RULES + lscfg_grammar_layer_size(grammar);
  for (int32_t a = 0; a < f->n_apps; a++) {
    int32_t rule = f->app_rule[a];
    if (rule == size + LSCFG_RULE_UNKNOWN)
      return lscfg_fail(error, LSCFG_EINPUT, 0,
                        "the forest contains a rule that the grammar lacks, so its target side is unknown");
    if (rule < 0 || rule >= end)
      return lscfg_fail(error, LSCFG_EINPUT, 0, "the forest is not one of this grammar: it has a rule %ld", (long)rule);
    int32_t extra = rule - size;
    if (extra < 0 || extra >= LSCFG_EXTRA_RULES) {
      tgt[a] = lscfg_grammar_tgt(grammar, rule, length + a);
    } else if (extra == LSCFG_RULE_REST) {
      tgt[a] = NULL;
      length[a] = 0;
    } else if (extra_passes(extra)) {
      tgt[a] = forest_passed_word(f, f->app_edge[a]);
      length[a] = 1;
      if (*tgt[a] < 0) return lscfg_fail(error, LSCFG_EINPUT, 0, "a word without an id cannot be passed through");
    } else {
      tgt[a] = glue;
      length[a] = extra_arity(extra);
    }
    int32_t tails = forest_n_tails(forest, f->app_edge[a]);
    for (int32_t k = 0; k < length[a]; k++)
      if (tgt[a][k] < 0 && -1 - tgt[a][k] >= tails)
        return lscfg_fail(error, LSCFG_EINPUT, 0,
                          "the forest is not one of this grammar: rule %ld has more nonterminals", (long)rule);
  }
  return LSCFG_OK;
}
