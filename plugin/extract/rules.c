/* Work over whole tables of rules: numbering their sides, lexical weights, text, and which of them a sentence can use.
 * */
#include <math.h>

#include "lscfg/extract.h"
#include "base/index.h"
#include "base/trie.h"
#include "base/vocab.h"

/* ---- equal sides get equal numbers ---- */

static void side_of(const lscfg_rules *r, int64_t rule, int side, const int32_t **symbols, int64_t *n) {
  int64_t middle = r->offsets[rule] + r->src_length[rule];
  *symbols = r->symbols + (side ? middle : r->offsets[rule]);
  *n = side ? r->offsets[rule + 1] - middle : r->src_length[rule];
}

/* The first rule before this one with the same side, -1: none. */
static int64_t same_side(const lscfg_rules *r, const index_table *index, uint32_t hash, const int32_t *symbols,
                         int64_t n, int side) {
  int64_t at = -1, n_known;
  const int32_t *known;
  for (int32_t rule; (rule = index_next(index, hash, &at)) >= 0;) {
    side_of(r, rule, side, &known, &n_known);
    if (n == n_known && !memcmp(symbols, known, (size_t)n * sizeof *symbols)) return rule;
  }
  return -1;
}

int lscfg_rules_number(const lscfg_rules *r, int side, int32_t *number, lscfg_error *error) {
  index_table index = {0}; /* the first rules that have their sides */
  int32_t next = 0;
  if (index_reserve_all(&index, r->n)) return out_of_memory(error);
  for (int64_t rule = 0; rule < r->n; rule++) {
    const int32_t *symbols;
    int64_t n;
    side_of(r, rule, side, &symbols, &n);
    uint32_t hash = (uint32_t)hash_ints(symbols, n, 0);
    int64_t known = same_side(r, &index, hash, symbols, n, side);
    number[rule] = known < 0 ? next++ : number[known];
    if (known < 0) index_put(&index, hash, (int32_t)rule);
  }
  index_release(&index);
  return next;
}

/* ---- lexical weights ---- */

/* Word pairs and their costs, found by their words. */
typedef struct {
  const int32_t *pairs;
  const double *costs;
  index_table index;
} lexicon;

static uint32_t hash_pair(int32_t src, int32_t tgt) {
  return (uint32_t)hash_mix((uint64_t)(uint32_t)src << 32 | (uint32_t)tgt);
}

static int32_t find_pair(const lexicon *x, int32_t src, int32_t tgt) {
  uint32_t hash = hash_pair(src, tgt);
  int64_t at = -1;
  int32_t k;
  do k = index_next(&x->index, hash, &at);
  while (k >= 0 && (x->pairs[2 * (int64_t)k] != src || x->pairs[2 * (int64_t)k + 1] != tgt));
  return k;
}

static double pair_cost(const lexicon *x, int32_t src, int32_t tgt, int given_tgt, double worst) {
  int32_t k = find_pair(x, src, tgt);
  return k < 0 ? worst : x->costs[2 * (int64_t)k + given_tgt];
}

/* The words of one side, each at the cost of its best partner among the other side's words and none. */
static double side_weight(const lexicon *x, const lscfg_rules *r, int64_t rule, int side, double worst) {
  const int32_t *symbols, *others;
  int64_t n, n_others;
  double sum = 0;
  side_of(r, rule, side, &symbols, &n);
  side_of(r, rule, !side, &others, &n_others);
  for (int64_t i = 0; i < n; i++) {
    int32_t word = symbols[i];
    if (word < 0) continue;
    double best = side ? pair_cost(x, -1, word, 0, worst) : pair_cost(x, word, -1, 1, worst);
    for (int64_t k = 0; k < n_others; k++) {
      if (others[k] < 0) continue;
      double cost = side ? pair_cost(x, others[k], word, 0, worst) : pair_cost(x, word, others[k], 1, worst);
      if (cost < best) best = cost;
    }
    sum += best;
  }
  return sum;
}

int lscfg_rules_lexical(const lscfg_rules *r, int64_t n_pairs, const int32_t *pairs, const double *costs, double worst,
                        int64_t n, const int64_t *which, double *out, lscfg_error *error) {
  lexicon x = {.pairs = pairs, .costs = costs};
  if (n_pairs > INT32_MAX || index_reserve_all(&x.index, n_pairs)) return out_of_memory(error);
  for (int64_t k = n_pairs; k-- > 0;) /* of equal pairs the last one counts */
    if (find_pair(&x, pairs[2 * k], pairs[2 * k + 1]) < 0)
      index_put(&x.index, hash_pair(pairs[2 * k], pairs[2 * k + 1]), (int32_t)k);
  for (int64_t k = 0; k < n; k++) {
    out[2 * k] = side_weight(&x, r, which[k], 1, worst);
    out[2 * k + 1] = side_weight(&x, r, which[k], 0, worst);
  }
  index_release(&x.index);
  return LSCFG_OK;
}

