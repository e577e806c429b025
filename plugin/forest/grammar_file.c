/* Compiled grammars: rules as arrays, which are read in a tenth of the time of compressed text. Every rule passes the
 * checks of the text's reader, and the index by source side is built as for text: to check a stored index would take as
 * long. */
#include <math.h>

#include "base/safetensors.h"
#include "forest/grammar.h"

enum { FACTS = 5 }; /* of a rule */

void lscfg_grammar_get(const lscfg_grammar *g, lscfg_grammar_view *view, int32_t *rules) {
  *view = (lscfg_grammar_view){g->symbols.size, g->links.size / 2, g->symbols.data, g->links.data};
  for (int32_t r = 0; r < g->rules.size; r++) {
    const grammar_rule *rule = &g->rules.data[r];
    int32_t n_links;
    lscfg_grammar_links(g, r, &n_links);
    const int32_t facts[FACTS] = {rule->lhs, rule->n_src, rule->n_tgt,
                                  (int32_t)(g->feature_rows.data[r + 1] - g->feature_rows.data[r]), n_links};
    memcpy(rules + (int64_t)FACTS * r, facts, sizeof facts);
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
  tensor_view rules, symbols, links;
  tensor_view ids;           /* of features */
  tensor_view values, which; /* different values of features, and the value of each feature */
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
  if (!code) code = tensor_file_get(&f->file, "rules", "I32", 2, &f->rules, error);
  if (!code) code = tensor_file_get(&f->file, "symbols", "I32", 1, &f->symbols, error);
  if (!code) code = tensor_file_get(&f->file, "links", "I32", 2, &f->links, error);
  if (!code) code = tensor_file_get(&f->file, "ids", "I32", 1, &f->ids, error);
  if (!code) code = tensor_file_get(&f->file, "values", "F64", 1, &f->values, error);
  if (!code) code = tensor_file_get(&f->file, "which", "I32", 1, &f->which, error);
  if (code) return code;
  if (f->rules.shape[1] != FACTS) return damaged("rules", error);
  if (f->links.shape[1] != 2) return damaged("links", error);
  if (f->which.shape[0] != f->ids.shape[0]) return damaged("which", error);
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

/* A position in each of the arrays. */
typedef struct {
  int64_t symbol, feature, link;
  ARRAY(int32_t) sides; /* of the rule, in the grammar's numbers */
} place;

/* n symbols from a position on: words and, on a source side, categories in the grammar's numbers. */
static int translate(const grammar_file *f, const int32_t *words, const int32_t *categories, int64_t n, int32_t n_src,
                     place *at, lscfg_error *error) {
  const int32_t *symbols = (const int32_t *)f->symbols.data + at->symbol;
  at->sides.size = 0;
  if (n > f->symbols.shape[0] - at->symbol) return damaged("symbols", error);
  if (ARRAY_RESERVE(at->sides, n + 1)) return out_of_memory(error);
  for (int64_t k = 0; k < n; k++) {
    int32_t symbol = symbols[k];
    if (symbol >= f->words.offsets.shape[0] - 1) return damaged("symbols", error);
    if (symbol < 0 && k < n_src && -1 - symbol >= f->categories.offsets.shape[0] - 1) return damaged("symbols", error);
    at->sides.data[k] = symbol >= 0 ? words[symbol] : k < n_src ? category_symbol(categories[-1 - symbol]) : symbol;
  }
  at->symbol += n;
  return LSCFG_OK;
}

/* Adds the features of the last rule. */
static int add_features(lscfg_grammar *g, const grammar_file *f, const int32_t *features, int32_t n, place *at,
                        lscfg_error *error) {
  const int32_t *ids = (const int32_t *)f->ids.data + at->feature;
  const int32_t *which = (const int32_t *)f->which.data + at->feature;
  if (n < 0 || n > f->ids.shape[0] - at->feature) return damaged("ids", error);
  if (ARRAY_RESERVE(g->feature_ids, n) || ARRAY_RESERVE(g->feature_values, n)) return out_of_memory(error);
  for (int32_t k = 0; k < n; k++) {
    if (ids[k] < 0 || ids[k] >= f->features.offsets.shape[0] - 1) return damaged("ids", error);
    if (which[k] < 0 || which[k] >= f->values.shape[0]) return damaged("which", error);
    g->feature_ids.data[g->feature_ids.size++] = features[ids[k]];
    g->feature_values.data[g->feature_values.size++] = ((const double *)f->values.data)[which[k]];
  }
  g->feature_rows.data[g->feature_rows.size - 1] = g->feature_ids.size;
  at->feature += n;
  return LSCFG_OK;
}

/* Adds the links of the last rule. */
static int add_links(lscfg_grammar *g, const grammar_file *f, int32_t n, place *at, lscfg_error *error) {
  const grammar_rule *rule = &g->rules.data[g->rules.size - 1];
  const int32_t *pair = (const int32_t *)f->links.data + 2 * at->link;
  if (n < 0 || n > f->links.shape[0] - at->link) return damaged("links", error);
  for (int32_t k = 0; k < n; k++, pair += 2) {
    if (pair[0] < 0 || pair[0] >= rule->n_src || pair[1] < 0 || pair[1] >= rule->n_tgt) return damaged("links", error);
    int code = grammar_add_link(g, pair, error);
    if (code) return code;
  }
  at->link += n;
  return LSCFG_OK;
}

static int add_rules(lscfg_grammar *g, const grammar_file *f, int32_t *numbers[3], place *at, lscfg_error *error) {
  const int32_t *facts = f->rules.data;
  int64_t n_features = f->ids.shape[0];
  if (ARRAY_RESERVE(g->rules, f->rules.shape[0]) || ARRAY_RESERVE(g->feature_rows, f->rules.shape[0]) ||
      ARRAY_RESERVE(g->symbols, f->symbols.shape[0]) || ARRAY_RESERVE(g->feature_ids, n_features) ||
      ARRAY_RESERVE(g->feature_values, n_features))
    return out_of_memory(error);
  for (int64_t r = 0; r < f->rules.shape[0]; r++, facts += FACTS) {
    int64_t n = (int64_t)facts[1] + facts[2];
    if (facts[1] < 1 || facts[2] < 0 || facts[0] < 0 || facts[0] >= f->categories.offsets.shape[0] - 1)
      return damaged("rules", error);
    int code = translate(f, numbers[0], numbers[1], n, facts[1], at, error);
    if (code) return code;
    int32_t rule = grammar_add_rule(g, numbers[1][facts[0]], at->sides.data, facts[1], at->sides.data + facts[1],
                                    facts[2], 0, error);
    if (rule < 0) return rule;
    code = add_features(g, f, numbers[2], facts[3], at, error);
    if (!code) code = add_links(g, f, facts[4], at, error);
    if (code) return code;
  }
  return LSCFG_OK;
}

int lscfg_grammar_open(lscfg_grammar *g, const char *path, const char *sha256, lscfg_error *error) {
  grammar_file f = {0};
  place at = {0};
  int32_t *numbers[3] = {NULL, NULL, NULL};
  int code = tensor_file_compiled(&f.file, path, "grammar", sha256, error);
  if (code) return lscfg_cure(code, error, "pack the system again");
  code = get_arrays(&f, error);
  if (!code) code = add_names(&f.words, g->vocab, &numbers[0], error);
  if (!code) code = add_names(&f.categories, &g->categories, &numbers[1], error);
  if (!code) code = add_names(&f.features, &g->feature_names, &numbers[2], error);
  if (!code) code = add_rules(g, &f, numbers, &at, error);
  for (int k = 0; k < 3; k++) free(numbers[k]);
  free(at.sides.data);
  tensor_file_close(&f.file);
  return lscfg_cure(code, error, "pack the system again");
}
