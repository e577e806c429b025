/* The result of deriving a corpus: its rules and their counts, and a view of all. */
#include "extract/derivations.h"

int32_t derivations_rule(lscfg_derivations *d, const int32_t *symbols, int32_t n_src, int32_t n, int32_t arity) {
  if (ARRAY_RESERVE(d->rule_count, 1)) return LSCFG_ENOMEM; /* first, so that no rule is ever without a count */
  int32_t rule = rule_table_intern(&d->tables.rules, symbols, n_src, n, arity);
  if (rule == d->rule_count.size) d->rule_count.data[d->rule_count.size++] = 0;
  return rule;
}

void lscfg_derivations_get(const lscfg_derivations *d, lscfg_derivations_view *view) {
  *view = (lscfg_derivations_view){.n_trees = d->trees.size - 1,
                                   .n_nodes = d->node_rule.size,
                                   .trees = d->trees.data,
                                   .node_rule = d->node_rule.data,
                                   .node_parent = d->node_parent.data,
                                   .node_slot = d->node_slot.data,
                                   .node_span = d->node_span.data,
                                   .n_forests = d->forests.size - 1,
                                   .n_forest_nodes = d->forest_edge.size,
                                   .n_forest_edges = d->forest_rule.size,
                                   .n_forest_tails = d->forest_tail.size,
                                   .all_forest_edges = d->n_forest_edges,
                                   .forests = d->forests.data,
                                   .forest_edge = d->forest_edge.data,
                                   .forest_rule = d->forest_rule.data,
                                   .forest_tail = d->forest_tail.data,
                                   .forest_span = d->forest_span.data,
                                   .rule_count = d->rule_count.data,
                                   .n_above = d->n_above,
                                   .tables = corpus_tables_view(&d->tables)};
  memcpy(view->dropped, d->dropped, sizeof d->dropped);
}
