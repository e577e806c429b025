/* The phrase-decomposition forests of a corpus, next to its derivation trees, roots first: all minimal derivations of
 * each pair, including its tree. */
#include "extract/derive_forests.h"
#include "extract/decomposition.h"

int forests_init(lscfg_derivations *d) {
  if (ARRAY_RESERVE(d->forests, 1)) return LSCFG_ENOMEM;
  d->forests.data[d->forests.size++] = 0;
  if (!d->options.forests) return LSCFG_OK;
  d->decomposed = calloc(1, sizeof *d->decomposed);
  return d->decomposed ? LSCFG_OK : LSCFG_ENOMEM;
}

void forests_release(lscfg_derivations *d) {
  free(d->forests.data);
  free(d->forest_edge.data);
  free(d->forest_rule.data);
  free(d->forest_tail.data);
  free(d->forest_span.data);
  if (d->decomposed) decomposition_release(d->decomposed);
  free(d->decomposed);
}

static int add_edge(lscfg_derivations *d, int32_t root, const phrase_node *head, int64_t edge) {
  const int32_t *tails;
  int32_t arity = decomposition_tails(d->decomposed, d, edge, &tails);
  if (arity < 0 || ARRAY_RESERVE(d->forest_rule, 1) || ARRAY_RESERVE(d->forest_tail, arity)) return LSCFG_ENOMEM;
  int32_t rule = pair_rule(d, (const int32_t (*)[2])head->span, (const span_pair *)d->child_spans, arity);
  if (rule < 0) return LSCFG_ENOMEM;
  d->forest_rule.data[d->forest_rule.size++] = rule;
  d->n_forest_edges++;
  int64_t first = d->forests.data[d->forests.size - 1];
  for (int32_t k = 0; k < arity; k++) d->forest_tail.data[d->forest_tail.size++] = (int32_t)(first + root - tails[k]);
  return LSCFG_OK;
}

int forests_append(lscfg_derivations *d, const linked_words *c) {
  decomposition *f = d->decomposed;
  if (decomposition_build(f, d, c) || ARRAY_RESERVE(d->forests, 1) || ARRAY_RESERVE(d->forest_edge, f->nodes.size) ||
      ARRAY_RESERVE(d->forest_span, 4 * f->nodes.size))
    return LSCFG_ENOMEM;
  int32_t root = (int32_t)f->nodes.size - 1;
  for (int64_t n = root; n >= 0; n--) { /* heads before tails */
    const phrase_node *node = &f->nodes.data[n];
    d->forest_edge.data[d->forest_edge.size++] = d->n_forest_edges;
    memcpy(d->forest_span.data + d->forest_span.size, node->span, sizeof node->span);
    d->forest_span.size += 4;
    for (int64_t edge = node->first_edge; edge < decomposition_last_edge(f, n); edge++)
      if (add_edge(d, root, node, edge)) return LSCFG_ENOMEM;
  }
  int64_t last = d->forests.size - 1;
  d->forests.data[last + 1] = d->forests.data[last] + f->nodes.size;
  d->forests.size++;
  return LSCFG_OK;
}

int forests_merge(lscfg_derivations *d, const lscfg_derivations *other, const int32_t *number) {
  int64_t n = other->forest_edge.size, n_edges = other->forest_rule.size, n_tails = other->forest_tail.size;
  if (ARRAY_RESERVE(d->forests, other->forests.size) || ARRAY_RESERVE(d->forest_edge, n) ||
      ARRAY_RESERVE(d->forest_rule, n_edges) || ARRAY_RESERVE(d->forest_tail, n_tails) ||
      ARRAY_RESERVE(d->forest_span, 4 * n))
    return LSCFG_ENOMEM;
  int64_t nodes = d->forests.data[d->forests.size - 1] - other->forests.data[0];
  int64_t edges = d->n_forest_edges - (other->n_forest_edges - n_edges);
  for (int64_t k = 0; k < n; k++) d->forest_edge.data[d->forest_edge.size++] = other->forest_edge.data[k] + edges;
  for (int64_t k = 0; k < n_edges; k++)
    d->forest_rule.data[d->forest_rule.size++] = number[other->forest_rule.data[k]];
  for (int64_t k = 0; k < n_tails; k++)
    d->forest_tail.data[d->forest_tail.size++] = (int32_t)(other->forest_tail.data[k] + nodes);
  if (n) memcpy(d->forest_span.data + d->forest_span.size, other->forest_span.data, (size_t)(4 * n) * sizeof(int32_t));
  d->forest_span.size += 4 * n;
  for (int64_t t = 1; t < other->forests.size; t++)
    d->forests.data[d->forests.size++] = other->forests.data[t] + nodes;
  d->n_forest_edges += n_edges;
  return LSCFG_OK;
}

void forests_flush(lscfg_derivations *d) {
  d->forests.data[0] = d->forests.data[d->forests.size - 1];
  d->forests.size = 1;
  d->forest_edge.size = d->forest_rule.size = d->forest_tail.size = d->forest_span.size = 0;
}
