/* Options of a sampler, and three texts with a NUL behind each: source, target and links. Chains of every kind over the
 * pairs that are good, which go on from what another one was. */
#include "fuzz.h"

enum { SIDES = 3, MAX_LINES = 12, MAX_WORDS = 12 };

/* The line of a text that ends with NUL; *text then stands behind it. */
static size_t next_line(const char **text, const char **line) {
  *line = *text;
  size_t length = strcspn(*text, "\n");
  *text += length + ((*text)[length] == '\n');
  return length;
}

static lscfg_phrase_forests *read_forests(input *in, int32_t max_cut, int chosen, char *copy[SIDES]) {
  const char *text[SIDES], *line[SIDES];
  size_t length[SIDES];
  int32_t stream;
  for (int side = 0; side < SIDES; side++) {
    size_t left = (size_t)(in->end - in->next);
    const uint8_t *nul = left ? memchr(in->next, 0, left) : NULL;
    size_t n = nul ? (size_t)(nul - in->next) : left;
    CHECK(copy[side] = calloc(n + 1, 1));
    if (n) memcpy(copy[side], in->next, n);
    in->next += n + (nul != NULL);
    text[side] = copy[side];
  }
  lscfg_phrase_forests *forests = lscfg_phrase_forests_new(max_cut, MAX_WORDS, 1);
  CHECK(forests);
  for (int n = 0; n < MAX_LINES && (*text[0] || *text[1] || *text[2]); n++) {
    for (int side = 0; side < SIDES; side++) length[side] = next_line(&text[side], &line[side]);
    CHECK(!lscfg_phrase_forests_add(forests, line[0], length[0], line[1], length[1], line[2], length[2], &stream,
                                    NULL));
    for (int k = 0; k < chosen; k++) /* with fewer links */
      CHECK(!lscfg_phrase_forests_join(forests, line[0], length[0], line[1], length[1], line[2],
                                       length[2] < 3 ? 0 : 3, &stream, NULL));
  }
  return forests;
}

static void check_counts(lscfg_sampler *sampler, lscfg_sampler_view *view) {
  lscfg_sample_state state;
  lscfg_sampler_state(sampler, &state);
  CHECK(!lscfg_sampler_get(sampler, view, NULL));
  int64_t tokens = 0, types = 0, seated = 0;
  for (int64_t k = 0; k < view->tables.n_rules; k++) {
    CHECK(view->count[k] >= 0);
    tokens += view->count[k];
    types += view->count[k] > 0;
  }
  for (int64_t k = 0; k < view->n_seats; k++) seated += (int64_t)view->seats[3 * k + 1] * view->seats[3 * k + 2];
  CHECK(tokens == state.n_tokens && types == state.n_types && (seated == tokens || !view->n_seats));
}

static void sweep_shards(lscfg_sampler *sampler, int32_t sweep, int64_t n_pairs) {
  lscfg_shard *shards[2] = {lscfg_shard_new(sampler, 0, n_pairs / 2), lscfg_shard_new(sampler, n_pairs / 2, n_pairs)};
  for (int k = 0; k < 2; k++) CHECK(shards[k] && !lscfg_shard_sweep(shards[k], sweep, 1000, 1, NULL));
  for (int k = 0; k < 2; k++) {
    CHECK(!lscfg_sampler_join(sampler, shards[k], NULL));
    lscfg_shard_free(shards[k]);
  }
}

