/* Forests that a decoder builds: drafted application by application, checked and put into edges at the end. */
#include "forest/extra_rules.h"
#include "forest/forest.h"
#include "forest/grammar.h"

lscfg_forest *lscfg_forest_new(const int32_t *words, int32_t n_words) {
  lscfg_forest *f = n_words < 0 ? NULL : forest_new(words, n_words);
  if (f) f->origin = FOREST_DRAFT;
  return f;
}

static int check_draft(const lscfg_forest *f, lscfg_error *error) {
  if (f->origin == FOREST_DRAFT) return LSCFG_OK;
  return lscfg_fail(error, LSCFG_EINPUT, 0, "the forest is finished, nothing can be added");
}

int32_t lscfg_forest_add_node(lscfg_forest *f, int32_t category, int32_t i, int32_t j, lscfg_error *error) {
  if (check_draft(f, error)) return LSCFG_EINPUT;
  if (category < 0 || i < 0 || i >= j || j > f->n_words)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "a node of category %ld over [%ld, %ld) of %ld words", (long)category,
                      (long)i, (long)j, (long)f->n_words);
  if (f->draft_nodes.size == INT32_MAX || ARRAY_RESERVE(f->draft_nodes, 1)) return out_of_memory(error);
  f->draft_nodes.data[f->draft_nodes.size] = (draft_node){category, i, j};
  return (int32_t)f->draft_nodes.size++;
}

int32_t lscfg_forest_add_application(lscfg_forest *f, int32_t rule, int32_t tail0, int32_t tail1, lscfg_error *error) {
  int32_t head = (int32_t)f->draft_nodes.size - 1;
  if (check_draft(f, error)) return LSCFG_EINPUT;
  if (head < 0) return lscfg_fail(error, LSCFG_EINPUT, 0, "add a node before its applications");
  if (rule < 0) return lscfg_fail(error, LSCFG_EINPUT, 0, "no rule %ld", (long)rule);
  if (tail0 < -1 || tail1 < -1 || tail0 >= head || tail1 >= head || (tail0 < 0 && tail1 >= 0))
    return lscfg_fail(error, LSCFG_EINPUT, 0,
                      "the tails of node %ld are %ld and %ld: they must be nodes added before it", (long)head,
                      (long)tail0, (long)tail1);
  if (f->draft_apps.size == INT32_MAX || ARRAY_RESERVE(f->draft_apps, 1)) return out_of_memory(error);
  f->draft_apps.data[f->draft_apps.size] = (draft_app){head, rule, {tail0, tail1}};
  return (int32_t)f->draft_apps.size++;
}

/* ---- checks ---- */

/* Words of the rule's source side before its nonterminal number `gap`, from the one before, or before its end: each
 * covers at least one position, in a lattice also more. */
static int32_t words_before(const lscfg_grammar *g, int32_t rule, int gap) {
  int32_t n = lscfg_grammar_size(g), words = 0;
  if (rule >= n) return extra_passes(rule - n);
  const grammar_rule *r = &g->rules.data[rule];
  for (int32_t k = 0; k < r->n_src && gap >= 0; k++) {
    if (g->symbols.data[r->src + k] < 0)
      gap--;
    else
      words += !gap;
  }
  return words;
}

/* Categories of the rule's head (-1: any) and nonterminals; returns the number of nonterminals, -1: any. */
static int32_t wanted_categories(const lscfg_grammar *g, int32_t rule, int32_t *head, int32_t tails[MAX_ARITY]) {
  int32_t n = lscfg_grammar_size(g), arity = 0;
  if (rule >= n) {
    int32_t extra = rule - n;
    *head = extra == LSCFG_RULE_PASS ? -1 : extra == LSCFG_RULE_PASS_KNOWN ? CATEGORY_X : CATEGORY_S;
    tails[0] = extra == LSCFG_RULE_GLUE ? CATEGORY_S : CATEGORY_X;
    tails[1] = CATEGORY_X;
    return extra_arity(extra);
  }
  const grammar_rule *r = &g->rules.data[rule];
  *head = r->lhs;
  for (int32_t k = 0; k < r->n_src; k++)
    if (g->symbols.data[r->src + k] < 0) tails[arity++] = -1 - g->symbols.data[r->src + k];
  return arity;
}

static int no_room(const lscfg_forest *f, int64_t a, lscfg_error *error) {
  const draft_app *app = &f->draft_apps.data[a];
  const draft_node *head = &f->draft_nodes.data[app->head];
  return lscfg_fail(error, LSCFG_EINPUT, 0, "application %lld: [%ld, %ld) has no room for the words of rule %ld",
                    (long long)a, (long)head->i, (long)head->j, (long)app->rule);
}

