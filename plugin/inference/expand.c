/* Expands forests of composed rules into forests of the model's rules. Each derivation of a composed rule becomes
 * separate edges; equal parts over the same tails share one node. */
#include "inference/expand.h"

#include "base/index.h"
#include "inference/compose.h"

/* A composed rule gets no tensor: at m = 16, 177,000 of them are gigabytes, and contracting one costs m^4. Instead
 * the forest is expanded: lower rules of each derivation become nodes, and equal parts over the same tails are one
 * node per sentence. Rules with source x target symbols above 128 are not composed. */

/* A composite over its tails, and its node. */
typedef struct {
  int32_t composite, tail[2], node;
} instance;

typedef struct {
  const lscfg_binding *binding;
  const lscfg_forest *from;
  lscfg_forest_view view; /* of it */
  expansion *made;
  ARRAY(instance) instances;
  index_table index;    /* of them */
  ARRAY(int32_t) rules; /* of the edge under work */
} expander;

static uint32_t hash_instance(int32_t c, const int32_t tail[2]) {
  const int32_t key[3] = {c, tail[0], tail[1]};
  return (uint32_t)hash_ints(key, 3, 0);
}

/* The node of a composite over these tails, -1: none yet. */
static int32_t instance_node(const expander *x, int32_t c, const int32_t tail[2]) {
  int64_t at = -1;
  for (int32_t k; (k = index_next(&x->index, hash_instance(c, tail), &at)) >= 0;) {
    const instance *known = &x->instances.data[k];
    if (known->composite == c && known->tail[0] == tail[0] && known->tail[1] == tail[1]) return known->node;
  }
  return -1;
}

/* An edge of one rule into the last node; app: the application of the first forest that its marginal belongs to, or -1.
 * */
static int add_expanded(expander *x, int32_t rule, const int32_t tail[2], int32_t app) {
  if (ARRAY_RESERVE(x->made->app, 1)) return LSCFG_ENOMEM;
  x->made->app.data[x->made->app.size++] = app;
  return forest_add_edge(x->made->forest, tail[0], tail[1], &rule, 1) < 0 ? LSCFG_ENOMEM : LSCFG_OK;
}

static int32_t instantiate(expander *x, int32_t c, const int32_t tail[2]);

/* The nodes below a production of a composite over these tails, created at first use. */
static int production_tails(expander *x, const production *p, const int32_t tail[2], int32_t made[2]) {
  int32_t next = 0;
  made[0] = made[1] = -1;
  for (int k = 0; k < 2 && p->child[k] != NO_CHILD; k++) {
    if (p->child[k] == OWN_TAIL) {
      made[k] = tail[next++];
      continue;
    }
    int32_t arity = composition_composite(x->binding->composition, p->child[k])->arity, own[2] = {-1, -1};
    for (int32_t t = 0; t < arity; t++) own[t] = tail[next++];
    if ((made[k] = instantiate(x, p->child[k], own)) < 0) return LSCFG_ENOMEM;
  }
  return LSCFG_OK;
}

/* Makes all nodes below the composite (before its head is), or adds the edges of its productions to the last node. */
static int expand_composite(expander *x, int32_t c, const int32_t tail[2], int add, int32_t app) {
  const composite *made_of = composition_composite(x->binding->composition, c);
  int32_t oov = lscfg_grammar_size(x->binding->grammar), made[2];
  for (int32_t k = made_of->productions_begin; k < made_of->productions_end; k++) {
    const production *p = composition_production(x->binding->composition, k);
    if (production_tails(x, p, tail, made)) return LSCFG_ENOMEM;
    if (add && add_expanded(x, p->rule == OOV_PART ? oov : oov + 1 + p->rule, made, app)) return LSCFG_ENOMEM;
  }
  return LSCFG_OK;
}

static int32_t instantiate(expander *x, int32_t c, const int32_t tail[2]) {
  int32_t node = instance_node(x, c, tail);
  if (node >= 0) return node;
  if (expand_composite(x, c, tail, 0, -1) || (node = forest_add_node(x->made->forest, CATEGORY_X, 0, 0)) < 0 ||
      expand_composite(x, c, tail, 1, -1) || ARRAY_RESERVE(x->instances, 1) || index_reserve(&x->index))
    return LSCFG_ENOMEM;
  index_put(&x->index, hash_instance(c, tail), (int32_t)x->instances.size);
  x->instances.data[x->instances.size++] = (instance){c, {tail[0], tail[1]}, node};
  return node;
}