/* With heads that mostly make no tree. */
static void begin_anywhere(lscfg_sampler *sampler, int64_t n_pairs, input *in) {
  int64_t *trees = calloc((size_t)n_pairs + 1, sizeof *trees), wrong;
  int32_t (*heads)[4] = calloc(3 * (size_t)n_pairs + 1, sizeof *heads);
  CHECK(trees && heads);
  for (int64_t k = 0; k < n_pairs; k++) {
    trees[k + 1] = trees[k] + below(in, 4);
    for (int64_t head = trees[k]; head < trees[k + 1]; head++)
      for (int i = 0; i < 4; i++) heads[head][i] = below(in, 6);
  }
  int code = lscfg_sampler_begin(sampler, trees, (const int32_t (*)[4])heads, &wrong, NULL);
  CHECK(code == LSCFG_OK ? wrong < 0 : code == LSCFG_EINPUT && wrong >= 0 && wrong < n_pairs);
  free(trees);
  free(heads);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  input in = {data, data + size};
  int32_t max_cut = 1 + below(&in, 8), chosen = below(&in, 3);
  lscfg_sample_options options = {.model = below(&in, 2),
                                  .alpha = 0.1 + take(&in),
                                  .discount = below(&in, 9) / 10.0,
                                  .tables = below(&in, 2),
                                  .length = below(&in, 3),
                                  .mean_length = 0.5 + below(&in, 9),
                                  .base = below(&in, 3),
                                  .density = below(&in, 2),
                                  .corrected = below(&in, 2),
                                  .moves = below(&in, 4),
                                  .informed = below(&in, 2),
                                  .start = below(&in, 3),
                                  .seed = take(&in),
                                  .max_phrase = below(&in, 9),
                                  .places = below(&in, 2)};
  if (options.moves <= LSCFG_MOVES_TREE) options.states = (int32_t)(options.seed % 4);
  char *copy[SIDES];
  lscfg_phrase_forests *forests = read_forests(&in, max_cut, chosen, copy);
  lscfg_phrase_forests_view sizes;
  lscfg_phrase_forests_get(forests, &sizes);
  options.held_out = sizes.n_pairs / 4;
  int64_t n_pairs = sizes.n_pairs - options.held_out;
  lscfg_sampler *sampler = lscfg_sampler_new(forests, &options), *other = lscfg_sampler_new(forests, &options);
  CHECK(sampler && other);
  lscfg_sampler_view view, again;
  for (int32_t sweep = 1; sweep < 5; sweep++) {
    CHECK(!lscfg_sampler_sweep(sampler, sweep, 0, n_pairs, sweep < 3 ? sweep : 1000, 1.0 / sweep, NULL));
    check_counts(sampler, &view);
    lscfg_sampler_adapt(sampler);
    CHECK(!lscfg_sampler_keep(sampler, NULL));
    if (options.tables) CHECK(!lscfg_sampler_resample(sampler, sweep, NULL));
  }
  if (!options.tables && options.moves != LSCFG_MOVES_TYPE) sweep_shards(sampler, 5, n_pairs);
  double sum;
  int64_t n_words, n_left_out;
  if (options.states > 1)
    CHECK(lscfg_sampler_held_out(sampler, &sum, &n_words, &n_left_out, NULL) == LSCFG_EINPUT);
  else
    CHECK(!lscfg_sampler_held_out(sampler, &sum, &n_words, &n_left_out, NULL) && sum == sum &&
          n_words >= 0 && n_left_out <= options.held_out);
  check_counts(sampler, &view);
  lscfg_sample_state state;
  lscfg_sampler_state(sampler, &state);
  CHECK(!lscfg_sampler_restore(other, &view, &state, NULL));
  for (int k = 0; k < 2; k++)
    CHECK(!lscfg_sampler_sweep(k ? other : sampler, 6, 0, n_pairs, 1000, 1, NULL));
  check_counts(sampler, &view);
  check_counts(other, &again);
  CHECK(view.n_nodes == again.n_nodes && !memcmp(view.edge, again.edge, (size_t)view.n_nodes * sizeof *view.edge));
  begin_anywhere(other, n_pairs, &in);
  lscfg_sampler_free(other);
  lscfg_sampler_free(sampler);
  lscfg_phrase_forests_free(forests);
  for (int side = 0; side < SIDES; side++) free(copy[side]);
  return 0;
}
