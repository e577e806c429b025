/* Synchronous rules: reading cdec's format, and the index by source side (a trie) that the parser walks. */
#include "forest/grammar.h"

#include <math.h>

lscfg_grammar *lscfg_grammar_new(lscfg_vocab *vocab) {
  lscfg_grammar *g = calloc(1, sizeof *g);
  if (!g) return NULL;
  g->vocab = vocab;
  if (vocab_init(&g->categories) || vocab_init(&g->feature_names) || ARRAY_RESERVE(g->feature_rows, 1) ||
      lscfg_vocab_add(&g->categories, "X", 1) != CATEGORY_X || lscfg_vocab_add(&g->categories, "S", 1) != CATEGORY_S) {
    lscfg_grammar_free(g);
    return NULL;
  }
  g->feature_rows.data[g->feature_rows.size++] = 0;
  return g;
}

lscfg_grammar *lscfg_grammar_over(const lscfg_grammar *base) {
  lscfg_grammar *g = base->finished && !base->base ? lscfg_grammar_new(base->vocab) : NULL;
  if (g) g->base = base;
  return g;
}

void lscfg_grammar_free(lscfg_grammar *g) {
  if (!g) return;
  if (g->categories.offsets.data) vocab_release(&g->categories);
  if (g->feature_names.offsets.data) vocab_release(&g->feature_names);
  free(g->rules.data);
  free(g->symbols.data);
  free(g->feature_rows.data);
  free(g->feature_ids.data);
  free(g->feature_values.data);
  free(g->feature_last.data);
  free(g->links.data);
  free(g->link_rows.data);
  free(g->by_source);
  free(g->groups.data);
  free(g->rule_group);
  index_release(&g->rule_index);
  free(g->node_group.data);
  trie_release(&g->sources);
  free(g->unary_groups);
  free(g->unary_begin);
  free(g->categories_in_order);
  free(g);
}

int32_t lscfg_grammar_size(const lscfg_grammar *g) { return (int32_t)(g->base ? g->base : g)->rules.size; }
int32_t lscfg_grammar_layer_size(const lscfg_grammar *g) { return g->base ? (int32_t)g->rules.size : 0; }

/* The grammar that has a rule, the base or the layer, and the rule's number there. */
static const lscfg_grammar *owner(const lscfg_grammar *g, int32_t *rule) {
  if (!g->base) return g;
  if (*rule < g->base->rules.size) return g->base;
  *rule -= layer_begin(g->base);
  return g;
}

int32_t lscfg_grammar_arity(const lscfg_grammar *g, int32_t rule) {
  g = owner(g, &rule);
  return g->rules.data[rule].arity;
}

static int32_t scope_of(const lscfg_grammar *g, const grammar_rule *rule) {
  const int32_t *src = g->symbols.data + rule->src;
  int32_t scope = (src[0] < 0) + (src[rule->n_src - 1] < 0);
  for (int32_t k = 1; k < rule->n_src; k++) scope += src[k] < 0 && src[k - 1] < 0;
  return scope;
}

int32_t lscfg_grammar_wide(const lscfg_grammar *g, int32_t *scope) {
  int32_t found = 0;
  *scope = 0;
  for (int64_t r = 0; r < g->rules.size; r++) {
    const grammar_rule *rule = &g->rules.data[r];
    int32_t own = rule->arity > 2 ? scope_of(g, rule) : 0;
    found += own > 2;
    if (own > 2 && own > *scope) *scope = own;
  }
  return found;
}

int32_t lscfg_grammar_lhs(const lscfg_grammar *g, int32_t rule) {
  g = owner(g, &rule);
  return g->rules.data[rule].lhs;
}

int32_t lscfg_grammar_n_features(const lscfg_grammar *g) { return lscfg_vocab_size(&g->feature_names); }

int32_t lscfg_grammar_category(lscfg_grammar *g, const char *name, size_t length) {
  return lscfg_vocab_add(&g->categories, name, length);
}

int32_t lscfg_grammar_n_categories(const lscfg_grammar *g) { return lscfg_vocab_size(&g->categories); }

const char *lscfg_grammar_category_name(const lscfg_grammar *g, int32_t category, size_t *length) {
  return lscfg_vocab_word(&g->categories, category, length);
}

