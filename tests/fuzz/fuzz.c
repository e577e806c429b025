#define _GNU_SOURCE /* memfd_create */
#include "fuzz.h"

#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

lscfg_model *open_model(const void *bytes, size_t size) {
  char path[32];
  lscfg_model *model;
  lscfg_error error = {0};
  int descriptor = memfd_create("model", 0);
  CHECK(descriptor >= 0 && write(descriptor, bytes, size) == (ssize_t)size);
  snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  int code = lscfg_model_open(path, &model, &error);
  close(descriptor);
  CHECK(code == LSCFG_OK ? model != NULL : !model && code < 0 && error.code == code && *error.message);
  return model;
}

/* ---- grammar and model ---- */

enum { MAX_RULES = 12, MAX_SIDE = 5, MAX_RANK = 9, WORDS = 5 };

typedef struct {
  int32_t arity, n_src, n_tgt, symbols[2 * MAX_SIDE + 2];
} rule;

typedef struct {
  size_t size;
  unsigned char bytes[1 << 16];
} buffer;

typedef struct {
  buffer header, data;
} file;

static void append(buffer *b, const void *bytes, size_t size) {
  CHECK(b->size + size <= sizeof b->bytes);
  memcpy(b->bytes + b->size, bytes, size);
  b->size += size;
}

static void tensor(file *f, const char *name, const char *dtype, const char *shape, const void *values, size_t size) {
  char entry[200];
  int n = snprintf(entry, sizeof entry, "%c\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%zu,%zu]}",
                   f->header.size ? ',' : '{', name, dtype, shape, f->data.size, f->data.size + size);
  append(&f->header, entry, (size_t)n);
  append(&f->data, values, size);
  while (f->data.size % 8) append(&f->data, "", 1);
}

/* n small numbers, of the shape [.][rank]...; one precision for all parameters of a rule. */
static void parameters(file *f, input *in, const char *name, const char *shape, int single, int32_t n, int positive) {
  static double values[MAX_RULES * MAX_RANK * MAX_RANK * MAX_RANK];
  static float singles[MAX_RULES * MAX_RANK * MAX_RANK * MAX_RANK];
  uint32_t seed = 1u + take(in); /* numbers of the input would leave little of it */
  for (int32_t k = 0; k < n; k++) {
    seed = seed * 1664525u + 1013904223u;
    values[k] = (int32_t)(seed >> 24) / 64.0 - (positive ? 0 : 2);
    singles[k] = (float)values[k];
  }
  if (single)
    tensor(f, name, "F32", shape, singles, (size_t)n * sizeof *singles);
  else
    tensor(f, name, "F64", shape, values, (size_t)n * sizeof *values);
}

