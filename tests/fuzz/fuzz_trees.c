/* Trees of a little bitext in arrays, then damage to the arrays. Undamaged ones are good; of what is taken all holds
 * that other code relies on. */
#include "fuzz.h"

enum { LONGEST = 6, MAX_PAIRS = 3, MAX_NODES = 64, MAX_CHANGES = 4, MOST_WORDS = 1000 };

typedef struct {
  int64_t trees[MAX_PAIRS + 1];
  int32_t rule[MAX_NODES], parent[MAX_NODES], slot[MAX_NODES], span[MAX_NODES][4];
} arrays;

static void derive_pair(lscfg_derivations *d, input *in) {
  char text[3][8 * LONGEST * LONGEST] = {"", "", ""};
  int32_t n[2], stream;
  lscfg_error error;
  for (int side = 0; side < 2; side++) {
    n[side] = 1 + below(in, LONGEST);
    for (int32_t k = 0; k < n[side]; k++)
      sprintf(text[side] + strlen(text[side]), "%s%c", k ? " " : "", 'a' + k % 3);
  }
  for (int32_t links = below(in, LONGEST + 1), k = 0; k < links; k++)
    sprintf(text[2] + strlen(text[2]), " %d-%d", (int)below(in, n[0]), (int)below(in, n[1]));
  size_t length[3] = {strlen(text[0]), strlen(text[1]), strlen(text[2])};
  CHECK(!lscfg_derive(d, text[0], length[0], text[1], length[1], text[2], length[2], &stream, &error));
}

/* A number near the one that is there, or far away. */
static int32_t other_number(input *in, int32_t value) {
  uint8_t how = take(in);
  if (how < 128) return (int32_t)((uint32_t)value + how % 7 - 3);
  return how < 192 ? (int32_t)how - 160 : how < 224 ? INT32_MAX : INT32_MIN;
}

static void damage(arrays *a, int64_t n_trees, int64_t n_nodes, input *in) {
  uint8_t what = take(in) % 5;
  int32_t node = below(in, (int32_t)n_nodes);
  if (what == 0) {
    int64_t *end = &a->trees[below(in, (int32_t)n_trees + 1)];
    *end = other_number(in, (int32_t)*end);
  } else {
    int32_t *const arrays[] = {&a->rule[node], &a->parent[node], &a->slot[node], &a->span[node][take(in) % 4]};
    int32_t *value = arrays[what - 1];
    *value = other_number(in, *value);
  }
}

static void check_taken(const arrays *a, int64_t n_trees, int64_t n_rules) {
  for (int64_t t = 0; t < n_trees; t++)
    for (int64_t n = a->trees[t]; n < a->trees[t + 1]; n++) {
      int32_t parent = a->parent[n];
      CHECK(a->rule[n] >= 0 && a->rule[n] < n_rules && a->slot[n] >= 0);
      CHECK(n == a->trees[t] ? parent == -1 : parent >= a->trees[t] && parent < n);
      for (int side = 0; side < 4; side += 2) {
        CHECK(a->span[n][side] >= 0 && a->span[n][side] <= a->span[n][side + 1]);
        CHECK(parent < 0 || (a->span[n][side] >= a->span[parent][side] &&
                             a->span[n][side + 1] <= a->span[parent][side + 1]));
      }
    }
}

/* Room for the words of a side, NULL where there would be too many. */
static int32_t *room_for(const arrays *a, int64_t n_trees, int64_t n_nodes, int end) {
  int64_t words = 0;
  for (int64_t t = 0; t < n_trees; t++) {
    if (a->trees[t] < 0 || a->trees[t] >= n_nodes || a->trees[t] >= a->trees[t + 1]) continue;
    int32_t n = a->span[a->trees[t]][end];
    words += n > 0 ? n : 0;
  }
  return words > MOST_WORDS ? NULL : malloc((size_t)words * sizeof(int32_t) + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  input in = {data, data + size};
  lscfg_derive_options options = {take(&in) & 3, 2, 0, 0, 0, 0};
  lscfg_derivations *d = lscfg_derivations_new(&options);
  lscfg_derivations_view v;
  arrays a = {0};
  CHECK(d);
  for (int32_t pairs = 1 + below(&in, MAX_PAIRS), k = 0; k < pairs; k++) derive_pair(d, &in);
  lscfg_derivations_get(d, &v);
  CHECK(v.n_nodes > 0 && v.n_nodes <= MAX_NODES);
  memcpy(a.trees, v.trees, (size_t)(v.n_trees + 1) * sizeof *a.trees);
  memcpy(a.rule, v.node_rule, (size_t)v.n_nodes * sizeof *a.rule);
  memcpy(a.parent, v.node_parent, (size_t)v.n_nodes * sizeof *a.parent);
  memcpy(a.slot, v.node_slot, (size_t)v.n_nodes * sizeof *a.slot);
  memcpy(a.span, v.node_span, (size_t)v.n_nodes * sizeof *a.span);
  const lscfg_tables *t = &v.tables;
  const lscfg_rules rules = {t->n_rules, t->symbols, t->offsets, t->src_length, t->vocab_bytes, t->vocab_offsets,
                             t->n_words};
  const lscfg_trees trees = {v.n_trees, v.n_nodes, a.trees, a.rule, a.parent, a.slot, a.span[0]};
  int32_t changes = below(&in, MAX_CHANGES + 1);
  for (int32_t k = 0; k < changes; k++) damage(&a, v.n_trees, v.n_nodes, &in);
  lscfg_error error = {0};
  int32_t *src = room_for(&a, v.n_trees, v.n_nodes, 1), *tgt = room_for(&a, v.n_trees, v.n_nodes, 3);
  int both = src && tgt;
  int code = lscfg_trees_read(&trees, &rules, both ? src : NULL, both ? tgt : NULL, &error);
  CHECK(code ? code == LSCFG_EINPUT && *error.message : 1);
  CHECK(changes || !code);
  if (!code) check_taken(&a, v.n_trees, t->n_rules);
  free(src);
  free(tgt);
  lscfg_derivations_free(d);
  return 0;
}
