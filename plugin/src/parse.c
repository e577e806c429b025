/* Bottom-up chart parsing of the source side (Chiang 2007, section 5.1): dotted rules walk the grammar's trie. */
#include "forest.h"
#include "grammar.h"

typedef struct {
  int32_t node; /* of the trie */
  int32_t tail[2];
} dotted;

typedef struct {
  int32_t begin, end;
} range;

typedef struct {
  int32_t group; /* -1: an extra rule */
  int32_t category, extra, tail[2];
} completed;

typedef struct {
  const lscfg_grammar *grammar;
  const lscfg_parse_options *options;
  lscfg_forest *forest;
  int32_t n;
  ARRAY(dotted) items;
  ARRAY(completed) done; /* edges of the cell under work, before they are sorted by category */
  range *item_cells;     /* [n + 1][n + 1], dotted rules over [i, j) */
  range *node_cells;     /* the same for finished nodes */
} parser;

static range *cell(const parser *p, range *cells, int32_t i, int32_t j) {
  return &cells[(int64_t)i * (p->n + 1) + j];
}

static int add_item(parser *p, int32_t trie_node, const int32_t *tail) {
  if (p->items.size == INT32_MAX || ARRAY_RESERVE(p->items, 1)) return LSCFG_ENOMEM;
  p->items.data[p->items.size++] = (dotted){trie_node, {tail[0], tail[1]}};
  return LSCFG_OK;
}

/* Moves the dot of the items over [i, k) across the nodes over [k, j). */
static int extend_by_nodes(parser *p, range from, range nodes) {
  for (int32_t a = from.begin; a < from.end; a++) {
    int32_t known = -1, next = -1;
    for (int32_t q = nodes.begin; q < nodes.end; q++) {
      int32_t category = p->forest->node_cat.data[q];
      if (category != known) {
        next = grammar_extend(p->grammar, p->items.data[a].node, category_symbol(category));
        known = category;
      }
      if (next < 0) continue;
      const int32_t *tail = p->items.data[a].tail;
      int32_t extended[2] = {tail[0] < 0 ? q : tail[0], tail[0] < 0 ? -1 : q};
      if (add_item(p, next, extended)) return LSCFG_ENOMEM;
    }
  }
  return LSCFG_OK;
}

static int extend_by_word(parser *p, range from, int32_t word) {
  if (word < 0) return LSCFG_OK;
  for (int32_t a = from.begin; a < from.end; a++) {
    dotted item = p->items.data[a];
    int32_t next = grammar_extend(p->grammar, item.node, word);
    if (next >= 0 && add_item(p, next, item.tail)) return LSCFG_ENOMEM;
  }
  return LSCFG_OK;
}

static int add_done(parser *p, int32_t group, int32_t category, int32_t extra, int32_t tail0, int32_t tail1) {
  if (ARRAY_RESERVE(p->done, 1)) return LSCFG_ENOMEM;
  p->done.data[p->done.size++] = (completed){group, category, extra, {tail0, tail1}};
  return LSCFG_OK;
}

/* The dotted rules over [i, j) that end with a word or a node that ends in j. */
static int scan_cell(parser *p, int32_t i, int32_t j) {
  range *items = cell(p, p->item_cells, i, j);
  items->begin = (int32_t)p->items.size;
  for (int32_t k = i + 1; k < j; k++)
    if (extend_by_nodes(p, *cell(p, p->item_cells, i, k), *cell(p, p->node_cells, k, j))) return LSCFG_ENOMEM;
  if (extend_by_word(p, *cell(p, p->item_cells, i, j - 1), p->forest->words[j - 1])) return LSCFG_ENOMEM;
  items->end = (int32_t)p->items.size;
  for (int32_t a = items->begin; a < items->end; a++) {
    dotted item = p->items.data[a];
    for (int32_t group = p->grammar->node_group.data[item.node]; group >= 0; group = p->grammar->groups.data[group].next)
      if (add_done(p, group, p->grammar->groups.data[group].lhs, 0, item.tail[0], item.tail[1])) return LSCFG_ENOMEM;
  }
  return LSCFG_OK;
}

static int32_t node_of(const parser *p, int32_t i, int32_t j, int32_t category) {
  range nodes = *cell(p, p->node_cells, i, j);
  for (int32_t q = nodes.begin; q < nodes.end; q++)
    if (p->forest->node_cat.data[q] == category) return q;
  return -1;
}

/* Edges into [category, i, j) that no dotted rule of this cell leads to: unary, glue and pass-through rules. */
static int add_special(parser *p, int32_t category, int32_t i, int32_t j) {
  const lscfg_grammar *g = p->grammar;
  for (int32_t u = 0; u < g->n_unary; u++) {
    const grammar_group *group = &g->groups.data[g->unary_groups[u]];
    if (group->lhs != category) continue;
    int32_t symbol = g->symbols.data[g->rules.data[g->by_source[group->rules_begin]].src];
    int32_t child = node_of(p, i, j, -1 - symbol);
    if (child >= 0 && add_done(p, g->unary_groups[u], category, 0, child, -1)) return LSCFG_ENOMEM;
  }
  if (category == CATEGORY_S && p->options->glue && i == 0) {
    int32_t child = node_of(p, 0, j, CATEGORY_X);
    if (child >= 0 && add_done(p, -1, category, LSCFG_RULE_GLUE_TOP, child, -1)) return LSCFG_ENOMEM;
    for (int32_t k = 1; k < j; k++) {
      int32_t left = node_of(p, 0, k, CATEGORY_S), right = node_of(p, k, j, CATEGORY_X);
      if (left >= 0 && right >= 0 && add_done(p, -1, category, LSCFG_RULE_GLUE, left, right)) return LSCFG_ENOMEM;
    }
  }
  int pass = p->options->pass;
  if (category == CATEGORY_X && j == i + 1 && (pass == 1 || (pass == 2 && !grammar_has_word_rule(g, p->forest->words[i]))))
    return add_done(p, -1, category, LSCFG_RULE_PASS, -1, -1);
  return LSCFG_OK;
}

