/* Bottom-up chart parsing of the source side (Chiang 2007, section 5.1): dotted rules walk the grammar's trie. The
 * input is a sentence or a word lattice, whose spans lie between states. */
#include "forest/forest.h"
#include "forest/grammar.h"

/* Places of the dot that are in no trie: in the glue rule and in the rule that passes a word through, after a word of
 * which no rule translates it alone (NEW_END) or another one. */
enum { PASS_BEGIN = -1, PASS_END = -2, NEW_END = -3, GLUE_BEGIN = -4, GLUE_MIDDLE = -5, GLUE_END = -6 };

typedef struct {
  int32_t node;    /* of the grammar's trie, then of the layer's, or one of the values above */
  int32_t tail[2]; /* the second: -1 for none; below that, -2 - k for what ends with tail k of the longer list */
  int32_t path; /* last step through a lattice, -1 */
} dotted;

typedef struct {
  int32_t arc, before; /* the step before it, -1 */
} step;

/* Of a dotted rule over three nodes or more: the node, and what is before it, as the second tail of a dotted rule. */
typedef struct {
  int32_t node, before;
} later_tail;

typedef struct {
  int32_t begin, end;
} range;

typedef struct {
  int32_t group; /* -1: an extra rule; -2 - k: group k of the layer */
  int32_t category, extra, tail[2], path;
} completed;

typedef struct {
  const lscfg_grammar *grammar;
  const lscfg_grammar *layer; /* over the grammar, or NULL */
  const lscfg_parse_options *options;
  lscfg_forest *forest;
  int32_t n;                 /* the last state; a sentence has an arc for each word */
  const lscfg_arc *arcs;     /* by the state where they end, then by the state where they begin; NULL for a sentence */
  const int32_t *arc_number; /* what the caller calls them */
  const int32_t *arcs_into;  /* [n + 2] */
  int32_t *distance;         /* [n + 1][n + 1], arcs of the shortest path; NULL for a sentence */
  ARRAY(dotted) items;
  ARRAY(later_tail) later;
  ARRAY(step) steps;
  ARRAY(completed) done; /* edges of the cell under work, before they are sorted by category */
  int64_t apps_before;   /* applications of the cells before */
  int too_large;         /* work ended with LSCFG_ENOMEM at the caller's limit, not for lack of memory */
  range *item_cells;     /* [n + 1][n + 1], dotted rules over [i, j) */
  range *node_cells;     /* the same for finished nodes */
} parser;

static range *cell(const parser *p, range *cells, int32_t i, int32_t j) { return &cells[(int64_t)i * (p->n + 1) + j]; }

/* Words from state i to state j, as cdec counts them. */
static int32_t distance(const parser *p, int32_t i, int32_t j) {
  return p->distance ? p->distance[(int64_t)i * (p->n + 1) + j] : j - i;
}

/* Places in the layer's trie come after those in the grammar's. */
static int32_t first_of_layer(const parser *p) { return (int32_t)p->grammar->node_group.size; }

/* The grammar whose trie contains a place, which becomes a node there. */
static const lscfg_grammar *trie_of(const parser *p, int32_t *place) {
  int32_t first = first_of_layer(p);
  if (*place < first) return p->grammar;
  *place -= first;
  return p->layer;
}

/* True if a rule with its dot there may cover [i, j); passed-through words have cdec's limit for empty arcs. Finished
 * rules of the layer have limits, see may_finish. */
static int may_cover(const parser *p, int32_t place, int32_t i, int32_t j) {
  enum { MAX_PASS = 3 };
  if (place <= GLUE_BEGIN || place >= first_of_layer(p)) return 1;
  return distance(p, i, j) <= (place >= 0 ? p->options->max_span : MAX_PASS);
}

static int is_too_many(const lscfg_parse_options *options, int64_t n) { return options->most && n > options->most; }

/* True if the chart exceeds the limit. Parallel arcs multiply dotted rules within one cell, so each step asks. An edge
 * of the cell under work will have one application or more. */
