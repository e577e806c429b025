/* What Python asks of the kernel for a corpus, through the C interface: corpus_test MODEL; the model is to have a
 * context. Prints what was found. Returns 2 where something is not as it must be, and 1 where memory was out, after all
 * that was made has been given back: half-made objects, too, are to be freed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../plugin/base/random.h"
#include "lscfg.h"

enum { PAIRS = 7, KEPT = 6, MAX_WORDS = 5, PARTS = 2 };
enum { M = 2, NODES = 32, RULES = 100, PLACES = 200, WEIGHTS = 8000, DENSE = 3 };

/* Source, target, links. The first: all in the same order; the second: no two phrases make one; the last: too long. */
static const char *const corpus[PAIRS][3] = {
    {"a b c d", "x y z w", "0-0 1-1 2-2 3-3"},
    {"a b c d", "z x w y", "0-1 1-3 2-0 3-2"},
    {"b a", "x y", "0-1 1-0"},
    {"a c", "y z", "0-0 1-1"},
    {"e a b", "x y y", "1-0 2-1 2-2"},
    {"c a", "z v y", "0-0 1-2"},
    {"a b c d a b", "x", "0-0"},
};

#define LINES_OF(pair) (pair)[0], strlen((pair)[0]), (pair)[1], strlen((pair)[1]), (pair)[2], strlen((pair)[2])

static lscfg_error error;
static int memory_is_out;

