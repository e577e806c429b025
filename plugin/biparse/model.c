/* The model: its rules, each known by its fingerprint, and its weights. */
#include "biparse/model.h"

static void cache_release(rule_cache *c) {
  rule_table_release(&c->rules);
  void *const all[] = {c->aligned.data,        c->links.data, c->aligned_places.entries,
                       c->side_places.entries, c->sides.data, c->targets.data};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
  *c = (rule_cache){0};
}

static int cache_init(rule_cache *c) {
  *c = (rule_cache){0};
  if (rule_table_init(&c->rules) || ARRAY_RESERVE(c->aligned, 1)) {
    cache_release(c);
    return LSCFG_ENOMEM;
  }
  c->aligned.data[0] = (aligned_rule){0};
  return LSCFG_OK;
}

lscfg_biparse_model *lscfg_biparse_model_new(const lscfg_bitexts *text, const lscfg_biparse_options *options) {
  lscfg_biparse_model *m = calloc(1, sizeof *m);
  if (!m) return NULL;
  m->text = text;
  m->options = *options;
  m->scale = 1;
  set_first_weights(m->dense);
  set_first_weights(m->dense_kept);
  if (!space_init(&m->space) && !cache_init(&m->cache)) return m;
  lscfg_biparse_model_free(m);
  return NULL;
}

static void release_weights(weights *w) {
  free(w->weight.data);
  free(w->pending.data);
  free(w->kept.data);
  free(w->squares.data);
  free(w->is_touched.data);
  free(w->touched.data);
}

/* One more weight, of 0. */
static int add_weight(weights *w) {
  if (ARRAY_RESERVE(w->weight, 1) || ARRAY_RESERVE(w->pending, 1) || ARRAY_RESERVE(w->kept, 1) ||
      ARRAY_RESERVE(w->squares, 1) || ARRAY_RESERVE(w->is_touched, 1))
    return LSCFG_ENOMEM;
  w->kept.data[w->kept.size++] = 0;
  w->weight.data[w->weight.size++] = 0;
  w->pending.data[w->pending.size++] = 0;
  w->squares.data[w->squares.size++] = 0;
  w->is_touched.data[w->is_touched.size++] = 0;
  return LSCFG_OK;
}

static void release_rules(lscfg_biparse_model *m) {
  cache_release(&m->cache);
  release_weights(&m->by_rule.of);
  free(m->by_rule.only.data);
  free(m->by_rule.places.entries);
}

void lscfg_biparse_model_free(lscfg_biparse_model *m) {
  if (!m) return;
  release_rules(m);
  space_release(&m->space);
  for (int kind = 0; kind < LSCFG_N_SPARSE; kind++) {
    free(m->sparse[kind].places.entries);
    release_weights(&m->sparse[kind].of);
    free(m->sparse[kind].words.data);
  }
  for (int k = 0; k <= LSCFG_N_SPARSE; k++) free(m->weight_view[k].data);
  for (int k = 0; k < 3; k++) free(m->numbers[k].data);
  free(m->link_view.data);
  free(m->link_begin.data);
  free(m->lexical.data);
  free(m);
}

/* ---- rules ---- */

int32_t model_weight_place(weight_table *t, int64_t key) {
  int64_t *place = int_map_at(&t->places, key);
  if (!place || ARRAY_RESERVE(t->words, 2)) return LSCFG_ENOMEM;
  if (!*place) {
    if (add_weight(&t->of)) return LSCFG_ENOMEM;
    t->words.data[t->words.size++] = (int32_t)(key >> 32) - 1;
    t->words.data[t->words.size++] = (int32_t)(uint32_t)key - 1;
    *place = t->of.weight.size;
  }
  return (int32_t)*place - 1;
}

int32_t model_intern_rule(lscfg_biparse_model *m, const rule_spec *r, int32_t same) {
  int64_t *place = int_map_at(&m->by_rule.places, r->fingerprint[1]);
  if (!place || ARRAY_RESERVE(m->by_rule.only, 1)) return LSCFG_ENOMEM;
  if (*place) {
    int32_t *only = &m->by_rule.only.data[*place - 1];
    if (*only != same) *only = -1;
    return (int32_t)*place - 1;
  }
  int32_t rule = rule_table_append(&m->cache.rules, r->symbols, r->n_src, r->n_src + r->n_tgt, r->arity);
  if (rule < 0 || add_weight(&m->by_rule.of)) return LSCFG_ENOMEM;
  m->by_rule.only.data[m->by_rule.only.size++] = same;
  *place = rule + 1;
  return rule;
}