/* The rule, in the inner binding's numbers, of an application that is not composed; -1: it has no probability. */
static int32_t inner_rule(const expander *x, int32_t edge, int32_t rule) {
  const lscfg_binding *b = x->binding;
  int32_t n = lscfg_grammar_size(b->grammar), head = x->from->edge_head.data[edge], oov = n;
  if (rule < n) return rule;
  if (node_category(b, x->from, head) < 0) return rule - n + b->inner->n_rules;
  if (rule == n + LSCFG_RULE_PASS)
    return grammar_has_word_rule(b->grammar, *forest_passed_word(&x->view, edge)) ? -1 : oov;
  if (rule == n + LSCFG_RULE_PASS_KNOWN) return -1;
  return b->options.oov && x->from->edge_tail.data[2 * (int64_t)edge] < 0 ? oov : -1;
}

static int32_t composite_of(const expander *x, int32_t rule) {
  const lscfg_binding *b = x->binding;
  return b->composition && rule < lscfg_grammar_size(b->grammar) ? composition_of(b->composition, rule) : -1;
}

/* An edge of the rules that are not composed, except those outside the model. */
static int expand_plain(expander *x, int32_t edge, const int32_t tail[2]) {
  const lscfg_forest *f = x->from;
  int32_t begin = f->edge_apps.data[edge], end = f->edge_apps.data[edge + 1], stateless;
  stateless = node_category(x->binding, f, f->edge_head.data[edge]) < 0;
  x->rules.size = 0;
  if (ARRAY_RESERVE(x->rules, end - begin) || ARRAY_RESERVE(x->made->app, end - begin)) return LSCFG_ENOMEM;
  for (int32_t a = begin; a < end; a++) {
    int32_t rule = inner_rule(x, edge, f->app_rule.data[a]);
    if (composite_of(x, f->app_rule.data[a]) >= 0 || rule < 0) continue;
    if (!stateless && binding_row(x->binding->inner, rule) == NO_ROW) continue;
    x->rules.data[x->rules.size++] = rule;
    x->made->app.data[x->made->app.size++] = a;
  }
  int32_t n = (int32_t)x->rules.size;
  return n && forest_add_edge(x->made->forest, tail[0], tail[1], x->rules.data, n) < 0 ? LSCFG_ENOMEM : LSCFG_OK;
}

/* Makes the nodes below the edge's composed rules, or its edges into the last node. */
static int expand_edge(expander *x, int32_t edge, int add) {
  const lscfg_forest *f = x->from;
  int32_t tail[2];
  for (int t = 0; t < 2; t++) {
    int32_t node = f->edge_tail.data[2 * (int64_t)edge + t];
    tail[t] = node < 0 ? -1 : x->made->node[node];
  }
  if (add && expand_plain(x, edge, tail)) return LSCFG_ENOMEM;
  for (int32_t a = f->edge_apps.data[edge]; a < f->edge_apps.data[edge + 1]; a++) {
    int32_t c = composite_of(x, f->app_rule.data[a]);
    if (c >= 0 && expand_composite(x, c, tail, add, a)) return LSCFG_ENOMEM;
  }
  return LSCFG_OK;
}

void expansion_release(expansion *made) {
  lscfg_forest_free(made->forest);
  free(made->node);
  free(made->app.data);
}

int expansion_make(const lscfg_binding *b, const lscfg_forest *f, expansion *made) {
  composition *shared = b->composition;
  expander x = {.binding = b, .from = f, .made = made};
  int code = LSCFG_OK;
  lscfg_forest_get(f, &x.view);
  memset(made, 0, sizeof *made);
  made->forest = forest_new(f->words, f->n_words);
  made->node = malloc(((size_t)f->node_cat.size + 1) * sizeof *made->node);
  if (!made->forest || !made->node) code = LSCFG_ENOMEM;
  if (shared) composition_lock(shared);
  for (int32_t q = 0; q < f->node_cat.size && !code; q++) {
    int32_t begin = f->node_edges.data[q], end = f->node_edges.data[q + 1];
    for (int32_t e = begin; e < end && b->composition && !code; e++) code = expand_edge(&x, e, 0);
    if (code) break;
    made->node[q] =
        forest_add_node(made->forest, f->node_cat.data[q], f->node_span.data[2 * q], f->node_span.data[2 * q + 1]);
    if (made->node[q] < 0) code = LSCFG_ENOMEM;
    for (int32_t e = begin; e < end && !code; e++) code = expand_edge(&x, e, 1);
  }
  if (shared) composition_unlock(shared);
  free(x.instances.data);
  index_release(&x.index);
  free(x.rules.data);
  if (code) expansion_release(made);
  return code;
}
