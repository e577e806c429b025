/* A whole sentence through the C interface, as a decoder would use it: kernel_test MODEL GRAMMAR SENTENCE. Prints what
 * was found. In the common subset of C and C++. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lscfg.h"

static lscfg_error error;

static void require(int condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "%s: line %ld: %s\n", what, (long)error.line, error.message);
  exit(1);
}

static char *read_file(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  require(file != NULL, path);
  char *text = (char *)malloc(1 << 20);
  require(text != NULL, "memory");
  *length = fread(text, 1, 1 << 20, file);
  fclose(file);
  return text;
}

static int lm_step(void *context, int32_t state, int32_t word, float *log10p, int32_t *next, int32_t *reach) {
  (void)context;
  (void)state;
  *log10p = -1;
  *next = 2 + word;
  *reach = 1;
  return 0;
}

static const char bigrams[] =
    "\\data\\\nngram 1=4\nngram 2=1\n\n\\1-grams:\n-2\t<unk>\n-2\t<s>\t-1\n-1\t</s>\n-1\ta\n\n"
    "\\2-grams:\n-0.5\t<s> a\n\n\\end\\\n";

/* The forest once more, as a decoder that has built it gives it to the kernel. */
static lscfg_forest *rebuild(const lscfg_forest_view *f, const lscfg_grammar *grammar) {
  lscfg_forest *forest = lscfg_forest_new(f->words, f->n_words);
  int32_t *app_of = (int32_t *)malloc((size_t)f->n_apps * sizeof *app_of);
  require(forest && app_of, "memory");
  for (int32_t q = 0; q < f->n_nodes; q++) {
    require(lscfg_forest_add_node(forest, f->node_cat[q], f->node_span[2 * q], f->node_span[2 * q + 1], &error) == q,
            "node");
    for (int32_t e = f->node_edges[q]; e < f->node_edges[q + 1]; e++)
      for (int32_t a = f->edge_apps[e]; a < f->edge_apps[e + 1]; a++)
        require(lscfg_forest_add_application(forest, f->app_rule[a], f->edge_tail[2 * e], f->edge_tail[2 * e + 1],
                                             &error) >= 0,
                "application");
  }
  require(lscfg_forest_finish(forest, grammar, app_of, &error) == LSCFG_OK, "finish");
  free(app_of);
  return forest;
}

/* Marginals, features, translations. */
static void use(const lscfg_model *model, const lscfg_binding *binding, const lscfg_grammar *grammar,
                const lscfg_vocab *vocab, lscfg_lm *lm, const lscfg_forest *forest) {
  lscfg_forest_view f;
  lscfg_inference result;
  lscfg_feature_options how = {1, LSCFG_NEGATIVE_FLIP, 0, 1e-6, 0, {0}};
  lscfg_search_options search = {30, 5, 1, 1.0, -1.0};
  lscfg_kbest *kbest;
  lscfg_kbest_view list;
  lscfg_hypergraph *graph;
  lscfg_forest_get(forest, &f);
  for (int32_t k = 0; k < LSCFG_N_FEATURES; k++) { /* those that the model has */
    how.columns[how.n_columns++] = k;
    if (lscfg_model_check_features(model, &how, &error) != LSCFG_OK) how.n_columns--;
  }
  double *apps = (double *)malloc((size_t)f.n_apps * sizeof *apps),
         *nodes = (double *)malloc((size_t)f.n_nodes * sizeof *nodes);
  double *features = (double *)malloc((size_t)f.n_apps * (size_t)how.n_columns * sizeof *features);
  require(apps && nodes && features, "memory");
  require(lscfg_infer(binding, forest, apps, nodes, &result, &error) == LSCFG_OK, "infer");
  require(lscfg_features(binding, forest, &result, apps, nodes, &how, features, &error) == LSCFG_OK, "features");
  printf("sign %d, root %.6f, %d applications\n", (int)result.sign, nodes[f.n_nodes - 1], (int)f.n_apps);
  for (int32_t a = 0; a < f.n_apps; a++) apps[a] = features[a * how.n_columns]; /* the marginal */
  require(lscfg_search_hypergraph(forest, grammar, lm, apps, &search, 50, &kbest, &graph, &error) == LSCFG_OK,
          "search");
  lscfg_kbest_get(kbest, &list);
  for (int64_t k = 0; k < list.word_offsets[1]; k++) {
    size_t length;
    const char *word = lscfg_vocab_word(vocab, list.words[k], &length);
    printf("%s%.*s", k ? " " : "", (int)length, word);
  }
  printf("\n");
  lscfg_hypergraph_free(graph);
  lscfg_oracle_options limits = {30, 5, 0.1};
  int64_t bounds[2] = {0, list.word_offsets[1]};
  lscfg_kbest *closest;
  require(lscfg_oracle(forest, grammar, 1, bounds, list.words, &limits, &closest, &error) == LSCFG_OK, "oracle");
  lscfg_kbest_get(closest, &list);
  require(list.n > 0, "an oracle");
  int32_t n_words = (int32_t)list.word_offsets[1], places = n_words + 1, stride = (n_words + 8) & ~7;
  lscfg_patch_options patch = {2, 1};
  uint8_t *missing = (uint8_t *)calloc((size_t)f.n_apps, 1);
  int16_t *costs = (int16_t *)malloc((size_t)f.n_nodes * (size_t)places * (size_t)stride * sizeof *costs);
  require(missing && costs, "memory");
  require(lscfg_patch(forest, grammar, missing, list.words, n_words, &patch, costs, &error) == LSCFG_OK, "patches");
  require(costs[(f.n_nodes - 1) * places * stride + n_words] == 0, "a translation without missing rules");
  int32_t *steps = (int32_t *)malloc((size_t)f.n_nodes * sizeof *steps), n_steps;
  int32_t *intervals = (int32_t *)malloc(2 * (size_t)f.n_nodes * sizeof *intervals);
  double best, sum = 0;
  require(steps && intervals, "memory");
  require(lscfg_force(forest, grammar, apps, list.words, n_words, steps, intervals, &n_steps, &best, &error) ==
              LSCFG_OK,
          "a derivation of a translation");
  for (int32_t k = 0; k < n_steps; k++) sum += apps[steps[k]];
  require(sum - best < 1e-9 && best - sum < 1e-9 && intervals[1] == n_words, "its score");
  free(intervals);
  free(steps);
  free(costs);
  free(missing);
  lscfg_kbest_free(closest);
  lscfg_kbest_free(kbest);
  free(features);
  free(nodes);
  free(apps);
}