static int is_too_large(parser *p) {
  int64_t apps = p->forest->app_rule.size - p->apps_before, most = apps > p->done.size ? apps : p->done.size;
  p->too_large |= is_too_many(p->options, p->items.size + p->apps_before + most);
  return p->too_large;
}

static int add_item(parser *p, int32_t place, int32_t tail0, int32_t tail1, int32_t path) {
  if (is_too_large(p) || p->items.size == INT32_MAX || ARRAY_RESERVE(p->items, 1)) return LSCFG_ENOMEM;
  p->items.data[p->items.size++] = (dotted){place, {tail0, tail1}, path};
  return LSCFG_OK;
}

/* The trie node after a nonterminal, NOWHERE if the rule continues with another symbol. */
enum { NOWHERE = INT32_MIN };

static int32_t behind_symbol(const parser *p, int32_t place, int32_t symbol) {
  int32_t node = place;
  const lscfg_grammar *g = trie_of(p, &node);
  int32_t next = trie_child(&g->sources, node, symbol);
  return next < 0 ? NOWHERE : place - node + next;
}

static int32_t behind_category(const parser *p, int32_t place, int32_t category) {
  if (place >= 0) return behind_symbol(p, place, category_symbol(category));
  if (place == GLUE_BEGIN && category == CATEGORY_S) return GLUE_MIDDLE;
  return place == GLUE_MIDDLE && category == CATEGORY_X ? GLUE_END : NOWHERE;
}

static int32_t behind_word(const parser *p, int32_t place, int32_t word) {
  if (word == LSCFG_EPSILON) return place;
  if (place >= 0) return word < 0 ? NOWHERE : behind_symbol(p, place, word);
  int known = grammar_has_word_rule(p->grammar, word) || (p->layer && grammar_has_word_rule(p->layer, word));
  if (place != PASS_BEGIN || (p->options->pass != 1 && known)) return NOWHERE;
  known = grammar_word_group(p->grammar, word) >= 0 || (p->layer && grammar_word_group(p->layer, word) >= 0);
  return known ? PASS_END : NEW_END;
}

/* Appends a node to the tails of a dotted rule. */
static int add_tail(parser *p, int32_t tail[2], int32_t node) {
  if (tail[0] < 0) {
    tail[0] = node;
  } else if (tail[1] == -1) {
    tail[1] = node;
  } else {
    if (p->later.size >= INT32_MAX - 2 || ARRAY_RESERVE(p->later, 1)) return LSCFG_ENOMEM;
    p->later.data[p->later.size] = (later_tail){node, tail[1]};
    tail[1] = -2 - (int32_t)p->later.size++;
  }
  return LSCFG_OK;
}

/* Moves the dot of the items over [i, k) across the nodes over [k, j). */
static int extend_by_nodes(parser *p, range from, range nodes, int32_t i, int32_t j) {
  if (nodes.begin == nodes.end) return LSCFG_OK;
  for (int32_t a = from.begin; a < from.end; a++) {
    int32_t known = -1, next = NOWHERE;
    if (!may_cover(p, p->items.data[a].node, i, j)) continue;
    for (int32_t q = nodes.begin; q < nodes.end; q++) {
      int32_t category = p->forest->node_cat.data[q];
      if (category != known) {
        next = behind_category(p, p->items.data[a].node, category);
        known = category;
      }
      if (next == NOWHERE) continue;
      dotted item = p->items.data[a];
      if (add_tail(p, item.tail, q) || add_item(p, next, item.tail[0], item.tail[1], item.path)) return LSCFG_ENOMEM;
    }
  }
  return LSCFG_OK;
}

/* Moves the dot of the items over [i, k) across a word that leads from k to another state. cdec checks the limit for
 * [i, k + 1), wherever the arc ends. */
