/* Options of a model, a lexicon, and two texts with a NUL behind each. Pairs that are good are parsed and learned from,
 * and another model goes on from what the first one was. */
#include "fuzz.h"

#include <math.h>

enum { MAX_LINES = 6, MAX_WORDS = 5, MAX_ENTRIES = 12 };

/* Adds the lines of both texts until one ends; returns how many pairs there are. */
static int32_t read_pairs(input *in, lscfg_bitexts *text) {
  const char *line[2];
  char *copy[2];
  int32_t n = 0, stream;
  for (int side = 0; side < 2; side++) {
    size_t left = (size_t)(in->end - in->next);
    const uint8_t *nul = left ? memchr(in->next, 0, left) : NULL;
    size_t length = nul ? (size_t)(nul - in->next) : left;
    CHECK(copy[side] = calloc(length + 1, 1));
    if (length) memcpy(copy[side], in->next, length);
    in->next += length + (nul != NULL);
    line[side] = copy[side];
  }
  for (int k = 0; k < MAX_LINES && *line[0] && *line[1]; k++) {
    size_t length[2] = {strcspn(line[0], "\n"), strcspn(line[1], "\n")};
    int code = lscfg_bitexts_add(text, line[0], length[0], line[1], length[1], "", 0, &stream, NULL);
    CHECK(code == LSCFG_OK || code == LSCFG_EINPUT);
    n += code == LSCFG_OK;
    for (int side = 0; side < 2; side++) line[side] += length[side] + (line[side][length[side]] == '\n');
  }
  for (int side = 0; side < 2; side++) free(copy[side]);
  return n;
}

static void read_lexicon(input *in, lscfg_bitexts *text) {
  int32_t words[MAX_ENTRIES][2];
  double probability[MAX_ENTRIES][2];
  int n = below(in, MAX_ENTRIES + 1);
  for (int k = 0; k < n; k++)
    for (int way = 0; way < 2; way++) {
      words[k][way] = below(in, 9) - 1;
      probability[k][way] = below(in, 101) / 100.0;
    }
  int code = lscfg_bitexts_lexicon(text, n, words[0], probability[0], NULL);
  CHECK(code == LSCFG_OK || code == LSCFG_EINPUT); /* a word that is not there, or a pair twice */
}

static lscfg_biparse_options read_options(input *in) {
  return (lscfg_biparse_options){.pops = 1 + below(in, 40),
                                 .nodes = 1 + below(in, 12),
                                 .word_items = 1 + below(in, 12),
                                 .each_cube = below(in, 2),
                                 .retries = below(in, 3),
                                 .max_target = 1 + below(in, 12),
                                 .strict_root = below(in, 2),
                                 .future = below(in, 2),
                                 .max_targets = 1 + below(in, 9),
                                 .rule_weights = below(in, 2),
                                 .leave_out = below(in, 2),
                                 .beam = below(in, 9) ? below(in, 9) : INFINITY};
}

/* Visits all pairs, and checks that probabilities are probabilities. */
static void visit(const lscfg_biparse_model *model, lscfg_biparse_visits *visits, int32_t n, int32_t what) {
  int32_t pairs[MAX_LINES];
  lscfg_biparse_visits_view v;
  for (int32_t k = 0; k < n; k++) pairs[k] = k;
  CHECK(!lscfg_biparse_visit(model, visits, pairs, n, what, NULL));
  lscfg_biparse_visits_get(visits, &v);
  CHECK(v.n == n);
  for (int64_t k = 0; k < v.n; k++) {
    const lscfg_biparse_result *r = &v.results[k];
    if (r->tries > 0) CHECK(r->kept > 0 && r->log_pair >= r->viterbi - 1e-6);
    if (r->tries > 0 && (what & LSCFG_VISIT_NEIGHBOURS)) CHECK(r->log_pair <= r->log_source + 1e-6);
  }
  for (int64_t k = 0; k < v.n_rules; k++) CHECK(v.rules[k].expected >= 0 && v.rules[k].n_src > 0);
  for (int64_t k = 0; k < v.n_links; k++)
    CHECK(v.pair_links[k].probability > 0 && v.pair_links[k].probability < 1 + 1e-6);
}