const int32_t *lscfg_grammar_src(const lscfg_grammar *g, int32_t rule, int32_t *length) {
  g = owner(g, &rule);
  *length = g->rules.data[rule].n_src;
  return g->symbols.data + g->rules.data[rule].src;
}

const int32_t *lscfg_grammar_tgt(const lscfg_grammar *g, int32_t rule, int32_t *length) {
  g = owner(g, &rule);
  *length = g->rules.data[rule].n_tgt;
  return g->symbols.data + g->rules.data[rule].tgt;
}

void lscfg_grammar_live(const lscfg_grammar *g, uint8_t *live) {
  memset(live, 0, (size_t)lscfg_grammar_n_features(g));
  for (int64_t k = 0; k < g->feature_ids.size; k++) live[g->feature_ids.data[k]] |= g->feature_values.data[k] != 0;
}

void lscfg_grammar_target_lengths(const lscfg_grammar *g, int32_t *counts) {
  const lscfg_grammar *base = g->base ? g->base : g;
  for (int64_t r = 0; r < base->rules.size; r++) { /* a target side names each nonterminal exactly once */
    const grammar_rule *rule = &base->rules.data[r];
    counts[r] = rule->n_tgt - rule->arity;
  }
}

const int32_t *lscfg_grammar_links(const lscfg_grammar *g, int32_t rule, int32_t *n) {
  static const int32_t none[1] = {0};
  g = owner(g, &rule);
  *n = 0;
  if (rule >= g->link_rows.size) return none;
  int64_t begin = g->link_rows.data[rule],
          end = rule + 1 < g->link_rows.size ? g->link_rows.data[rule + 1] : g->links.size;
  *n = (int32_t)((end - begin) / 2);
  return begin < end ? g->links.data + begin : none;
}

const char *lscfg_grammar_feature_name(const lscfg_grammar *g, int32_t feature, size_t *length) {
  return lscfg_vocab_word(&g->feature_names, feature, length);
}

void lscfg_grammar_features(const lscfg_grammar *g, const int64_t **indptr, const int32_t **indices,
                            const double **values) {
  *indptr = g->feature_rows.data;
  *indices = g->feature_ids.data;
  *values = g->feature_values.data;
}

/* ---- adding rules ---- */

int32_t grammar_add_rule(lscfg_grammar *g, int32_t lhs, const int32_t *src, int64_t n_src, const int32_t *tgt,
                         int64_t n_tgt, int64_t line, lscfg_error *error) {
  int32_t arity = 0, seen = 0, linked = 0, words = lscfg_vocab_size(g->vocab),
          categories = lscfg_vocab_size(&(g->base ? g->base : g)->categories);
  if (g->finished) return lscfg_fail(error, LSCFG_EINPUT, line, "the grammar is finished, no rule can be added");
  if (lhs < 0 || lhs >= categories)
    return lscfg_fail(error, LSCFG_EINPUT, line, "the left-hand side %ld is not a category", (long)lhs);
  if (!n_src) return lscfg_fail(error, LSCFG_EINPUT, line, "the source side is empty");
  if (n_src < 0 || n_tgt < 0 || n_src + n_tgt > INT32_MAX)
    return lscfg_fail(error, LSCFG_EINPUT, line, "sides of %lld and %lld symbols", (long long)n_src, (long long)n_tgt);
  for (int64_t i = 0; i < n_src; i++) {
    if (src[i] >= words || src[i] < -categories)
      return lscfg_fail(error, LSCFG_EINPUT, line, "the symbol %ld is neither a word nor a category", (long)src[i]);
    arity += src[i] < 0;
  }
  if (g->base && arity == 1 && n_src == 1) /* the parser joins nodes of one span by rules of the base only */
    return lscfg_fail(error, LSCFG_EINPUT, line, "a layer has no rule of one nonterminal without words");
  if (arity > MAX_ARITY)
    return lscfg_fail(error, LSCFG_EINPUT, line, "%d nonterminals; a rule may have %d at most", arity, MAX_ARITY);
  for (int64_t i = 0; i < n_tgt; i++) {
    if (tgt[i] >= words) return lscfg_fail(error, LSCFG_EINPUT, line, "the symbol %ld is not a word", (long)tgt[i]);
    if (tgt[i] >= 0) continue;
    int32_t k = -1 - tgt[i];
    if (k >= arity)
      return lscfg_fail(error, LSCFG_EINPUT, line, "the target side names nonterminal %lld of %d", k + 1LL, arity);
    if (linked & (1 << k))
      return lscfg_fail(error, LSCFG_EINPUT, line, "the target side names nonterminal %d twice", k + 1);
    linked |= 1 << k;
    seen++;
  }
  if (seen != arity)
    return lscfg_fail(error, LSCFG_EINPUT, line, "%d nonterminals on the source side, %d on the target side", arity,
                      seen);
  if (g->rules.size >= INT32_MAX - LSCFG_EXTRA_RULES - (g->base ? layer_begin(g->base) : 0))
    return lscfg_fail(error, LSCFG_EINPUT, line, "more than 2^31 rules");
  if (ARRAY_RESERVE(g->rules, 1) || ARRAY_RESERVE(g->symbols, n_src + n_tgt) || ARRAY_RESERVE(g->feature_rows, 1))
    return out_of_memory(error);
  grammar_rule *rule = &g->rules.data[g->rules.size];
  *rule = (grammar_rule){lhs, arity, g->symbols.size, g->symbols.size + n_src, (int32_t)n_src, (int32_t)n_tgt};
  memcpy(g->symbols.data + rule->src, src, (size_t)n_src * sizeof *src);
  if (n_tgt) memcpy(g->symbols.data + rule->tgt, tgt, (size_t)n_tgt * sizeof *tgt);
  g->symbols.size += n_src + n_tgt;
  g->feature_rows.data[g->feature_rows.size++] = g->feature_ids.size;
  return (int32_t)g->rules.size++;
}