static int extend_by_word(parser *p, int32_t i, int32_t k, int32_t word, int32_t arc) {
  range from = *cell(p, p->item_cells, i, k);
  for (int32_t a = from.begin; a < from.end; a++) {
    dotted item = p->items.data[a];
    if (!may_cover(p, item.node, i, k + 1)) continue;
    int32_t next = behind_word(p, item.node, word);
    if (next == NOWHERE) continue;
    if (arc >= 0) {
      if (p->steps.size == INT32_MAX || ARRAY_RESERVE(p->steps, 1)) return LSCFG_ENOMEM;
      p->steps.data[p->steps.size] = (step){arc, item.path};
      item.path = (int32_t)p->steps.size++;
    }
    if (add_item(p, next, item.tail[0], item.tail[1], item.path)) return LSCFG_ENOMEM;
  }
  return LSCFG_OK;
}

/* The same for all arcs into j, those that begin in j - 1 or the others. */
static int extend_by_arcs(parser *p, int32_t i, int32_t j, int near) {
  if (!p->arcs) { /* no empty arc */
    int32_t word = p->forest->words[j - 1];
    return near ? extend_by_word(p, i, j - 1, word < 0 ? -1 : word, -1) : LSCFG_OK;
  }
  for (int32_t a = p->arcs_into[j]; a < p->arcs_into[j + 1]; a++) {
    const lscfg_arc *arc = &p->arcs[a];
    if (arc->from >= i && (arc->from == j - 1) == near && extend_by_word(p, i, arc->from, arc->word, p->arc_number[a]))
      return LSCFG_ENOMEM;
  }
  return LSCFG_OK;
}

static int add_done(parser *p, completed c) {
  if (is_too_large(p) || ARRAY_RESERVE(p->done, 1)) return LSCFG_ENOMEM;
  p->done.data[p->done.size++] = c;
  return LSCFG_OK;
}

static int add_path(parser *p, int32_t path);

/* The second tail of a finished rule: a new node for the rest of its tails if there is more than one. */
static int32_t rest_of_tails(parser *p, int32_t tail) {
  const int32_t rule = lscfg_grammar_size(p->grammar) + LSCFG_RULE_REST, *span = NULL;
  int32_t rest = -1;
  while (tail <= -2) {
    later_tail last = p->later.data[-2 - tail];
    int32_t before = last.before >= 0 ? last.before : p->later.data[-2 - last.before].node;
    if (rest < 0) rest = last.node;
    int32_t end = p->forest->node_span.data[2 * (int64_t)rest + 1];
    span = p->forest->node_span.data + 2 * (int64_t)before;
    int32_t node = forest_add_node(p->forest, LSCFG_REST, span[0], end);
    if (node < 0 || forest_add_edge(p->forest, before, rest, &rule, 1) < 0 || (p->arcs && add_path(p, -1)))
      return LSCFG_ENOMEM;
    rest = node;
    tail = last.before;
  }
  return rest < 0 ? tail : rest;
}

static int is_unary(const lscfg_grammar *g, const grammar_group *group) {
  const grammar_rule *rule = &g->rules.data[g->by_source[group->rules_begin]];
  return rule->n_src == 1 && rule->arity == 1;
}

/* A layer's rules of words only may be of any length, and any of its rules may cover the whole sentence. */
static int may_finish(const parser *p, const lscfg_grammar *g, const grammar_group *group, int32_t i, int32_t j) {
  return g != p->layer || !g->rules.data[g->by_source[group->rules_begin]].arity || (!i && j == p->n) ||
         distance(p, i, j) <= p->options->max_span;
}

/* The finished rules among the dotted rules over [i, j), of the grammar or of the layer. */
static int complete_items(parser *p, range items, int32_t i, int32_t j, int of_layer) {
  for (int32_t a = items.begin; a < items.end; a++) {
    dotted item = p->items.data[a];
    int32_t node = item.node;
    if (node < 0 || (node >= first_of_layer(p)) != of_layer || !may_cover(p, node, i, j)) continue;
    const lscfg_grammar *g = trie_of(p, &node);
    int32_t group = g->node_group.data[node];
    if (item.tail[1] <= -2 && group >= 0 && (item.tail[1] = rest_of_tails(p, item.tail[1])) < 0) return LSCFG_ENOMEM;
    for (; group >= 0; group = g->groups.data[group].next) {
      const grammar_group *found = &g->groups.data[group];
      /* a nonterminal next to empty arcs: unary rules join nodes of one span only */
      if ((p->arcs && is_unary(g, found)) || !may_finish(p, g, found, i, j)) continue;
      completed done = {of_layer ? -2 - group : group, found->lhs, 0, {item.tail[0], item.tail[1]}, item.path};
      if (add_done(p, done)) return LSCFG_ENOMEM;
    }
  }
  return LSCFG_OK;
}

