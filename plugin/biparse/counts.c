/* Expected counts of rules, whatever their links, and of linked words. */
#include "biparse/visits.h"
#include "extract/wanted.h"

enum { N_SUMS = 2, IN_TREE = -2 };

struct lscfg_biparse_counts {
  const lscfg_bitexts *text;
  rule_table rules;
  ARRAY(double) expected, sums; /* no sums if nothing was learned */
  ARRAY(uint8_t) is_bare;
  int_map places; /* word_key -> 1 + index of a word pair */
  ARRAY(lscfg_word_pair) words;
  ARRAY(double) linked;
  ARRAY(int32_t) pairs;
  ARRAY(int32_t) last;    /* the last pair that had the rule */
  ARRAY(int32_t) numbers; /* of the rules of the current visits; IN_TREE before that, -1 for dropped rules */
  wanted_text wanted;
  int has_wanted;         /* else all rules are */
  int_map target_places;  /* fingerprint of a target side -> 1 + its index, if not all rules are kept */
  ARRAY(double) of_target, target_view; /* how often all rules have it; by rule */
  ARRAY(lscfg_biparse_edge) edges;
  int32_t n_pairs;
};

lscfg_biparse_counts *lscfg_biparse_counts_new(const lscfg_bitexts *text) {
  lscfg_biparse_counts *c = calloc(1, sizeof *c);
  if (!c) return NULL;
  c->text = text;
  if (!rule_table_init(&c->rules) && !wanted_init(&c->wanted)) return c;
  lscfg_biparse_counts_free(c);
  return NULL;
}

void lscfg_biparse_counts_free(lscfg_biparse_counts *c) {
  if (!c) return;
  rule_table_release(&c->rules);
  wanted_release(&c->wanted);
  free(c->target_places.entries);
  free(c->of_target.data);
  free(c->target_view.data);
  free(c->places.entries);
  free(c->words.data);
  free(c->expected.data);
  free(c->sums.data);
  free(c->is_bare.data);
  free(c->linked.data);
  free(c->pairs.data);
  free(c->last.data);
  free(c->numbers.data);
  free(c->edges.data);
  free(c);
}

int lscfg_biparse_want(lscfg_biparse_counts *c, const int32_t *words, int64_t n) {
  c->has_wanted = 1;
  return wanted_add_words(&c->wanted, words, n);
}

/* The index of the sum of all rules with a target side; negative: no memory. */
static int64_t target_place(lscfg_biparse_counts *c, const int32_t *symbols, int32_t n) {
  uint64_t hash = 0;
  for (int32_t k = 0; k < n; k++) hash = fingerprint_append(hash, symbols[k]);
  int64_t *place = int_map_at(&c->target_places, fingerprint_key(hash));
  if (!place || ARRAY_RESERVE(c->of_target, 1)) return LSCFG_ENOMEM;
  if (!*place) {
    c->of_target.data[c->of_target.size++] = 0;
    *place = c->of_target.size;
  }
  return *place - 1;
}

/* The model's weight of a rule's links. */
static double weight_of_links(const lscfg_biparse_model *m, const lscfg_biparse_visits *v,
                              const lscfg_biparse_rule *r) {
  const int32_t *symbols = v->symbols.data + r->symbols, *links = v->links.data + r->links;
  double sum = 0;
  for (int32_t k = 0; k < r->n_links; k++)
    sum += sparse_weight(m, m->scale, LSCFG_LINKED_WORDS, symbols[links[2 * k]],
                         symbols[r->n_src + links[2 * k + 1]]);
  return sum;
}

/* True if no grammar has a rule: no word on a side, or nonterminals side by side on the source side. */
static int is_bare(const int32_t *symbols, int32_t n_src, int32_t n_tgt) {
  int32_t words[2] = {0, 0}, adjacent = 0;
  for (int32_t k = 0; k < n_src + n_tgt; k++) words[k >= n_src] += symbols[k] >= 0;
  for (int32_t k = 1; k < n_src; k++) adjacent |= symbols[k - 1] < 0 && symbols[k] < 0;
  return !words[0] || !words[1] || adjacent;
}

/* The number of a rule, which may be new. */
static int32_t intern(lscfg_biparse_counts *c, const lscfg_biparse_visits *v, const lscfg_biparse_rule *r, int sums) {
  const int32_t *symbols = v->symbols.data + r->symbols;
  if (ARRAY_RESERVE(c->expected, 1) || ARRAY_RESERVE(c->is_bare, 1) || ARRAY_RESERVE(c->pairs, 1) ||
      ARRAY_RESERVE(c->last, 1) || (sums && ARRAY_RESERVE(c->sums, N_SUMS)))
    return LSCFG_ENOMEM;
  int32_t rule = rule_table_intern(&c->rules, symbols, r->n_src, r->n_src + r->n_tgt, r->arity);
  if (rule < c->expected.size) return rule;
  c->expected.data[c->expected.size++] = 0;
  c->is_bare.data[c->is_bare.size++] = (uint8_t)is_bare(symbols, r->n_src, r->n_tgt);
  c->pairs.data[c->pairs.size++] = 0;
  c->last.data[c->last.size++] = -1;
  for (int k = 0; sums && k < N_SUMS; k++) c->sums.data[c->sums.size++] = 0;
  return rule;
}