#define CHECK(condition)                                                                             \
  do {                                                                                               \
    if (!(condition)) {                                                                              \
      fprintf(stderr, "line %d: not so: %s; last error: %s\n", __LINE__, #condition, error.message); \
      exit(2);                                                                                       \
    }                                                                                                \
  } while (0)

static int had(int memory) {
  memory_is_out |= !memory;
  return memory;
}

/* True if a call succeeded; it may fail only for lack of memory, with that code. */
static int good(int code) {
  CHECK(code >= 0 || (code == LSCFG_ENOMEM && error.code == code && strstr(error.message, "memory")));
  error.code = LSCFG_OK;
  return had(code >= 0);
}

static int32_t line_of(const lscfg_vocab *vocab, const char *line, int32_t *words) {
  int32_t n = 0;
  for (; *line; line++)
    if (*line != ' ') CHECK(n < MAX_WORDS && (words[n++] = lscfg_vocab_find(vocab, line, 1)) >= 0);
  return n;
}

/* ---- the network of target words ---- */

/* Learns each target word from the source word at its place and the word before, and how many are linked to each. */
static void learn_network(const lscfg_neural_shape *shape, const int32_t *inputs, const int32_t *labels,
                          int64_t n_words, int64_t n) {
  enum { MOST = 9000, STEPS = 3 };
  static float parameters[3][MOST];
  const float correct[2] = {1, 1};
  int64_t sizes[LSCFG_NEURAL_ARRAYS], total = 0;
  double before = INFINITY;
  lscfg_neural_trainer *trainer;
  lscfg_neural_sizes(shape, sizes);
  for (int k = 0; k < LSCFG_NEURAL_ARRAYS; k++) total += sizes[k];
  CHECK(total <= MOST);
  memset(parameters, 0, sizeof parameters);
  for (int64_t k = 0; k < total; k++) parameters[0][k] = (float)(k % 7) / 30 - 0.1f;
  int ready =
      good(lscfg_neural_trainer_new(shape, parameters[0], parameters[1], parameters[2], NULL, &trainer, &error));
  for (int step = 0; step < STEPS && ready; step++) {
    double losses[LSCFG_NEURAL_SUMS] = {0};
    int32_t parts = lscfg_neural_batch(trainer, inputs, labels, n_words, n, 0);
    if (!(ready = had(parts >= 0))) break;
    for (int32_t k = 0; k < parts; k++) lscfg_neural_forward(trainer, k, 1, losses);
    for (int32_t shard = 0; shard < LSCFG_NEURAL_SHARDS; shard++) lscfg_neural_step(trainer, shard, 0.01f, correct);
    CHECK(losses[0] < before);
    before = losses[0];
  }
  if (ready) printf("loss of a network %.4f\n", before);
  lscfg_neural_trainer_free(trainer);
}

/* A link of each pair of the lexicon; numbers of words become rows. */
static void affiliate(const lscfg_derivations_view *v, const lscfg_rules *rules) {
  enum { MOST = PAIRS * MAX_WORDS };
  const lscfg_tables *t = &v->tables;
  const lscfg_node_table nodes = {v->n_trees, v->n_nodes, v->trees, v->node_rule, v->node_parent, v->node_span};
  const int32_t first[2] = {LSCFG_ROW_SOURCE_WORDS, LSCFG_ROW_TARGET_WORDS};
  int32_t src[MOST], tgt[MOST], place[MOST], fertility[MOST], inputs[4 * MOST], labels[2 * MOST], pairs[2 * PLACES];
  int32_t rows[2 * RULES], n_words = 0, n_src = 0;
  float share[PLACES];
  lscfg_links *links;
  lscfg_trees trees = {v->n_trees, v->n_nodes, v->trees, v->node_rule, v->node_parent, v->node_slot, v->node_span};
  CHECK(t->n_pairs <= PLACES && t->n_words <= RULES);
  for (int32_t w = 0; w < 2 * t->n_words; w++) rows[w] = w / 2 + first[w % 2];
  for (int64_t k = 0; k < t->n_pairs; k++) {
    pairs[2 * k] = t->pairs[k].src < 0 ? -1 : t->pairs[k].src + first[0];
    pairs[2 * k + 1] = t->pairs[k].tgt < 0 ? LSCFG_ROW_TARGET_UNKNOWN : t->pairs[k].tgt + first[1];
    share[k] = 0.5f;
  }
  if (!good(lscfg_links_new(pairs, share, t->n_pairs, &links, &error))) return;
  int ready = good(lscfg_affiliate_trees(links, rules, &nodes, rows, place, fertility, &error)) &&
              good(lscfg_trees_read(&trees, rules, src, tgt, &error));
  lscfg_links_free(links);
  for (int64_t tree = 0, begin = 0, from = 0; tree < v->n_trees && ready; tree++) {
    if (v->trees[tree] == v->trees[tree + 1]) continue;
    const int32_t *span = v->node_span + 4 * v->trees[tree];
    for (int32_t x = 0; x < span[3]; x++, n_words++) {
      CHECK(place[begin + x] >= 0 && place[begin + x] < span[1]);
      inputs[2 * n_words] = src[from + place[begin + x]] + first[0];
      inputs[2 * n_words + 1] = x ? tgt[begin + x - 1] + first[1] : LSCFG_ROW_TARGET_BEGIN;
      labels[n_words] = tgt[begin + x] + first[1];
    }
    begin += span[3];
    from += span[1];
    n_src = (int32_t)from;
  }
  for (int32_t k = 0; k < n_src && ready; k++) {
    inputs[2 * (n_words + k)] = src[k] + first[0];
    inputs[2 * (n_words + k) + 1] = LSCFG_ROW_TARGET_NONE;
    labels[n_words + k] = fertility[k] < LSCFG_NEURAL_FERTILITY ? fertility[k] : LSCFG_NEURAL_FERTILITY - 1;
  }
  const lscfg_neural_shape shape = {1, 1, 32, 32, (int32_t)t->n_words + first[0], (int32_t)t->n_words + first[1], 0.1f,
                                    0.1f, 0.2f};
  if (ready) learn_network(&shape, inputs, labels, n_words, n_words + n_src);
}

/* ---- trees as a file has them ---- */

/* The words of all trees are as many as their roots cover; a root over more words is refused. */
static void check_trees(const lscfg_derivations_view *v) {
  const lscfg_tables *t = &v->tables;
  const lscfg_rules rules = {t->n_rules,     t->symbols,       t->offsets, t->src_length,
                             t->vocab_bytes, t->vocab_offsets, t->n_words};
  lscfg_trees trees = {v->n_trees, v->n_nodes, v->trees, v->node_rule, v->node_parent, v->node_slot, v->node_span};
  int32_t src[PAIRS * MAX_WORDS], tgt[PAIRS * MAX_WORDS], span[NODES][4];
  CHECK(v->n_nodes <= NODES);
  if (!good(lscfg_trees_read(&trees, &rules, src, tgt, &error))) return;
  CHECK(src[0] >= 0 && src[0] < t->n_words && tgt[0] >= 0 && tgt[0] < t->n_words);
  memcpy(span, v->node_span, (size_t)v->n_nodes * sizeof *span);
  affiliate(v, &rules);
  span[0][1]++;
  trees.span = span[0];
  int code = lscfg_trees_read(&trees, &rules, NULL, NULL, &error);
  CHECK(code == LSCFG_EINPUT || !had(code != LSCFG_ENOMEM));
  error.code = LSCFG_OK;
}

/* ---- EM ---- */

static int8_t arity[NODES];
static int32_t row[NODES], children[NODES][2];
static double tensor[3][RULES * M * M * M], totals[3][RULES * M], scale[M], root[M];
static double sums[RULES * M * M * M];

/* Replaces the parameters of all rules of an arity by their expected counts. */
static int count(const lscfg_derivations_view *v, const lscfg_em *em, int32_t k, const double *inside,
                 const double *outside) {
  lscfg_em_chunk chunks[RULES];
  int32_t tokens[NODES], n = 0;
  int64_t n_chunks = 0;
  for (int64_t r = 0; r < v->tables.n_rules; r++) {
    if (v->tables.arity[r] != k) continue;
    chunks[n_chunks] = (lscfg_em_chunk){n_chunks, n, n, -1};
    for (int32_t node = 0; node < v->n_nodes; node++)
      if (v->node_rule[node] == r) tokens[n++] = node;
    chunks[n_chunks++].end = n;
  }
  memset(sums, 0, sizeof sums);
  if (!had(!lscfg_em_outer(em, k, chunks, n_chunks, tokens, inside, NULL, outside, sums, NULL))) return 0;
  lscfg_em_counts(M, k, 0, n_chunks, sums, tensor[k], totals[k]);
  return 1;
}

/* A state is shared out among all rules, whatever their arity. */
static void normalise(const int64_t *n_rows, const int64_t *trees, const double *inside) {
  double kinds[M] = {0}, sum = 0;
  for (int32_t h = 0; h < M; h++) {
    double all = 0;
    for (int32_t k = 0; k < 3; k++)
      for (int64_t r = 0; r < n_rows[k]; r++) all += totals[k][r * M + h];
    scale[h] = 1 / all;
    sum += all;
  }
  CHECK(fabs(sum - (double)trees[KEPT]) < 1e-9);
  for (int t = 0; t < KEPT; t++) {
    const double *states = inside + trees[t] * M;
    double probability = 0;
    for (int32_t h = 0; h < M; h++) probability += states[h] * root[h];
    for (int32_t h = 0; h < M; h++) kinds[h] += states[h] * root[h] / probability;
  }
  for (int32_t h = 0; h < M; h++) root[h] = kinds[h] / KEPT;
}

/* Counts of rules without nonterminals, shrunk: what each one sums to stays. */
static void shrink(int64_t n_rows) {
  const int64_t group[2] = {0, n_rows};
  int32_t rows[RULES];
  double tokens[RULES], average[M] = {0}, sum = 0;
  lscfg_em_sum(M, 0, n_rows, tensor[0], average);
  for (int32_t h = 0; h < M; h++) sum += average[h];
  for (int32_t h = 0; h < M; h++) average[h] /= sum;
  for (int32_t r = 0; r < n_rows; r++) {
    rows[r] = r;
    tokens[r] = totals[0][r * M] + totals[0][r * M + 1];
  }
  if (!had(!lscfg_em_shrink(M, 0, group, rows, 0, 1, tokens, tokens, average, 2, 5, tensor[0], totals[0]))) return;
  for (int32_t r = 0; r < n_rows; r++) CHECK(fabs(totals[0][r * M] + totals[0][r * M + 1] - tokens[r]) < 1e-9);
}

static void estimate(const lscfg_derivations_view *v) {
  static const int32_t kind[KEPT] = {0};
  static double inside[NODES * M], outside[NODES * M], factor[NODES], likelihood[KEPT];
  const lscfg_em em = {M, NULL, NULL, arity, row, children[0], {tensor[0], tensor[1], tensor[2]}, scale, root};
  int32_t row_of[RULES];
  int64_t n_rows[3] = {0};
  double before = -INFINITY;
  CHECK(v->n_nodes <= NODES && v->tables.n_rules <= RULES);
  for (int64_t r = 0; r < v->tables.n_rules; r++) row_of[r] = (int32_t)n_rows[v->tables.arity[r]]++;
  for (int32_t node = 0; node < v->n_nodes; node++) {
    arity[node] = (int8_t)v->tables.arity[v->node_rule[node]];
    row[node] = row_of[v->node_rule[node]];
    children[node][0] = children[node][1] = -1;
    if (v->node_parent[node] >= 0) children[v->node_parent[node]][v->node_slot[node]] = node;
  }
  for (int32_t k = 0; k < 3; k++)
    for (int32_t i = 0; i < RULES * M * M * M; i++) tensor[k][i] = 1 + i % 3;
  for (int32_t h = 0; h < M; h++) scale[h] = root[h] = 1.0 / M;
  for (int pass = 0; pass < 3; pass++) {
    double sum = 0;
    CHECK(lscfg_em_trees(&em, v->trees, kind, 0, KEPT, likelihood, inside, factor, NULL, outside) == 0);
    for (int t = 0; t < KEPT; t++) sum += likelihood[t];
    CHECK(pass < 2 || sum >= before); /* the first parameters are no distributions */
    before = sum;
    for (int32_t k = 0; k < 3; k++)
      if (!count(v, &em, k, inside, outside)) return;
    normalise(n_rows, v->trees, inside);
  }
  shrink(n_rows[0]);
  printf("log-likelihood %.6f\n", before);
}

/* ---- derivations ---- */

static int derive_lines(lscfg_derivations *d, int first, int last) {
  char text[3][200];
  const char *const texts[3] = {text[0], text[1], text[2]};
  size_t length[3] = {0};
  int32_t stream;
  for (int side = 0; side < 3; side++)
    for (int k = first; k < last; k++)
      length[side] +=
          (size_t)snprintf(text[side] + length[side], sizeof text[side] - length[side], "%s\n", corpus[k][side]);
  return good(lscfg_derive_lines(d, texts, length, last - first, &stream, &error));
}

/* All numbers are the same where the parts of a corpus were merged. */
static void compare(const lscfg_derivations_view *a, const lscfg_derivations_view *b) {
  const lscfg_tables *s = &a->tables, *t = &b->tables;
#define SAME(x, y, n) CHECK(!memcmp(x, y, (size_t)(n) * sizeof *(x)))
  CHECK(a->n_trees == b->n_trees && a->n_nodes == b->n_nodes && a->n_above == b->n_above);
  CHECK(s->n_rules == t->n_rules && s->n_symbols == t->n_symbols && s->n_words == t->n_words &&
        s->n_pairs == t->n_pairs);
  SAME(a->trees, b->trees, a->n_trees + 1);
  SAME(a->node_rule, b->node_rule, a->n_nodes);
  SAME(a->node_parent, b->node_parent, a->n_nodes);
  SAME(a->node_slot, b->node_slot, a->n_nodes);
  SAME(a->node_span, b->node_span, 4 * a->n_nodes);
  SAME(a->rule_count, b->rule_count, s->n_rules);
  SAME(a->dropped, b->dropped, LSCFG_N_REASONS);
  SAME(s->symbols, t->symbols, s->n_symbols);
  SAME(s->offsets, t->offsets, s->n_rules + 1);
  SAME(s->src_length, t->src_length, s->n_rules);
  SAME(s->arity, t->arity, s->n_rules);
  SAME(s->vocab_bytes, t->vocab_bytes, s->n_vocab_bytes);
  SAME(s->vocab_offsets, t->vocab_offsets, s->n_words + 1);
  SAME(s->pairs, t->pairs, s->n_pairs);
#undef SAME
}

/* Derivations of the first forest since the last flush, in which heads come before tails. */
static int64_t n_derivations(const lscfg_derivations_view *v) {
  int64_t n[NODES] = {0}, root = v->forests[0], edge = v->n_forest_edges, tail = v->n_forest_tails;
  CHECK(v->n_forests == 1 && v->n_forest_nodes <= NODES && v->forests[1] == root + v->n_forest_nodes);
  for (int64_t node = v->n_forest_nodes - 1; node >= 0; node--)
    for (int64_t first = v->forest_edge[node] - v->forest_edge[0]; edge > first; edge--) {
      int64_t product = 1;
      for (int32_t k = v->tables.arity[v->forest_rule[edge - 1]]; k > 0; k--)
        product *= n[v->forest_tail[--tail] - root];
      n[node] += product;
    }
  CHECK(edge == 0 && tail == 0);
  return n[0];
}

/* Pair by pair; then all derivations of the first two pairs. */
static void decompose(void) {
  const lscfg_derive_options options = {LSCFG_BRACKET_NORMAL, 2, 0, MAX_WORDS, 0, 1};
  lscfg_derivations *d = lscfg_derivations_new(&options);
  lscfg_derivations_view v;
  int32_t stream;
  int ready = had(d != NULL);
  for (int k = 0; k < PAIRS && ready; k++) ready = good(lscfg_derive(d, LINES_OF(corpus[k]), &stream, &error));
  if (ready) {
    lscfg_derivations_get(d, &v);
    CHECK(v.n_trees == PAIRS && v.dropped[LSCFG_PAIR_TOO_LONG] == 1 && v.n_above == 1 && v.n_nodes == 25);
    lscfg_derivations_flush(d);
    lscfg_derivations_get(d, &v);
    CHECK(v.n_trees == 0 && v.n_nodes == 0 && v.trees[0] == 25);
  }
  for (int k = 0; k < 2 && ready; k++) {
    if (!(ready = good(lscfg_derive(d, LINES_OF(corpus[k]), &stream, &error)))) break;
    lscfg_derivations_get(d, &v);
    CHECK(n_derivations(&v) == (k ? 1 : 5)); /* as many as there are binary trees of four leaves */
    lscfg_derivations_flush(d);
  }
  lscfg_derivations_free(d);
}

/* At once, and in parts, as threads do. */
static void derive(void) {
  static const int cut[PARTS + 1] = {0, 3, PAIRS};
  const lscfg_derive_options options = {LSCFG_BRACKET_BALANCED, 2, 1, MAX_WORDS, 0, 0};
  lscfg_derivations *whole = lscfg_derivations_new(&options), *part[PARTS];
  int ready = had(whole != NULL) && derive_lines(whole, 0, PAIRS);
  for (int k = 0; k < PARTS; k++) {
    part[k] = lscfg_derivations_new(&options);
    ready = had(part[k] != NULL) && ready && derive_lines(part[k], cut[k], cut[k + 1]);
    if (k && ready) ready = good(lscfg_derivations_merge(part[0], part[k], &error));
  }
  if (ready) {
    lscfg_derivations_view v, merged;
    lscfg_derivations_get(whole, &v);
    check_trees(&v);
    lscfg_derivations_get(part[0], &merged);
    compare(&v, &merged);
    /* two of the four phrases of the second pair are words of their parent's rule */
    CHECK(v.n_trees == PAIRS && v.dropped[LSCFG_PAIR_TOO_LONG] == 1 && v.n_above == 0 && v.n_nodes == 23);
    printf("%d minimal rules\n", (int)v.tables.n_rules);
    estimate(&v);
  }
  for (int k = 0; k < PARTS; k++) lscfg_derivations_free(part[k]);
  lscfg_derivations_free(whole);
}

/* ---- forests of the extracted rules and those of a model ---- */

/* The arcs of an edge have the words of its rule, and empty ones are anywhere between them. */
static void check_path(const lscfg_grammar *grammar, const lscfg_forest_view *f, int32_t edge) {
  int32_t rule = f->app_rule[f->edge_apps[edge]], length, met = 0, wanted = 0;
  if (rule >= lscfg_grammar_size(grammar)) return;
  const int32_t *symbols = lscfg_grammar_src(grammar, rule, &length);
  for (int32_t k = 0; k < length; k++) wanted += symbols[k] >= 0;
  for (int32_t k = f->edge_paths[edge]; k < f->edge_paths[edge + 1]; k++) {
    int32_t word = f->words[f->paths[k]];
    if (word == LSCFG_EPSILON) continue;
    while (length && *symbols < 0) symbols++, length--;
    CHECK(length && *symbols == word);
    symbols++, length--;
    met++;
  }
  CHECK(met == wanted);
}

/* b or a, then c or nothing, then a. */
static void parse_lattice(const lscfg_grammar *grammar, const lscfg_vocab *vocab) {
  const lscfg_parse_options options = {4, 1, 1, 1, LSCFG_MOST, 0, NULL};
  int32_t w[MAX_WORDS];
  lscfg_forest *forest;
  lscfg_forest_view f;
  CHECK(line_of(vocab, "b a c", w) == 3);
  const lscfg_arc arcs[] = {{0, 1, w[0]}, {0, 1, w[1]}, {1, 2, w[2]}, {1, 2, LSCFG_EPSILON}, {2, 3, w[1]}};
  if (!good(lscfg_parse_lattice(grammar, arcs, 5, 4, &options, &forest, &error))) return;
  lscfg_forest_get(forest, &f);
  CHECK(f.n_words == 5 && f.node_span[2 * f.n_nodes - 2] == 0 && f.node_span[2 * f.n_nodes - 1] == 3);
  for (int32_t e = 0; e < f.n_edges; e++) check_path(grammar, &f, e);
  printf("%d applications in a lattice\n", (int)f.n_apps);
  lscfg_forest_free(forest);
}

/* app and other are all of an edge: what the words around it gain for one, the other loses. */
static void judge(const lscfg_binding *binding, const lscfg_forest *forest, int32_t app, int32_t other) {
  enum { MOST = 8, COLUMNS = LSCFG_SENSE_0 }; /* those of a model without a scorer */
  lscfg_feature_options all = {1, LSCFG_NEGATIVE_FLIP, 0, 1e-6, COLUMNS, {0}};
  double apps[MOST], nodes[MOST], features[MOST][COLUMNS];
  lscfg_inference result;
  lscfg_forest_view f;
  for (int32_t k = 0; k < COLUMNS; k++) all.columns[k] = k;
  lscfg_forest_get(forest, &f);
  CHECK(f.n_apps <= MOST);
  if (!good(lscfg_infer(binding, forest, apps, nodes, &result, &error)) ||
      !good(lscfg_features(binding, forest, &result, apps, nodes, &all, features[0], &error)))
    return;
  CHECK(result.sign && fabs(apps[app] + apps[other] - 1) < 1e-9 && fabs(nodes[f.n_nodes - 1] - 1) < 1e-9);
  CHECK(features[app][LSCFG_CONTEXT_0] * features[other][LSCFG_CONTEXT_0] < 0);
  for (int k = 0; k < COLUMNS; k++)
    if (features[app][k] != 0) printf("%s %.4f\n", lscfg_feature_name(k), features[app][k]);
}

/* A forest that a decoder builds: one node has no derivation, and what is made of it is dropped. */
static void build_forest(const lscfg_binding *binding, const lscfg_grammar *grammar, const lscfg_vocab *vocab) {
  enum { X, S, NODES_ADDED = 5, APPS_ADDED = 6 };
  const int32_t extra = lscfg_grammar_size(grammar);
  int32_t w[MAX_WORDS], app_of[APPS_ADDED];
  CHECK(line_of(vocab, "a e x y", w) == 4);
  const int32_t x = lscfg_grammar_find(grammar, X, w, 1, w + 2, 1), y = lscfg_grammar_find(grammar, X, w, 1, w + 3, 1);
  const struct {
    int32_t category, i, j, n, app[2][3];
  } nodes[NODES_ADDED] = {
      {X, 0, 1, 2, {{y, -1, -1}, {x, -1, -1}}},
      {X, 1, 2, 1, {{extra + LSCFG_RULE_PASS, -1, -1}}},
      {X, 0, 2, 0, {{0}}},
      {S, 0, 1, 1, {{extra + LSCFG_RULE_GLUE_TOP, 0, -1}}},
      {S, 0, 2, 2, {{extra + LSCFG_RULE_GLUE_TOP, 2, -1}, {extra + LSCFG_RULE_GLUE, 3, 1}}},
  };
  lscfg_forest *forest = lscfg_forest_new(w, 2);
  int ready = had(forest != NULL);
  for (int q = 0; q < NODES_ADDED && ready; q++) {
    ready = good(lscfg_forest_add_node(forest, nodes[q].category, nodes[q].i, nodes[q].j, &error));
    for (int k = 0; k < nodes[q].n && ready; k++) {
      const int32_t *app = nodes[q].app[k];
      ready = good(lscfg_forest_add_application(forest, app[0], app[1], app[2], &error));
    }
  }
  if (ready && good(lscfg_forest_finish(forest, grammar, app_of, &error))) {
    lscfg_forest_view f;
    lscfg_forest_get(forest, &f);
    CHECK(f.n_nodes == NODES_ADDED - 1 && f.n_apps == APPS_ADDED - 1 && app_of[4] == -1 && app_of[5] == f.n_apps - 1);
    CHECK(f.app_rule[app_of[0]] == y && f.app_rule[app_of[1]] == x);
    judge(binding, forest, app_of[0], app_of[1]);
  }
  lscfg_forest_free(forest);
}

/* The grammar is read, but not finished. */
static void use_grammar(const lscfg_rules *rules, lscfg_grammar *grammar, const lscfg_vocab *vocab, const char *path) {
  const lscfg_binding_options options = {1, 1, 1};
  lscfg_model *model;
  lscfg_binding *binding = NULL;
  if (good(lscfg_model_open(path, &model, &error)) && good(lscfg_model_add_rules(model, grammar, &error)) &&
      good(lscfg_grammar_finish(grammar, &error)) && good(lscfg_grammar_index_sides(grammar, &error)) &&
      good(lscfg_binding_new(model, grammar, &options, &binding, &error))) {
    CHECK(lscfg_grammar_size(grammar) == rules->n + lscfg_model_size(model));
    CHECK(lscfg_binding_known(binding) > lscfg_model_size(model));
    for (int32_t r = 0; r < rules->n; r++) {
      const int32_t *src = rules->symbols + rules->offsets[r], *tgt = src + rules->src_length[r];
      const int32_t n_tgt = (int32_t)(rules->symbols + rules->offsets[r + 1] - tgt);
      CHECK(lscfg_grammar_find(grammar, 0, src, rules->src_length[r], tgt, n_tgt) == r);
    }
    parse_lattice(grammar, vocab);
    build_forest(binding, grammar, vocab);
  }
  lscfg_binding_free(binding);
  lscfg_model_close(model);
}

/* ---- Hiero rules ---- */

/* Words at cost 1 with whatever they are linked to, which is in the same rule. */
static void weigh(const lscfg_rules *rules, const lscfg_tables *tables) {
  static double costs[2 * PLACES], weights[2 * RULES];
  int32_t pairs[2 * PLACES];
  int64_t which[RULES];
  CHECK(tables->n_pairs <= PLACES);
  for (int64_t k = 0; k < tables->n_pairs; k++) {
    pairs[2 * k] = tables->pairs[k].src;
    pairs[2 * k + 1] = tables->pairs[k].tgt;
    costs[2 * k] = costs[2 * k + 1] = 1;
  }
  for (int64_t r = 0; r < rules->n; r++) which[r] = r;
  if (!good(lscfg_rules_lexical(rules, tables->n_pairs, pairs, costs, 99, rules->n, which, weights, &error))) return;
  for (int64_t r = 0; r < rules->n; r++) {
    int64_t words[2] = {0};
    for (int64_t k = rules->offsets[r]; k < rules->offsets[r + 1]; k++)
      words[k < rules->offsets[r] + rules->src_length[r]] += rules->symbols[k] >= 0;
    CHECK(weights[2 * r] == (double)words[0] && weights[2 * r + 1] == (double)words[1]);
  }
}

/* A sentence is matched by the source sides of the rules that it gave. */
static void match(const lscfg_rules *rules, const int32_t *side, const lscfg_hiero_view *v, const lscfg_vocab *vocab) {
  lscfg_matcher *matcher;
  int ready = good(lscfg_matcher_new(rules, side, &matcher, &error));
  for (int k = 0; k < KEPT && ready; k++) {
    int32_t words[MAX_WORDS], found[RULES], matched[RULES] = {0};
    int32_t n = lscfg_match(matcher, words, line_of(vocab, corpus[k][0], words), found, &error);
    ready = good(n);
    for (int32_t i = 0; i < n; i++) matched[found[i]]++;
    for (int64_t t = 0; t < v->n_places && ready; t++)
      CHECK(v->places[8 * t + 1] != k || matched[side[v->places[8 * t]]] == 1);
  }
  lscfg_matcher_free(matcher);
}

static void learn(const lscfg_rules *rules, const int32_t *side, int32_t n_sides, const lscfg_hiero_view *v,
                  const lscfg_vocab *vocab) {
  static lscfg_context_token tokens[PLACES];
  static int64_t offsets[RULES + WEIGHTS];
  static int32_t items[WEIGHTS];
  static float weights[WEIGHTS], sums[RULES * 2 * DENSE], around[2][KEPT * (MAX_WORDS + 1) * DENSE];
  int64_t begin[RULES + 1] = {0}, first[KEPT + 1] = {0}, n_choices = 0, n_tokens = 0;
  int32_t words[KEPT * MAX_WORDS], choices[RULES];
  double counts[RULES], expected = 0, before = INFINITY, loss[2];
  lscfg_context_trainer *trainer;
  for (int32_t r = 0; r < rules->n; r++)
    for (int64_t t = 0; t < v->n_places; t++)
      if (v->places[8 * t] == r) memcpy(&tokens[n_tokens++], v->places + 8 * t, sizeof *tokens);
  for (int k = 0; k < KEPT; k++) first[k + 1] = first[k] + line_of(vocab, corpus[k][0], words + first[k]);
  for (int32_t s = 0; s < n_sides; s++) {
    int64_t all = 0;
    for (int32_t r = 0; r < rules->n; r++) {
      if (side[r] != s) continue;
      choices[n_choices++] = r;
      all += v->tokens[r];
      counts[r] = (double)v->tokens[r];
    }
    begin[s + 1] = n_choices;
    for (int64_t c = begin[s]; c < n_choices; c++)
      expected += counts[choices[c]] * log((double)all / counts[choices[c]]);
  }
  const lscfg_context_problem problem = {rules,   counts,      words,  first, side, n_sides, begin,
                                         choices, v->n_places, tokens, 1,     0.1,  0.1,     DENSE,
                                         around[0], around[1], 1};
  for (int64_t k = 0; k < (first[KEPT] + KEPT) * DENSE; k++) around[0][k] = around[1][k] = (float)(k % 5) / 10 - 0.2f;
  int ready = good(lscfg_context_trainer_new(&problem, &trainer, &error));
  for (int32_t part = 0; part < LSCFG_CONTEXT_PARTS && ready; part++)
    ready = good(lscfg_context_find(trainer, part, &error));
  ready = ready && good(lscfg_context_lay_out(trainer, &error));
  for (int32_t part = 0; part < LSCFG_CONTEXT_PARTS && ready; part++)
    ready = good(lscfg_context_visit(trainer, part, &error));
  if (ready) lscfg_context_count_visits(trainer);
  for (int pass = 0; pass < 3 && ready; pass++) {
    double sum[2] = {0, 0};
    for (int64_t t = 0; t < v->n_places && ready; t++) { /* batches of a token */
      ready = good(lscfg_context_meet(trainer, 0, tokens + t, 1, loss, &error));
      for (int32_t shard = 0; shard < LSCFG_CONTEXT_SHARDS && ready; shard++) lscfg_context_step(trainer, shard);
      for (int k = 0; k < 2; k++) sum[k] += loss[k];
    }
    CHECK(!ready || (fabs(sum[0] - expected) < 1e-9 && sum[1] < before));
    before = sum[1];
  }
  int64_t n = ready ? lscfg_context_weights(trainer, NULL, NULL, NULL, &error) : 0;
  if (ready && good((int)n) && good((int)lscfg_context_weights(trainer, offsets, items, weights, &error))) {
    CHECK(before < expected && n > 0 && n <= WEIGHTS && n == offsets[rules->n + rules->n_words + LSCFG_CONTEXT_SHAPES]);
    for (int64_t k = 0; k < n; k++) CHECK(items[k] >= 0 && weights[k] != 0);
    lscfg_context_dense(trainer, sums);
    float largest = 0;
    for (int64_t k = 0; k < rules->n * 2 * DENSE; k++) largest = fabsf(sums[k]) > largest ? fabsf(sums[k]) : largest;
    CHECK(largest > 0 && largest < 10);
    printf("loss %.4f, in context %.4f\n", expected, before);
  }
  lscfg_context_trainer_free(trainer);
}

/* Writes the rules as a grammar file and reads them. */
static int write_and_read(const lscfg_rules *rules, const lscfg_hiero_view *v, lscfg_grammar *grammar) {
  static const char *const names[] = {"Count", "Tokens"};
  double values[2 * RULES];
  int64_t which[RULES], length;
  char *text;
  for (int64_t r = 0; r < rules->n; r++) {
    which[r] = r;
    values[2 * r] = v->count[r];
    values[2 * r + 1] = (double)v->tokens[r];
  }
  if (!good(lscfg_rules_text(rules, rules->n, which, 2, names, values, &text, &length, &error))) return 0;
  int code = lscfg_grammar_read(grammar, text, (size_t)length, &error);
  lscfg_rules_text_free(text);
  CHECK(code || (lscfg_grammar_size(grammar) == rules->n && lscfg_grammar_n_features(grammar) == 2));
  return good(code);
}

static void use_rules(const lscfg_hiero_view *v, const char *path) {
  const lscfg_tables *t = &v->tables;
  const lscfg_rules rules = {t->n_rules,     t->symbols,       t->offsets, t->src_length,
                             t->vocab_bytes, t->vocab_offsets, t->n_words};
  int32_t side[RULES], target[RULES], n_sides = 0, n_targets;
  lscfg_vocab *vocab = lscfg_vocab_new();
  lscfg_grammar *grammar = had(vocab != NULL) ? lscfg_grammar_new(vocab) : NULL;
  int ready = vocab && had(grammar != NULL);
  CHECK(t->n_rules <= RULES && v->n_places <= PLACES);
  for (int64_t w = 0; w < t->n_words && ready; w++) /* ids are the same there */
    ready = had(lscfg_vocab_add(vocab, t->vocab_bytes + t->vocab_offsets[w], 1) == w);
  if (ready && good(n_sides = lscfg_rules_number(&rules, 0, side, &error))) {
    weigh(&rules, t);
    match(&rules, side, v, vocab);
    learn(&rules, side, n_sides, v, vocab);
  }
  if (ready && good(n_targets = lscfg_rules_number(&rules, 1, target, &error)))
    printf("%d rules of %d source and %d target sides\n", (int)rules.n, (int)n_sides, (int)n_targets);
  if (ready && write_and_read(&rules, v, grammar)) use_grammar(&rules, grammar, vocab, path);
  lscfg_grammar_free(grammar);
  lscfg_vocab_free(vocab);
}

static void extract(const char *path) {
  const lscfg_hiero_options limits = {10, 0, 5, 2, 1, 0, 1, 0, 1};
  lscfg_hiero *hiero = lscfg_hiero_new(&limits);
  int ready = had(hiero != NULL);
  for (int k = 0; k < KEPT && ready; k++) {
    int32_t stream;
    ready = good(lscfg_hiero_add(hiero, LINES_OF(corpus[k]), &stream, &error));
  }
  if (ready) {
    lscfg_hiero_view v;
    double sum = 0;
    int64_t tokens = 0;
    lscfg_hiero_get(hiero, &v);
    for (int64_t r = 0; r < v.tables.n_rules; r++) {
      sum += v.count[r];
      tokens += v.tokens[r];
    }
    /* ten of the first pair, five of the second, three of each other one */
    CHECK(v.n_sentences == KEPT && v.n_phrases == 27 && v.n_used == 27 && fabs(sum - 27) < 1e-9 &&
          tokens == v.n_places);
    use_rules(&v, path);
  }
  lscfg_hiero_free(hiero);
}

/* ---- tuning ---- */

#define RIGHT 4, 3, 2, 1, 4, 3, 2, 1, 4, 4
#define WRONG 1, 0, 0, 0, 4, 3, 2, 1, 4, 4

static void tune(void) {
  static const int64_t first[] = {0, 2, 4}, column[] = {0, 1, 3}, value[] = {0, 2}, order[] = {0, 1};
  static const int32_t feature[] = {0, 0, 1}, stats[] = {WRONG, RIGHT, RIGHT, WRONG};
  static const float values[] = {0, 1, 1, 0, 0, 1}; /* right ones have the first feature, wrong ones the second */
  static const double by_score[] = {0, -1, 0, -3}, slopes[] = {0, 1, 0, 1}; /* right from 1 on, and up to 3 */
  const lscfg_lists lists = {2, first, column, value, feature, values, stats, LSCFG_BLEU};
  lscfg_mira mira = {0.1, 0.999, 0, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}};
  double weights[2] = {0}, late[2] = {0}, scores[4], step, bleu;
  int64_t best[2];
  if (good(lscfg_mira_pass(&lists, &mira, 2, order, weights, late, &error))) {
    CHECK(mira.steps == 2 && weights[0] > 0 && weights[1] < 0);
    lscfg_lists_scores(&lists, weights, scores);
    lscfg_lists_best(2, first, scores, best);
    CHECK(best[0] == 1 && best[1] == 2);
  }
  if (good(lscfg_line_search(2, first, by_score, slopes, LSCFG_BLEU, stats, &step, &bleu, &error)))
    CHECK(fabs(step - 2) < 1e-9 && fabs(bleu - 100) < 1e-9);
}