/* The dotted rules over [i, j) that end with a word or a node that ends in j. Nodes for the rest of tails are made
 * before the nodes of the cell, where no rule goes on with them. */
static int scan_cell(parser *p, int32_t i, int32_t j) {
  range *items = cell(p, p->item_cells, i, j);
  items->begin = (int32_t)p->items.size;
  if (extend_by_arcs(p, i, j, 0)) return LSCFG_ENOMEM;
  for (int32_t k = i + 1; k < j; k++)
    if (extend_by_nodes(p, *cell(p, p->item_cells, i, k), *cell(p, p->node_cells, k, j), i, j)) return LSCFG_ENOMEM;
  if (extend_by_arcs(p, i, j, 1)) return LSCFG_ENOMEM;
  items->end = (int32_t)p->items.size;
  if (complete_items(p, *items, i, j, 0)) return LSCFG_ENOMEM;
  return p->layer && complete_items(p, *items, i, j, 1) ? LSCFG_ENOMEM : LSCFG_OK;
}

/* An edge of all rules of a group of the layer. */
static int32_t add_layer_edge(parser *p, const grammar_group *group, const int32_t tail[2]) {
  int32_t n = group->rules_end - group->rules_begin, *rules = malloc((size_t)n * sizeof *rules);
  if (!rules) return LSCFG_ENOMEM;
  for (int32_t k = 0; k < n; k++)
    rules[k] = layer_begin(p->grammar) + p->layer->by_source[group->rules_begin + k];
  int32_t edge = forest_add_edge(p->forest, tail[0], tail[1], rules, n);
  free(rules);
  return edge;
}

static int32_t node_of(const parser *p, int32_t i, int32_t j, int32_t category) {
  range nodes = *cell(p, p->node_cells, i, j);
  for (int32_t q = nodes.begin; q < nodes.end; q++)
    if (p->forest->node_cat.data[q] == category) return q;
  return -1;
}

/* True for a category besides X that unknown words pass into. */
static int is_passed(const lscfg_parse_options *options, int32_t category) {
  for (int32_t k = 0; k < options->n_passed; k++)
    if (options->passed[k] == category) return category != CATEGORY_S;
  return 0;
}

/* Edges into [category, i, j) by unary rules, glue and words that are passed through. */
static int add_special(parser *p, int32_t category, int32_t i, int32_t j) {
  const lscfg_grammar *g = p->grammar;
  range items = *cell(p, p->item_cells, i, j);
  for (int32_t u = g->unary_begin[category]; u < g->unary_begin[category + 1]; u++) {
    const grammar_group *group = &g->groups.data[g->unary_groups[u]];
    int32_t symbol = g->symbols.data[g->rules.data[g->by_source[group->rules_begin]].src];
    int32_t child = node_of(p, i, j, -1 - symbol);
    if (child >= 0 && add_done(p, (completed){g->unary_groups[u], category, 0, {child, -1}, -1})) return LSCFG_ENOMEM;
  }
  /* after the beginning, an S is useful only if empty arcs lead to it */
  if (category == CATEGORY_S && p->options->glue && (i == 0 || p->arcs)) {
    int32_t child = node_of(p, i, j, CATEGORY_X);
    if (child >= 0 && add_done(p, (completed){-1, category, LSCFG_RULE_GLUE_TOP, {child, -1}, -1})) return LSCFG_ENOMEM;
  }
  if (category != CATEGORY_S && category != CATEGORY_X && !is_passed(p->options, category)) return LSCFG_OK;
  int32_t rule = category == CATEGORY_S ? LSCFG_RULE_GLUE : LSCFG_RULE_PASS;
  for (int32_t a = items.begin; a < items.end; a++) {
    dotted item = p->items.data[a];
    int ends = category == CATEGORY_S ? item.node == GLUE_END
                                      : item.node == NEW_END || (item.node == PASS_END && category == CATEGORY_X);
    if (ends && may_cover(p, item.node, i, j) &&
        add_done(p, (completed){-1, category, rule, {item.tail[0], item.tail[1]}, item.path}))
      return LSCFG_ENOMEM;
  }
  return LSCFG_OK;
}

