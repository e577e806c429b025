/* A small grammar and model, then a sentence or a lattice: parsed, inferred, searched. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  enum { LONGEST = 8, MAX_ARCS = 12 };
  input in = {data, data + size};
  world w = make_world(&in);
  if (!w.grammar) return 0;
  int32_t flags = take(&in), n = below(&in, LONGEST + 1);
  lscfg_parse_options options = {below(&in, LONGEST + 1), flags & 1, (flags >> 1) % 3, below(&in, 3),
                                 flags & 16 ? 4 * (flags >> 5) * (flags >> 5) : 0, 0, NULL};
  uint8_t use = take(&in);
  lscfg_forest *forest;
  lscfg_error error = {0};
  int code;
  if (flags & 8) {
    lscfg_arc arcs[MAX_ARCS];
    int32_t n_arcs = below(&in, MAX_ARCS + 1);
    for (int32_t a = 0; a < n_arcs; a++) {
      int32_t place = take(&in);
      arcs[a] = (lscfg_arc){place % 9, place % 9 + (place >> 4) % 4, below(&in, 8) - 2};
    }
    code = lscfg_parse_lattice(w.grammar, arcs, n_arcs, n, &options, &forest, &error);
  } else {
    int32_t words[LONGEST];
    for (int32_t k = 0; k < n; k++) words[k] = below(&in, 8) - 2;
    code = lscfg_parse(w.grammar, words, n, &options, &forest, &error);
  }
  CHECK(code == LSCFG_OK ? forest != NULL : !forest && (code > 0 || *error.message));
  CHECK(code != LSCFG_TOO_LARGE || options.most);
  if (!code) use_forest(w.model, w.grammar, forest, use, w.positive);
  lscfg_forest_free(forest);
  free_world(&w);
  return 0;
}