/* Adds a rule at the end of the list of its source side. */
static int add_to_side(rule_cache *c, int32_t side, int32_t number) {
  target_list *list = &c->sides.data[side];
  if (list->n == list->room) { /* moved to new room of twice the size */
    int32_t room = list->room ? 2 * list->room : 1;
    if (ARRAY_RESERVE(c->targets, room)) return LSCFG_ENOMEM;
    for (int32_t k = 0; k < list->n; k++) c->targets.data[c->targets.size + k] = c->targets.data[list->begin + k];
    list->begin = c->targets.size;
    list->room = room;
    c->targets.size += room;
  }
  c->targets.data[list->begin + list->n++] = number;
  return LSCFG_OK;
}

void model_move_up(lscfg_biparse_model *m, int32_t number) {
  const rule_cache *c = &m->cache;
  const target_list *list = &c->sides.data[c->aligned.data[number].side];
  int32_t *targets = c->targets.data + list->begin, at = 0, shown = most_shown(&c->aligned.data[number]);
  while (targets[at] != number) at++;
  for (; at > 0; at--) {
    int32_t before = targets[at - 1], its = most_shown(&c->aligned.data[before]);
    if (its > shown || (its == shown && before < number)) break;
    targets[at] = before;
  }
  targets[at] = number;
}

int32_t model_intern_aligned(lscfg_biparse_model *m, const rule_spec *r, int32_t rule) {
  rule_cache *c = &m->cache;
  int64_t *place = int_map_at(&c->aligned_places, r->fingerprint[2]);
  if (!place || ARRAY_RESERVE(c->aligned, 2) || ARRAY_RESERVE(c->links, r->n_links)) return LSCFG_ENOMEM;
  if (*place) return (int32_t)*place - 1;
  if (c->aligned.size == INT32_MAX - 1) return LSCFG_ENOMEM;
  int64_t *side = int_map_at(&c->side_places, r->fingerprint[0]);
  if (!side || ARRAY_RESERVE(c->sides, 1)) return LSCFG_ENOMEM;
  if (!*side) {
    c->sides.data[c->sides.size] = (target_list){0};
    *side = ++c->sides.size;
  }
  int32_t number = (int32_t)c->aligned.size;
  c->aligned.data[number] = (aligned_rule){
      .rule = rule, .side = (int32_t)*side - 1, .links = c->links.size, .lexical = {r->lexical[0], r->lexical[1]}};
  for (int32_t k = 0; k < r->n_links; k++) {
    const int32_t *link = r->links + 2 * k;
    int32_t weight = model_weight_place(&m->sparse[LSCFG_LINKED_WORDS],
                                  word_key(r->symbols[link[0]], r->symbols[r->n_src + link[1]]));
    if (weight < 0) return LSCFG_ENOMEM;
    c->links.data[c->links.size++] = (rule_link){weight, (uint8_t)link[0], (uint8_t)link[1]};
  }
  if (add_to_side(c, c->aligned.data[number].side, number)) return LSCFG_ENOMEM;
  c->aligned.data[++c->aligned.size] = (aligned_rule){.links = c->links.size};
  *place = number + 1;
  return number;
}

void model_rescale(lscfg_biparse_model *m) {
  for (int kind = 0; kind <= LSCFG_N_SPARSE; kind++) {
    weights *w = weights_of_kind(m, kind);
    for (int64_t k = 0; k < w->weight.size; k++) w->weight.data[k] *= m->scale;
  }
  m->scale = 1;
}

void lscfg_biparse_next_pass(lscfg_biparse_model *m) {
  const rule_cache *c = &m->cache;
  model_rescale(m); /* the view has no scale: learning that resumes from it must find the same weights */
  for (int64_t k = 0; k < c->aligned.size; k++) {
    c->aligned.data[k].shown = most_shown(&c->aligned.data[k]);
    c->aligned.data[k].now = 0;
  }
}

/* ---- weights to go back to ---- */

int lscfg_biparse_keep(lscfg_biparse_model *m, lscfg_error *error) {
  if (refuse_if_settled(m, error)) return LSCFG_EINPUT;
  for (int kind = 0; kind <= LSCFG_N_SPARSE; kind++) {
    weights *w = weights_of_kind(m, kind);
    for (int64_t k = 0; k < w->kept.size; k++) w->kept.data[k] = m->scale * w->weight.data[k];
  }
  memcpy(m->dense_kept, m->dense, sizeof m->dense);
  return LSCFG_OK;
}