int32_t lscfg_grammar_add(lscfg_grammar *g, int32_t lhs, const int32_t *src, int32_t n_src, const int32_t *tgt,
                          int32_t n_tgt, lscfg_error *error) {
  int32_t rule = grammar_add_rule(g, lhs, src, n_src, tgt, n_tgt, 0, error);
  return rule < 0 || !g->base ? rule : layer_begin(g->base) + rule;
}

int32_t lscfg_grammar_add_all(lscfg_grammar *g, int32_t lhs, const int32_t *symbols, const int64_t *offsets, int32_t n,
                              lscfg_error *error) {
  int32_t first = (g->base ? layer_begin(g->base) : 0) + (int32_t)g->rules.size;
  for (const int64_t *at = offsets; at < offsets + 2 * (int64_t)n; at += 2) {
    const int32_t *src = symbols + at[0], *tgt = symbols + at[1];
    int32_t rule = grammar_add_rule(g, lhs, src, at[1] - at[0], tgt, at[2] - at[1], 0, error);
    if (rule < 0) return rule;
  }
  return first;
}

/* ---- reading text ---- */

typedef struct {
  const char *p, *end;
} slice;

static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static slice trim(slice s) {
  while (s.p < s.end && is_blank(*s.p)) s.p++;
  while (s.p < s.end && is_blank(s.end[-1])) s.end--;
  return s;
}

/* Splits the next field off the line, up to " ||| " or the end; 0 at the end of the line. */
static int next_field(slice *line, slice *field) {
  if (!line->p) return 0;
  field->p = line->p;
  for (const char *p = line->p; p + 3 <= line->end; p++) {
    int opens = p == line->p || is_blank(p[-1]), closes = p + 3 == line->end || is_blank(p[3]);
    if (opens && closes && !memcmp(p, "|||", 3)) {
      field->end = p;
      line->p = p + 3;
      *field = trim(*field);
      return 1;
    }
  }
  field->end = line->end;
  line->p = NULL;
  *field = trim(*field);
  return 1;
}

static int next_token(slice *field, slice *token) {
  *field = trim(*field);
  if (field->p == field->end) return 0;
  token->p = field->p;
  while (field->p < field->end && !is_blank(*field->p)) field->p++;
  token->end = field->p;
  return 1;
}

static int bracketed(slice token) { return token.end - token.p >= 3 && *token.p == '[' && token.end[-1] == ']'; }