/* ---- text ---- */

/* Printed numbers by value: the features of a grammar take few different values. */
typedef struct {
  double value;
  int32_t length; /* 0 where the slot is empty */
  char text[28];
} printed;

enum { PRINTED = 1 << 15 };

typedef ARRAY(char) char_array;

static void put(char_array *out, const char *bytes, size_t n) {
  memcpy(out->data + out->size, bytes, n);
  out->size += (int64_t)n;
}

static void put_number(char_array *out, printed *cache, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  printed *p = &cache[hash_mix(bits) & (PRINTED - 1)];
  if (!p->length || memcmp(&p->value, &value, sizeof value)) {
    p->value = value;
    p->length = lscfg_print_double(value, 6, p->text, sizeof p->text);
  }
  put(out, p->text, (size_t)p->length);
}

/* Symbols as cdec writes them: words, and [X,k] for the k-th nonterminal of the source side. */
static int put_side(char_array *out, const lscfg_rules *r, int64_t rule, int side) {
  const int32_t *symbols;
  int64_t n, needed = 0;
  int32_t arity = 0;
  side_of(r, rule, side, &symbols, &n);
  for (int64_t i = 0; i < n; i++)
    needed += symbols[i] < 0 ? 16 : r->word_offsets[symbols[i] + 1] - r->word_offsets[symbols[i]] + 1;
  if (ARRAY_RESERVE(*out, needed + 8)) return LSCFG_ENOMEM;
  for (int64_t i = 0; i < n; i++) {
    if (symbols[i] < 0) {
      arity = side ? -symbols[i] : arity + 1;
      out->size += sprintf(out->data + out->size, "[X,%d] ", (int)arity);
    } else {
      int64_t begin = r->word_offsets[symbols[i]], end = r->word_offsets[symbols[i] + 1];
      put(out, r->words + begin, (size_t)(end - begin));
      put(out, " ", 1);
    }
  }
  put(out, "||| ", 4);
  return LSCFG_OK;
}

static int put_features(char_array *out, int32_t n, const char *const *names, const double *values, printed *cache) {
  for (int32_t k = 0; k < n; k++) {
    if (values[k] == 0) continue;
    size_t length = strlen(names[k]);
    if (ARRAY_RESERVE(*out, length + 32)) return LSCFG_ENOMEM;
    put(out, names[k], length);
    put(out, "=", 1);
    put_number(out, cache, values[k]);
    put(out, " ", 1);
  }
  if (out->data[out->size - 1] == ' ') out->size--;
  out->data[out->size++] = '\n'; /* instead of the blank after put_side or the last feature */
  return LSCFG_OK;
}

int lscfg_rules_text(const lscfg_rules *r, int64_t n, const int64_t *which, int32_t n_features,
                     const char *const *names, const double *values, char **text, int64_t *length, lscfg_error *error) {
  char_array out = {0};
  printed *cache = calloc(PRINTED, sizeof *cache);
  int failed = !cache;
  for (int64_t k = 0; k < n && !failed; k++) {
    failed = ARRAY_RESERVE(out, 8);
    if (failed) break;
    put(&out, "[X] ||| ", 8);
    failed = put_side(&out, r, which[k], 0) || put_side(&out, r, which[k], 1) ||
             put_features(&out, n_features, names, values + k * n_features, cache);
  }
  free(cache);
  *text = out.data;
  *length = out.size;
  if (!failed) return LSCFG_OK;
  lscfg_rules_text_free(out.data);
  *text = NULL;
  return out_of_memory(error);
}

void lscfg_rules_text_free(char *text) { free(text); }

/* ---- which source sides a sentence can match ---- */

/* A way into the trie: source symbols up to node are matched by words that end before position; open: the last of them
 * is a nonterminal, which may also take the words up to any position before limit. */
typedef struct {
  int32_t node, position, limit, open;
} matcher_state;

/* The first position of an open node in the sentence of this stamp. */
typedef struct {
  int32_t stamp, first;
} matcher_visit;

struct lscfg_matcher {
  trie sources;
  ARRAY(int32_t) side; /* node -> number of the source side that ends there, -1 */
  int32_t n_sides;
  /* workspace with stamps, so that a sentence costs no time for nodes that it does not reach */
  matcher_visit *visits; /* by node */
  int32_t *matched;      /* side -> stamp of the last sentence that matched it */
  int32_t stamp;
  ARRAY(matcher_state) todo;
};

