/* The model: its rules, each known by its fingerprint, and its weights. */
#include "biparse/model.h"

lscfg_biparse_model *lscfg_biparse_model_new(const lscfg_bitexts *text, const lscfg_biparse_options *options) {
  lscfg_biparse_model *m = calloc(1, sizeof *m);
  if (!m) return NULL;
  m->text = text;
  m->options = *options;
  m->scale = 1;
  set_first_weights(m->dense);
  set_first_weights(m->dense_kept);
  if (!space_init(&m->space) && !rule_table_init(&m->rules) && !ARRAY_RESERVE(m->aligned, 1)) {
    m->aligned.data[0] = (aligned_rule){0};
    return m;
  }
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

/* Rules and their lists. */
static void release_rules(lscfg_biparse_model *m) {
  rule_table_release(&m->rules);
  release_weights(&m->of_rules);
  void *const all[] = {m->only.data,              m->aligned.data,          m->links.data, m->rule_places.entries,
                       m->aligned_places.entries, m->side_places.entries, m->sides.data, m->targets.data};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
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
  int64_t *place = int_map_at(&m->rule_places, r->fingerprint[1]);
  if (!place || ARRAY_RESERVE(m->only, 1)) return LSCFG_ENOMEM;
  if (*place) {
    int32_t *only = &m->only.data[*place - 1];
    if (*only != same) *only = -1;
    return (int32_t)*place - 1;
  }
  int32_t rule = rule_table_append(&m->rules, r->symbols, r->n_src, r->n_src + r->n_tgt, r->arity);
  if (rule < 0 || add_weight(&m->of_rules)) return LSCFG_ENOMEM;
  m->only.data[m->only.size++] = same;
  *place = rule + 1;
  return rule;
}

/* Adds a rule at the end of the list of its source side. */
static int add_to_side(lscfg_biparse_model *m, int32_t side, int32_t number) {
  target_list *list = &m->sides.data[side];
  if (list->n == list->room) { /* moved to new room of twice the size */
    int32_t room = list->room ? 2 * list->room : 1;
    if (ARRAY_RESERVE(m->targets, room)) return LSCFG_ENOMEM;
    for (int32_t k = 0; k < list->n; k++) m->targets.data[m->targets.size + k] = m->targets.data[list->begin + k];
    list->begin = m->targets.size;
    list->room = room;
    m->targets.size += room;
  }
  m->targets.data[list->begin + list->n++] = number;
  return LSCFG_OK;
}

void model_move_up(lscfg_biparse_model *m, int32_t number) {
  const target_list *list = &m->sides.data[m->aligned.data[number].side];
  int32_t *targets = m->targets.data + list->begin, at = 0, shown = most_shown(&m->aligned.data[number]);
  while (targets[at] != number) at++;
  for (; at > 0; at--) {
    int32_t before = targets[at - 1], its = most_shown(&m->aligned.data[before]);
    if (its > shown || (its == shown && before < number)) break;
    targets[at] = before;
  }
  targets[at] = number;
}

int32_t model_intern_aligned(lscfg_biparse_model *m, const rule_spec *r, int32_t rule) {
  int64_t *place = int_map_at(&m->aligned_places, r->fingerprint[2]);
  if (!place || ARRAY_RESERVE(m->aligned, 2) || ARRAY_RESERVE(m->links, r->n_links)) return LSCFG_ENOMEM;
  if (*place) return (int32_t)*place - 1;
  if (m->aligned.size == INT32_MAX - 1) return LSCFG_ENOMEM;
  int64_t *side = int_map_at(&m->side_places, r->fingerprint[0]);
  if (!side || ARRAY_RESERVE(m->sides, 1)) return LSCFG_ENOMEM;
  if (!*side) {
    m->sides.data[m->sides.size] = (target_list){0};
    *side = ++m->sides.size;
  }
  int32_t number = (int32_t)m->aligned.size;
  m->aligned.data[number] = (aligned_rule){
      .rule = rule, .side = (int32_t)*side - 1, .links = m->links.size, .lexical = {r->lexical[0], r->lexical[1]}};
  for (int32_t k = 0; k < r->n_links; k++) {
    const int32_t *link = r->links + 2 * k;
    int32_t weight = model_weight_place(&m->sparse[LSCFG_LINKED_WORDS],
                                  word_key(r->symbols[link[0]], r->symbols[r->n_src + link[1]]));
    if (weight < 0) return LSCFG_ENOMEM;
    m->links.data[m->links.size++] = (rule_link){weight, (uint8_t)link[0], (uint8_t)link[1]};
  }
  if (add_to_side(m, m->aligned.data[number].side, number)) return LSCFG_ENOMEM;
  m->aligned.data[++m->aligned.size] = (aligned_rule){.links = m->links.size};
  *place = number + 1;
  return number;
}

void lscfg_biparse_next_pass(lscfg_biparse_model *m) {
  for (int64_t k = 0; k < m->aligned.size; k++) {
    m->aligned.data[k].shown = most_shown(&m->aligned.data[k]);
    m->aligned.data[k].now = 0;
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

static void make_spec(const lscfg_biparse_model *m, int64_t number, int32_t *links, rule_spec *r) {
  const aligned_rule *a = &m->aligned.data[number];
  const rule_table *t = &m->rules;
  int64_t begin = t->offsets.data[a->rule];
  *r = (rule_spec){.symbols = t->symbols.data + begin,
                   .links = links,
                   .n_src = t->src_length.data[a->rule],
                   .arity = t->arity.data[a->rule],
                   .n_links = (int32_t)(a[1].links - a[0].links),
                   .lexical = {a->lexical[0], a->lexical[1]}};
  r->n_tgt = (int32_t)(t->offsets.data[a->rule + 1] - begin) - r->n_src;
  for (int32_t k = 0; k < r->n_links; k++) {
    links[2 * k] = m->links.data[a->links + k].src;
    links[2 * k + 1] = m->links.data[a->links + k].tgt;
  }
  rule_fingerprints(r->symbols, r->n_src, r->n_tgt, links, r->n_links, r->fingerprint);
}

/* Takes the rules of another model that are to stay, in order. */
static int take_rules(lscfg_biparse_model *m, const lscfg_biparse_model *from) {
  int32_t links[2 * MOST_SYMBOLS * MOST_WORDS];
  for (int64_t k = 0; k < from->aligned.size; k++) {
    const aligned_rule *a = &from->aligned.data[k];
    if (from->rules.arity.data[a->rule] && from->only.data[a->rule] >= 0) continue;
    rule_spec spec;
    make_spec(from, k, links, &spec);
    int32_t rule = model_intern_rule(m, &spec, from->only.data[a->rule]), number = rule;
    if (rule >= 0) number = model_intern_aligned(m, &spec, rule);
    if (number < 0) return LSCFG_ENOMEM;
    m->of_rules.weight.data[rule] = from->of_rules.weight.data[a->rule];
    m->of_rules.kept.data[rule] = from->of_rules.kept.data[a->rule];
    m->of_rules.squares.data[rule] = from->of_rules.squares.data[a->rule];
    m->aligned.data[number].shown = a->shown;
    m->aligned.data[number].now = a->now;
    model_move_up(m, number);
  }
  return LSCFG_OK;
}

int lscfg_biparse_forget(lscfg_biparse_model *m, int64_t most, lscfg_error *error) {
  if (m->aligned.size <= most) return LSCFG_OK;
  lscfg_biparse_model old = *m;
  memset(&m->rules, 0, sizeof m->rules);
  memset(&m->of_rules, 0, sizeof m->of_rules);
  memset(&m->only, 0, sizeof m->only);
  memset(&m->aligned, 0, sizeof m->aligned);
  memset(&m->links, 0, sizeof m->links);
  memset(&m->rule_places, 0, sizeof m->rule_places);
  memset(&m->aligned_places, 0, sizeof m->aligned_places);
  memset(&m->side_places, 0, sizeof m->side_places);
  memset(&m->sides, 0, sizeof m->sides);
  memset(&m->targets, 0, sizeof m->targets);
  int failed = rule_table_init(&m->rules) || ARRAY_RESERVE(m->aligned, 1);
  if (!failed) {
    m->aligned.data[0] = (aligned_rule){0};
    failed = take_rules(m, &old) != LSCFG_OK;
  }
  release_rules(&old);
  if (failed) return out_of_memory(error);
  if (m->aligned.size <= most) return LSCFG_OK;
  return lscfg_fail(error, LSCFG_EINPUT, 0, "the cache is too small: %lld rules stay of which none may be forgotten",
                    (long long)m->aligned.size);
}

int lscfg_biparse_settle(lscfg_biparse_model *m) {
  rule_table none;
  aligned_rule *end = calloc(1, sizeof *end);
  if (!end || rule_table_init(&none)) {
    free(end);
    return LSCFG_ENOMEM;
  }
  rule_table_release(&m->rules);
  m->rules = none;
  void *const all[] = {m->aligned.data,        m->links.data, m->aligned_places.entries,
                       m->side_places.entries, m->sides.data, m->targets.data};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
  memset(&m->links, 0, sizeof m->links);
  memset(&m->aligned_places, 0, sizeof m->aligned_places);
  memset(&m->side_places, 0, sizeof m->side_places);
  memset(&m->sides, 0, sizeof m->sides);
  memset(&m->targets, 0, sizeof m->targets);
  m->aligned.data = end;
  m->aligned.size = 0;
  m->aligned.capacity = 1;
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
