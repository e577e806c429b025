/* A small grammar and model, then the calls of a decoder that builds a forest, right and wrong ones. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  enum { WORDS = 6, MAX_CALLS = 200 };
  input in = {data, data + size};
  world w = make_world(&in);
  if (!w.grammar) return 0;
  uint8_t use = take(&in);
  int32_t words[WORDS], n = below(&in, WORDS + 1), nodes = 0, apps = 0, app_of[MAX_CALLS];
  for (int32_t k = 0; k < n; k++) words[k] = below(&in, 8) - 2;
  lscfg_forest *forest = lscfg_forest_new(words, n);
  lscfg_error error = {0};
  CHECK(forest);
  for (int32_t call = 0; call < MAX_CALLS && in.next < in.end; call++) {
    int32_t kind = take(&in);
    if (kind & 1) {
      int32_t i = below(&in, WORDS + 1),
              result = lscfg_forest_add_node(forest, kind >> 1 & 3, i, i + (kind >> 3) % 8, &error);
      CHECK(result == nodes || result == LSCFG_EINPUT);
      nodes += result >= 0;
    } else {
      int32_t rule = below(&in, lscfg_grammar_size(w.grammar) + LSCFG_EXTRA_RULES + 1) - (kind == 254);
      int32_t tail0 = nodes - (kind >> 1 & 7), tail1 = nodes - (kind >> 4 & 15);
      int32_t result =
          lscfg_forest_add_application(forest, rule, kind & 2 ? tail0 : -1, kind & 16 ? tail1 : -1, &error);
      CHECK(result == apps || result == LSCFG_EINPUT);
      apps += result >= 0;
    }
  }
  int code = lscfg_forest_finish(forest, w.grammar, app_of, &error);
  CHECK(code >= 0 || *error.message);
  if (!code) {
    lscfg_forest_view view;
    lscfg_forest_get(forest, &view);
    int32_t kept = 0;
    for (int32_t a = 0; a < apps; a++) {
      CHECK(app_of[a] >= -1 && app_of[a] < view.n_apps);
      kept += app_of[a] >= 0;
    }
    CHECK(kept == view.n_apps);
    use_forest(w.model, w.grammar, forest, use, w.positive);
    CHECK(lscfg_forest_add_node(forest, 0, 0, 1, &error) == LSCFG_EINPUT);
    CHECK(lscfg_forest_finish(forest, w.grammar, app_of, &error) == LSCFG_EINPUT);
  }
  lscfg_forest_free(forest);
  free_world(&w);
  return 0;
}
