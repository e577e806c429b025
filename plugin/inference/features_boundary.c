/* The probability of a source span as a constituent, by the words at its boundaries (Xiao et al. 2012, section 5). */
#include "inference/families.h"

/* The words of a sentence, and one position before and after it: numbers of the model, NONE outside the sentence. */
enum { NONE = -1, UNKNOWN = -2 };

static int32_t word_at(const feature_work *w, int32_t position) {
  const lscfg_binding *b = w->binding;
  if (position < 0 || position >= w->forest->n_words) return NONE;
  int32_t word = w->forest->words[position];
  int32_t known = word >= 0 && word < b->n_boundary_vocab ? b->word_in_boundary[word] : -1;
  return known < 0 ? UNKNOWN : known;
}

/* Bisection suffices for the few pairs of a sentence. */
static double weight_of(const boundary_model *boundary, int kind, int32_t left, int32_t right) {
  int64_t first = 0, last = boundary->n[kind];
  while (first < last) {
    int64_t middle = first + (last - first) / 2;
    const int32_t *pair = boundary->words[kind] + 2 * middle;
    if (pair[0] == left && pair[1] == right) return boundary->weights[kind][middle];
    if (pair[0] < left || (pair[0] == left && pair[1] < right))
      first = middle + 1;
    else
      last = middle;
  }
  return 0;
}

static int compute(const feature_work *w, void **kept, lscfg_error *error) {
  const lscfg_forest *f = w->forest;
  const boundary_model *boundary = &w->binding->model->boundary;
  (void)kept;
  (void)error;
  if (!has_words_around(f)) return LSCFG_OK;
  for (int32_t q = w->first_node; q < w->end_node; q++) {
    if (node_category(w->binding, f, q) < 0) continue;
    int32_t i = f->node_span.data[2 * (int64_t)q], j = f->node_span.data[2 * (int64_t)q + 1];
    double value = weight_of(boundary, 0, word_at(w, i), word_at(w, j - 1)) +
                   weight_of(boundary, 1, word_at(w, i - 1), word_at(w, j));
    int32_t begin = f->edge_apps.data[f->node_edges.data[q]], end = f->edge_apps.data[f->node_edges.data[q + 1]];
    for (int32_t a = begin; a < end; a++) put_feature(w, a, LSCFG_BOUNDARY, value);
  }
  return LSCFG_OK;
}

static int is_in(const lscfg_model *model) { return model->has_boundary; }

static const feature_row rows[] = {
    {"SpanBoundary", 0, "sum of the weights of the words at the boundaries of the source span"},
};
const feature_family boundary_family = {"boundary", LSCFG_BOUNDARY, N_ROWS(rows), 0, rows, compute, NULL, is_in,
                                        "span-boundary weights", "estimate the model with --boundary"};
