/* The network: its arrays in a model file, and its values. No loop here contracts or reorders a sum, so all machines
 * compute the same bits. */
#include "neural/network.h"
#include "base/simd.h"
#include "neural/activation.h"

#include <math.h>

static const int32_t first_word[2] = {LSCFG_ROW_SOURCE_WORDS, LSCFG_ROW_TARGET_WORDS};

enum { LANES = 16, MOST = 1 << 16, MOST_REACH = 100, MOST_UNITS = 4096 };
static const float most_weight = 1e15f; /* sums of products of such weights are finite in single precision */

/* out += factor * values. */
SIMD_FOR_ALL static void add_scaled(int32_t n, float factor, const float *values, float *out) {
  for (int32_t k = 0; k < n; k++) out[k] += factor * values[k];
}

/* The sum of products in 16 parts, which are added as a tree. */
SIMD_FOR_ALL static float inner(int32_t n, const float *a, const float *b) {
  float part[LANES] = {0};
  int32_t k = 0;
  for (; k + LANES <= n; k += LANES)
    for (int i = 0; i < LANES; i++) part[i] += a[k + i] * b[k + i];
  for (int i = 0; k < n; k++, i++) part[i] += a[k] * b[k];
  for (int half = LANES / 2; half; half /= 2)
    for (int i = 0; i < half; i++) part[i] += part[i + half];
  return part[0];
}

/* ---- the file ---- */

static int misfit(const char *name, lscfg_error *error) {
  return lscfg_fail(error, LSCFG_EINPUT, 0, "'%s' does not fit the other arrays of the network", name);
}

static int get_floats(const tensor_file *file, const char *name, int64_t rows, int64_t columns, const float **found,
                      lscfg_error *error) {
  tensor_view view;
  int code = tensor_file_get(file, name, "F32", columns ? 2 : 1, &view, error);
  if (code) return code;
  if (view.shape[0] != rows || (columns && view.shape[1] != columns)) return misfit(name, error);
  *found = view.data;
  for (int64_t k = 0; k < rows * (columns ? columns : 1); k++)
    if (!(fabsf((*found)[k]) <= most_weight)) /* NaN, too */
      return lscfg_fail(error, LSCFG_EINPUT, 0, "tensor '%s' holds %g, which is not finite or beyond %g", name,
                        (double)(*found)[k], (double)most_weight);
  return LSCFG_OK;
}

/* Sizes of the layers, from the shapes of the arrays. */
static int get_sizes(const tensor_file *file, neural_network *net, lscfg_error *error) {
  tensor_view shape, source, bias;
  int code = tensor_file_get(file, "neural.shape", "I32", 1, &shape, error);
  if (!code) code = tensor_file_get(file, "neural.source", "F32", 2, &source, error);
  if (!code) code = tensor_file_get(file, "neural.hidden.bias", "F32", 1, &bias, error);
  if (code) return code;
  const int32_t *values = shape.data;
  if (shape.shape[0] != 2 || values[0] < 0 || values[0] > MOST_REACH || values[1] < 0 ||
      values[1] > LSCFG_NEURAL_HISTORY)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "'neural.shape' holds impossible numbers of words");
  if (source.shape[1] < 1 || source.shape[1] > MOST_UNITS || bias.shape[0] < 1 || bias.shape[0] > MOST_UNITS)
    return misfit("neural.source", error);
  net->reach = values[0];
  net->history = values[1];
  net->dims = (int32_t)source.shape[1];
  net->hidden = (int32_t)bias.shape[0];
  return LSCFG_OK;
}

static int get_links(const tensor_file *file, neural_network *net, lscfg_error *error) {
  static const char *const names[] = {"neural.links", "neural.share"};
  const int64_t rows[] = {net->sources, net->targets};
  tensor_view pairs;
  const float *share;
  int code = tensor_file_get(file, names[0], "I32", 2, &pairs, error);
  if (!code && pairs.shape[1] != 2) code = misfit(names[0], error);
  if (!code) code = get_floats(file, names[1], pairs.shape[0], 0, &share, error);
  return code ? code : links_open(&net->links, pairs.data, share, pairs.shape[0], rows, names, error);
}