/* An item of two edges, another one, and an edge that puts the second in front of the first; a word costs a step. */
static void find_envelope(void) {
  static const int32_t item_edges[] = {0, 2, 4, 5}, tail[] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 1};
  static const int32_t symbols[] = {5, 5, 6, 7, 8, 9, 10, -2, 3, -1},
                       expected[] = {7, 3, 5, 7, 3, 5, 6, 8, 9, 10, 3, 5, 6};
  static const int64_t symbol[] = {0, 1, 3, 4, 7, 10}, offsets[] = {0, 3, 7, 13};
  static const double scores[] = {-1, -2, 0, -4, 0}, slopes[] = {1, 2, 1, 3, 1};
  const lscfg_hypergraph_view graph = {3, 5, item_edges, tail, symbol, symbols, NULL, NULL, NULL};
  lscfg_envelope *envelope;
  lscfg_envelope_view v;
  if (!good(lscfg_hypergraph_envelope(&graph, scores, slopes, &envelope, &error))) return;
  lscfg_envelope_get(envelope, &v);
  CHECK(v.n == 3 && !memcmp(v.word_offsets, offsets, sizeof offsets) && !memcmp(v.words, expected, sizeof expected));
  CHECK(v.score[0] == -1 && v.score[1] == -2 && v.score[2] == -6);
  CHECK(v.slope[0] == 3 && v.slope[1] == 4 && v.slope[2] == 6);
  lscfg_envelope_free(envelope);
}