/* A model of the rules of [X], sorted by arity. */
static lscfg_model *make_model(input *in, const rule *rules, int32_t n_rules, int positive) {
  static const char *const full[] = {"C0", "C1", "C2"};
  static file f;
  int32_t m = 1 + below(in, MAX_RANK), flags = take(in), n_symbols = 0, of_arity[3] = {0};
  int32_t symbols[MAX_RULES * (2 * MAX_SIDE + 2)], src_length[MAX_RULES];
  int64_t offsets[MAX_RULES + 1] = {0}, components[MAX_RULES + 1] = {0}, words[WORDS + 1];
  int low_rank = flags & 1, single = low_rank || flags & 2;
  char shape[64];
  int32_t n = 0;
  for (int32_t arity = 0; arity < 3; arity++)
    for (int32_t r = 0; r < n_rules; r++) {
      if (rules[r].arity != arity) continue;
      int32_t length = rules[r].n_src + rules[r].n_tgt;
      memcpy(symbols + n_symbols, rules[r].symbols, (size_t)length * sizeof *symbols);
      src_length[n++] = rules[r].n_src;
      offsets[n] = n_symbols += length;
      of_arity[arity]++;
    }
  f.header.size = f.data.size = 0;
  snprintf(shape, sizeof shape, "%d", m);
  parameters(&f, in, "CS", shape, 0, m, positive);
  parameters(&f, in, "unk", shape, 0, m, positive);
  for (int32_t arity = 0, size = m; arity < 3 - low_rank; arity++, size *= m) {
    int at = snprintf(shape, sizeof shape, "%d", of_arity[arity]);
    for (int32_t k = 0; k <= arity; k++) at += snprintf(shape + at, sizeof shape - (size_t)at, ",%d", m);
    parameters(&f, in, full[arity], shape, single, of_arity[arity] * size, positive);
  }
  if (low_rank) {
    for (int32_t k = 0; k < of_arity[2]; k++) components[k + 1] = components[k] + below(in, 4);
    snprintf(shape, sizeof shape, "%d", of_arity[2] + 1);
    tensor(&f, "C2.components", "I64", shape, components, (size_t)(of_arity[2] + 1) * sizeof *components);
    snprintf(shape, sizeof shape, "%d,3,%d", (int)components[of_arity[2]], m);
    parameters(&f, in, "C2.factors", shape, 1, (int32_t)components[of_arity[2]] * 3 * m, positive);
  }
  for (int32_t w = 0; w <= WORDS; w++) words[w] = w;
  snprintf(shape, sizeof shape, "%d", WORDS);
  tensor(&f, "vocab.bytes", "U8", shape, "abcde", WORDS);
  snprintf(shape, sizeof shape, "%d", WORDS + 1);
  tensor(&f, "vocab.offsets", "I64", shape, words, sizeof words);
  snprintf(shape, sizeof shape, "%d", n_symbols);
  tensor(&f, "rules.symbols", "I32", shape, symbols, (size_t)n_symbols * sizeof *symbols);
  snprintf(shape, sizeof shape, "%d", n + 1);
  tensor(&f, "rules.offsets", "I64", shape, offsets, (size_t)(n + 1) * sizeof *offsets);
  snprintf(shape, sizeof shape, "%d", n);
  tensor(&f, "rules.src_length", "I32", shape, src_length, (size_t)n * sizeof *src_length);
  append(&f.header, "}", 1);
  while (f.header.size % 8) append(&f.header, " ", 1);

  static buffer whole;
  uint64_t length = f.header.size; /* of a little-endian machine */
  whole.size = 0;
  append(&whole, &length, sizeof length);
  append(&whole, f.header.bytes, f.header.size);
  append(&whole, f.data.bytes, f.data.size);
  return open_model(whole.bytes, whole.size);
}

/* A symbol of the source side; a few are wrong. */
static int32_t symbol(input *in) {
  static const int32_t symbols[] = {0, 1, 2, 3, 4, 0, 1, 0, -1, -1, -1, -1, -1, -1, -2, -3, WORDS, INT32_MIN};
  return symbols[below(in, sizeof symbols / sizeof *symbols)];
}

/* A target side: words, and the nonterminals in one order or the other; or any symbols. Returns the length. */
static int32_t target(input *in, int32_t arity, int32_t *tgt) {
  int32_t flags = take(in), n = flags % (MAX_SIDE + 1), any = flags >= 240;
  for (int32_t k = 0; k < n; k++) tgt[k] = any ? symbol(in) : below(in, WORDS);
  for (int32_t k = 0; !any && k < arity && arity <= 2; k++) {
    int32_t at = below(in, n + 1);
    memmove(tgt + at + 1, tgt + at, (size_t)(n++ - at) * sizeof *tgt);
    tgt[at] = -1 - k;
  }
  return n;
}

