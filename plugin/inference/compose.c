/* Composed rules: the tensor of a rule outside the model is the sum, over all its derivations by rules of the model, of
 * their tensors contracted along the derivation. The tensor itself is never computed. Instead, a forest is expanded
 * into one of the model's rules, with one node for equal parts over the same tails.
 *
 * The derivations are found by a synchronous parse of the rule's sides, with nonterminals as atoms, when a forest first
 * contains the rule: a grammar contains many rules that no sentence needs. Rules of the model whose source side is a
 * single nonterminal do not take part. */
#include "inference/compose.h"
#include "base/rule_table.h"

#include "forest/forest.h"

#include <pthread.h>

/* Besides composites and OWN_TAIL. */
enum { FAILED = -1, TO_COME = -3, NO_MEMORY = -4 };
enum { UNKNOWN_WORD = INT32_MAX };
/* Source times target symbols of a rule that is looked at: the work grows with powers of the sides. */
enum { MAX_CELLS = 128 };

/* A source side of the model that matches a part of the source: words, and gaps that hold all nonterminals. */
typedef struct {
  int32_t symbols, length; /* in pattern_symbols */
  int32_t n_gaps, gap[2][2];
  uint32_t inside[2]; /* nonterminals of each gap, one bit each */
} pattern;

typedef struct {
  int32_t begin, end;
} pattern_range;

/* Results so far, and the workspace for the next rule; shared by all threads. */
struct composition {
  pthread_mutex_t lock;
  int32_t *of_rule; /* grammar rule -> composite, FAILED, TO_COME */
  ARRAY(composite) composites;
  ARRAY(production) productions;
  rule_table by_sides; /* of the composites */
  const lscfg_model *model;
  int32_t *words; /* [grammar vocabulary] in the model's numbers, -1: none */
  int oov_parts;
  /* the rule in hand */
  int32_t n_src, n_tgt;
  int32_t room[2 * MAX_CELLS];
  const int32_t *src, *tgt;    /* in room */
  int32_t place[2];            /* of each nonterminal on the target side */
  ARRAY(int32_t) cells;        /* [i][j][s][t]: composite, FAILED or TO_COME */
  ARRAY(pattern_range) ranges; /* [i][j]: patterns; begin -1 before they are made */
  ARRAY(pattern) patterns;
  ARRAY(int32_t) pattern_symbols;
  ARRAY(production) found;        /* a stack: productions of the parts under work */
  int32_t symbols[2 * MAX_CELLS]; /* sides of a rule */
};

static int32_t derive_part(composition *w, int32_t i, int32_t j, int32_t s, int32_t t);

/* ---- source sides ---- */

static uint32_t source_nonterminals(const composition *w, int32_t i, int32_t j) {
  uint32_t mask = 0, bit = 1;
  for (int32_t k = 0; k < j; k++)
    if (w->src[k] < 0) {
      if (k >= i) mask |= bit;
      bit <<= 1;
    }
  return mask;
}

static uint32_t target_nonterminals(const composition *w, int32_t s, int32_t t) {
  uint32_t mask = 0;
  for (int32_t k = 0; k < 2; k++)
    if (w->place[k] >= s && w->place[k] < t) mask |= 1u << k;
  return mask;
}

/* Adds the pattern over [i, j) with these gaps if the model has such a source side and no nonterminal is left over. */
static int add_pattern(composition *w, int32_t i, int32_t j, int32_t n_gaps, int32_t gap[2][2]) {
  pattern p = {.symbols = (int32_t)w->pattern_symbols.size, .n_gaps = n_gaps};
  if (ARRAY_RESERVE(w->pattern_symbols, j - i) || ARRAY_RESERVE(w->patterns, 1)) return LSCFG_ENOMEM;
  int32_t *symbols = w->pattern_symbols.data + p.symbols;
  for (int32_t k = i, g = 0; k < j;) {
    if (g < n_gaps && k == gap[g][0]) {
      p.inside[g] = source_nonterminals(w, gap[g][0], gap[g][1]);
      memcpy(p.gap[g], gap[g], sizeof p.gap[g]);
      symbols[p.length++] = -1;
      k = gap[g++][1];
    } else {
      if (w->src[k] < 0) return LSCFG_OK;
      symbols[p.length++] = w->src[k++];
    }
  }
  if (rule_index_find(&w->model->sources, (rule_query){symbols, p.length, p.length, 0}) < 0) return LSCFG_OK;
  w->pattern_symbols.size += p.length;
  w->patterns.data[w->patterns.size++] = p;
  return LSCFG_OK;
}

