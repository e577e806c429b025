/* Views of a model, and models that are sums of views. */
#include "biparse/model.h"

static int copy_weights(lscfg_biparse_model *m, int which, const double *weight, int64_t n) {
  m->weight_view[which].size = 0;
  if (ARRAY_RESERVE(m->weight_view[which], n + 1)) return LSCFG_ENOMEM;
  for (int64_t k = 0; k < n; k++) m->weight_view[which].data[k] = m->scale * weight[k];
  return LSCFG_OK;
}

static int copy_aligned(lscfg_biparse_model *m) {
  int64_t n = m->cache.aligned.size, n_links = m->cache.links.size;
  m->link_view.size = m->link_begin.size = m->lexical.size = 0;
  if (ARRAY_RESERVE(m->link_view, 2 * n_links + 1) || ARRAY_RESERVE(m->link_begin, n + 1) ||
      ARRAY_RESERVE(m->lexical, 2 * n + 1))
    return LSCFG_ENOMEM;
  for (int k = 0; k < 3; k++) {
    m->numbers[k].size = 0;
    if (ARRAY_RESERVE(m->numbers[k], n + 1)) return LSCFG_ENOMEM;
  }
  for (int64_t k = 0; k <= n; k++) m->link_begin.data[k] = m->cache.aligned.data[k].links;
  for (int64_t k = 0; k < n; k++) {
    const aligned_rule *a = &m->cache.aligned.data[k];
    m->numbers[0].data[k] = a->rule;
    m->numbers[1].data[k] = a->shown;
    m->numbers[2].data[k] = a->now;
    for (int way = 0; way < 2; way++) m->lexical.data[2 * k + way] = a->lexical[way];
  }
  for (int64_t k = 0; k < n_links; k++) {
    m->link_view.data[2 * k] = m->cache.links.data[k].src;
    m->link_view.data[2 * k + 1] = m->cache.links.data[k].tgt;
  }
  return LSCFG_OK;
}

int lscfg_biparse_model_get(lscfg_biparse_model *m, lscfg_biparse_view *view) {
  if (copy_aligned(m) || copy_weights(m, 0, m->by_rule.of.weight.data, m->by_rule.of.weight.size)) return LSCFG_ENOMEM;
  *view = (lscfg_biparse_view){.n_rules = rule_table_size(&m->cache.rules),
                               .n_symbols = m->cache.rules.symbols.size,
                               .symbols = m->cache.rules.symbols.data,
                               .offsets = m->cache.rules.offsets.data,
                               .src_length = m->cache.rules.src_length.data,
                               .arity = m->cache.rules.arity.data,
                               .rule_weight = m->weight_view[0].data,
                               .rule_squares = m->by_rule.of.squares.data,
                               .only = m->by_rule.only.data,
                               .n_aligned = m->cache.aligned.size,
                               .n_links = m->cache.links.size,
                               .aligned_rule = m->numbers[0].data,
                               .link_begin = m->link_begin.data,
                               .links = m->link_view.data,
                               .shown = m->numbers[1].data,
                               .shown_now = m->numbers[2].data,
                               .lexical = m->lexical.data};
  for (int kind = 0; kind < LSCFG_N_SPARSE; kind++) {
    const weight_table *t = &m->sparse[kind];
    if (copy_weights(m, 1 + kind, t->of.weight.data, t->of.weight.size)) return LSCFG_ENOMEM;
    view->n_weights[kind] = t->of.weight.size;
    view->squares[kind] = t->of.squares.data;
    view->words[kind] = t->words.data;
    view->weight[kind] = m->weight_view[1 + kind].data;
  }
  for (int kind = 0; kind <= LSCFG_N_SPARSE; kind++) view->kept[kind] = weights_of_kind(m, kind)->kept.data;
  memcpy(view->dense_kept, m->dense_kept, sizeof m->dense_kept);
  memcpy(view->dense, m->dense, sizeof m->dense);
  memcpy(view->dense_squares, m->dense_squares, sizeof m->dense_squares);
  return LSCFG_OK;
}

static int refuse(lscfg_error *error, const char *what) {
  return lscfg_fail(error, LSCFG_EINPUT, 0, "invalid model: %s", what);
}

static void add_share(weights *w, int32_t place, double share, double weight, double kept, float squares) {
  w->weight.data[place] += share * weight;
  w->kept.data[place] = kept;
  w->squares.data[place] += (float)(share * squares);
}

