/* The text of a grammar up to the first NUL, and a sentence behind it. */
#include "fuzz.h"

static void check_rules(const lscfg_grammar *grammar) {
  const int64_t *rows;
  const int32_t *names;
  const double *values;
  lscfg_grammar_features(grammar, &rows, &names, &values);
  for (int32_t r = 0; r < lscfg_grammar_size(grammar); r++) {
    int32_t n_src, n_tgt, arity = 0;
    const int32_t *src = lscfg_grammar_src(grammar, r, &n_src), *tgt = lscfg_grammar_tgt(grammar, r, &n_tgt);
    for (int32_t k = 0; k < n_src; k++) arity += src[k] < 0;
    CHECK(n_src > 0 && arity == lscfg_grammar_arity(grammar, r));
    int32_t first = lscfg_grammar_find(grammar, lscfg_grammar_lhs(grammar, r), src, n_src, tgt, n_tgt);
    CHECK(first >= 0 && first <= r && rows[r] <= rows[r + 1]);
    for (int64_t k = rows[r]; k < rows[r + 1]; k++) {
      size_t length;
      CHECK(names[k] >= 0 && names[k] < lscfg_grammar_n_features(grammar));
      CHECK(lscfg_grammar_feature_name(grammar, names[k], &length) && values[k] - values[k] == 0);
    }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  enum { LONGEST = 8 };
  const char *text = (const char *)data, *nul = size ? memchr(text, 0, size) : NULL;
  size_t length = nul ? (size_t)(nul - text) : size;
  lscfg_error error = {0};
  lscfg_vocab *vocab = lscfg_vocab_new();
  lscfg_grammar *grammar = lscfg_grammar_new(vocab);
  CHECK(vocab && grammar);
  char *copy = malloc(length + !length); /* of its very size, so that no byte behind it can be read unseen */
  CHECK(copy);
  if (length) memcpy(copy, text, length);
  int code = lscfg_grammar_read(grammar, copy, length, &error);
  free(copy);
  CHECK(code == LSCFG_OK || (code == LSCFG_EINPUT && error.line > 0 && *error.message));
  if (!lscfg_grammar_finish(grammar, &error) && !lscfg_grammar_index_sides(grammar, &error)) {
    int32_t words[LONGEST];
    int64_t n = nul ? lscfg_vocab_line(vocab, nul + 1, size - length - 1, words, LONGEST) : 0;
    lscfg_parse_options options = {1 + (int32_t)(size % LONGEST), (int32_t)(size & 1), (int32_t)(size % 3),
                                   (int32_t)(size & 1), 0, 0, NULL};
    lscfg_forest *forest;
    lscfg_forest_view view;
    check_rules(grammar);
    code = lscfg_parse(grammar, words, n < 0 ? 0 : (int32_t)n, &options, &forest, &error);
    CHECK(code == LSCFG_OK ? forest != NULL : code == LSCFG_NO_PARSE && !forest);
    if (!code) {
      lscfg_forest_get(forest, &view);
      CHECK(view.node_cat[view.n_nodes - 1] == options.goal && view.node_span[2 * view.n_nodes - 1] == n);
    }
    lscfg_forest_free(forest);
  }
  lscfg_grammar_free(grammar);
  lscfg_vocab_free(vocab);
  return 0;
}