/* Three unit vectors; the dense column makes no neighbours, so rows 0 and 2 share nothing. */
static void find_neighbours(void) {
  static const int64_t row_begin[] = {0, 1, 3, 4}, column_begin[] = {0, 2, 4};
  static const int32_t row_column[] = {0, 0, 1, 1}, column_row[] = {0, 1, 1, 2};
  static const float row_value[] = {0.8f, 0.6f, 0.8f, 0.6f}, column_value[] = {0.8f, 0.6f, 0.8f, 0.6f};
  static const float dense[] = {0.6f, 0, -0.8f}, norm[] = {0.6f, 0, 0.8f};
  static const float head[3][LSCFG_HEAD] = {{0.6f}, {0}, {-0.8f}};
  const lscfg_vectors v = {3,          row_begin,    row_column, row_value, column_begin,
                           column_row, column_value, 1,          dense,     norm,
                           head[0]};
  int32_t found[3], neighbour[6];
  float similarity[6];
  if (!good(lscfg_neighbours(&v, 0, 3, 2, found, neighbour, similarity, &error))) return;
  CHECK(found[0] == 1 && found[1] == 2 && found[2] == 1);
  CHECK(neighbour[0] == 1 && neighbour[2] == 0 && neighbour[3] == 2 && neighbour[4] == 1);
  CHECK(fabs(similarity[0] - 0.48) < 1e-6 && fabs(similarity[2] - 0.48) < 1e-6 && fabs(similarity[3] - 0.48) < 1e-6);
}