/* Twice the same model with parts of the weight. */
static void use_joined(lscfg_lm *lm, int32_t order, const int32_t *words, int32_t n) {
  lscfg_lm *const two[2] = {lm, lm};
  const double weights[2] = {0.25, 0.75}, oov_weights[2] = {-1, 0.5};
  double own, both;
  int32_t outside;
  lscfg_joined *joined = lscfg_joined_new(2, two, weights, oov_weights, 0);
  require(joined != NULL, "memory");
  lscfg_lm *sum = lscfg_lm_new(order, 0, lscfg_joined_step, joined);
  require(sum != NULL, "memory");
  require(lscfg_lm_score(sum, words, n, &both, &outside, &error) == LSCFG_OK, "score of both");
  require(lscfg_lm_score(lm, words, n, &own, &outside, &error) == LSCFG_OK, "score");
  double difference = both - own + 0.5 * outside;
  require(difference < 1e-4 && difference > -1e-4, "sum of models");
  double again;
  require(lscfg_lm_size(lm) > 0, "a table");
  require(lscfg_lm_clear(lm) == LSCFG_OK, "memory for an empty table");
  require(lscfg_lm_size(lm) == 0, "an empty table");
  require(lscfg_lm_score(lm, words, n, &again, &outside, &error) == LSCFG_OK, "score after emptying");
  require(again - own < 1e-12 && own - again < 1e-12 && lscfg_lm_size(lm) > 0, "the same score");
  lscfg_lm_free(sum);
  lscfg_joined_free(joined);
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  size_t length;
  char *text = read_file(argv[2], &length);
  int32_t words[100];
  lscfg_vocab *vocab = lscfg_vocab_new();
  lscfg_grammar *grammar = vocab ? lscfg_grammar_new(vocab) : NULL;
  require(vocab && grammar, "memory");
  lscfg_model *model;
  lscfg_binding *binding;
  lscfg_forest *forest, *rebuilt;
  lscfg_forest_view view;
  lscfg_binding_options unknown = {1, 1, 1};
  require(lscfg_model_open(argv[1], &model, &error) == LSCFG_OK, argv[1]);
  require(lscfg_grammar_read(grammar, text, length, &error) == LSCFG_OK, argv[2]);
  require(lscfg_grammar_finish(grammar, &error) == LSCFG_OK, argv[2]);
  int64_t n = lscfg_vocab_line(vocab, argv[3], strlen(argv[3]), words, 100);
  require(n >= 0, "sentence");
  lscfg_parse_options parse = {20, 1, 2, lscfg_grammar_category(grammar, "S", 1), LSCFG_MOST, 0, NULL};
  require(lscfg_parse(grammar, words, (int32_t)n, &parse, &forest, &error) == LSCFG_OK, "parse");
  require(lscfg_binding_new(model, grammar, &unknown, &binding, &error) == LSCFG_OK, "bind");
  require(lscfg_binding_use(binding, "baseline", &error) == LSCFG_OK, "instructions");
  lscfg_lm *lm = lscfg_lm_new(3, 0, lm_step, NULL);
  require(lm != NULL, "memory");
  lscfg_forest_get(forest, &view);
  rebuilt = rebuild(&view, grammar);
  use(model, binding, grammar, vocab, lm, forest);
  use(model, binding, grammar, vocab, lm, rebuilt);
  lscfg_lm_free(lm);
  lscfg_ngrams *ngrams;
  require(lscfg_ngrams_read(vocab, bigrams, strlen(bigrams), &ngrams, &error) == LSCFG_OK, "n-grams");
  lm = lscfg_lm_new(lscfg_ngrams_order(ngrams), 0, lscfg_ngrams_step, ngrams);
  require(lm != NULL, "memory");
  use(model, binding, grammar, vocab, lm, forest);
  use_joined(lm, lscfg_ngrams_order(ngrams), words, (int32_t)n);
  lscfg_lm_free(lm);
  lscfg_ngrams_free(ngrams);
  lscfg_forest_free(rebuilt);
  lscfg_forest_free(forest);
  lscfg_binding_free(binding);
  lscfg_model_close(model);
  lscfg_grammar_free(grammar);
  lscfg_vocab_free(vocab);
  free(text);
  return 0;
}