world make_world(input *in) {
  world w = {.vocab = lscfg_vocab_new()};
  lscfg_error error = {0};
  rule known[MAX_RULES];
  int32_t n_known = 0, flags = take(in), n = below(in, MAX_RULES + 1);
  CHECK(w.vocab && (w.grammar = lscfg_grammar_new(w.vocab)));
  for (int32_t k = 0; k < WORDS; k++) CHECK(lscfg_vocab_add(w.vocab, &"abcde"[k], 1) == k);
  if (flags & 1) CHECK(lscfg_grammar_category(w.grammar, "Y", 1) == 2);
  w.positive = flags >> 1 & 1;
  for (int32_t k = 0; k < n; k++) {
    int32_t kind = take(in), lhs = kind & 64 ? kind >> 4 & 3 : 0;
    rule r = {.n_src = kind % (MAX_SIDE + 1)};
    int only_x = !lhs;
    for (int32_t i = 0; i < r.n_src; i++) {
      r.symbols[i] = symbol(in);
      r.arity += r.symbols[i] < 0;
      only_x &= r.symbols[i] >= -1;
    }
    r.n_tgt = target(in, r.arity, r.symbols + r.n_src);
    int32_t id = lscfg_grammar_add(w.grammar, lhs, r.symbols, r.n_src, r.symbols + r.n_src, r.n_tgt, &error);
    CHECK(id >= 0 ? id == lscfg_grammar_size(w.grammar) - 1 : error.code == id && *error.message);
    if (id < 0 || !only_x || kind & 128) continue; /* the model does not know them all */
    int twice = 0;
    for (int32_t i = 0; i < n_known; i++)
      twice |= known[i].n_src == r.n_src && known[i].n_tgt == r.n_tgt &&
               !memcmp(known[i].symbols, r.symbols, (size_t)(r.n_src + r.n_tgt) * sizeof *r.symbols);
    if (!twice) known[n_known++] = r;
  }
  if (lscfg_grammar_finish(w.grammar, &error)) {
    CHECK(*error.message);
    free_world(&w);
    return w;
  }
  w.model = make_model(in, known, n_known, w.positive);
  CHECK(w.model && lscfg_model_size(w.model) == n_known);
  return w;
}

void free_world(world *w) {
  lscfg_model_close(w->model);
  lscfg_grammar_free(w->grammar);
  lscfg_vocab_free(w->vocab);
  *w = (world){0};
}

/* ---- what is done with a forest ---- */

static void check_view(const lscfg_forest_view *f) {
  CHECK(f->n_nodes >= 1 && f->node_edges[0] == 0 && f->node_edges[f->n_nodes] == f->n_edges);
  CHECK(f->edge_apps[0] == 0 && f->edge_apps[f->n_edges] == f->n_apps);
  for (int32_t q = 0; q < f->n_nodes; q++) {
    CHECK(f->node_edges[q] < f->node_edges[q + 1] && f->node_span[2 * q] < f->node_span[2 * q + 1]);
    for (int32_t e = f->node_edges[q]; e < f->node_edges[q + 1]; e++) {
      CHECK(f->edge_head[e] == q && f->edge_apps[e] < f->edge_apps[e + 1]);
      CHECK(f->edge_tail[2 * e] >= 0 || f->edge_tail[2 * e + 1] < 0);
      for (int t = 0; t < 2; t++) {
        int32_t tail = f->edge_tail[2 * e + t];
        CHECK(tail >= -1 && tail < q);
        CHECK(tail < 0 ||
              (f->node_span[2 * tail] >= f->node_span[2 * q] && f->node_span[2 * tail + 1] <= f->node_span[2 * q + 1]));
      }
      for (int32_t a = f->edge_apps[e]; a < f->edge_apps[e + 1]; a++) CHECK(f->app_edge[a] == e);
      for (int32_t k = f->edge_paths ? f->edge_paths[e] : 0; f->edge_paths && k < f->edge_paths[e + 1]; k++)
        CHECK(f->paths[k] >= 0 && f->paths[k] < f->n_words);
    }
  }
}

static void infer(const lscfg_model *model, const lscfg_binding *binding, const lscfg_forest *forest,
                  const lscfg_forest_view *f, uint8_t options, int positive, double *features) {
  lscfg_error error = {0};
  lscfg_inference result;
  lscfg_feature_options how = {.log = options & 1, .negative = options >> 1 & 1, .floor = 1e-6};
  for (int32_t k = 0; k < (options & 4 ? LSCFG_N_FEATURES : LSCFG_TARGET); k++) {
    how.columns[how.n_columns++] = k;
    if (!lscfg_model_check_features(model, &how, &error)) continue;
    CHECK(k >= LSCFG_TARGET && strstr(error.message, "the model has no "));
    how.n_columns--;
  }
  double *apps = malloc((size_t)(f->n_apps + f->n_nodes) * sizeof *apps), *nodes = apps + f->n_apps, sum = 0;
  CHECK(apps);
  int code = lscfg_infer(binding, forest, apps, nodes, &result, &error);
  CHECK(code == LSCFG_OK || *error.message);
  if (!code) code = lscfg_features(binding, forest, &result, apps, nodes, &how, features, &error);
  if (code) memset(features, 0, (size_t)f->n_apps * (size_t)how.n_columns * sizeof *features);
  for (int32_t a = 0; !code && positive && a < f->n_apps; a++) {
    CHECK(apps[a] >= 0 && apps[a] < 1 + 1e-9);
    if (f->edge_head[f->app_edge[a]] == f->n_nodes - 1) sum += apps[a];
  }
  if (!code && positive) CHECK(result.sign == 0 || fabs(sum - 1) < 1e-9); /* some rule makes the root */
  for (int32_t a = 0; a < f->n_apps * how.n_columns; a++) CHECK(isfinite(features[a]));
  free(apps);
}