static int patterns_over(composition *w, int32_t i, int32_t j, pattern_range *range) {
  pattern_range *cell = &w->ranges.data[i * (w->n_src + 1) + j];
  int32_t gap[2][2], most = w->model->longest_source; /* symbols of a pattern: gaps and the words around them */
  if (cell->begin < 0) {
    cell->begin = (int32_t)w->patterns.size;
    if (j - i <= most && add_pattern(w, i, j, 0, gap)) return LSCFG_ENOMEM;
    for (int32_t a = i; a < j && a - i < most; a++)
      for (int32_t b = a + 1; b <= j; b++) {
        gap[0][0] = a;
        gap[0][1] = b;
        if (b - a < j - i && j - i - (b - a) < most && add_pattern(w, i, j, 1, gap)) return LSCFG_ENOMEM;
        for (int32_t c = b; c < j; c++) {
          int32_t behind = most - 2 - (a - i) - (c - b); /* words that may follow the second gap */
          if (behind < 0) break;
          for (int32_t d = j - behind > c ? j - behind : c + 1; d <= j; d++) {
            gap[1][0] = c;
            gap[1][1] = d;
            if (add_pattern(w, i, j, 2, gap)) return LSCFG_ENOMEM;
          }
        }
      }
    cell->end = (int32_t)w->patterns.size;
  }
  *range = *cell;
  return LSCFG_OK;
}

/* ---- both sides ---- */

static int32_t cost_of(const composition *w, int32_t child) {
  return child < 0 ? 0 : w->composites.data[child].oov_parts;
}

/* The content of a gap: a nonterminal alone or a separate part; FAILED if it has no derivation. */
static int32_t derive_gap(composition *w, const pattern *p, int32_t g, const int32_t span[2]) {
  int32_t i = p->gap[g][0], j = p->gap[g][1];
  if (j == i + 1 && w->src[i] < 0) return OWN_TAIL;
  return derive_part(w, i, j, span[0], span[1]);
}

/* True if the gap may cover the target span; a nonterminal alone covers only itself. */
static int fits(const composition *w, const pattern *p, int32_t g, int32_t s, int32_t t) {
  if (target_nonterminals(w, s, t) != p->inside[g]) return 0;
  return t == s + 1 || p->gap[g][1] > p->gap[g][0] + 1 || !p->inside[g];
}

/* Tries the model's rule with this source side and these target spans of its gaps; keeps the cheapest productions. */
static int try_rule(composition *w, int32_t which, int32_t s, int32_t t, const int32_t span[2][2], int64_t base,
                    int32_t *best) {
  pattern p = w->patterns.data[which];
  int32_t n = p.length, cost = 0;
  production made = {0, {NO_CHILD, NO_CHILD}};
  memcpy(w->symbols, w->pattern_symbols.data + p.symbols, (size_t)n * sizeof *w->symbols);
  for (int32_t k = s; k < t;) {
    int32_t g = p.n_gaps > 0 && k == span[0][0] ? 0 : p.n_gaps > 1 && k == span[1][0] ? 1 : -1;
    w->symbols[n++] = g < 0 ? w->tgt[k] : -1 - g;
    k = g < 0 ? k + 1 : span[g][1];
  }
  made.rule = rule_index_find(&w->model->index, (rule_query){w->symbols, p.length, n, 0});
  if (made.rule < 0) return LSCFG_OK;
  for (int32_t g = 0; g < p.n_gaps; g++) {
    made.child[g] = derive_gap(w, &p, g, span[g]);
    if (made.child[g] == NO_MEMORY) return LSCFG_ENOMEM;
    if (made.child[g] == FAILED) return LSCFG_OK;
    cost += cost_of(w, made.child[g]);
  }
  if (cost > *best) return LSCFG_OK;
  if (cost < *best) w->found.size = base;
  *best = cost;
  if (ARRAY_RESERVE(w->found, 1)) return LSCFG_ENOMEM;
  w->found.data[w->found.size++] = made;
  return LSCFG_OK;
}

/* All positions of the pattern's gaps on the target side. */
static int try_pattern(composition *w, int32_t which, int32_t s, int32_t t, int64_t base, int32_t *best) {
  const pattern p = w->patterns.data[which];
  int32_t span[2][2] = {{0}};
  if (!p.n_gaps) return try_rule(w, which, s, t, (const int32_t (*)[2])span, base, best);
  for (int32_t a = s; a < t; a++)
    for (int32_t b = a + 1; b <= t; b++)
      for (int32_t first = 0; first < p.n_gaps; first++) { /* the gap that comes first on the target side */
        if (!fits(w, &p, first, a, b)) continue;
        span[first][0] = a;
        span[first][1] = b;
        if (p.n_gaps == 1) {
          if (try_rule(w, which, s, t, (const int32_t (*)[2])span, base, best)) return LSCFG_ENOMEM;
          continue;
        }
        for (int32_t c = b; c < t; c++)
          for (int32_t d = c + 1; d <= t; d++) {
            if (!fits(w, &p, 1 - first, c, d)) continue;
            span[1 - first][0] = c;
            span[1 - first][1] = d;
            if (try_rule(w, which, s, t, (const int32_t (*)[2])span, base, best)) return LSCFG_ENOMEM;
          }
      }
  return LSCFG_OK;
}