/* "[X]" or "[X,k]": the category, and k or 0; -1 when it is neither. */
static int32_t read_nonterminal(lscfg_grammar *g, slice token, int32_t *index) {
  const char *comma = token.end - 1, *name = token.p + 1;
  *index = 0;
  while (comma > name && *comma != ',') comma--;
  if (comma == name) {
    if (*name == ',') return -1;
    return lscfg_grammar_category(g, name, (size_t)(token.end - 1 - name));
  }
  for (const char *p = comma + 1; p < token.end - 1; p++) {
    if (*p < '0' || *p > '9' || *index > 99) return -1;
    *index = 10 * *index + (*p - '0');
  }
  return *index ? lscfg_grammar_category(g, name, (size_t)(comma - name)) : -1;
}

/* "[k]" or "[X,k]" on the target side: k of up to two digits, or 0 when it is neither; then it is a word, as in cdec.
 * */
static int32_t target_index(slice token) {
  int32_t index = 0;
  const char *p = token.end - 2;
  while (p > token.p && *p >= '0' && *p <= '9') p--;
  if ((*p != '[' && *p != ',') || token.end - p > 4 || p[1] == '0' || p - token.p == 1) return 0;
  for (p++; p < token.end - 1; p++) index = 10 * index + (*p - '0');
  return index;
}

#define TOKEN(t) (int)((t).end - (t).p > 60 ? 60 : (t).end - (t).p), (t).p

typedef ARRAY(int32_t) int_array;

static int push(int_array *a, int32_t value) {
  if (ARRAY_RESERVE(*a, 1)) return LSCFG_ENOMEM;
  a->data[a->size++] = value;
  return LSCFG_OK;
}

static int read_source(lscfg_grammar *g, slice field, int_array *src, int64_t line, lscfg_error *error) {
  slice token;
  int32_t arity = 0;
  while (next_token(&field, &token)) {
    int32_t symbol, index, category = bracketed(token) ? read_nonterminal(g, token, &index) : -1;
    if (category >= 0) { /* what is no nonterminal in brackets is a word, as in cdec */
      arity++;
      if (index && index != arity)
        return lscfg_fail(error, LSCFG_EINPUT, line,
                          "'%.*s' is not a nonterminal like [X,%d] (source-side indices count from 1 in order)",
                          TOKEN(token), arity);
      symbol = category_symbol(category);
    } else if ((symbol = lscfg_vocab_add(g->vocab, token.p, (size_t)(token.end - token.p))) < 0) {
      return out_of_memory(error);
    }
    if (push(src, symbol)) return out_of_memory(error);
  }
  return LSCFG_OK;
}

/* The category of a nonterminal of a source side, counted from 1; -1 if there are not as many. */
static int32_t category_of(const int_array *src, int32_t index) {
  for (int64_t i = 0; i < src->size; i++)
    if (src->data[i] < 0 && !--index) return -1 - src->data[i];
  return -1;
}

/* Refuses "[NAME,k]" whose nonterminal k is of another category on the source side. */
static int check_category(const lscfg_grammar *g, slice token, int32_t category, int64_t line, lscfg_error *error) {
  const char *name = token.p + 1, *comma = token.end - 1;
  size_t length;
  const char *right = lscfg_vocab_word(&g->categories, category, &length);
  while (comma > name && *comma != ',') comma--;
  if (comma == name || ((size_t)(comma - name) == length && !memcmp(name, right, length))) return LSCFG_OK;
  return lscfg_fail(error, LSCFG_EINPUT, line, "'%.*s' of the target side is [%.*s] on the source side", TOKEN(token),
                    length < 60 ? (int)length : 60, right);
}

static int read_target(lscfg_grammar *g, slice field, const int_array *src, int_array *tgt, int64_t line,
                       lscfg_error *error) {
  slice token;
  while (next_token(&field, &token)) {
    int32_t symbol = bracketed(token) ? -target_index(token) : 0, category = symbol ? category_of(src, -symbol) : -1;
    int code = category < 0 ? LSCFG_OK : check_category(g, token, category, line, error);
    if (code) return code;
    if (!symbol && (symbol = lscfg_vocab_add(g->vocab, token.p, (size_t)(token.end - token.p))) < 0)
      return out_of_memory(error);
    if (push(tgt, symbol)) return out_of_memory(error);
  }
  return LSCFG_OK;
}