/* The arcs of the last edge. */
static int add_path(parser *p, int32_t path) {
  lscfg_forest *f = p->forest;
  int64_t n = 0;
  for (int32_t k = path; k >= 0; k = p->steps.data[k].before) n++;
  if (f->paths.size + n > INT32_MAX || ARRAY_RESERVE(f->paths, n) || ARRAY_RESERVE(f->edge_paths, 1))
    return LSCFG_ENOMEM;
  f->paths.size += n;
  for (int32_t k = path, back = 1; k >= 0; k = p->steps.data[k].before, back++)
    f->paths.data[f->paths.size - back] = p->steps.data[k].arc;
  f->edge_paths.data[f->edge_paths.size++] = (int32_t)f->paths.size;
  return LSCFG_OK;
}

static int finish_node(parser *p, int32_t category, int32_t i, int32_t j) {
  const lscfg_grammar *g = p->grammar;
  int started = 0;
  if (add_special(p, category, i, j)) return LSCFG_ENOMEM;
  for (int64_t d = 0; d < p->done.size; d++) {
    completed c = p->done.data[d];
    if (c.category != category) continue;
    if (is_too_large(p)) return LSCFG_ENOMEM;
    if (!started) {
      if (forest_add_node(p->forest, category, i, j) < 0) return LSCFG_ENOMEM;
      started = 1;
    }
    int32_t edge;
    if (c.group <= -2) {
      edge = add_layer_edge(p, &p->layer->groups.data[-2 - c.group], c.tail);
    } else if (c.group < 0) {
      int32_t rule = lscfg_grammar_size(g) + c.extra;
      edge = forest_add_edge(p->forest, c.tail[0], c.tail[1], &rule, 1);
    } else {
      const grammar_group *group = &g->groups.data[c.group];
      edge = forest_add_edge(p->forest, c.tail[0], c.tail[1], g->by_source + group->rules_begin,
                             group->rules_end - group->rules_begin);
    }
    if (edge < 0 || (p->arcs && add_path(p, c.path))) return LSCFG_ENOMEM;
  }
  if (started) cell(p, p->node_cells, i, j)->end = (int32_t)p->forest->node_cat.size;
  return LSCFG_OK;
}

static int parse_cell(parser *p, int32_t i, int32_t j) {
  const lscfg_grammar *g = p->grammar;
  range *nodes = cell(p, p->node_cells, i, j), *items = cell(p, p->item_cells, i, j);
  p->done.size = 0;
  p->apps_before = p->forest->app_rule.size;
  if (scan_cell(p, i, j)) return LSCFG_ENOMEM;
  nodes->begin = nodes->end = (int32_t)p->forest->node_cat.size;
  for (int32_t c = 0; c < g->n_ordered; c++)
    if (finish_node(p, g->categories_in_order[c], i, j)) return LSCFG_ENOMEM;
  /* rules that begin with a node over the whole cell */
  if (extend_by_nodes(p, *cell(p, p->item_cells, i, i), *nodes, i, j)) return LSCFG_ENOMEM;
  items->end = (int32_t)p->items.size;
  return LSCFG_OK;
}

/* Of each of the chart's tables for states 0 .. n. */
static int64_t count_cells(int32_t n) { return ((int64_t)n + 1) * ((int64_t)n + 1); }

