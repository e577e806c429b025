/* Compiled grammars: rules as arrays, which are read in a tenth of the time of compressed text. Every rule passes the
 * checks of the text's reader, but words do not: the file has a checksum. The index by source side is built as for
 * text: to check a stored index would take as long. */
#include <math.h>

#include "base/safetensors.h"
#include "forest/grammar.h"

void lscfg_grammar_get(const lscfg_grammar *g, lscfg_grammar_view *view, int32_t *rules) {
  *view = (lscfg_grammar_view){g->symbols.size, g->links.size / 2, g->symbols.data, g->links.data};
  for (int32_t r = 0; r < g->rules.size; r++) {
    const grammar_rule *rule = &g->rules.data[r];
    int32_t n_links;
    lscfg_grammar_links(g, r, &n_links);
    const int32_t facts[LSCFG_RULE_FACTS] = {rule->lhs, rule->n_src, rule->n_tgt,
                                  (int32_t)(g->feature_rows.data[r + 1] - g->feature_rows.data[r]), n_links};
    memcpy(rules + (int64_t)LSCFG_RULE_FACTS * r, facts, sizeof facts);
  }
}

typedef struct {
  const char *name;
  tensor_view bytes, offsets;
} names;

/* What a file contains. */
typedef struct {
  tensor_file file;
  names words, categories, features;
  tensor_stream rules, symbols, links;
  tensor_stream ids, which; /* of features and of their values */
  tensor_view values;       /* different values of features */
} grammar_file;

static int damaged(const char *name, lscfg_error *error) {
  return lscfg_fail(error, LSCFG_EINPUT, 0, "damaged: '%s' does not fit; pack the system again", name);
}

static int get_names(grammar_file *f, const char *bytes, const char *offsets, names *found, lscfg_error *error) {
  found->name = bytes;
  int code = tensor_file_get(&f->file, bytes, "U8", 1, &found->bytes, error);
  if (!code) code = tensor_file_get(&f->file, offsets, "I64", 1, &found->offsets, error);
  return code || found->offsets.shape[0] ? code : damaged(offsets, error);
}

static int get_arrays(grammar_file *f, lscfg_error *error) {
  int code = get_names(f, "words", "word_offsets", &f->words, error);
  if (!code) code = get_names(f, "categories", "category_offsets", &f->categories, error);
  if (!code) code = get_names(f, "features", "feature_offsets", &f->features, error);
  if (!code) code = tensor_stream_open(&f->file, "rules", 2, &f->rules, error);
  if (!code) code = tensor_stream_open(&f->file, "symbols", 1, &f->symbols, error);
  if (!code) code = tensor_stream_open(&f->file, "links", 2, &f->links, error);
  if (!code) code = tensor_stream_open(&f->file, "ids", 1, &f->ids, error);
  if (!code) code = tensor_file_get(&f->file, "values", "F64", 1, &f->values, error);
  if (!code) code = tensor_stream_open(&f->file, "which", 1, &f->which, error);
  if (code) return code;
  if (f->rules.view.shape[1] != LSCFG_RULE_FACTS) return damaged("rules", error);
  if (f->links.view.shape[1] != 2) return damaged("links", error);
  if (f->which.n != f->ids.n) return damaged("which", error);
  for (int64_t k = 0; k < f->values.shape[0]; k++)
    if (!isfinite(((const double *)f->values.data)[k])) return damaged("values", error);
  return LSCFG_OK;
}

/* Adds names to a vocabulary: [names] their numbers there, newly allocated. */
static int add_names(const names *given, lscfg_vocab *vocab, int32_t **numbers, lscfg_error *error) {
  const int64_t *begin = given->offsets.data, n = given->offsets.shape[0] - 1;
  *numbers = malloc(((size_t)n + 1) * sizeof **numbers);
  if (!*numbers || index_reserve_all(&vocab->index, lscfg_vocab_size(vocab) + n)) return out_of_memory(error);
  for (int64_t k = 0; k < n; k++) {
    if (begin[k] < 0 || begin[k] > begin[k + 1] || begin[k + 1] > given->bytes.shape[0])
      return damaged(given->name, error);
    (*numbers)[k] =
        lscfg_vocab_add(vocab, (const char *)given->bytes.data + begin[k], (size_t)(begin[k + 1] - begin[k]));
    if ((*numbers)[k] < 0) return out_of_memory(error);
  }
  return LSCFG_OK;
}

typedef ARRAY(int32_t) room;

/* The next n symbols: words and, on a source side, categories in the grammar's numbers. */
static int translate(grammar_file *f, const int32_t *words, const int32_t *categories, int64_t n, int32_t n_src,
                     room *sides, lscfg_error *error) {
  if (n > tensor_stream_left(&f->symbols)) return damaged("symbols", error);
  const int32_t *symbols = tensor_stream_next(&f->symbols, n);
  sides->size = 0;
  if (!symbols || ARRAY_RESERVE(*sides, n + 1)) return out_of_memory(error);
  for (int64_t k = 0; k < n; k++) {
    int32_t symbol = symbols[k];
    if (symbol >= f->words.offsets.shape[0] - 1) return damaged("symbols", error);
    if (symbol < 0 && k < n_src && -1 - symbol >= f->categories.offsets.shape[0] - 1) return damaged("symbols", error);
    sides->data[k] = symbol >= 0 ? words[symbol] : k < n_src ? category_symbol(categories[-1 - symbol]) : symbol;
  }
  return LSCFG_OK;
}