static int add_weights(lscfg_biparse_model *m, const lscfg_biparse_view *view, double share, lscfg_error *error) {
  int32_t n_words = lscfg_vocab_size(&m->text->tables.vocab);
  for (int kind = 0; kind < LSCFG_N_SPARSE; kind++)
    for (int64_t k = 0; k < view->n_weights[kind]; k++) {
      const int32_t *words = view->words[kind] + 2 * k;
      if (words[0] < -1 || words[1] < -1 || words[0] >= n_words || words[1] >= n_words)
        return refuse(error, "a word of a weight");
      int32_t place = model_weight_place(&m->sparse[kind], word_key(words[0], words[1]));
      if (place < 0) return out_of_memory(error);
      add_share(&m->sparse[kind].of, place, share, view->weight[kind][k], view->kept[kind][k], view->squares[kind][k]);
    }
  for (int k = 0; k < LSCFG_N_DENSE; k++) {
    m->dense[k] += share * view->dense[k];
    m->dense_squares[k] += share * view->dense_squares[k];
  }
  memcpy(m->dense_kept, view->dense_kept, sizeof m->dense_kept);
  return LSCFG_OK;
}

static rule_spec spec_of(const lscfg_biparse_view *view, int64_t rule) {
  int64_t begin = view->offsets[rule], n = view->offsets[rule + 1] - begin;
  return (rule_spec){.symbols = view->symbols + begin,
                     .n_src = view->src_length[rule],
                     .n_tgt = (int32_t)n - view->src_length[rule],
                     .arity = view->arity[rule]};
}

/* Links must join words; symbols were checked. */
static int good_links(const rule_spec *r) {
  for (const int32_t *link = r->links; link < r->links + 2 * r->n_links; link += 2)
    if (link[0] < 0 || link[0] >= r->n_src || link[1] < 0 || link[1] >= r->n_tgt || r->symbols[link[0]] < 0 ||
        r->symbols[r->n_src + link[1]] < 0)
      return 0;
  return 1;
}

/* numbers: of the rules in this model. */
static int add_rules(lscfg_biparse_model *m, const lscfg_biparse_view *view, double share, int32_t *numbers) {
  for (int64_t k = 0; k < view->n_rules; k++) {
    rule_spec spec = spec_of(view, k);
    rule_fingerprints(spec.symbols, spec.n_src, spec.n_tgt, NULL, 0, spec.fingerprint);
    int32_t rule = numbers[k] = model_intern_rule(m, &spec, view->only[k]);
    if (rule < 0) return LSCFG_ENOMEM;
    add_share(&m->by_rule.of, rule, share, view->rule_weight[k], view->kept[LSCFG_N_SPARSE][k], view->rule_squares[k]);
  }
  return LSCFG_OK;
}

static int add_aligned(lscfg_biparse_model *m, const lscfg_biparse_view *view, const int32_t *numbers,
                       lscfg_error *error) {
  for (int64_t k = 0; k < view->n_aligned; k++) {
    int32_t rule = view->aligned_rule[k];
    int64_t begin = view->link_begin[k], n_links = view->link_begin[k + 1] - begin;
    if (rule < 0 || rule >= view->n_rules || n_links < 0 || n_links > MOST_SYMBOLS * MOST_WORDS || begin < 0 ||
        begin + n_links > view->n_links)
      return refuse(error, "a rule");
    rule_spec spec = spec_of(view, rule);
    spec.links = view->links + 2 * begin;
    spec.n_links = (int32_t)n_links;
    memcpy(spec.lexical, view->lexical + 2 * k, sizeof spec.lexical);
    if (!good_links(&spec)) return refuse(error, "a link");
    rule_fingerprints(spec.symbols, spec.n_src, spec.n_tgt, spec.links, spec.n_links, spec.fingerprint);
    int32_t number = model_intern_aligned(m, &spec, numbers[rule]);
    if (number < 0) return out_of_memory(error);
    aligned_rule *a = &m->cache.aligned.data[number];
    if (view->shown[k] > a->shown) a->shown = view->shown[k];
    a->now += view->shown_now[k];
    model_move_up(m, number);
  }
  return LSCFG_OK;
}

/* True if a view, the only part of a model, contains everything once. */
static int has_all(const lscfg_biparse_model *m, const lscfg_biparse_view *view) {
  for (int kind = 0; kind < LSCFG_N_SPARSE; kind++)
    if (m->sparse[kind].of.weight.size != view->n_weights[kind]) return 0;
  return m->by_rule.of.weight.size == view->n_rules && m->cache.aligned.size == view->n_aligned;
}

int lscfg_biparse_model_add(lscfg_biparse_model *m, const lscfg_biparse_view *view, double share,
                            lscfg_error *error) {
  int is_first = !m->is_sum;
  if (refuse_if_settled(m, error)) return LSCFG_EINPUT;
  if (is_first) memset(m->dense, 0, sizeof m->dense);
  m->is_sum = 1;
  int32_t *numbers = malloc((size_t)(view->n_rules + 1) * sizeof *numbers);
  if (!numbers) return out_of_memory(error);
  int code = add_weights(m, view, share, error);
  if (!code && add_rules(m, view, share, numbers)) code = out_of_memory(error);
  if (!code) code = add_aligned(m, view, numbers, error);
  free(numbers);
  if (!code && is_first && !has_all(m, view)) return refuse(error, "an entry occurs twice");
  return code;
}
