/* Expected counts of rules, whatever their links, and of linked words. */
#include "biparse/visits.h"

enum { N_SUMS = 4 };

struct lscfg_biparse_counts {
  const lscfg_bitexts *text;
  rule_table rules;
  ARRAY(double) expected, sums;
  int_map places; /* word_key -> 1 + place of a word pair */
  ARRAY(lscfg_word_pair) words;
  ARRAY(double) linked;
  ARRAY(int64_t) pairs;
  ARRAY(int32_t) last;    /* the last pair that had the rule */
  ARRAY(int32_t) numbers; /* of the rules of the visits at hand */
  ARRAY(lscfg_biparse_edge) edges;
  int32_t n_pairs;
};

lscfg_biparse_counts *lscfg_biparse_counts_new(const lscfg_bitexts *text) {
  lscfg_biparse_counts *c = calloc(1, sizeof *c);
  if (!c) return NULL;
  c->text = text;
  if (!rule_table_init(&c->rules)) return c;
  free(c);
  return NULL;
}

void lscfg_biparse_counts_free(lscfg_biparse_counts *c) {
  if (!c) return;
  rule_table_release(&c->rules);
  free(c->places.entries);
  free(c->words.data);
  free(c->expected.data);
  free(c->sums.data);
  free(c->linked.data);
  free(c->pairs.data);
  free(c->last.data);
  free(c->numbers.data);
  free(c->edges.data);
  free(c);
}

/* The weight that a model gives to the links of a rule. */
static double weight_of_links(const lscfg_biparse_model *m, const lscfg_biparse_visits *v,
                              const lscfg_biparse_rule *r) {
  const int32_t *symbols = v->symbols.data + r->symbols, *links = v->links.data + r->links;
  double sum = 0;
  for (int32_t k = 0; k < r->n_links; k++)
    sum += sparse_weight(m, LSCFG_LINKED_WORDS, symbols[links[2 * k]], symbols[r->n_src + links[2 * k + 1]]);
  return sum;
}

static int add_rule(lscfg_biparse_counts *c, const lscfg_biparse_visits *v, const lscfg_biparse_rule *r,
                    const lscfg_biparse_model *m) {
  int32_t rule = rule_table_intern(&c->rules, v->symbols.data + r->symbols, r->n_src, r->n_src + r->n_tgt, r->arity);
  if (rule < 0 || ARRAY_RESERVE(c->expected, 1) || ARRAY_RESERVE(c->sums, N_SUMS) || ARRAY_RESERVE(c->pairs, 1) ||
      ARRAY_RESERVE(c->last, 1) || ARRAY_RESERVE(c->numbers, 1))
    return LSCFG_ENOMEM;
  c->numbers.data[c->numbers.size++] = rule;
  if (rule == c->expected.size) {
    c->expected.data[c->expected.size++] = 0;
    memset(c->sums.data + c->sums.size, 0, N_SUMS * sizeof(double));
    c->sums.size += N_SUMS;
    c->pairs.data[c->pairs.size++] = 0;
    c->last.data[c->last.size++] = -1;
  }
  int32_t same = c->text->same.data[v->results.data[r->visit].pair];
  double weight = rule_weight(m, find_number(&m->rule_places, r->fingerprint[1]), same);
  const double values[N_SUMS] = {r->lexical[0], r->lexical[1], weight, weight_of_links(m, v, r)};
  c->expected.data[rule] += r->expected;
  for (int k = 0; k < N_SUMS; k++) c->sums.data[N_SUMS * (int64_t)rule + k] += r->expected * values[k];
  c->pairs.data[rule] += c->last.data[rule] != c->n_pairs;
  c->last.data[rule] = c->n_pairs;
  return LSCFG_OK;
}

static int add_link(lscfg_biparse_counts *c, int32_t src, int32_t tgt, double expected) {
  int64_t *place = int_map_at(&c->places, word_key(src, tgt));
  if (!place || ARRAY_RESERVE(c->words, 1) || ARRAY_RESERVE(c->linked, 1)) return LSCFG_ENOMEM;
  if (!*place) {
    c->words.data[c->words.size++] = (lscfg_word_pair){src, tgt, 0};
    c->linked.data[c->linked.size++] = 0;
    *place = c->words.size;
  }
  c->linked.data[*place - 1] += expected;
  return LSCFG_OK;
}

/* The links of a rule; a word without one is linked to -1. */
static int add_links(lscfg_biparse_counts *c, const lscfg_biparse_visits *v, const lscfg_biparse_rule *r) {
  const int32_t *symbols = v->symbols.data + r->symbols, *links = v->links.data + r->links;
  uint64_t linked_src = 0, linked_tgt = 0;
  for (int32_t k = 0; k < r->n_links; k++) {
    int32_t src = links[2 * k], tgt = links[2 * k + 1];
    if (add_link(c, symbols[src], symbols[r->n_src + tgt], r->expected)) return LSCFG_ENOMEM;
    linked_src |= (uint64_t)1 << src;
    linked_tgt |= (uint64_t)1 << tgt;
  }
  for (int32_t s = 0; s < r->n_src; s++)
    if (symbols[s] >= 0 && !(linked_src >> s & 1) && add_link(c, symbols[s], -1, r->expected)) return LSCFG_ENOMEM;
  for (int32_t t = 0; t < r->n_tgt; t++)
    if (symbols[r->n_src + t] >= 0 && !(linked_tgt >> t & 1) && add_link(c, -1, symbols[r->n_src + t], r->expected))
      return LSCFG_ENOMEM;
  return LSCFG_OK;
}

/* The best derivations of the visits, if they have any. */
static int add_edges(lscfg_biparse_counts *c, const lscfg_biparse_visits *v) {
  int64_t first = c->edges.size;
  if (ARRAY_RESERVE(c->edges, v->edges.size) || first + v->edges.size > INT32_MAX) return LSCFG_ENOMEM;
  for (int64_t k = 0; k < v->edges.size; k++) {
    lscfg_biparse_edge edge = v->edges.data[k];
    edge.visit = v->results.data[edge.visit].pair;
    edge.rule = c->numbers.data[edge.rule];
    if (edge.parent >= 0) edge.parent += (int32_t)first;
    c->edges.data[c->edges.size++] = edge;
  }
  return LSCFG_OK;
}

int lscfg_biparse_count(lscfg_biparse_counts *c, const lscfg_biparse_visits *v, const lscfg_biparse_model *weighs,
                        lscfg_error *error) {
  int64_t rule = 0;
  c->numbers.size = 0;
  for (int32_t n = 0; n < v->results.size; n++, c->n_pairs++)
    for (; rule < v->rules.size && v->rules.data[rule].visit == n; rule++)
      if (add_rule(c, v, &v->rules.data[rule], weighs) || add_links(c, v, &v->rules.data[rule]))
        return out_of_memory(error);
  return add_edges(c, v) ? out_of_memory(error) : LSCFG_OK;
}

void lscfg_biparse_counts_get(const lscfg_biparse_counts *c, lscfg_biparse_counts_view *view) {
  corpus_tables tables = {.vocab = c->text->tables.vocab, .rules = c->rules};
  *view = (lscfg_biparse_counts_view){.expected = c->expected.data,
                                      .pairs = c->pairs.data,
                                      .sums = c->sums.data,
                                      .tables = corpus_tables_view(&tables),
                                      .linked = c->linked.data,
                                      .n_edges = c->edges.size,
                                      .edges = c->edges.data};
  view->tables.n_pairs = c->words.size;
  view->tables.pairs = c->words.data;
}