static int32_t new_node(lscfg_matcher *m) {
  if (m->side.size == INT32_MAX || ARRAY_RESERVE(m->side, 1)) return -1;
  m->side.data[m->side.size] = -1;
  return (int32_t)m->side.size++;
}

static int32_t add_child(lscfg_matcher *m, int32_t node, int32_t symbol) {
  int32_t child = trie_child(&m->sources, node, symbol);
  if (child >= 0) return child;
  if ((child = new_node(m)) < 0 || trie_add(&m->sources, node, symbol, child)) return -1;
  return child;
}

int lscfg_matcher_new(const lscfg_rules *r, const int32_t *number, lscfg_matcher **matcher, lscfg_error *error) {
  lscfg_matcher *m = calloc(1, sizeof *m);
  int failed = !m || trie_init(&m->sources) || new_node(m) < 0;
  *matcher = NULL;
  for (int64_t rule = 0; rule < r->n && !failed; rule++) {
    if (number[rule] < m->n_sides) continue;
    const int32_t *symbols = r->symbols + r->offsets[rule];
    int32_t node = 0;
    for (int32_t i = 0; i < r->src_length[rule] && node >= 0; i++) node = add_child(m, node, symbols[i]);
    if (!(failed = node < 0)) m->side.data[node] = m->n_sides++;
  }
  failed = failed || !(m->visits = calloc((size_t)m->side.size, sizeof *m->visits)) ||
           !(m->matched = calloc((size_t)m->n_sides + 1, sizeof *m->matched));
  if (failed) {
    lscfg_matcher_free(m);
    return out_of_memory(error);
  }
  *matcher = m;
  return LSCFG_OK;
}

void lscfg_matcher_free(lscfg_matcher *m) {
  if (!m) return;
  trie_release(&m->sources);
  free(m->side.data);
  free(m->visits);
  free(m->matched);
  free(m->todo.data);
  free(m);
}

/* A nonterminal at this position: the node after it takes the words from position + 1 on, up to those taken on an
 * earlier visit. An earlier start finds everything that a later one does, so only the first position counts. */
static int open_gap(lscfg_matcher *m, int32_t node, int32_t position, int32_t n) {
  int32_t child = trie_child(&m->sources, node, -1);
  if (child < 0 || position + 1 > n) return LSCFG_OK;
  matcher_visit *visit = &m->visits[child];
  int32_t limit = visit->stamp == m->stamp ? visit->first : n;
  if (visit->stamp == m->stamp && position + 1 >= limit) return LSCFG_OK;
  if (ARRAY_RESERVE(m->todo, 1)) return LSCFG_ENOMEM;
  m->todo.data[m->todo.size++] = (matcher_state){child, position + 1, limit, 1};
  *visit = (matcher_visit){m->stamp, position + 1};
  return LSCFG_OK;
}

static int follow(lscfg_matcher *m, const matcher_state *s, const int32_t *words, int32_t n) {
  if (open_gap(m, s->node, s->position, n)) return LSCFG_ENOMEM;
  int32_t end = s->open ? s->limit : s->position + 1;
  for (int32_t p = s->position; p < end && p < n; p++) {
    int32_t child = words[p] < 0 ? -1 : trie_child(&m->sources, s->node, words[p]);
    if (child < 0) continue;
    if (ARRAY_RESERVE(m->todo, 1)) return LSCFG_ENOMEM;
    m->todo.data[m->todo.size++] = (matcher_state){child, p + 1, 0, 0};
  }
  return LSCFG_OK;
}

int32_t lscfg_match(lscfg_matcher *m, const int32_t *words, int32_t n, int32_t *found, lscfg_error *error) {
  int32_t count = 0;
  if (m->stamp == INT32_MAX) { /* stamps start again */
    memset(m->visits, 0, (size_t)m->side.size * sizeof *m->visits);
    memset(m->matched, 0, (size_t)m->n_sides * sizeof *m->matched);
    m->stamp = 0;
  }
  m->stamp++;
  m->todo.size = 0;
  if (ARRAY_RESERVE(m->todo, 1)) return out_of_memory(error);
  /* a source side may begin at any word; a nonterminal in front takes at least one */
  m->todo.data[m->todo.size++] = (matcher_state){0, 0, n, 1};
  while (m->todo.size) {
    matcher_state s = m->todo.data[--m->todo.size];
    int32_t side = m->side.data[s.node];
    if (side >= 0 && m->matched[side] != m->stamp) {
      m->matched[side] = m->stamp;
      found[count++] = side;
    }
    if (follow(m, &s, words, n)) return out_of_memory(error);
  }
  return count;
}