/* Any numbers do, as long as equal states have equal ones. */
static int lm_step(void *context, int32_t state, int32_t word, float *log10p, int32_t *next, int32_t *reach) {
  (void)context;
  *log10p = -0.25f * (float)((state * 3 + word) & 7);
  *next = 2 + (word & 3);
  *reach = word & 2 ? word & 1 ? LSCFG_LM_UNKNOWN_EXTENDS : LSCFG_LM_UNKNOWN : 1;
  return word == 4 && state == 3;
}

static void search(const lscfg_grammar *grammar, const lscfg_forest *forest, const lscfg_forest_view *f,
                   uint8_t options, const double *features) {
  lscfg_error error = {0};
  lscfg_search_options how = {1 + (options & 7), 1 + (options >> 3 & 15), options >> 7, 0.5, -1};
  lscfg_lm *lm = options & 16 ? lscfg_lm_new(1 + (options >> 5 & 3), 0, lm_step, NULL) : NULL;
  double *scores = malloc((size_t)f->n_apps * sizeof *scores);
  CHECK(scores);
  for (int32_t a = 0; a < f->n_apps; a++) scores[a] = features[a];
  lscfg_kbest *kbest;
  lscfg_hypergraph *graph;
  int code = lscfg_search_hypergraph(forest, grammar, lm, scores, &how, 20, &kbest, &graph, &error);
  CHECK(code == LSCFG_OK ? kbest && graph : !kbest && !graph && *error.message);
  if (!code) {
    lscfg_kbest_view list;
    lscfg_hypergraph_view kept;
    lscfg_envelope *envelope;
    lscfg_kbest_get(kbest, &list);
    CHECK(list.n >= 1 && list.n <= how.k);
    for (int32_t h = 1; h < list.n; h++) CHECK(list.score[h - 1] >= list.score[h]);
    lscfg_hypergraph_get(graph, &kept);
    double *slopes = malloc((size_t)kept.n_edges * 2 * sizeof *slopes);
    CHECK(slopes);
    for (int32_t e = 0; e < 2 * kept.n_edges; e++) slopes[e] = e * 7 % 5 - 2;
    CHECK(!lscfg_hypergraph_envelope(&kept, slopes + kept.n_edges, slopes, &envelope, &error));
    lscfg_envelope_free(envelope);
    free(slopes);
  }
  lscfg_hypergraph_free(graph);
  lscfg_kbest_free(kbest);
  lscfg_lm_free(lm);
  free(scores);
}

void use_forest(const lscfg_model *model, const lscfg_grammar *grammar, const lscfg_forest *forest, uint8_t options,
                int positive) {
  lscfg_forest_view f;
  lscfg_error error = {0};
  lscfg_binding *binding;
  lscfg_binding_options how = {options & 1, options >> 1 & 1, options >> 2 & 1};
  lscfg_forest_get(forest, &f);
  check_view(&f);
  double *features = calloc((size_t)f.n_apps * LSCFG_N_FEATURES, sizeof *features);
  CHECK(features);
  int code = lscfg_binding_new(model, grammar, &how, &binding, &error);
  CHECK(code == LSCFG_OK ? binding != NULL : !binding && *error.message);
  if (!code) {
    static const char *const sets[] = {"baseline", "avx2", "avx512"};
    lscfg_binding_use(binding, sets[(options >> 3) % 3], &error); /* refused where the machine has not got it */
    infer(model, binding, forest, &f, options, positive, features);
  }
  lscfg_binding_free(binding);
  search(grammar, forest, &f, options, features);
  free(features);
}