static int parse_all(parser *p) {
  int32_t widest = p->options->max_span;
  for (int64_t r = 0; p->layer && r < p->layer->rules.size; r++)
    if (!p->layer->rules.data[r].arity && p->layer->rules.data[r].n_src > widest)
      widest = p->layer->rules.data[r].n_src;
  for (int32_t i = 0; i <= p->n; i++) {
    range *begin = cell(p, p->item_cells, i, i);
    begin->begin = (int32_t)p->items.size;
    if (add_item(p, 0, -1, -1, -1) || (p->options->pass && add_item(p, PASS_BEGIN, -1, -1, -1)) ||
        (p->options->glue && !i && add_item(p, GLUE_BEGIN, -1, -1, -1)) ||
        (p->layer && add_item(p, first_of_layer(p), -1, -1, -1)))
      return LSCFG_ENOMEM;
    begin->end = (int32_t)p->items.size;
  }
  for (int32_t width = 1; width <= p->n; width++)
    for (int32_t i = 0; i + width <= p->n; i++) {
      if (!p->arcs && width > widest && i) break; /* only glue reaches further, from the first word */
      if (parse_cell(p, i, i + width)) return p->too_large ? LSCFG_TOO_LARGE : LSCFG_ENOMEM;
      if (is_too_large(p)) return LSCFG_TOO_LARGE;
    }
  int32_t root = node_of(p, 0, p->n, p->options->goal);
  if (root < 0) return LSCFG_NO_PARSE;
  return forest_keep_reachable(p->forest, root);
}

static int check_options(const lscfg_grammar *g, const lscfg_parse_options *options, lscfg_error *error) {
  if (!g->finished)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "the grammar is not finished; call finish after its last rule");
  const lscfg_vocab *categories = &(g->base ? g->base : g)->categories;
  if (options->max_span < 1 || options->goal < 0 || options->goal >= lscfg_vocab_size(categories))
    return lscfg_fail(error, LSCFG_EINPUT, 0, "span limit below 1 or unknown goal category");
  return LSCFG_OK;
}

/* Parses p->forest and takes ownership of it. */
static int parse(parser *p, lscfg_forest **forest, lscfg_error *error) {
  int64_t cells = count_cells(p->n);
  int code = LSCFG_ENOMEM;
  p->item_cells = calloc((size_t)cells, sizeof *p->item_cells);
  p->node_cells = calloc((size_t)cells, sizeof *p->node_cells);
  if (p->forest && p->item_cells && p->node_cells) code = parse_all(p);
  free(p->item_cells);
  free(p->node_cells);
  free(p->items.data);
  free(p->later.data);
  free(p->steps.data);
  free(p->done.data);
  if (code == LSCFG_OK) {
    *forest = p->forest;
    return LSCFG_OK;
  }
  lscfg_forest_free(p->forest);
  return code < 0 ? out_of_memory(error) : code;
}

int lscfg_parse(const lscfg_grammar *g, const int32_t *words, int32_t n_words, const lscfg_parse_options *options,
                lscfg_forest **forest, lscfg_error *error) {
  *forest = NULL;
  if (check_options(g, options, error)) return LSCFG_EINPUT;
  if (n_words < 0) return lscfg_fail(error, LSCFG_EINPUT, 0, "a sentence of %ld words", (long)n_words);
  if (!n_words) return LSCFG_NO_PARSE;
  if (is_too_many(options, count_cells(n_words))) return LSCFG_TOO_LARGE;
  parser p = {.grammar = g, .options = options, .n = n_words};
  if (g->base) {
    p = (parser){.grammar = g->base, .layer = g, .options = options, .n = n_words};
    if (g->base->node_group.size > INT32_MAX - g->node_group.size) return out_of_memory(error);
  }
  p.forest = forest_new(words, n_words);
  return parse(&p, forest, error);
}

/* ---- lattices ---- */