/* Adds the features of the last rule. */
static int add_features(lscfg_grammar *g, grammar_file *f, const int32_t *features, int32_t n, lscfg_error *error) {
  if (n < 0 || n > tensor_stream_left(&f->ids)) return damaged("ids", error);
  const int32_t *ids = tensor_stream_next(&f->ids, n), *which = tensor_stream_next(&f->which, n);
  if (!ids || !which) return out_of_memory(error);
  for (int32_t k = 0; k < n; k++) {
    if (ids[k] < 0 || ids[k] >= f->features.offsets.shape[0] - 1) return damaged("ids", error);
    if (which[k] < 0 || which[k] >= f->values.shape[0]) return damaged("which", error);
    int code = grammar_add_feature(g, features[ids[k]], ((const double *)f->values.data)[which[k]], 0, error);
    if (code) return code == LSCFG_EINPUT ? damaged("ids", error) : code; /* the rule has it twice */
  }
  return LSCFG_OK;
}

/* Adds the links of the last rule. */
static int add_links(lscfg_grammar *g, grammar_file *f, int32_t n, lscfg_error *error) {
  const grammar_rule *rule = &g->rules.data[g->rules.size - 1];
  const int32_t *src = g->symbols.data + rule->src, *tgt = g->symbols.data + rule->tgt;
  if (n < 0 || 2 * (int64_t)n > tensor_stream_left(&f->links)) return damaged("links", error);
  const int32_t *pair = tensor_stream_next(&f->links, 2 * (int64_t)n);
  if (!pair) return out_of_memory(error);
  for (int32_t k = 0; k < n; k++, pair += 2) {
    if (pair[0] < 0 || pair[0] >= rule->n_src || pair[1] < 0 || pair[1] >= rule->n_tgt) return damaged("links", error);
    if (src[pair[0]] < 0 || tgt[pair[1]] < 0) return damaged("links", error);
    int code = grammar_add_link(g, pair, error);
    if (code) return code;
  }
  return LSCFG_OK;
}

/* Reserves what the rules will fill. */
static int reserve(lscfg_grammar *g, const grammar_file *f) {
  int64_t rules = f->rules.view.shape[0], features = f->ids.n;
  return ARRAY_RESERVE(g->rules, rules) || ARRAY_RESERVE(g->feature_rows, rules) ||
         ARRAY_RESERVE(g->symbols, f->symbols.n) || ARRAY_RESERVE(g->feature_ids, features) ||
         ARRAY_RESERVE(g->feature_values, features);
}

static int add_rules(lscfg_grammar *g, grammar_file *f, int32_t *numbers[3], room *sides, lscfg_error *error) {
  if (reserve(g, f)) return out_of_memory(error);
  while (tensor_stream_left(&f->rules)) {
    const int32_t *facts = tensor_stream_next(&f->rules, LSCFG_RULE_FACTS);
    if (!facts) return out_of_memory(error);
    int64_t n = (int64_t)facts[1] + facts[2];
    if (facts[1] < 1 || facts[2] < 0 || facts[0] < 0 || facts[0] >= f->categories.offsets.shape[0] - 1)
      return damaged("rules", error);
    int code = translate(f, numbers[0], numbers[1], n, facts[1], sides, error);
    if (code) return code;
    int32_t rule = grammar_add_rule(g, numbers[1][facts[0]], sides->data, facts[1], sides->data + facts[1], facts[2],
                                    0, error);
    if (rule < 0) return rule;
    code = add_features(g, f, numbers[2], facts[3], error);
    if (!code) code = add_links(g, f, facts[4], error);
    if (code) return code;
  }
  return LSCFG_OK;
}

static void close_file(grammar_file *f) {
  tensor_stream *const streams[] = {&f->rules, &f->symbols, &f->links, &f->ids, &f->which};
  for (int k = 0; k < (int)(sizeof streams / sizeof *streams); k++) tensor_stream_close(streams[k]);
  tensor_file_close(&f->file);
}

int lscfg_grammar_open(lscfg_grammar *g, const char *path, const char *sha256, lscfg_error *error) {
  grammar_file f = {0};
  room sides = {0};
  int32_t *numbers[3] = {NULL, NULL, NULL};
  int code = refuse_layer(g, error);
  if (code) return code;
  code = tensor_file_compiled(&f.file, path, "grammar", sha256, error);
  if (code) return lscfg_cure(code, error, "pack the system again");
  code = get_arrays(&f, error);
  if (!code) code = add_names(&f.words, g->vocab, &numbers[0], error);
  if (!code) code = add_names(&f.categories, &g->categories, &numbers[1], error);
  if (!code) code = add_names(&f.features, &g->feature_names, &numbers[2], error);
  if (!code) code = add_rules(g, &f, numbers, &sides, error);
  for (int k = 0; k < 3; k++) free(numbers[k]);
  free(sides.data);
  close_file(&f);
  return lscfg_cure(code, error, "pack the system again");
}
