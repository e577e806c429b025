/* The model of orientations: opening, probabilities. */
#include "inference/orientation.h"

#include <math.h>

#include "lscfg/inference.h"

static int misfit(const char *name, lscfg_error *error) {
  return lscfg_fail(error, LSCFG_EINPUT, 0, "'%s' does not fit the model of orientations", name);
}

static int get_weights(const tensor_file *file, const char *name, const int64_t *shape, int32_t dims,
                       const float **values, lscfg_error *error) {
  tensor_view view;
  int64_t n = 1;
  int code = tensor_file_get(file, name, "F32", dims, &view, error);
  if (code) return code;
  for (int32_t k = 0; k < dims; n *= shape[k++])
    if (view.shape[k] != shape[k]) return misfit(name, error);
  *values = view.data;
  for (int64_t k = 0; k < n; k++)
    if (!isfinite((*values)[k]))
      return lscfg_fail(error, LSCFG_EINPUT, 0, "tensor '%s' holds a value that is not finite", name);
  return LSCFG_OK;
}

static int get_links(const tensor_file *file, orientation_model *model, lscfg_error *error) {
  static const char *const names[] = {"orientation.links", "orientation.share"};
  const int64_t rows[] = {model->sources, model->targets};
  tensor_view pairs;
  const float *share;
  int code = tensor_file_get(file, names[0], "I32", 2, &pairs, error);
  if (!code && pairs.shape[1] != 2) code = misfit(names[0], error);
  if (!code) code = get_weights(file, names[1], pairs.shape, 1, &share, error);
  return code ? code : links_open(&model->links, pairs.data, share, pairs.shape[0], rows, names, error);
}

int orientation_open(const tensor_file *file, const int64_t n_words[2], orientation_model **made,
                     lscfg_error *error) {
  orientation_model *model = *made = calloc(1, sizeof *model);
  if (!model) return out_of_memory(error);
  if (n_words[0] > INT32_MAX / 2 || n_words[1] > INT32_MAX / 2)
    return misfit("orientation.source.vocab.offsets", error);
  model->sources = n_words[0] + LSCFG_ROW_SOURCE_WORDS;
  model->targets = n_words[1] + LSCFG_ROW_TARGET_WORDS;
  const int64_t words[] = {N_ORIENTATION_SIDES, N_ORIENTATION_WORDS, model->sources, N_ORIENTATIONS};
  const int64_t lengths[] = {N_ORIENTATION_SIDES, LSCFG_CONTEXT_LENGTHS, N_ORIENTATIONS};
  int code = get_weights(file, "orientation.words", words, 4, &model->words, error);
  if (!code) code = get_weights(file, "orientation.length", lengths, 3, &model->lengths, error);
  return code ? code : get_links(file, model, error);
}

void orientation_close(orientation_model *model) {
  if (!model) return;
  links_release(&model->links);
  free(model);
}

void orientation_log_p(const orientation_model *model, const int32_t rows[N_ORIENTATION_WORDS], int32_t length,
                       double *log_p) {
  for (int64_t side = 0; side < N_ORIENTATION_SIDES; side++, log_p += N_ORIENTATIONS) {
    double largest = -INFINITY, sum = 0;
    for (int32_t o = 0; o < N_ORIENTATIONS; o++) {
      double score = (double)model->lengths[(side * LSCFG_CONTEXT_LENGTHS + length) * N_ORIENTATIONS + o];
      for (int64_t k = 0; k < N_ORIENTATION_WORDS; k++) {
        int64_t row = (side * N_ORIENTATION_WORDS + k) * model->sources + rows[k];
        score += (double)model->words[row * N_ORIENTATIONS + o];
      }
      log_p[o] = score;
      if (score > largest) largest = score;
    }
    for (int32_t o = 0; o < N_ORIENTATIONS; o++) sum += exp(log_p[o] - largest);
    for (int32_t o = 0; o < N_ORIENTATIONS; o++) log_p[o] -= largest + log(sum);
  }
}