static int add_rule(lscfg_biparse_counts *c, const lscfg_biparse_visits *v, const lscfg_biparse_rule *r,
                    const lscfg_biparse_model *m) {
  const int32_t *symbols = v->symbols.data + r->symbols;
  int32_t *number = &c->numbers.data[r - v->rules.data];
  if (c->has_wanted) {
    int64_t place = target_place(c, symbols + r->n_src, r->n_tgt);
    if (place < 0) return LSCFG_ENOMEM;
    c->of_target.data[place] += r->expected;
    if (*number != IN_TREE && !wanted_side(&c->wanted, symbols, r->n_src)) return LSCFG_OK;
  }
  int32_t rule = *number = intern(c, v, r, m != NULL);
  if (rule < 0) return LSCFG_ENOMEM;
  c->expected.data[rule] += r->expected;
  c->pairs.data[rule] += c->last.data[rule] != c->n_pairs;
  c->last.data[rule] = c->n_pairs;
  if (!m) return LSCFG_OK;
  int32_t same = c->text->same.data[v->results.data[r->visit].pair];
  double *sums = c->sums.data + N_SUMS * (int64_t)rule;
  sums[0] += r->expected * rule_weight(m, m->scale, find_number(&m->by_rule.places, r->fingerprint[1]), same);
  sums[1] += r->expected * weight_of_links(m, v, r);
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
  uint64_t linked_src = 0;
  word_set linked_tgt = {{0}};
  for (int32_t k = 0; k < r->n_links; k++) {
    int32_t src = links[2 * k], tgt = links[2 * k + 1];
    if (add_link(c, symbols[src], symbols[r->n_src + tgt], r->expected)) return LSCFG_ENOMEM;
    linked_src |= (uint64_t)1 << src;
    linked_tgt = set_or(linked_tgt, set_of(tgt));
  }
  for (int32_t s = 0; s < r->n_src; s++)
    if (symbols[s] >= 0 && !(linked_src >> s & 1) && add_link(c, symbols[s], -1, r->expected)) return LSCFG_ENOMEM;
  for (int32_t t = 0; t < r->n_tgt; t++)
    if (symbols[r->n_src + t] >= 0 && !set_has(linked_tgt, t) && add_link(c, -1, symbols[r->n_src + t], r->expected))
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
  if (c->expected.size && (weighs != NULL) != (c->sums.size > 0))
    return lscfg_fail(error, LSCFG_EINPUT, 0, "rules are counted with weights or without");
  c->numbers.size = 0;
  if (ARRAY_RESERVE(c->numbers, v->rules.size)) return out_of_memory(error);
  for (int64_t k = 0; k < v->rules.size; k++) c->numbers.data[k] = -1;
  for (int64_t k = 0; k < v->edges.size; k++) c->numbers.data[v->edges.data[k].rule] = IN_TREE;
  for (int32_t n = 0; n < v->results.size; n++, c->n_pairs++)
    for (; rule < v->rules.size && v->rules.data[rule].visit == n; rule++)
      if (add_rule(c, v, &v->rules.data[rule], weighs) || add_links(c, v, &v->rules.data[rule]))
        return out_of_memory(error);
  return add_edges(c, v) ? out_of_memory(error) : LSCFG_OK;
}

int lscfg_biparse_counts_get(lscfg_biparse_counts *c, lscfg_biparse_counts_view *view) {
  c->target_view.size = 0;
  if (c->has_wanted && ARRAY_RESERVE(c->target_view, rule_table_size(&c->rules) + 1)) return LSCFG_ENOMEM;
  for (int64_t k = 0; c->has_wanted && k < rule_table_size(&c->rules); k++) {
    const int64_t *offsets = c->rules.offsets.data + k, begin = offsets[0] + c->rules.src_length.data[k];
    int64_t place = target_place(c, c->rules.symbols.data + begin, (int32_t)(offsets[1] - begin));
    if (place < 0) return LSCFG_ENOMEM;
    c->target_view.data[k] = c->of_target.data[place];
  }
  corpus_tables tables = {.vocab = c->text->tables.vocab, .rules = c->rules};
  *view = (lscfg_biparse_counts_view){.expected = c->expected.data,
                                      .pairs = c->pairs.data,
                                      .sums = c->sums.size ? c->sums.data : NULL,
                                      .is_bare = c->is_bare.data,
                                      .of_target = c->has_wanted ? c->target_view.data : NULL,
                                      .tables = corpus_tables_view(&tables),
                                      .linked = c->linked.data,
                                      .n_edges = c->edges.size,
                                      .edges = c->edges.data};
  view->tables.n_pairs = c->words.size;
  view->tables.pairs = c->words.data;
  return LSCFG_OK;
}