int grammar_add_feature(lscfg_grammar *g, int32_t id, double value, int64_t line, lscfg_error *error) {
  int32_t rule = (int32_t)g->rules.size - 1;
  if (ARRAY_RESERVE(g->feature_ids, 1) || ARRAY_RESERVE(g->feature_values, 1) ||
      ARRAY_RESERVE(g->feature_last, id + 1 - g->feature_last.size))
    return out_of_memory(error);
  while (g->feature_last.size <= id) g->feature_last.data[g->feature_last.size++] = -1;
  if (g->feature_last.data[id] == rule) { /* cdec would keep the last value */
    size_t length;
    const char *name = lscfg_vocab_word(&g->feature_names, id, &length);
    return lscfg_fail(error, LSCFG_EINPUT, line, "the rule names the feature '%.*s' twice; keep one of the two",
                      (int)(length < 80 ? length : 80), name);
  }
  g->feature_last.data[id] = rule;
  g->feature_ids.data[g->feature_ids.size++] = id;
  g->feature_values.data[g->feature_values.size++] = value;
  g->feature_rows.data[g->feature_rows.size - 1] = g->feature_ids.size;
  return LSCFG_OK;
}

static int add_feature(lscfg_grammar *g, const char *name, size_t length, double value, int64_t line,
                       lscfg_error *error) {
  int32_t id = lscfg_vocab_add(&g->feature_names, name, length);
  return id < 0 ? out_of_memory(error) : grammar_add_feature(g, id, value, line, error);
}

/* As in cdec, ';' separates features, too. */
static int next_feature(slice *field, slice *token) {
  while (field->p < field->end && (is_blank(*field->p) || *field->p == ';')) field->p++;
  if (!next_token(field, token)) return 0;
  const char *end = memchr(token->p, ';', (size_t)(token->end - token->p));
  if (end) field->p = token->end = end;
  return 1;
}

/* "Name=value" pairs; a bare number is PhraseModel_k, the k-th feature of the rule from 0, as in cdec. */
static int read_features(lscfg_grammar *g, slice field, int64_t line, lscfg_error *error) {
  slice token;
  for (int k = 0; next_feature(&field, &token); k++) {
    char name[32];
    double value;
    const char *equals = memchr(token.p, '=', (size_t)(token.end - token.p));
    equals = equals ? equals + 1 : token.p;
    size_t length = (size_t)(token.end - equals);
    if (!length || equals == token.p + 1)
      return lscfg_fail(error, LSCFG_EINPUT, line, "'%.*s' is not a feature Name=value", TOKEN(token));
    if (memchr(equals, '=', length))
      return lscfg_fail(error, LSCFG_EINPUT, line, "'%.*s': a feature's name must not contain '='", TOKEN(token));
    if (lscfg_parse_double(equals, length, &value) || !isfinite(value))
      return lscfg_fail(error, LSCFG_EINPUT, line, "'%.*s' is not a feature with a finite value", TOKEN(token));
    int code;
    if (equals == token.p) {
      int n = snprintf(name, sizeof name, "PhraseModel_%d", k);
      code = add_feature(g, name, (size_t)n, value, line, error);
    } else {
      code = add_feature(g, token.p, (size_t)(equals - 1 - token.p), value, line, error);
    }
    if (code) return code;
  }
  return LSCFG_OK;
}

/* "3-0": both numbers; 0 for any other token. */
static int read_pair(slice token, int32_t pair[2]) {
  const char *p = token.p;
  for (int side = 0; side < 2; side++) {
    const char *begin = p;
    pair[side] = 0;
    for (; p < token.end && *p >= '0' && *p <= '9'; p++)
      pair[side] = pair[side] < INT32_MAX / 100 ? 10 * pair[side] + (*p - '0') : INT32_MAX;
    if (p == begin || (side ? p < token.end : p == token.end || *p++ != '-')) return 0;
  }
  return 1;
}

int grammar_add_link(lscfg_grammar *g, const int32_t pair[2], lscfg_error *error) {
  int64_t rules = g->rules.size;
  if (ARRAY_RESERVE(g->links, 2) || ARRAY_RESERVE(g->link_rows, rules - g->link_rows.size)) return out_of_memory(error);
  while (g->link_rows.size < rules) g->link_rows.data[g->link_rows.size++] = g->links.size;
  memcpy(g->links.data + g->links.size, pair, 2 * sizeof *pair);
  g->links.size += 2;
  return LSCFG_OK;
}

