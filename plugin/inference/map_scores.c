/* Score functions, and the arrays of scores in a model file. */
#include "inference/map_scores.h"

#include <math.h>

/* One row for each kind. */
static const score_function *const kinds[] = {&dot_score, &cosine_score, &mlp_score, &match_score,
                                          &sparse_score, &joint_score};
enum { N_KINDS = sizeof kinds / sizeof *kinds, MOST_DIMENSIONS = 1 << 16 };

const score_function *find_score_function(const char *name, size_t length) {
  for (int k = 0; k < N_KINDS; k++)
    if (strlen(kinds[k]->name) == length && !memcmp(kinds[k]->name, name, length)) return kinds[k];
  return NULL;
}

const char *lscfg_score_function_name(int32_t kind) { return kind >= 0 && kind < N_KINDS ? kinds[kind]->name : NULL; }

int64_t find_item(const context_scores *s, int64_t item) {
  int64_t low = 0, high = s->n_items;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (s->items[middle] < item)
      low = middle + 1;
    else
      high = middle;
  }
  return low < s->n_items && s->items[low] == item ? low : -1;
}

static int wrong(const char *name, const char *what, lscfg_error *error) {
  return lscfg_fail(error, LSCFG_EINPUT, 0, "'%s' %s", name, what);
}

/* An array with the given first dimensions, -1: any. */
static int get(const tensor_file *file, const char *name, const char *type, int64_t first, int64_t second, int32_t dims,
               tensor_view *view, lscfg_error *error) {
  int code = tensor_file_get(file, name, type, dims, view, error);
  if (code) return code;
  if ((first >= 0 && view->shape[0] != first) || (dims > 1 && second >= 0 && view->shape[1] != second))
    return wrong(name, "does not fit the other arrays of context scores", error);
  int64_t n = view->shape[0] * (dims > 1 ? view->shape[1] : 1);
  for (int64_t k = 0; k < n && *type == 'F'; k++)
    if (!isfinite(type[1] == '6' ? ((const double *)view->data)[k] : (double)((const float *)view->data)[k]))
      return wrong(name, "holds a value that is not finite", error);
  return LSCFG_OK;
}

static int check_items(const context_scores *s, lscfg_error *error) {
  int64_t end = end_of_items(s);
  for (int64_t k = 0; k < s->n_items; k++)
    if (s->items[k] < 0 || s->items[k] >= end || (k && s->items[k] <= s->items[k - 1]))
      return wrong("sense.items", "does not ascend, or holds an invalid item", error);
  return LSCFG_OK;
}

static int map_hidden(const tensor_file *file, context_scores *s, lscfg_error *error) {
  tensor_view view;
  int code = get(file, "sense.hidden", "F32", -1, s->m, 2, &view, error);
  if (code) return code;
  s->hidden = view.data;
  s->n_hidden = view.shape[0];
  if (s->n_hidden < 1 || s->n_hidden > MOST_DIMENSIONS) return wrong("sense.hidden", "has no such size", error);
  if ((code = get(file, "sense.hidden_bias", "F32", s->n_hidden, -1, 1, &view, error))) return code;
  s->hidden_bias = view.data;
  if ((code = get(file, "sense.out", "F32", s->n_hidden, -1, 1, &view, error))) return code;
  s->out = view.data;
  return LSCFG_OK;
}

static int map_vectors(const tensor_file *file, context_scores *s, lscfg_error *error) {
  tensor_view view;
  int code = get(file, "sense.vectors", "F32", s->n_items, -1, 2, &view, error);
  if (code) return code;
  s->vectors = view.data;
  s->m = view.shape[1];
  if (s->m < 1 || s->m > MOST_DIMENSIONS) return wrong("sense.vectors", "has no such number of dimensions", error);
  if ((code = get(file, "sense.shift", "F32", s->m, -1, 1, &view, error))) return code;
  s->shift = view.data;
  if (s->kind->hidden && (code = map_hidden(file, s, error))) return code;
  if ((code = get(file, "sense.rules", "F32", s->n_rows, s->kind->width(s), 2, &view, error))) return code;
  s->rules = view.data;
  s->width = view.shape[1];
  return LSCFG_OK;
}

static int map_weights(const tensor_file *file, context_scores *s, lscfg_error *error) {
  tensor_view view;
  int code = get(file, "sense.weights", "F32", -1, -1, 1, &view, error);
  if (code) return code;
  int64_t n = view.shape[0];
  s->weights = view.data;
  if ((code = get(file, "sense.columns", "I32", n, -1, 1, &view, error))) return code;
  s->columns = view.data;
  if ((code = get(file, "sense.offsets", "I64", s->n_rows + 1, -1, 1, &view, error))) return code;
  s->offsets = view.data;
  if (s->offsets[0] != 0 || s->offsets[s->n_rows] != n)
    return wrong("sense.offsets", "does not fit the weights", error);
  for (int64_t r = 0; r < s->n_rows; r++)
    if (s->offsets[r] > s->offsets[r + 1]) return wrong("sense.offsets", "does not ascend", error);
  for (int64_t r = 0; r < s->n_rows; r++)
    for (int64_t k = s->offsets[r]; k < s->offsets[r + 1]; k++)
      if (s->columns[k] < 0 || s->columns[k] >= s->n_items ||
          (k > s->offsets[r] && s->columns[k] <= s->columns[k - 1]))
        return wrong("sense.columns", "does not ascend within a row, or is out of range", error);
  return LSCFG_OK;
}

static int map_rows(const tensor_file *file, int64_t n_rules, context_scores *s, lscfg_error *error) {
  tensor_view view;
  int code = get(file, "sense.bias", "F32", -1, -1, 1, &view, error);
  if (code) return code;
  s->bias = view.data;
  s->n_rows = view.shape[0];
  if ((code = get(file, "sense.row", "I32", n_rules, -1, 1, &view, error))) return code;
  s->row = view.data;
  for (int64_t r = 0; r < n_rules; r++)
    if (s->row[r] < -1 || s->row[r] >= s->n_rows) return wrong("sense.row", "is out of range", error);
  if ((code = get(file, "sense.calibration", "F64", 2, -1, 1, &view, error))) return code;
  s->calibration = view.data;
  return s->kind->score_items ? map_weights(file, s, error) : map_vectors(file, s, error);
}

int map_scores(const tensor_file *file, int64_t n_rules, int64_t n_words, context_scores *s, lscfg_error *error) {
  size_t length;
  tensor_view view;
  *s = (context_scores){.base = n_words + CONTEXT_EXTRA_WORDS};
  if (!tensor_file_has(file, "sense.items", "I32")) return LSCFG_OK;
  const char *name = tensor_file_metadata(file, "sense", &length);
  const score_function *kind = name ? find_score_function(name, length) : NULL;
  if (!kind)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "unknown score function '%.*s'; update lscfg",
                      !name ? 0 : length < 20 ? (int)length : 20, name ? name : "");
  s->kind = kind;
  int code = get(file, "sense.window", "I32", 2, -1, 1, &view, error);
  if (code) return code;
  s->window = ((const int32_t *)view.data)[0];
  s->bag = ((const int32_t *)view.data)[1];
  if (s->window < 1 || s->window > 1000) return wrong("sense.window", "is out of its range", error);
  if ((code = get(file, "sense.items", "I32", -1, -1, 1, &view, error))) return code;
  s->items = view.data;
  s->n_items = view.shape[0];
  if ((code = check_items(s, error))) return code;
  return map_rows(file, n_rules, s, error);
}