/* ---- samples ---- */

static void sweep_shard(lscfg_sampler *sampler) {
  lscfg_shard *shard = lscfg_shard_new(sampler, 0, KEPT - 2);
  if (had(shard != NULL) && good(lscfg_shard_sweep(shard, 3, 100, 1, &error)))
    good(lscfg_sampler_join(sampler, shard, &error));
  lscfg_shard_free(shard);
}

/* A chain that goes on from another one has the same trees. */
static void run_chains(const lscfg_phrase_forests *forests, const lscfg_sample_options *options) {
  lscfg_sampler *one = lscfg_sampler_new(forests, options), *other = lscfg_sampler_new(forests, options);
  lscfg_sampler_view view, again;
  lscfg_sample_state state;
  double sum = -1;
  int64_t n_words = 0, n_left_out = 0, n_pairs = KEPT - options->held_out;
  if (had(one && other) && good(lscfg_sampler_sweep(one, 1, 0, n_pairs, 100, 1, &error)) &&
      good(lscfg_sampler_keep(one, &error)) &&
      (!options->tables || good(lscfg_sampler_resample(one, 1, &error))) &&
      (options->states > 1 || good(lscfg_sampler_held_out(one, &sum, &n_words, &n_left_out, &error))) &&
      good(lscfg_sampler_get(one, &view, &error))) {
    lscfg_sampler_state(one, &state);
    CHECK(state.n_tokens > 0 && sum < 0 && n_words == 3 * options->held_out && n_left_out == 0);
    if (had(!isnan(state.log_joint)) && good(lscfg_sampler_restore(other, &view, &state, &error)) &&
        good(lscfg_sampler_sweep(one, 2, 0, n_pairs, 100, 1, &error)) &&
        good(lscfg_sampler_sweep(other, 2, 0, n_pairs, 100, 1, &error)) &&
        good(lscfg_sampler_get(one, &view, &error)) && good(lscfg_sampler_get(other, &again, &error)))
      CHECK(!memcmp(view.edge, again.edge, (size_t)view.n_nodes * sizeof *view.edge));
    if (!memory_is_out && !options->tables && options->moves != LSCFG_MOVES_TYPE) sweep_shard(one);
  }
  lscfg_sampler_free(one);
  lscfg_sampler_free(other);
}