/* Word links of the last rule. Links of nonterminals, as in Moses' tables, follow from their numbers. */
static int read_links(lscfg_grammar *g, slice field, int64_t line, lscfg_error *error) {
  slice token;
  const grammar_rule *rule = &g->rules.data[g->rules.size - 1];
  const int32_t *src = g->symbols.data + rule->src, *tgt = g->symbols.data + rule->tgt;
  int64_t begin = g->links.size, rows = g->link_rows.size;
  int32_t pair[2];
  while (next_token(&field, &token)) {
    if (!read_pair(token, pair)) { /* another program's field */
      g->links.size = begin;
      g->link_rows.size = rows;
      return LSCFG_OK;
    }
    if (pair[0] >= rule->n_src || pair[1] >= rule->n_tgt)
      return lscfg_fail(error, LSCFG_EINPUT, line, "'%.*s' links a word outside the rule of %d and %d symbols",
                        TOKEN(token), rule->n_src, rule->n_tgt);
    if (src[pair[0]] < 0 || tgt[pair[1]] < 0) continue;
    int code = grammar_add_link(g, pair, error);
    if (code) return code;
  }
  return LSCFG_OK;
}

static int read_line(lscfg_grammar *g, slice text, int_array *src, int_array *tgt, int64_t line, lscfg_error *error) {
  slice rest = trim(text), lhs, source, target, features, links;
  int32_t index, category;
  if (rest.p == rest.end || *rest.p == '#') return LSCFG_OK;
  if (!next_field(&rest, &lhs) || !next_field(&rest, &source) || !next_field(&rest, &target))
    return lscfg_fail(error, LSCFG_EINPUT, line, "expected '[X] ||| source ||| target ||| features', found '%.*s'",
                      TOKEN(text));
  if (!bracketed(lhs) || (category = read_nonterminal(g, lhs, &index)) < 0 || index)
    return lscfg_fail(error, LSCFG_EINPUT, line, "the left-hand side '%.*s' is not a category like [X]", TOKEN(lhs));
  src->size = tgt->size = 0;
  int code = read_source(g, source, src, line, error);
  if (!code) code = read_target(g, target, src, tgt, line, error);
  if (code) return code;
  int32_t rule = grammar_add_rule(g, category, src->data, src->size, tgt->data, tgt->size, line, error);
  if (rule < 0) return rule;
  if (!next_field(&rest, &features)) return LSCFG_OK;
  code = read_features(g, features, line, error);
  return !code && next_field(&rest, &links) ? read_links(g, links, line, error) : code;
}

int lscfg_grammar_read(lscfg_grammar *g, const char *text, size_t length, lscfg_error *error) {
  int_array src = {0}, tgt = {0};
  const char *end = text + length;
  int64_t line = 0;
  int code = refuse_layer(g, error);
  for (const char *p = text; p < end && !code;) {
    const char *newline = memchr(p, '\n', (size_t)(end - p));
    slice content = {p, newline ? newline : end};
    code = read_line(g, content, &src, &tgt, ++line, error);
    p = newline ? newline + 1 : end;
  }
  free(src.data);
  free(tgt.data);
  return code;
}

/* ---- the index by source side ---- */

static int32_t new_node(lscfg_grammar *g) {
  if (ARRAY_RESERVE(g->node_group, 1)) return -1;
  g->node_group.data[g->node_group.size] = -1;
  return (int32_t)g->node_group.size++;
}

static int32_t extend(lscfg_grammar *g, int32_t node, int32_t symbol) {
  int32_t child = trie_child(&g->sources, node, symbol);
  if (child >= 0) return child;
  if ((child = new_node(g)) < 0 || trie_add(&g->sources, node, symbol, child)) return -1;
  return child;
}

static int32_t group_of(lscfg_grammar *g, int32_t node, int32_t lhs) {
  for (int32_t i = g->node_group.data[node]; i >= 0; i = g->groups.data[i].next)
    if (g->groups.data[i].lhs == lhs) return i;
  if (ARRAY_RESERVE(g->groups, 1)) return -1;
  g->groups.data[g->groups.size] = (grammar_group){lhs, 0, 0, g->node_group.data[node]};
  g->node_group.data[node] = (int32_t)g->groups.size;
  return (int32_t)g->groups.size++;
}

