/* The paper's three features: the edge marginal, P(e|f) and P(f|e) in the context of the whole sentence. */
#include "base/rule_table.h"
#include "inference/families.h"

static double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

/* Sums over the applications of a node with the same target side. */
typedef struct {
  rule_table sides;       /* target sides of the rules so far */
  int32_t *number;        /* [rules of the grammar] 1 + the number of a rule's target side, 0: not known yet */
  ARRAY(double) by_side;  /* [sides] 0 between nodes */
} target_sums;

static void free_sums(void *kept) {
  target_sums *sums = kept;
  if (!sums) return;
  rule_table_release(&sums->sides);
  free(sums->number);
  free(sums->by_side.data);
  free(sums);
}

static target_sums *new_sums(const lscfg_grammar *g) {
  target_sums *sums = calloc(1, sizeof *sums);
  if (!sums) return NULL;
  sums->number = calloc((size_t)lscfg_grammar_size(g) + 1, sizeof *sums->number);
  if (sums->number && !rule_table_init(&sums->sides)) return sums;
  free_sums(sums);
  return NULL;
}

/* The sum of the target side of a rule, which is known. */
static double *sum_of(const target_sums *sums, int32_t rule) { return sums->by_side.data + sums->number[rule] - 1; }

static int add_to_sum(target_sums *sums, const lscfg_grammar *g, int32_t rule, double marginal) {
  if (!sums->number[rule]) {
    const grammar_rule *found = &g->rules.data[rule];
    int32_t side = rule_table_intern(&sums->sides, g->symbols.data + found->tgt, 0, found->n_tgt, 0);
    if (side < 0 || ARRAY_RESERVE(sums->by_side, 1)) return LSCFG_ENOMEM;
    if (side == sums->by_side.size) sums->by_side.data[sums->by_side.size++] = 0;
    sums->number[rule] = side + 1;
  }
  *sum_of(sums, rule) += marginal;
  return LSCFG_OK;
}

/* The features of an edge's applications; sums: of its node. */
static void edge_features(const feature_work *w, int32_t edge, const target_sums *sums) {
  const lscfg_binding *b = w->binding;
  const int32_t *rule = w->forest->app_rule.data, n = lscfg_grammar_size(b->grammar);
  int32_t begin = w->forest->edge_apps.data[edge], end = w->forest->edge_apps.data[edge + 1];
  double by_source = 0;
  for (int32_t a = begin; a < end; a++) by_source += marginal_policy(w->app_marginals[a], w->options->negative);
  for (int32_t a = begin; a < end; a++) {
    double marginal = marginal_policy(w->app_marginals[a], w->options->negative);
    /* a word passed through, or a rule outside the grammar, has its own target side */
    double target = rule[a] < n ? *sum_of(sums, rule[a]) : marginal;
    if (w->column[LSCFG_MARGINAL] >= 0) put_feature(w, a, LSCFG_MARGINAL, feature_value(marginal, w->options));
    if (w->column[LSCFG_E_GIVEN_F] >= 0)
      put_feature(w, a, LSCFG_E_GIVEN_F, feature_value(ratio(marginal, by_source), w->options));
    if (w->column[LSCFG_F_GIVEN_E] >= 0)
      put_feature(w, a, LSCFG_F_GIVEN_E, feature_value(ratio(marginal, target), w->options));
  }
}

static int compute(const feature_work *w, void **kept, lscfg_error *error) {
  const lscfg_binding *b = w->binding;
  const lscfg_forest *f = w->forest;
  const int32_t *rule = f->app_rule.data, n = lscfg_grammar_size(b->grammar);
  if (!*kept) *kept = new_sums(b->grammar);
  target_sums *sums = *kept;
  if (!sums) return out_of_memory(error);
  for (int32_t q = w->first_node; q < w->end_node; q++) {
    if (node_category(b, f, q) < 0) continue; /* no states, hence no features */
    int32_t begin = f->edge_apps.data[f->node_edges.data[q]], end = f->edge_apps.data[f->node_edges.data[q + 1]];
    for (int32_t a = begin; a < end; a++)
      if (rule[a] < n &&
          add_to_sum(sums, b->grammar, rule[a], marginal_policy(w->app_marginals[a], w->options->negative)))
        return out_of_memory(error);
    for (int32_t e = f->node_edges.data[q]; e < f->node_edges.data[q + 1]; e++) edge_features(w, e, sums);
    for (int32_t a = begin; a < end; a++)
      if (rule[a] < n) *sum_of(sums, rule[a]) = 0;
  }
  return LSCFG_OK;
}

static const feature_row rows[] = {
    {"LatentMarginal", 0, "marginal probability of the rule application, given the sentence"},
    {"LatentEgivenF", 0, "share of the marginal among the target sides of the same source side, span and tails"},
    {"LatentFgivenE", 0, "share of the marginal among the applications of the span with the same target side"},
};
const feature_family paper_family = {"paper", LSCFG_MARGINAL, N_ROWS(rows), NEEDS_MARGINALS, rows, compute,
                                     free_sums, NULL,    NULL,           NULL};