/* The sides of a part as a separate rule; returns their length, the source side's in *n_src. */
static int32_t part_sides(const composition *w, int32_t i, int32_t j, int32_t s, int32_t t, int32_t *symbols,
                          int32_t *arity) {
  int32_t n = 0, before = 0;
  *arity = 0;
  for (int32_t k = 0; k < j; k++) {
    before += k < i && w->src[k] < 0;
    *arity += k >= i && w->src[k] < 0;
    if (k >= i) symbols[n++] = w->src[k] < 0 ? -1 : w->src[k];
  }
  for (int32_t k = s; k < t; k++) symbols[n++] = w->tgt[k] < 0 ? w->tgt[k] + before : w->tgt[k];
  return n;
}

/* Creates a composite from the productions after base. */
static int32_t make_composite(composition *w, int32_t i, int32_t j, int32_t s, int32_t t, int64_t base,
                              int32_t oov_parts) {
  int64_t count = w->found.size - base;
  composite c = {.oov_parts = oov_parts};
  int32_t n = part_sides(w, i, j, s, t, w->symbols, &c.arity);
  if (w->productions.size + count > INT32_MAX || ARRAY_RESERVE(w->composites, 1) ||
      ARRAY_RESERVE(w->productions, count))
    return NO_MEMORY;
  int32_t number = rule_table_intern(&w->by_sides, w->symbols, j - i, n, 0);
  if (number < 0) return NO_MEMORY;
  c.productions_begin = (int32_t)w->productions.size;
  memcpy(w->productions.data + w->productions.size, w->found.data + base, (size_t)count * sizeof *w->found.data);
  w->productions.size += count;
  w->found.size = base;
  c.productions_end = (int32_t)w->productions.size;
  w->composites.data[w->composites.size++] = c;
  return number;
}

/* The composite of source [i, j) and target [s, t): FAILED where it has no derivation, NO_MEMORY. */
static int32_t derive_part(composition *w, int32_t i, int32_t j, int32_t s, int32_t t) {
  int64_t cell = (((int64_t)i * (w->n_src + 1) + j) * (w->n_tgt + 1) + s) * (w->n_tgt + 1) + t, base = w->found.size;
  if (w->cells.data[cell] != TO_COME) return w->cells.data[cell];
  int32_t arity, n = part_sides(w, i, j, s, t, w->symbols, &arity), best = INT32_MAX;
  int32_t result = rule_table_find(&w->by_sides, w->symbols, j - i, n);
  if (result >= 0) return w->cells.data[cell] = result;
  pattern_range range;
  if (patterns_over(w, i, j, &range)) return NO_MEMORY;
  for (int32_t k = range.begin; k < range.end; k++)
    if (try_pattern(w, k, s, t, base, &best)) return NO_MEMORY;
  int is_word_pair = j == i + 1 && t == s + 1 && w->src[i] >= 0 && w->tgt[s] >= 0;
  if (best == INT32_MAX && w->oov_parts && is_word_pair) {
    if (ARRAY_RESERVE(w->found, 1)) return NO_MEMORY;
    w->found.data[w->found.size++] = (production){OOV_PART, {NO_CHILD, NO_CHILD}};
    best = 1;
  }
  result = best == INT32_MAX ? FAILED : make_composite(w, i, j, s, t, base, best);
  if (result >= FAILED) w->cells.data[cell] = result;
  return result;
}

/* ---- rules ---- */

/* Puts the rule in hand, in the model's words; 0 where it cannot be composed. */
static int take_rule(composition *w, const lscfg_grammar *g, const grammar_rule *rule) {
  if (!rule->n_tgt || rule->n_src > MAX_CELLS || rule->n_tgt > MAX_CELLS || rule->n_src * rule->n_tgt > MAX_CELLS)
    return 0;
  w->n_src = rule->n_src;
  w->n_tgt = rule->n_tgt;
  w->src = w->room;
  w->tgt = w->room + rule->n_src;
  w->place[0] = w->place[1] = -1;
  for (int32_t k = 0; k < rule->n_src + rule->n_tgt; k++) {
    int32_t symbol = g->symbols.data[rule->src + k];
    if (k < rule->n_src && symbol < 0 && symbol != category_symbol(CATEGORY_X)) return 0;
    if (k >= rule->n_src && symbol < 0) w->place[-1 - symbol] = k - rule->n_src;
    w->room[k] = symbol < 0 ? symbol : w->words[symbol] < 0 ? UNKNOWN_WORD : w->words[symbol];
  }
  return 1;
}