static int check_application(const lscfg_forest *f, const lscfg_grammar *g, int64_t a, lscfg_error *error) {
  const draft_app *app = &f->draft_apps.data[a];
  const draft_node *head = &f->draft_nodes.data[app->head];
  int32_t category, tails[MAX_ARITY], begin = head->i, n_tails = (app->tail[0] >= 0) + (app->tail[1] >= 0);
  if (app->rule >= lscfg_grammar_size(g) + LSCFG_RULE_REST) /* drafts have at most two tails */
    return lscfg_fail(error, LSCFG_EINPUT, 0, "application %lld: the grammar has no rule %ld", (long long)a,
                      (long)app->rule);
  int32_t arity = wanted_categories(g, app->rule, &category, tails);
  if (arity >= 0 && arity != n_tails)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "application %lld: rule %ld has %ld nonterminals, not %ld", (long long)a,
                      (long)app->rule, (long)arity, (long)n_tails);
  if (arity >= 0 && category != head->category && (category >= 0 || head->category == CATEGORY_S))
    return lscfg_fail(error, LSCFG_EINPUT, 0, "application %lld: rule %ld is not of category %ld", (long long)a,
                      (long)app->rule, (long)head->category);
  for (int t = 0; t < n_tails; t++) {
    const draft_node *tail = &f->draft_nodes.data[app->tail[t]];
    if (arity >= 0 && tail->category != tails[t])
      return lscfg_fail(error, LSCFG_EINPUT, 0, "application %lld: tail %d is of category %ld, the rule wants %ld",
                        (long long)a, t, (long)tail->category, (long)tails[t]);
    if (tail->i < begin || tail->j > head->j)
      return lscfg_fail(error, LSCFG_EINPUT, 0,
                        "application %lld: the tails are not adjacent and in order inside [%ld, %ld)", (long long)a,
                        (long)head->i, (long)head->j);
    if (words_before(g, app->rule, t) > tail->i - begin) return no_room(f, a, error);
    begin = tail->j;
  }
  return words_before(g, app->rule, n_tails) > head->j - begin ? no_room(f, a, error) : LSCFG_OK;
}

static int check_drafts(const lscfg_forest *f, const lscfg_grammar *g, lscfg_error *error) {
  if (!g->finished)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "the grammar is not finished; call finish after its last rule");
  if (refuse_layer(g, error)) return LSCFG_EINPUT;
  if (!f->draft_nodes.size) return lscfg_fail(error, LSCFG_EINPUT, 0, "the forest has no nodes");
  for (int64_t q = 0; q < f->draft_nodes.size; q++)
    if (f->draft_nodes.data[q].category >= lscfg_vocab_size(&g->categories))
      return lscfg_fail(error, LSCFG_EINPUT, 0, "node %lld: the grammar has no category %ld", (long long)q,
                        (long)f->draft_nodes.data[q].category);
  for (int64_t a = 0; a < f->draft_apps.size; a++)
    if (check_application(f, g, a, error)) return LSCFG_EINPUT;
  return LSCFG_OK;
}

/* ---- edges ---- */

/* A kept application. Equal source sides and tails form one edge; unit is the rules' group, or a unique number. */
typedef struct {
  int64_t unit;
  int32_t tail[2], rule, draft;
} kept_app;

static int by_edge(const void *x, const void *y) {
  const kept_app *a = x, *b = y;
  if (a->unit != b->unit) return a->unit < b->unit ? -1 : 1;
  for (int t = 0; t < 2; t++)
    if (a->tail[t] != b->tail[t]) return a->tail[t] < b->tail[t] ? -1 : 1;
  if (a->rule != b->rule) return a->rule < b->rule ? -1 : 1;
  return a->draft < b->draft ? -1 : a->draft > b->draft;
}

static int same_edge(const kept_app *a, const kept_app *b) {
  return a->unit == b->unit && a->tail[0] == b->tail[0] && a->tail[1] == b->tail[1];
}