static int finish_node(parser *p, int32_t category, int32_t i, int32_t j) {
  const lscfg_grammar *g = p->grammar;
  int started = 0;
  if (add_special(p, category, i, j)) return LSCFG_ENOMEM;
  for (int64_t d = 0; d < p->done.size; d++) {
    completed c = p->done.data[d];
    if (c.category != category) continue;
    if (!started) {
      if (forest_add_node(p->forest, category, i, j) < 0) return LSCFG_ENOMEM;
      started = 1;
    }
    int32_t edge;
    if (c.group < 0) {
      int32_t rule = lscfg_grammar_size(g) + c.extra;
      edge = forest_add_edge(p->forest, c.tail[0], c.tail[1], &rule, 1);
    } else {
      const grammar_group *group = &g->groups.data[c.group];
      edge = forest_add_edge(p->forest, c.tail[0], c.tail[1], g->by_source + group->rules_begin,
                             group->rules_end - group->rules_begin);
    }
    if (edge < 0) return LSCFG_ENOMEM;
  }
  if (started) cell(p, p->node_cells, i, j)->end = (int32_t)p->forest->node_cat.size;
  return LSCFG_OK;
}

static int parse_cell(parser *p, int32_t i, int32_t j) {
  const lscfg_grammar *g = p->grammar;
  int within = j - i <= p->options->max_span;
  range *nodes = cell(p, p->node_cells, i, j), *items = cell(p, p->item_cells, i, j);
  p->done.size = 0;
  nodes->begin = nodes->end = (int32_t)p->forest->node_cat.size;
  items->begin = items->end = (int32_t)p->items.size;
  if (within && scan_cell(p, i, j)) return LSCFG_ENOMEM;
  for (int32_t c = 0; c < g->n_ordered; c++)
    if (finish_node(p, g->categories_in_order[c], i, j)) return LSCFG_ENOMEM;
  /* rules that begin with a node over the whole cell */
  if (within && extend_by_nodes(p, *cell(p, p->item_cells, i, i), *nodes)) return LSCFG_ENOMEM;
  items->end = (int32_t)p->items.size;
  return LSCFG_OK;
}

static int parse_all(parser *p) {
  const int32_t none[2] = {-1, -1};
  for (int32_t i = 0; i <= p->n; i++) {
    *cell(p, p->item_cells, i, i) = (range){(int32_t)p->items.size, (int32_t)p->items.size + 1};
    if (add_item(p, 0, none)) return LSCFG_ENOMEM;
  }
  for (int32_t width = 1; width <= p->n; width++)
    for (int32_t i = 0; i + width <= p->n; i++) {
      if (width > p->options->max_span && i) break; /* only glue reaches further, from the first word */
      if (parse_cell(p, i, i + width)) return LSCFG_ENOMEM;
    }
  int32_t root = node_of(p, 0, p->n, p->options->goal);
  if (root < 0) return LSCFG_NO_PARSE;
  return forest_keep_reachable(p->forest, root);
}

int lscfg_parse(const lscfg_grammar *g, const int32_t *words, int32_t n_words, const lscfg_parse_options *options,
                lscfg_forest **forest, lscfg_error *error) {
  parser p = {.grammar = g, .options = options, .n = n_words};
  int64_t cells = ((int64_t)n_words + 1) * ((int64_t)n_words + 1);
  int code = LSCFG_ENOMEM;
  *forest = NULL;
  if (!g->finished) return lscfg_fail(error, LSCFG_EINPUT, 0, "the grammar is not finished");
  if (n_words < 0 || options->max_span < 1 || options->goal < 0 || options->goal >= lscfg_vocab_size(&g->categories))
    return lscfg_fail(error, LSCFG_EINPUT, 0, "negative length, span limit below 1 or unknown goal category");
  if (!n_words) return LSCFG_NO_PARSE;
  p.forest = forest_new(words, n_words);
  p.item_cells = calloc((size_t)cells, sizeof *p.item_cells);
  p.node_cells = calloc((size_t)cells, sizeof *p.node_cells);
  if (p.forest && p.item_cells && p.node_cells) code = parse_all(&p);
  free(p.item_cells);
  free(p.node_cells);
  free(p.items.data);
  free(p.done.data);
  if (code == LSCFG_OK) {
    *forest = p.forest;
    return LSCFG_OK;
  }
  lscfg_forest_free(p.forest);
  return code < 0 ? out_of_memory(error) : code;
}