static void count(const lscfg_bitexts *text, const lscfg_biparse_visits *visits, const lscfg_biparse_model *model,
                  input *in) {
  lscfg_biparse_counts *counts = lscfg_biparse_counts_new(text);
  lscfg_biparse_counts_view view;
  CHECK(counts);
  if (below(in, 2)) CHECK(!lscfg_biparse_want(counts, (const int32_t[3]){below(in, 4), -1, below(in, 4)}, 3));
  for (int times = 0; times < 2; times++) CHECK(!lscfg_biparse_count(counts, visits, model, NULL));
  CHECK(!lscfg_biparse_counts_get(counts, &view));
  for (int64_t k = 0; k < view.tables.n_rules; k++) CHECK(view.expected[k] >= 0 && view.pairs[k] > 0);
  lscfg_biparse_counts_free(counts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  input in = {data, data + size};
  lscfg_biparse_options options = read_options(&in);
  lscfg_biparse_step step = {.rate = 0.1 + below(&in, 9) / 10.0,
                             .lexical_rate = below(&in, 3) / 100.0,
                             .shrink = below(&in, 5) / 5.0,
                             .prior = below(&in, 2),
                             .adagrad = below(&in, 2)};
  lscfg_bitexts *text = lscfg_bitexts_new(MAX_WORDS);
  CHECK(text);
  input lexicon = in;
  for (int k = 0; k < 1 + 4 * MAX_ENTRIES; k++) take(&in);
  int32_t n = read_pairs(&in, text);
  read_lexicon(&lexicon, text);
  lscfg_biparse_model *model = lscfg_biparse_model_new(text, &options);
  lscfg_biparse_model *other = lscfg_biparse_model_new(text, &options);
  lscfg_biparse_visits *visits = lscfg_biparse_visits_new();
  CHECK(model && other && visits);
  int32_t all = LSCFG_VISIT_NEIGHBOURS | LSCFG_VISIT_LINKS | LSCFG_VISIT_TREE;
  for (int pass = 0; pass < 2; pass++) {
    visit(model, visits, n, all);
    CHECK(!lscfg_biparse_learn(model, visits, NULL));
    CHECK(!lscfg_biparse_update(model, &step, NULL));
    if (!pass) CHECK(!lscfg_biparse_keep(model, NULL));
    lscfg_biparse_next_pass(model);
    int code = lscfg_biparse_forget(model, below(&in, 9) ? 1000 : 3, NULL);
    CHECK(code == LSCFG_OK || code == LSCFG_EINPUT);
  }
  visit(model, visits, n, all | LSCFG_VISIT_FIRST);
  lscfg_biparse_view view;
  CHECK(!lscfg_biparse_model_get(model, &view));
  for (int k = 0; k < 2; k++) CHECK(!lscfg_biparse_model_add(other, &view, 0.5, NULL));
  for (int k = 0; k < 2; k++) {
    lscfg_biparse_model *one = k ? other : model;
    CHECK(!lscfg_biparse_go_back(one, NULL));
    CHECK(!lscfg_biparse_settle(one));
    visit(one, visits, n, LSCFG_VISIT_LINKS | LSCFG_VISIT_TREE);
    count(text, visits, k ? NULL : one, &in);
    CHECK(lscfg_biparse_learn(one, visits, NULL) == LSCFG_EINPUT);
    CHECK(lscfg_biparse_update(one, &step, NULL) == LSCFG_EINPUT);
    CHECK(lscfg_biparse_keep(one, NULL) == LSCFG_EINPUT);
    CHECK(lscfg_biparse_go_back(one, NULL) == LSCFG_EINPUT);
    CHECK(lscfg_biparse_model_add(one, &view, 1, NULL) == LSCFG_EINPUT);
  }
  lscfg_biparse_visits_free(visits);
  lscfg_biparse_model_free(other);
  lscfg_biparse_model_free(model);
  lscfg_bitexts_free(text);
  return 0;
}