static int compose_rule(composition *w, int32_t *result) {
  int64_t sources = (int64_t)(w->n_src + 1) * (w->n_src + 1);
  int64_t cells = sources * (w->n_tgt + 1) * (w->n_tgt + 1);
  w->cells.size = w->ranges.size = 0;
  w->patterns.size = w->pattern_symbols.size = w->found.size = 0;
  if (ARRAY_RESERVE(w->cells, cells) || ARRAY_RESERVE(w->ranges, sources)) return LSCFG_ENOMEM;
  for (int64_t k = 0; k < cells; k++) w->cells.data[k] = TO_COME;
  for (int64_t k = 0; k < sources; k++) w->ranges.data[k].begin = -1;
  *result = derive_part(w, 0, w->n_src, 0, w->n_tgt);
  return *result < FAILED ? LSCFG_ENOMEM : LSCFG_OK;
}

/* Finds out what a rule is, if that is to come; a rule that cannot be composed gets the OOV rule's tensor where it may.
 * */
static int settle(const lscfg_binding *b, int32_t r) {
  composition *w = b->composition;
  const grammar_rule *rule = &b->grammar->rules.data[r];
  int32_t found = FAILED;
  if (w->of_rule[r] != TO_COME) return LSCFG_OK;
  if (rule->arity <= MAX_TENSOR_ARITY && take_rule(w, b->grammar, rule) && compose_rule(w, &found)) return LSCFG_ENOMEM;
  /* a whole rule that is but an OOV part is no composition */
  if (found >= 0 && w->productions.data[w->composites.data[found].productions_begin].rule == OOV_PART) found = FAILED;
  if (found < 0 && b->options.oov && !rule->arity) b->rule_row[r] = b->inner->rule_row[r] = OOV_ROW;
  w->of_rule[r] = found;
  return LSCFG_OK;
}

int binding_compose(const lscfg_binding *b, const int32_t *rules, int64_t n, int *composed) {
  composition *w = b->composition;
  int code = LSCFG_OK;
  *composed = 0;
  pthread_mutex_lock(&w->lock);
  for (int64_t k = 0; k < n && !code; k++) {
    if (rules[k] >= lscfg_grammar_size(b->grammar)) continue;
    code = settle(b, rules[k]);
    *composed |= w->of_rule[rules[k]] >= 0;
  }
  pthread_mutex_unlock(&w->lock);
  return code;
}

int composition_kind(const lscfg_binding *b, int32_t r, uint8_t *kind) {
  composition *w = b->composition;
  pthread_mutex_lock(&w->lock);
  int code = settle(b, r), composed = w->of_rule[r] >= 0;
  if (composed)
    *kind = w->composites.data[w->of_rule[r]].oov_parts ? LSCFG_RULE_IS_COMPOSED_OOV : LSCFG_RULE_IS_COMPOSED;
  pthread_mutex_unlock(&w->lock);
  return code;
}

composition *composition_new(const lscfg_binding *b, int32_t *words) {
  const lscfg_grammar *g = b->grammar;
  composition *w = calloc(1, sizeof *w);
  if (!w || pthread_mutex_init(&w->lock, NULL)) {
    free(w);
    return NULL;
  }
  w->model = b->model;
  w->oov_parts = b->options.oov_parts;
  w->of_rule = malloc(((size_t)g->rules.size + 1) * sizeof *w->of_rule);
  if (!w->of_rule || rule_table_init(&w->by_sides)) {
    composition_free(w);
    return NULL;
  }
  for (int32_t r = 0; r < g->rules.size; r++)
    w->of_rule[r] = b->rule_row[r] < 0 && g->rules.data[r].lhs == CATEGORY_X ? TO_COME : FAILED;
  w->words = words;
  return w;
}

void composition_free(composition *w) {
  if (!w) return;
  pthread_mutex_destroy(&w->lock);
  rule_table_release(&w->by_sides);
  free(w->of_rule);
  free(w->words);
  free(w->composites.data);
  free(w->productions.data);
  free(w->cells.data);
  free(w->ranges.data);
  free(w->patterns.data);
  free(w->pattern_symbols.data);
  free(w->found.data);
  free(w);
}

void composition_lock(composition *w) { pthread_mutex_lock(&w->lock); }

void composition_unlock(composition *w) { pthread_mutex_unlock(&w->lock); }

int32_t composition_of(const composition *w, int32_t rule) { return w->of_rule[rule]; }

const composite *composition_composite(const composition *w, int32_t c) { return &w->composites.data[c]; }

const production *composition_production(const composition *w, int32_t p) { return &w->productions.data[p]; }