/* Each pair begins as one rule. */
static void begin_whole(const lscfg_phrase_forests *forests, const lscfg_sample_options *options) {
  lscfg_sampler *sampler = lscfg_sampler_new(forests, options);
  int64_t trees[KEPT + 1] = {0}, wrong;
  int32_t heads[KEPT][4] = {0};
  for (int k = 0; k < KEPT; k++) {
    trees[k + 1] = k + 1;
    for (int side = 0; side < 2; side++) heads[k][2 * side + 1] = ((int32_t)strlen(corpus[k][side]) + 1) / 2;
  }
  lscfg_sample_state state;
  if (had(sampler != NULL) && good(lscfg_sampler_begin(sampler, trees, (const int32_t (*)[4])heads, &wrong, &error))) {
    lscfg_sampler_state(sampler, &state);
    CHECK(wrong < 0 && state.n_tokens == KEPT - options->held_out);
    had(!isnan(state.log_joint));
  }
  lscfg_sampler_free(sampler);
}

static void sample(void) {
  lscfg_phrase_forests *forests = lscfg_phrase_forests_new(3, MAX_WORDS, 0);
  int32_t stream;
  int made = had(forests != NULL);
  for (int k = 0; k < KEPT && made; k++)
    made = good(lscfg_phrase_forests_add(forests, LINES_OF(corpus[k]), &stream, &error)) &&
           (k || good(lscfg_phrase_forests_join(forests, LINES_OF(corpus[k]), &stream, &error)));
  for (int32_t moves = LSCFG_MOVES_LOCAL; moves <= LSCFG_MOVES_TYPE && made; moves++) {
    lscfg_sample_options options = {.alpha = 1, .discount = 0.5, .mean_length = 2, .density = 1, .corrected = 1,
                                    .moves = moves, .tables = moves == LSCFG_MOVES_LOCAL, .held_out = 2,
                                    .base = moves == LSCFG_MOVES_TYPE ? LSCFG_BASE_LEXICAL : LSCFG_BASE_LENGTH,
                                    .informed = moves == LSCFG_MOVES_TREE, .places = 1};
    run_chains(forests, &options);
    begin_whole(forests, &options);
    if (moves > LSCFG_MOVES_TREE) continue;
    options.states = 2;
    options.held_out = 0;
    run_chains(forests, &options);
  }
  lscfg_phrase_forests_free(forests);
}

