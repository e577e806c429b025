/* The items of context scores around the boundaries of a sentence and in gaps, and the sums of their vectors. */
#include "inference/around.h"
#include "inference/map_scores.h"

#include <math.h>

/* The word at a position, as the model's number. */
static int64_t word_at(const words_around *w, int32_t position) {
  const lscfg_binding *b = w->binding;
  int64_t n_words = w->model->base - CONTEXT_EXTRA_WORDS;
  int32_t id = w->forest->words[position];
  int64_t word = id >= 0 && id < b->n_vocab ? b->word_in_context[id] : -1;
  return word < 0 ? n_words + CONTEXT_UNKNOWN : word;
}

/* 1 if the model has the item. */
static int add_item(words_around *w, int side, int64_t boundary, int32_t distance, int64_t word) {
  const context_scores *s = w->model;
  int64_t item = find_item(s, ((int64_t)side * s->window + distance - 1) * s->base + word);
  if (item < 0) return 0;
  w->items[boundary * w->most + w->n_items[boundary]++] = (int32_t)item;
  float *sum = w->sums + boundary * s->m;
  for (int64_t k = 0; k < s->m; k++) sum[k] += s->vectors[item * s->m + k];
  return 1;
}

/* Adds up what is on one side of a boundary, which has the number `boundary` among all. */
static void add_side(words_around *w, int side, int32_t at, int64_t boundary) {
  const context_scores *s = w->model;
  int64_t n_words = s->base - CONTEXT_EXTRA_WORDS;
  for (int32_t d = 1; d <= s->window; d++) {
    int32_t position = side ? at + d - 1 : at - d, distance = s->bag ? 1 : d;
    if (position < 0 || position >= w->n) {
      add_item(w, side, boundary, 1, n_words + (side ? CONTEXT_END : CONTEXT_BEGIN));
      return;
    }
    if (!add_item(w, side, boundary, distance, word_at(w, position)))
      add_item(w, side, boundary, distance, n_words + CONTEXT_UNKNOWN);
  }
}

/* Adds up the shift and, where the model has such items, what is anywhere in the sentence. */
static void add_sentence(words_around *w) {
  const context_scores *s = w->model;
  int64_t unknown = s->base - CONTEXT_EXTRA_WORDS + CONTEXT_UNKNOWN;
  for (int64_t k = 0; k < s->m; k++) w->sums[w->whole * s->m + k] = s->shift[k];
  if (!s->n_items || s->items[s->n_items - 1] < 2 * (int64_t)s->window * s->base) return;
  for (int32_t position = 0; position < w->n; position++)
    if (!add_item(w, 2, w->whole, 1, word_at(w, position))) add_item(w, 2, w->whole, 1, unknown);
}

/* Finds the items of all words in gaps, if the model has any such items. */
static int add_gaps(words_around *w) {
  const context_scores *s = w->model;
  int64_t unknown = s->base - CONTEXT_EXTRA_WORDS + CONTEXT_UNKNOWN, first = first_gap_item(s);
  if (!s->n_items || s->items[s->n_items - 1] < first) return LSCFG_OK;
  if (!(w->gap_items = malloc(((size_t)w->n * 4 + 1) * sizeof *w->gap_items))) return LSCFG_ENOMEM;
  for (int64_t k = 0; k < 4; k++)
    for (int32_t position = 0; position < w->n; position++) {
      int64_t item = find_item(s, first + k * s->base + word_at(w, position));
      w->gap_items[k * w->n + position] = (int32_t)(item < 0 ? find_item(s, first + k * s->base + unknown) : item);
    }
  return LSCFG_OK;
}

int start_around(words_around *w, const lscfg_binding *binding, const lscfg_forest *forest) {
  const context_scores *s = &binding->model->context->scores;
  *w = (words_around){.binding = binding, .forest = forest, .model = s, .n = forest->n_words};
  w->most = s->window <= w->n ? s->window : w->n + 1;
  size_t boundaries = 2 * ((size_t)w->n + 1);
  w->whole = (int64_t)boundaries;
  w->items = malloc((boundaries * (size_t)w->most + (size_t)w->n + 1) * sizeof *w->items);
  w->n_items = calloc(boundaries + 1, sizeof *w->n_items);
  w->sums = calloc((boundaries + 1) * (size_t)s->m + 1, sizeof *w->sums);
  w->around = malloc((size_t)s->m * sizeof *w->around + 1);
  w->prepared = malloc((size_t)s->width * sizeof *w->prepared + 1);
  if (!w->items || !w->n_items || !w->sums || !w->around || !w->prepared) return LSCFG_ENOMEM;
  for (int side = 0; side < 2; side++)
    for (int32_t at = 0; at <= w->n; at++) add_side(w, side, at, (int64_t)side * (w->n + 1) + at);
  add_sentence(w);
  return add_gaps(w);
}

void stop_around(words_around *w) {
  free(w->items);
  free(w->n_items);
  free(w->sums);
  free(w->gap_items);
  free(w->around);
  free(w->prepared);
}

/* Looks up the items in the gaps of an edge. */
static void look_into_gaps(words_around *w, const int32_t *tail) {
  w->n_in_gaps = 0;
  for (int g = 0; g < 2 && w->gap_items; g++) {
    if (tail[g] < 0) continue;
    const int32_t *gap = w->forest->node_span.data + 2 * (int64_t)tail[g];
    int64_t length = first_length_item(w->model) + g * N_LENGTHS + length_class(gap[1] - gap[0]);
    const int64_t found[] = {w->gap_items[2 * g * (int64_t)w->n + gap[0]],
                             w->gap_items[(2 * g + 1) * (int64_t)w->n + gap[1] - 1], find_item(w->model, length)};
    for (int k = 0; k < 3; k++)
      if (found[k] >= 0) w->in_gaps[w->n_in_gaps++] = (int32_t)found[k];
  }
}

int take_edge(words_around *w, int32_t edge) {
  const context_scores *s = w->model;
  const int32_t *span = w->forest->node_span.data + 2 * (int64_t)w->forest->edge_head.data[edge];
  w->left = span[0];
  w->right = (int64_t)w->n + 1 + span[1];
  look_into_gaps(w, w->forest->edge_tail.data + 2 * (int64_t)edge);
  if (!w->n_items[w->left] && !w->n_items[w->right] && !w->n_items[w->whole] && !w->n_in_gaps) return 0;
  if (s->kind->score_items) return 1;
  for (int64_t k = 0; k < s->m; k++)
    w->around[k] = w->sums[w->whole * s->m + k] + (w->sums[w->left * s->m + k] + w->sums[w->right * s->m + k]);
  for (int32_t i = 0; i < w->n_in_gaps; i++) {
    const float *vector = s->vectors + w->in_gaps[i] * s->m;
    for (int64_t k = 0; k < s->m; k++) w->around[k] += vector[k];
  }
  s->kind->prepare(s, w->around, w->prepared);
  return 1;
}

double score_around(const words_around *w, int64_t row) {
  const context_scores *s = w->model;
  double score;
  if (s->kind->score_items) {
    const int64_t sides[] = {w->left, w->right, w->whole};
    score = s->bias[row];
    for (int k = 0; k < 3; k++)
      score += s->kind->score_items(s, w->items + sides[k] * w->most, w->n_items[sides[k]], row);
    score += s->kind->score_items(s, w->in_gaps, w->n_in_gaps, row);
  } else {
    score = s->kind->score(s, w->prepared, row);
  }
  return isfinite(score) ? score : 0;
}