/* Source side of a group that is one nonterminal: its category, -1 for any other group. */
static int32_t unary_child(const lscfg_grammar *g, const grammar_group *group) {
  const grammar_rule *rule = &g->rules.data[g->by_source[group->rules_begin]];
  int32_t symbol = g->symbols.data[rule->src];
  return rule->n_src == 1 && symbol < 0 ? -1 - symbol : -1;
}

/* A category without a position in the order yet, from which a unary rule builds this one; -1: there is none. */
static int32_t unplaced_child(const lscfg_grammar *g, const char *placed, int32_t category) {
  if (category == CATEGORY_S && !placed[CATEGORY_X]) return CATEGORY_X;
  for (int32_t k = g->unary_begin[category]; k < g->unary_begin[category + 1]; k++) {
    int32_t child = unary_child(g, &g->groups.data[g->unary_groups[k]]);
    if (!placed[child]) return child;
  }
  return -1;
}

/* A category on a cycle: every category without a position is built from another one without a position. */
static int32_t on_circle(const lscfg_grammar *g, const char *placed, int32_t n) {
  int32_t c = 0;
  while (placed[c]) c++;
  for (int32_t step = 0; step < n; step++) c = unplaced_child(g, placed, c);
  return c;
}

/* Sorts unary rules by left-hand side. */
static int find_unary(lscfg_grammar *g, int32_t n) {
  g->unary_groups = malloc(((size_t)g->groups.size + 1) * sizeof *g->unary_groups);
  g->unary_begin = calloc((size_t)n + 2, sizeof *g->unary_begin);
  if (!g->unary_groups || !g->unary_begin) return LSCFG_ENOMEM;
  int32_t *end = g->unary_begin + 1; /* of each left-hand side, once its rules are there; its beginning before */
  for (int32_t i = 0; i < g->groups.size; i++)
    if (unary_child(g, &g->groups.data[i]) >= 0) end[g->groups.data[i].lhs + 1]++;
  for (int32_t c = 1; c <= n; c++) end[c] += end[c - 1];
  for (int32_t i = 0; i < g->groups.size; i++)
    if (unary_child(g, &g->groups.data[i]) >= 0) g->unary_groups[end[g->groups.data[i].lhs]++] = i;
  return LSCFG_OK;
}

/* Sorts the categories so that each comes after those from which unary rules (including the glue rule S -> X)
 * build it. */
static int order_categories(lscfg_grammar *g) {
  int32_t n = lscfg_vocab_size(&g->categories), done = 0;
  char *placed = calloc((size_t)n, 1);
  g->categories_in_order = malloc((size_t)n * sizeof *g->categories_in_order);
  if (!placed || !g->categories_in_order || find_unary(g, n)) {
    free(placed);
    return LSCFG_ENOMEM;
  }
  for (int32_t before = -1; done < n && before < done;) {
    before = done;
    for (int32_t c = 0; c < n; c++) {
      if (placed[c] || unplaced_child(g, placed, c) >= 0) continue;
      placed[c] = 1;
      g->categories_in_order[done++] = c;
    }
  }
  g->n_ordered = done;
  g->cyclic = done < n ? 1 + on_circle(g, placed, n) : 0;
  free(placed);
  return LSCFG_OK;
}

static int check_order(const lscfg_grammar *g, lscfg_error *error) {
  if (!g->cyclic) return LSCFG_OK;
  size_t length;
  const char *name = lscfg_vocab_word(&g->categories, g->cyclic - 1, &length);
  return lscfg_fail(error, LSCFG_EINPUT, 0,
                    "rules whose source side is a single nonterminal lead from [%.*s] back to itself; remove one",
                    length < 60 ? (int)length : 60, name);
}

/* ---- the index by both sides ---- */

static uint64_t hash_sides(int32_t lhs, const int32_t *src, int32_t n_src, const int32_t *tgt, int32_t n_tgt) {
  return hash_ints(tgt, n_tgt, hash_ints(src, n_src, (uint64_t)(uint32_t)lhs));
}

static int same_symbols(const int32_t *a, int32_t n_a, const int32_t *b, int32_t n_b) {
  return n_a == n_b && (!n_a || !memcmp(a, b, (size_t)n_a * sizeof *a));
}