/* number[q]: 0 for nodes of some derivation of the root, else -1. Returns 0 if the root has no derivation. */
static int find_used(const lscfg_forest *f, int32_t *number) {
  int32_t root = (int32_t)f->draft_nodes.size - 1;
  enum { NONE = -1, USED = 0, DERIVED = 1 };
  memset(number, 0xff, (size_t)f->draft_nodes.size * sizeof *number);
  for (int64_t a = 0; a < f->draft_apps.size; a++) {
    const draft_app *app = &f->draft_apps.data[a];
    if ((app->tail[0] < 0 || number[app->tail[0]] == DERIVED) && (app->tail[1] < 0 || number[app->tail[1]] == DERIVED))
      number[app->head] = DERIVED;
  }
  if (number[root] != DERIVED) return 0;
  number[root] = USED;
  for (int64_t a = f->draft_apps.size - 1; a >= 0; a--) {
    const draft_app *app = &f->draft_apps.data[a];
    if (number[app->head] != USED || (app->tail[0] >= 0 && number[app->tail[0]] == NONE) ||
        (app->tail[1] >= 0 && number[app->tail[1]] == NONE))
      continue;
    for (int t = 0; t < 2; t++)
      if (app->tail[t] >= 0) number[app->tail[t]] = USED;
  }
  for (int32_t q = 0; q <= root; q++)
    if (number[q] == DERIVED) number[q] = NONE;
  return 1;
}

/* The edges of the last node of the new forest, from its applications that stay. */
static int add_edges(lscfg_forest *made, kept_app *apps, int32_t n, int32_t *rules, int32_t *app_of) {
  qsort(apps, (size_t)n, sizeof *apps, by_edge);
  for (int32_t begin = 0, end; begin < n; begin = end) {
    for (end = begin; end < n && same_edge(&apps[begin], &apps[end]); end++) {
      rules[end - begin] = apps[end].rule;
      app_of[apps[end].draft] = (int32_t)made->app_rule.size + end - begin;
    }
    if (forest_add_edge(made, apps[begin].tail[0], apps[begin].tail[1], rules, end - begin) < 0) return LSCFG_ENOMEM;
  }
  return LSCFG_OK;
}

static int build(const lscfg_forest *f, const lscfg_grammar *g, lscfg_forest *made, int32_t *number, kept_app *apps,
                 int32_t *rules, int32_t *app_of) {
  int64_t a = 0;
  for (int32_t q = 0; q < f->draft_nodes.size; q++) {
    const draft_node *node = &f->draft_nodes.data[q];
    int32_t n = 0;
    for (; a < f->draft_apps.size && f->draft_apps.data[a].head == q; a++) {
      const draft_app *app = &f->draft_apps.data[a];
      kept_app *kept = &apps[n];
      *kept = (kept_app){.rule = app->rule, .draft = (int32_t)a};
      int used = number[q] >= 0;
      for (int t = 0; t < 2; t++) {
        kept->tail[t] = app->tail[t] < 0 ? -1 : number[app->tail[t]];
        used &= app->tail[t] < 0 || kept->tail[t] >= 0;
      }
      /* of rules that the grammar has not, no two are known to have the same source side */
      kept->unit = app->rule < lscfg_grammar_size(g) ? g->rule_group[app->rule] : (int64_t)INT32_MAX + 1 + a;
      n += used;
    }
    if (number[q] < 0) continue;
    if ((number[q] = forest_add_node(made, node->category, node->i, node->j)) < 0 ||
        add_edges(made, apps, n, rules, app_of))
      return LSCFG_ENOMEM;
  }
  return LSCFG_OK;
}

int lscfg_forest_finish(lscfg_forest *f, const lscfg_grammar *g, int32_t *app_of, lscfg_error *error) {
  if (check_draft(f, error) || check_drafts(f, g, error)) return LSCFG_EINPUT;
  size_t n = (size_t)f->draft_apps.size + 1;
  lscfg_forest *made = forest_new(f->words, f->n_words);
  int32_t *number = malloc((size_t)f->draft_nodes.size * sizeof *number), *rules = malloc(n * sizeof *rules);
  kept_app *apps = malloc(n * sizeof *apps);
  int code = LSCFG_ENOMEM;
  if (f->draft_apps.size) memset(app_of, 0xff, (size_t)f->draft_apps.size * sizeof *app_of);
  if (made && number && rules && apps)
    code = find_used(f, number) ? build(f, g, made, number, apps, rules, app_of) : LSCFG_NO_PARSE;
  free(number);
  free(rules);
  free(apps);
  if (!code) {
    lscfg_forest drafted = *f;
    *f = *made;
    f->origin = FOREST_BUILT;
    *made = drafted;
  }
  lscfg_forest_free(made);
  return code < 0 ? out_of_memory(error) : code;
}
