/* Copying the rules of a grammar that a sentence may use. */
#include "forest/grammar.h"

/* Adds names to a vocabulary: their numbers there, newly allocated; NULL: memory is out. */
static int32_t *add_names(const lscfg_vocab *given, lscfg_vocab *names) {
  int32_t n = lscfg_vocab_size(given), *numbers = malloc(((size_t)n + 1) * sizeof *numbers);
  for (int32_t k = 0; k < n && numbers; k++) {
    size_t length;
    const char *name = lscfg_vocab_word(given, k, &length);
    numbers[k] = lscfg_vocab_add(names, name, length);
    if (numbers[k] < 0) {
      free(numbers);
      return NULL;
    }
  }
  return numbers;
}

/* True if the words of a source side are all in a sentence. */
static int matches(const lscfg_grammar *from, const grammar_rule *rule, const char *given) {
  const int32_t *src = from->symbols.data + rule->src;
  for (int32_t k = 0; k < rule->n_src; k++)
    if (src[k] >= 0 && !given[src[k]]) return 0;
  return 1;
}

/* Adds a rule of another grammar. side: work space for its source side. */
static int copy_rule(lscfg_grammar *g, const lscfg_grammar *from, int32_t r, const int32_t *categories,
                     const int32_t *features, int32_t *side, lscfg_error *error) {
  const grammar_rule *rule = &from->rules.data[r];
  const int32_t *src = from->symbols.data + rule->src;
  for (int32_t k = 0; k < rule->n_src; k++) side[k] = src[k] < 0 ? category_symbol(categories[-1 - src[k]]) : src[k];
  int32_t added = grammar_add_rule(g, categories[rule->lhs], side, rule->n_src, from->symbols.data + rule->tgt,
                                   rule->n_tgt, 0, error);
  if (added < 0) return added;
  int64_t begin = from->feature_rows.data[r], end = from->feature_rows.data[r + 1];
  for (int64_t k = begin; k < end; k++) {
    int code = grammar_add_feature(g, features[from->feature_ids.data[k]], from->feature_values.data[k], 0, error);
    if (code) return code;
  }
  int32_t n_links;
  const int32_t *links = lscfg_grammar_links(from, r, &n_links);
  for (int32_t k = 0; k < n_links; k++) {
    int code = grammar_add_link(g, links + 2 * (int64_t)k, error);
    if (code) return code;
  }
  return LSCFG_OK;
}

int lscfg_grammar_add_matching(lscfg_grammar *g, const lscfg_grammar *from, const int32_t *words, int32_t n,
                               lscfg_error *error) {
  if (g == from || g->vocab != from->vocab || g->base || from->base)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "rules of the grammar itself, of another vocabulary, or of a layer");
  int32_t size = lscfg_vocab_size(g->vocab), longest = 0;
  for (int64_t r = 0; r < from->rules.size; r++)
    if (from->rules.data[r].n_src > longest) longest = from->rules.data[r].n_src;
  char *given = calloc((size_t)size + 1, 1);
  int32_t *categories = add_names(&from->categories, &g->categories);
  int32_t *features = add_names(&from->feature_names, &g->feature_names);
  int32_t *side = malloc(((size_t)longest + 1) * sizeof *side);
  int code = given && categories && features && side ? LSCFG_OK : out_of_memory(error);
  for (int32_t k = 0; k < n && !code; k++)
    if (words[k] >= 0 && words[k] < size) given[words[k]] = 1;
  for (int32_t r = 0; r < from->rules.size && !code; r++)
    if (matches(from, &from->rules.data[r], given))
      code = copy_rule(g, from, r, categories, features, side, error);
  free(given);
  free(categories);
  free(features);
  free(side);
  return code;
}