/* Makes the layer of source words by input, and the contribution of each target word before. */
static int make_tables(neural_network *net, const float *layer, const float *target, lscfg_error *error) {
  int64_t window = (2 * (int64_t)net->reach + 1) * net->dims, inputs = window + (int64_t)net->history * net->dims;
  int64_t hidden = net->hidden, dims = net->dims;
  float *by_input = malloc((size_t)(inputs * hidden) * sizeof *by_input);
  net->by_input = by_input;
  net->before = calloc((size_t)(net->history * net->targets * hidden) + 1, sizeof *net->before);
  if (!by_input || !net->before) return out_of_memory(error);
  for (int64_t j = 0; j < hidden; j++)
    for (int64_t k = 0; k < inputs; k++) by_input[k * hidden + j] = layer[j * inputs + k];
  for (int64_t h = 0; h < net->history; h++)
    for (int64_t word = 0; word < net->targets; word++)
      for (int64_t d = 0; d < dims; d++)
        add_scaled(net->hidden, target[word * dims + d], by_input + (window + h * dims + d) * hidden,
                   net->before + (h * net->targets + word) * hidden);
  return LSCFG_OK;
}

int network_open(const tensor_file *file, const int64_t words[2], neural_network **made, lscfg_error *error) {
  neural_network *net = *made = calloc(1, sizeof *net);
  const float *layer, *target;
  if (!net) return out_of_memory(error);
  net->sources = words[0] + first_word[0];
  net->targets = words[1] + first_word[1];
  if (words[0] > MOST || words[1] > MOST) return misfit("neural.source.vocab.offsets", error);
  int code = get_sizes(file, net, error);
  int64_t inputs = (2 * (int64_t)net->reach + 1 + net->history) * net->dims, hidden = net->hidden;
  if (!code) code = get_floats(file, "neural.source", net->sources, net->dims, &net->source, error);
  if (!code) code = get_floats(file, "neural.target", net->targets, net->dims, &target, error);
  if (!code) code = get_floats(file, "neural.hidden", hidden, inputs, &layer, error);
  if (!code) code = get_floats(file, "neural.hidden.bias", hidden, 0, &net->hidden_bias, error);
  if (!code) code = get_floats(file, "neural.output", net->targets, hidden, &net->output, error);
  if (!code) code = get_floats(file, "neural.output.bias", net->targets, 0, &net->output_bias, error);
  if (!code) code = get_floats(file, "neural.fertility", LSCFG_NEURAL_FERTILITY, hidden, &net->fertility, error);
  if (!code)
    code = get_floats(file, "neural.fertility.bias", LSCFG_NEURAL_FERTILITY, 0, &net->fertility_bias, error);
  if (!code) code = get_links(file, net, error);
  return code ? code : make_tables(net, layer, target, error);
}

void network_close(neural_network *net) {
  if (!net) return;
  links_release(&net->links);
  free(net->by_input);
  free(net->before);
  free(net);
}

/* ---- values ---- */

void network_places(const neural_network *net, const int32_t *rows, int32_t n, float *sums) {
  for (int32_t place = 0; place < n; place++, sums += net->hidden) {
    memcpy(sums, net->hidden_bias, (size_t)net->hidden * sizeof *sums);
    const float *layer = net->by_input;
    for (int32_t at = place - net->reach; at <= place + net->reach; at++) {
      int32_t row = at < 0 ? LSCFG_ROW_SOURCE_BEGIN : at < n ? rows[at] : LSCFG_ROW_SOURCE_END;
      const float *vector = net->source + (int64_t)row * net->dims;
      for (int32_t d = 0; d < net->dims; d++, layer += net->hidden) add_scaled(net->hidden, vector[d], layer, sums);
    }
  }
}

void network_units(const neural_network *net, const float *sums, const int32_t *before, float *units) {
  memcpy(units, sums, (size_t)net->hidden * sizeof *units);
  for (int32_t h = 0; h < net->history; h++)
    add_scaled(net->hidden, 1, net->before + (h * net->targets + before[h]) * net->hidden, units);
  for (int32_t j = 0; j < net->hidden; j++) units[j] = activation(units[j]);
}

float network_score(const neural_network *net, const float *units, int32_t word) {
  return inner(net->hidden, units, net->output + (int64_t)word * net->hidden) + net->output_bias[word];
}

void network_fertility(const neural_network *net, const float *units, double log_probability[LSCFG_NEURAL_FERTILITY]) {
  double most = -INFINITY, total = 0;
  for (int c = 0; c < LSCFG_NEURAL_FERTILITY; c++) {
    log_probability[c] =
        (double)(inner(net->hidden, units, net->fertility + (int64_t)c * net->hidden) + net->fertility_bias[c]);
    if (log_probability[c] > most) most = log_probability[c];
  }
  for (int c = 0; c < LSCFG_NEURAL_FERTILITY; c++) total += exp(log_probability[c] - most);
  for (int c = 0; c < LSCFG_NEURAL_FERTILITY; c++) log_probability[c] -= most + log(total);
}