/* Chains over given forests: a root with one edge to two words and one to the first alone. */
static void sample_given(void) {
  const int32_t category[3] = {0, 1, 1}, span[3][2] = {{0, 1}, {1, 2}, {0, 2}}, first_edge[4] = {0, 1, 2, 4};
  const int32_t label[4] = {0, 0, 1, 2}, first_tail[5] = {0, 0, 0, 2, 3}, tails[3] = {0, 1, 0};
  const double log_weight[3] = {0, -0.5, -1};
  const lscfg_given_forest given = {3, span, first_edge, label, first_tail, tails};
  const lscfg_sample_options options = {.alpha = 1, .discount = 0.5, .mean_length = 2, .density = 1, .informed = 1,
                                        .tables = LSCFG_TABLES_EXACT, .base = LSCFG_BASE_LABELS, .seed = 1};
  lscfg_phrase_forests *forests = lscfg_phrase_forests_new(3, MAX_WORDS, 0);
  lscfg_sampler *one = NULL, *other = NULL;
  lscfg_sampler_view view;
  lscfg_sample_state state;
  int made = had(forests != NULL) && good(lscfg_phrase_forests_label(forests, 3, category, log_weight, &error));
  for (int k = 0; k < 4 && made; k++) made = good(lscfg_phrase_forests_give(forests, &given, &error));
  if (made) {
    one = lscfg_sampler_new(forests, &options);
    other = lscfg_sampler_new(forests, &options);
  }
  if (made && had(one && other)) {
    for (int32_t sweep = 1; sweep < 4 && made; sweep++)
      made = good(lscfg_sampler_sweep(one, sweep, 0, 4, 100, 1, &error)) && good(lscfg_sampler_keep(one, &error)) &&
             good(lscfg_sampler_resample(one, sweep, &error));
    if (made && good(lscfg_sampler_get(one, &view, &error))) {
      lscfg_sampler_state(one, &state);
      CHECK(state.n_tokens >= 4 && state.log_joint < 0);
      good(lscfg_sampler_restore(other, &view, &state, &error));
    }
  }
  lscfg_sampler_free(one);
  lscfg_sampler_free(other);
  lscfg_phrase_forests_free(forests);
}