static int32_t find_rule(const lscfg_grammar *g, uint32_t hash, int32_t lhs, const int32_t *src, int32_t n_src,
                         const int32_t *tgt, int32_t n_tgt) {
  int64_t at = -1;
  for (int32_t r; (r = index_next(&g->rule_index, hash, &at)) >= 0;) {
    const grammar_rule *rule = &g->rules.data[r];
    if (rule->lhs == lhs && same_symbols(g->symbols.data + rule->src, rule->n_src, src, n_src) &&
        same_symbols(g->symbols.data + rule->tgt, rule->n_tgt, tgt, n_tgt))
      return r;
  }
  return -1;
}

int lscfg_grammar_index_sides(lscfg_grammar *g, lscfg_error *error) {
  if (refuse_layer(g, error)) return LSCFG_EINPUT;
  if (!g->finished || g->indexed) return LSCFG_OK;
  if (index_reserve_all(&g->rule_index, g->rules.size)) return out_of_memory(error);
  for (int32_t r = 0; r < g->rules.size; r++) {
    const grammar_rule *rule = &g->rules.data[r];
    const int32_t *src = g->symbols.data + rule->src, *tgt = g->symbols.data + rule->tgt;
    uint32_t hash = (uint32_t)hash_sides(rule->lhs, src, rule->n_src, tgt, rule->n_tgt);
    if (find_rule(g, hash, rule->lhs, src, rule->n_src, tgt, rule->n_tgt) < 0) index_put(&g->rule_index, hash, r);
  }
  g->indexed = 1;
  return LSCFG_OK;
}

int32_t lscfg_grammar_find(const lscfg_grammar *g, int32_t lhs, const int32_t *src, int32_t n_src, const int32_t *tgt,
                           int32_t n_tgt) {
  if (!g->indexed || n_src < 1 || n_tgt < 0) return -1;
  return find_rule(g, (uint32_t)hash_sides(lhs, src, n_src, tgt, n_tgt), lhs, src, n_src, tgt, n_tgt);
}

/* The trie of the source sides, and the group of each rule. Adjacent rules usually share the beginning of their source
 * sides, whose nodes need no look-up. */
static int index_sources(lscfg_grammar *g) {
  ARRAY(int32_t) nodes = {0}; /* along the last source side, from the root */
  const int32_t *before = NULL;
  int32_t n_before = 0, code = trie_init(&g->sources) || new_node(g) < 0 ? LSCFG_ENOMEM : LSCFG_OK;
  for (int32_t r = 0; r < g->rules.size && !code; r++) {
    const grammar_rule *rule = &g->rules.data[r];
    const int32_t *src = g->symbols.data + rule->src;
    int32_t shared = 0, node = 0;
    while (shared < rule->n_src && shared < n_before && src[shared] == before[shared]) shared++;
    if (ARRAY_RESERVE(nodes, rule->n_src)) node = -1;
    if (node >= 0 && shared) node = nodes.data[shared - 1];
    for (int32_t i = shared; i < rule->n_src && node >= 0; i++)
      node = nodes.data[i] = extend(g, node, src[i]);
    if (node < 0 || (g->rule_group[r] = group_of(g, node, rule->lhs)) < 0) code = LSCFG_ENOMEM;
    if (!code) g->groups.data[g->rule_group[r]].rules_end++; /* a count for now */
    before = src;
    n_before = rule->n_src;
  }
  free(nodes.data);
  return code;
}

int lscfg_grammar_finish(lscfg_grammar *g, lscfg_error *error) {
  int32_t n = (int32_t)g->rules.size, begin = 0;
  if (g->finished) return check_order(g, error);
  if (g->rule_group) return out_of_memory(error); /* as the first time */
  int32_t *rule_group = g->rule_group = malloc(((size_t)n + 1) * sizeof *rule_group);
  g->by_source = malloc(((size_t)n + 1) * sizeof *g->by_source);
  if (!rule_group || !g->by_source || index_sources(g)) goto memory;
  for (int64_t i = 0; i < g->groups.size; i++) {
    int32_t count = g->groups.data[i].rules_end;
    g->groups.data[i].rules_begin = g->groups.data[i].rules_end = begin;
    begin += count;
  }
  for (int32_t r = 0; r < n; r++) g->by_source[g->groups.data[rule_group[r]].rules_end++] = r;
  if (order_categories(g)) goto memory;
  g->finished = 1;
  return check_order(g, error);
memory:
  return out_of_memory(error);
}