/* Sorts arcs by the states where they end and begin, equal ones as they came; into [n_states + 1]. */
static void sort_arcs(const lscfg_arc *arcs, int32_t n, int32_t n_states, lscfg_arc *sorted, int32_t *number,
                      int32_t *into, int32_t *room) {
  int32_t *by_begin = room, *count = room + n;
  memset(count, 0, ((size_t)n_states + 1) * sizeof *count);
  memset(into, 0, ((size_t)n_states + 2) * sizeof *into);
  for (int32_t a = 0; a < n; a++) {
    count[arcs[a].from + 1]++;
    into[arcs[a].to + 1]++;
  }
  for (int32_t q = 0; q < n_states; q++) {
    count[q + 1] += count[q];
    into[q + 1] += into[q];
  }
  for (int32_t a = 0; a < n; a++) by_begin[count[arcs[a].from]++] = a;
  memcpy(count, into, (size_t)n_states * sizeof *count);
  for (int32_t k = 0; k < n; k++) {
    int32_t at = count[arcs[by_begin[k]].to]++;
    sorted[at] = arcs[by_begin[k]];
    number[at] = by_begin[k];
  }
}

/* Arcs of the shortest path; if there is none, that to the next reachable state after j, as in cdec. */
static void find_distances(parser *p) {
  enum { FAR = 99999999 };
  for (int32_t i = 0; i <= p->n; i++) {
    int32_t *row = p->distance + (int64_t)i * (p->n + 1), next = FAR;
    for (int32_t j = 0; j <= p->n; j++) {
      row[j] = FAR;
      for (int32_t a = p->arcs_into[j]; a < p->arcs_into[j + 1]; a++) {
        int32_t from = p->arcs[a].from, length = from == i ? 1 : from < i || row[from] == FAR ? FAR : row[from] + 1;
        if (length < row[j]) row[j] = length;
      }
    }
    for (int32_t j = p->n; j >= 0; j--) {
      if (row[j] < FAR) next = row[j];
      row[j] = next;
    }
  }
}

int lscfg_parse_lattice(const lscfg_grammar *g, const lscfg_arc *arcs, int32_t n_arcs, int32_t n_states,
                        const lscfg_parse_options *options, lscfg_forest **forest, lscfg_error *error) {
  *forest = NULL;
  if (check_options(g, options, error)) return LSCFG_EINPUT;
  if (g->base) return lscfg_fail(error, LSCFG_EINPUT, 0, "a lattice cannot be parsed with a layer of rules");
  if (n_arcs < 0 || n_states < 0 || n_states == INT32_MAX)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "a lattice of %ld arcs and %ld states", (long)n_arcs, (long)n_states);
  for (int32_t a = 0; a < n_arcs; a++)
    if (arcs[a].from < 0 || arcs[a].from >= arcs[a].to || arcs[a].to >= n_states)
      return lscfg_fail(error, LSCFG_EINPUT, 0, "arc %ld leads from state %ld to state %ld of %ld: not to a later one",
                        (long)a, (long)arcs[a].from, (long)arcs[a].to, (long)n_states);
  if (n_states < 2 || !n_arcs) return LSCFG_NO_PARSE;
  if (is_too_many(options, count_cells(n_states - 1))) return LSCFG_TOO_LARGE;
  size_t states = (size_t)n_states, n = (size_t)n_arcs;
  int32_t *words = malloc((3 * n + 2 * states + 3) * sizeof *words);
  lscfg_arc *sorted = malloc(n * sizeof *sorted);
  int32_t *distances = malloc(states * states * sizeof *distances);
  parser p = {.grammar = g, .options = options, .n = n_states - 1, .arcs = sorted, .distance = distances};
  int code = LSCFG_ENOMEM;
  if (words && sorted && distances) {
    int32_t *number = words + n, *room = number + n, *into = room + n + states + 1;
    for (int32_t a = 0; a < n_arcs; a++) words[a] = arcs[a].word;
    sort_arcs(arcs, n_arcs, n_states, sorted, number, into, room);
    p.arc_number = number;
    p.arcs_into = into;
    find_distances(&p);
    if ((p.forest = forest_new(words, n_arcs)) && !ARRAY_RESERVE(p.forest->edge_paths, 1)) {
      p.forest->origin = FOREST_LATTICE;
      p.forest->edge_paths.data[p.forest->edge_paths.size++] = 0;
      code = parse(&p, forest, error);
    } else {
      lscfg_forest_free(p.forest);
    }
  }
  if (code == LSCFG_ENOMEM) out_of_memory(error);
  free(words);
  free(sorted);
  free(distances);
  return code;
}