/* ---- biparsing ---- */

static void learn_rules(const lscfg_bitexts *text) {
  const lscfg_biparse_options options = {.pops = 20, .nodes = 5, .word_items = 5, .retries = 1, .max_target = 10,
                                         .max_targets = 10, .rule_weights = 1, .leave_out = 1, .beam = 1};
  const lscfg_biparse_step step = {.rate = 0.2, .shrink = 0.1, .prior = LSCFG_PRIOR_CORPUS};
  const int32_t pairs[2] = {2, 3}, all = LSCFG_VISIT_NEIGHBOURS | LSCFG_VISIT_LINKS | LSCFG_VISIT_TREE;
  lscfg_biparse_model *model = lscfg_biparse_model_new(text, &options);
  lscfg_biparse_model *other = lscfg_biparse_model_new(text, &options);
  lscfg_biparse_visits *visits = lscfg_biparse_visits_new();
  lscfg_biparse_counts *counts = lscfg_biparse_counts_new(text);
  lscfg_biparse_view view;
  lscfg_biparse_counts_view found;
  int ready = had(model && other && visits && counts);
  for (int pass = 0; pass < 2 && ready; pass++) {
    ready = good(lscfg_biparse_visit(model, visits, pairs, 2, all, &error)) &&
            good(lscfg_biparse_learn(model, visits, &error)) && good(lscfg_biparse_update(model, &step, &error));
    if (!ready) break;
    ready = good(lscfg_biparse_keep(model, &error));
    lscfg_biparse_next_pass(model);
    ready = ready && (pass || good(lscfg_biparse_forget(model, 20, &error)));
  }
  if (ready && had(!lscfg_biparse_model_get(model, &view)) &&
      good(lscfg_biparse_model_add(other, &view, 0.5, &error)) &&
      good(lscfg_biparse_model_add(other, &view, 0.5, &error)) && had(!lscfg_biparse_settle(other)) &&
      good(lscfg_biparse_visit(other, visits, pairs, 2, all - LSCFG_VISIT_NEIGHBOURS, &error)) &&
      had(!lscfg_biparse_want(counts, pairs, 2)) && good(lscfg_biparse_count(counts, visits, other, &error)) &&
      had(!lscfg_biparse_counts_get(counts, &found)))
    CHECK(found.tables.n_rules > 0 && found.n_edges > 0);
  lscfg_biparse_counts_free(counts);
  lscfg_biparse_visits_free(visits);
  lscfg_biparse_model_free(other);
  lscfg_biparse_model_free(model);
}

static void biparse(void) {
  const int32_t words[3][2] = {{0, -1}, {-1, 1}, {0, 1}};
  const double probability[3][2] = {{0.5, 0.5}, {0.5, 0.5}, {0.5, 0.25}};
  lscfg_bitexts *text = lscfg_bitexts_new(MAX_WORDS);
  int32_t stream;
  int made = had(text != NULL);
  for (int k = 0; k < KEPT && made; k++)
    made = good(lscfg_bitexts_add(text, corpus[k][0], strlen(corpus[k][0]), corpus[k][1], strlen(corpus[k][1]), "", 0,
                                  &stream, &error)) &&
           good(lscfg_bitexts_link(text, LINES_OF(corpus[k]), &stream, &error));
  if (made && good(lscfg_bitexts_lexicon(text, 3, words[0], probability[0], &error))) learn_rules(text);
  lscfg_bitexts_free(text);
}

/* ---- random numbers ---- */

/* kat_vectors of Random123, and a stream: the seed is the key, its number the upper half of the counter. */
static void draw_numbers(void) {
  static const uint32_t known[3][3][4] = {
      {{0}, {0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{~0u, ~0u}, {~0u, ~0u, ~0u, ~0u}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0xa4093822, 0x299f31d0},
       {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  const uint64_t seed = 0x299f31d0a4093822, number = 0x0370734413198a2e;
  uint32_t block[4];
  for (int k = 0; k < 3; k++) {
    philox(known[k][0], known[k][1], block);
    CHECK(!memcmp(block, known[k][2], sizeof block));
  }
  random_stream stream = random_begin(seed, number);
  for (uint32_t draw = 0; draw < 6; draw++) {
    const uint32_t counter[4] = {draw / 2, 0, (uint32_t)number, (uint32_t)(number >> 32)};
    philox(known[2][0], counter, block);
    const uint32_t *half = block + 2 * (draw % 2);
    CHECK(random_uniform(&stream) == ldexp((double)(((uint64_t)half[1] << 32 | half[0]) >> 11), -53));
  }
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  draw_numbers();
  decompose();
  derive();
  extract(argv[1]);
  tune();
  find_envelope();
  find_neighbours();
  sample();
  sample_given();
  biparse();
  if (memory_is_out) fprintf(stderr, "out of memory\n");
  return memory_is_out;
}