int lscfg_biparse_go_back(lscfg_biparse_model *m, lscfg_error *error) {
  if (refuse_if_settled(m, error)) return LSCFG_EINPUT;
  for (int kind = 0; kind <= LSCFG_N_SPARSE; kind++) {
    weights *w = weights_of_kind(m, kind);
    for (int64_t k = 0; k < w->kept.size; k++) w->weight.data[k] = w->kept.data[k];
  }
  memcpy(m->dense, m->dense_kept, sizeof m->dense);
  m->scale = 1;
  return LSCFG_OK;
}

/* ---- the rule cache ---- */

static void make_spec(const rule_cache *c, int64_t number, int32_t *links, rule_spec *r) {
  const aligned_rule *a = &c->aligned.data[number];
  const rule_table *t = &c->rules;
  int64_t begin = t->offsets.data[a->rule];
  *r = (rule_spec){.symbols = t->symbols.data + begin,
                   .links = links,
                   .n_src = t->src_length.data[a->rule],
                   .arity = t->arity.data[a->rule],
                   .n_links = (int32_t)(a[1].links - a[0].links),
                   .lexical = {a->lexical[0], a->lexical[1]}};
  r->n_tgt = (int32_t)(t->offsets.data[a->rule + 1] - begin) - r->n_src;
  for (int32_t k = 0; k < r->n_links; k++) {
    links[2 * k] = c->links.data[a->links + k].src;
    links[2 * k + 1] = c->links.data[a->links + k].tgt;
  }
  rule_fingerprints(r->symbols, r->n_src, r->n_tgt, links, r->n_links, r->fingerprint);
}

/* Takes the rules of another model that are to stay, in order. */
static int take_rules(lscfg_biparse_model *m, const lscfg_biparse_model *from) {
  int32_t links[2 * MOST_SYMBOLS * MOST_WORDS];
  for (int64_t k = 0; k < from->cache.aligned.size; k++) {
    const aligned_rule *a = &from->cache.aligned.data[k];
    if (from->cache.rules.arity.data[a->rule] && from->by_rule.only.data[a->rule] >= 0) continue;
    rule_spec spec;
    make_spec(&from->cache, k, links, &spec);
    int32_t rule = model_intern_rule(m, &spec, from->by_rule.only.data[a->rule]), number = rule;
    if (rule >= 0) number = model_intern_aligned(m, &spec, rule);
    if (number < 0) return LSCFG_ENOMEM;
    m->by_rule.of.weight.data[rule] = from->by_rule.of.weight.data[a->rule];
    m->by_rule.of.kept.data[rule] = from->by_rule.of.kept.data[a->rule];
    m->by_rule.of.squares.data[rule] = from->by_rule.of.squares.data[a->rule];
    m->cache.aligned.data[number].shown = a->shown;
    m->cache.aligned.data[number].now = a->now;
    model_move_up(m, number);
  }
  return LSCFG_OK;
}

int lscfg_biparse_forget(lscfg_biparse_model *m, int64_t most, lscfg_error *error) {
  if (m->cache.aligned.size <= most) return LSCFG_OK;
  lscfg_biparse_model old = *m;
  m->by_rule = (rule_weights){0};
  int failed = cache_init(&m->cache) || take_rules(m, &old);
  release_rules(&old);
  if (failed) return out_of_memory(error);
  if (m->cache.aligned.size <= most) return LSCFG_OK;
  return lscfg_fail(error, LSCFG_EINPUT, 0, "the cache is too small: %lld rules stay of which none may be forgotten",
                    (long long)m->cache.aligned.size);
}

int lscfg_biparse_settle(lscfg_biparse_model *m) {
  rule_cache none;
  if (cache_init(&none)) return LSCFG_ENOMEM;
  cache_release(&m->cache);
  m->cache = none;
  for (int kind = 0; kind <= LSCFG_N_SPARSE; kind++) {
    weights *w = weights_of_kind(m, kind), left = {0};
    memcpy(&left.weight, &w->weight, sizeof left.weight);
    w->weight.data = NULL;
    release_weights(w);
    *w = left;
  }
  m->is_settled = 1;
  return LSCFG_OK;
}
