/* A model file: the whole input. What is opened must be fit for use. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  enum { LONGEST = 7 };
  lscfg_model *model = open_model(data, size);
  if (!model) return 0;
  lscfg_error error = {0};
  lscfg_vocab *vocab = lscfg_vocab_new();
  lscfg_grammar *grammar = lscfg_grammar_new(vocab);
  CHECK(vocab && grammar);
  if (lscfg_model_rank(model) <= 32 && !lscfg_model_add_rules(model, grammar, &error) &&
      !lscfg_grammar_finish(grammar, &error)) {
    int32_t words[LONGEST], n = 0, n_src;
    CHECK(lscfg_grammar_size(grammar) == lscfg_model_size(model));
    for (int32_t r = 0; r < lscfg_grammar_size(grammar) && n < LONGEST - 1; r++) {
      const int32_t *src = lscfg_grammar_src(grammar, r, &n_src);
      if (src[0] >= 0) words[n++] = src[0];
    }
    words[n++] = lscfg_vocab_size(vocab) ? 0 : -1;
    lscfg_parse_options options = {LONGEST, (int32_t)(size & 1), 1, (int32_t)(size & 1), 0, 0, NULL};
    lscfg_forest *forest;
    if (!lscfg_parse(grammar, words, n, &options, &forest, &error)) {
      use_forest(model, grammar, forest, (uint8_t)(size >> 1), 0);
      use_forest(model, grammar, forest, (uint8_t)(size >> 1) ^ 4, 0); /* with all features, or without most of them */
    }
    lscfg_forest_free(forest);
  }
  lscfg_grammar_free(grammar);
  lscfg_vocab_free(vocab);
  lscfg_model_close(model);
  return 0;
}
