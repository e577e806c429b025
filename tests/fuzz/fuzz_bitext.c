/* Options, and three texts with a NUL behind each: source, target and links, as the derivation of trees and forests and
 * the extraction of Hiero rules read them. */
#include "fuzz.h"

enum { SIDES = 3, MAX_LINES = 20 };

static void check_tables(const lscfg_tables *t) {
  CHECK(t->offsets[t->n_rules] == t->n_symbols && t->vocab_offsets[t->n_words] == t->n_vocab_bytes);
  for (int64_t r = 0; r < t->n_rules; r++) {
    CHECK(t->src_length[r] > 0 && t->offsets[r] + t->src_length[r] <= t->offsets[r + 1]);
    for (int64_t k = t->offsets[r]; k < t->offsets[r + 1]; k++)
      CHECK(t->symbols[k] < t->n_words && t->symbols[k] >= -t->arity[r]);
  }
}

static void check_trees(const lscfg_derivations_view *v) {
  for (int64_t t = 0; t < v->n_trees; t++)
    for (int64_t n = v->trees[t]; n < v->trees[t + 1]; n++) {
      int32_t parent = v->node_parent[n];
      CHECK(n == v->trees[t] ? parent == -1 : parent >= v->trees[t] && parent < n);
      CHECK(v->node_rule[n] >= 0 && v->node_rule[n] < v->tables.n_rules);
    }
}

static void check_forests(const lscfg_derivations_view *v) {
  int64_t tail = 0;
  CHECK(v->n_forests == v->n_trees || !v->n_forests);
  for (int64_t t = 0; t < v->n_forests; t++)
    for (int64_t n = v->forests[t]; n < v->forests[t + 1]; n++) {
      int64_t last = n + 1 < v->n_forest_nodes ? v->forest_edge[n + 1] : v->n_forest_edges;
      CHECK(v->forest_edge[n] < last && last <= v->n_forest_edges);
      for (int64_t e = v->forest_edge[n]; e < last; e++) {
        CHECK(v->forest_rule[e] >= 0 && v->forest_rule[e] < v->tables.n_rules);
        for (int32_t k = 0; k < v->tables.arity[v->forest_rule[e]]; k++, tail++)
          CHECK(v->forest_tail[tail] > n && v->forest_tail[tail] < v->forests[t + 1]);
      }
    }
  CHECK(tail == v->n_forest_tails && v->all_forest_edges == v->n_forest_edges);
}

/* The line of a text that ends with NUL; *text then stands behind it. */
static size_t next_line(const char **text, const char **line) {
  *line = *text;
  size_t length = strcspn(*text, "\n");
  *text += length + ((*text)[length] == '\n');
  return length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  input in = {data, data + size};
  uint8_t flags = take(&in);
  char *copy[SIDES];
  const char *text[SIDES], *line[SIDES];
  size_t length[SIDES];
  for (int side = 0; side < SIDES; side++) {
    size_t left = (size_t)(in.end - in.next);
    const uint8_t *nul = left ? memchr(in.next, 0, left) : NULL;
    length[side] = nul ? (size_t)(nul - in.next) : left;
    CHECK(copy[side] = calloc(length[side] + 1, 1));
    if (length[side]) memcpy(copy[side], in.next, length[side]);
    in.next += length[side] + (nul != NULL);
    text[side] = copy[side];
  }
  lscfg_error error = {0};
  int32_t stream = 0;
  lscfg_derive_options options = {flags & 3,      flags >> 2 & 3, flags >> 4 & 1, flags & 32 ? 5 : 0,
                                  flags >> 6 & 1, flags >> 7};
  lscfg_hiero_options limits = {1 + (flags & 7), flags >> 3 & 3, 1 + (flags >> 5), flags % 3, flags >> 7, 0, 1,
                                flags >> 6 & 1,  1 + (flags & 1)};
  lscfg_hiero_options part = limits;
  part.part = flags & 1;
  part.parts = 1 + (flags & 3);
  lscfg_derivations *derivations = lscfg_derivations_new(&options), *all = lscfg_derivations_new(&options);
  lscfg_hiero *hiero = lscfg_hiero_new(&limits), *some = lscfg_hiero_new(&part);
  lscfg_derivations_view trees;
  CHECK(derivations && all && hiero && some);
  const char *whole[SIDES] = {text[0], text[1], text[2]};
  CHECK(!lscfg_hiero_want(some, text[0], length[0] / 2, &error));
  int code = lscfg_derive_lines(all, text, length, MAX_LINES, &stream, &error);
  CHECK(!code || (code == LSCFG_EINPUT && error.line > 0 && stream >= 0 && stream < SIDES && *error.message));
  for (int n = 0; n < MAX_LINES && (*text[0] || *text[1] || *text[2]); n++) {
    for (int side = 0; side < SIDES; side++) length[side] = next_line(&text[side], &line[side]);
    lscfg_derive(derivations, line[0], length[0], line[1], length[1], line[2], length[2], &stream, &error);
    lscfg_hiero_add(hiero, line[0], length[0], line[1], length[1], line[2], length[2], &stream, &error);
    lscfg_hiero_add(some, line[0], length[0], line[1], length[1], line[2], length[2], &stream, &error);
  }
  lscfg_derivations_get(derivations, &trees);
  check_trees(&trees);
  check_forests(&trees);
  check_tables(&trees.tables);
  CHECK(!lscfg_derivations_merge(all, derivations, &error));
  lscfg_derivations_get(all, &trees);
  check_trees(&trees);
  check_forests(&trees);
  check_tables(&trees.tables);
  for (int n = 0; n < MAX_LINES && (*whole[0] || *whole[1] || *whole[2]); n++) {
    for (int side = 0; side < SIDES; side++) length[side] = next_line(&whole[side], &line[side]);
    lscfg_hiero_add_targets(some, line[0], length[0], line[1], length[1], line[2], length[2], &stream, &error);
  }
  lscfg_hiero_view rules, wanted;
  lscfg_hiero_get(some, &wanted);
  check_tables(&wanted.tables);
  lscfg_hiero_get(hiero, &rules);
  check_tables(&rules.tables);
  CHECK(wanted.tables.n_rules <= rules.tables.n_rules && wanted.n_used == rules.n_used);
  lscfg_hiero_free(hiero);
  lscfg_hiero_free(some);
  lscfg_derivations_free(all);
  lscfg_derivations_free(derivations);
  for (int side = 0; side < SIDES; side++) free(copy[side]);
  return 0;
}
