/* Learning of the neural model of target words (Devlin et al. 2014) in single precision.
 *
 * No sum is split among threads, so the parameters do not depend on their number: threads first share parts of the
 * batch, which find the gradients of scores and of hidden units, then shards of the parameters, which sum gradients
 * over the whole batch in order and take their steps. Inside a part, examples are the columns, so that a vector holds
 * one number of several examples, and sums over units and outputs need no exchange between lanes. */
#include "lscfg/estimate.h"
#include "lscfg/neural.h"
#include "base/common.h"
#include "base/simd.h"
#include "neural/activation.h"

#include <math.h>

enum { ROWS = LSCFG_NEURAL_ROWS, SHARDS = LSCFG_NEURAL_SHARDS, CLASSES = LSCFG_NEURAL_FERTILITY };
enum { DEPTH = 256 }; /* terms of a sum between two visits of its place in memory: their factors stay in the cache */
enum { SOURCE, TARGET_WORDS, HIDDEN, HIDDEN_BIAS, OUTPUT, OUTPUT_BIAS, FERTILITY, FERTILITY_BIAS };

/* out[i][j] += sum over k of values[i * row_stride + k * step] * columns[k][j] */
typedef struct {
  int64_t n_rows, n_columns, depth;
  float *out;
  const float *values, *columns;
  int64_t out_stride, row_stride, step, column_stride;
} product;

typedef struct {
  const char *name;
  void (*multiply)(const product *);
  void (*exponentiate)(int64_t n, float *scores, const float *most, float *total);
  void (*find_most)(int64_t n, const float *scores, float *most);
  void (*scale)(int64_t n, float *values, const float *factor);
  void (*adam)(int64_t n, float *value, float *gradient, float *first, float *second, float rate,
               const float correct[2]);
} neural_loops;

/* Products contract a * b + c, and the step takes square roots, which are never of negative numbers. */
#if defined(__clang__)
#define FUSED
#define NO_ERRNO
#elif defined(__GNUC__)
#define FUSED __attribute__((optimize("fp-contract=fast")))
#define NO_ERRNO __attribute__((optimize("no-math-errno")))
#endif

#define NAME(f) f##_baseline
#define TARGET
#define WIDTH 4
#define TILE 6
#define SET "baseline"
#include "estimate/neural_loops.h"

#ifdef SIMD_X86

#define NAME(f) f##_avx2
#define TARGET SIMD_FOR_AVX2_FMA
#define WIDTH 8
#define TILE 6
#define SET "avx2"
#include "estimate/neural_loops.h"

#define NAME(f) f##_avx512
#define TARGET SIMD_FOR_AVX512
#define WIDTH 16
#define TILE 12
#define SET "avx512"
#include "estimate/neural_loops.h"

#endif

static const neural_loops *find_loops(const char *name) {
#ifdef SIMD_X86
  if (simd_level() >= SIMD_AVX512 && (!name || !strcmp(name, loops_avx512.name))) return &loops_avx512;
  if (simd_level() >= SIMD_AVX2 && (!name || !strcmp(name, loops_avx2.name))) return &loops_avx2;
#endif
  return !name || !strcmp(name, loops_baseline.name) ? &loops_baseline : NULL;
}

/* A part of the batch: arrays of numbers, where [..][ROWS] has examples as columns. */
typedef struct {
  float *inputs;         /* [ROWS][inputs] vectors of the words of each example */
  float *by_unit;        /* [inputs][ROWS] the same, then their gradients */
  float *input_slopes;   /* [ROWS][inputs] these gradients by example */
  float *units;          /* [hidden][ROWS] hidden units after dropout */
  float *unit_rows;      /* [ROWS][hidden] the same */
  float *slopes;         /* [hidden][ROWS] slopes of the units, then gradients of their arguments */
  float *scores;         /* [outputs][ROWS] scores, then their gradients */
} batch_part;

struct lscfg_neural_trainer {
  lscfg_neural_shape shape;
  const neural_loops *loops;
  int64_t inputs; /* numbers that a hidden unit sees */
  int64_t sizes[LSCFG_NEURAL_ARRAYS], total;
  float *parameters[LSCFG_NEURAL_ARRAYS], *first[LSCFG_NEURAL_ARRAYS], *second[LSCFG_NEURAL_ARRAYS];
  float *gradients[LSCFG_NEURAL_ARRAYS]; /* 0 between steps */
  const int32_t *rows, *labels; /* of the batch */
  int64_t n_words, n;
  int32_t word_parts, n_parts;
  uint64_t noise;
  ARRAY(batch_part) parts; /* size: those with memory */
};

void lscfg_neural_sizes(const lscfg_neural_shape *s, int64_t sizes[LSCFG_NEURAL_ARRAYS]) {
  int64_t inputs = ((int64_t)s->window + s->history) * s->dims;
  const int64_t found[] = {(int64_t)s->sources * s->dims,
                           (int64_t)s->targets * s->dims,
                           s->hidden * inputs,
                           s->hidden,
                           (int64_t)s->targets * s->hidden,
                           s->targets,
                           (int64_t)CLASSES * s->hidden,
                           CLASSES};
  memcpy(sizes, found, sizeof found);
}

int lscfg_neural_trainer_new(const lscfg_neural_shape *shape, float *parameters, float *first, float *second,
                             const char *instructions, lscfg_neural_trainer **made, lscfg_error *error) {
  const neural_loops *loops = find_loops(instructions);
  *made = NULL;
  if (!loops) return lscfg_fail(error, LSCFG_EINPUT, 0, "this machine has no %s", instructions);
  if (shape->dims % (ROWS / 2) || shape->hidden % (ROWS / 2) || shape->dims < 1 || shape->hidden < 1)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "layers of %ld and %ld numbers, which are not multiples of 32",
                      (long)shape->dims, (long)shape->hidden);
  lscfg_neural_trainer *t = calloc(1, sizeof *t);
  if (!t) return out_of_memory(error);
  t->shape = *shape;
  t->loops = loops;
  t->inputs = ((int64_t)shape->window + shape->history) * shape->dims;
  lscfg_neural_sizes(shape, t->sizes);
  for (int k = 0; k < LSCFG_NEURAL_ARRAYS; k++) {
    t->parameters[k] = parameters + t->total;
    t->first[k] = first + t->total;
    t->second[k] = second + t->total;
    t->total += t->sizes[k];
  }
  float *gradients = calloc((size_t)t->total, sizeof *gradients);
  if (!gradients) {
    free(t);
    return out_of_memory(error);
  }
  for (int k = 0; k < LSCFG_NEURAL_ARRAYS; gradients += t->sizes[k++]) t->gradients[k] = gradients;
  *made = t;
  return LSCFG_OK;
}

void lscfg_neural_trainer_free(lscfg_neural_trainer *t) {
  if (!t) return;
  for (int64_t k = 0; k < t->parts.size; k++) free(t->parts.data[k].inputs);
  free(t->parts.data);
  free(t->gradients[0]);
  free(t);
}

/* ---- the batch ---- */

static int add_part(lscfg_neural_trainer *t) {
  int64_t hidden = t->shape.hidden, outputs = t->shape.targets > CLASSES ? t->shape.targets : CLASSES;
  if (ARRAY_RESERVE(t->parts, 1)) return LSCFG_ENOMEM;
  float *room = malloc((size_t)(ROWS * (3 * t->inputs + 3 * hidden + outputs)) * sizeof *room);
  if (!room) return LSCFG_ENOMEM;
  batch_part *part = &t->parts.data[t->parts.size++];
  part->inputs = room;
  part->by_unit = room += ROWS * t->inputs;
  part->input_slopes = room += ROWS * t->inputs;
  part->units = room += ROWS * t->inputs;
  part->unit_rows = room += ROWS * hidden;
  part->slopes = room += ROWS * hidden;
  part->scores = room + ROWS * hidden;
  return LSCFG_OK;
}

int32_t lscfg_neural_batch(lscfg_neural_trainer *t, const int32_t *inputs, const int32_t *labels, int64_t n_words,
                           int64_t n, uint64_t noise) {
  t->rows = inputs;
  t->labels = labels;
  t->n_words = n_words;
  t->n = n;
  t->noise = noise;
  t->word_parts = (int32_t)((n_words + ROWS - 1) / ROWS);
  t->n_parts = t->word_parts + (int32_t)((n - n_words + ROWS - 1) / ROWS);
  while (t->parts.size < t->n_parts)
    if (add_part(t)) return LSCFG_ENOMEM;
  return t->n_parts;
}

/* The first example of a part, and *n, their number. */
static int64_t examples_of(const lscfg_neural_trainer *t, int32_t part, int64_t *n) {
  int words = part < t->word_parts;
  int64_t first = words ? (int64_t)ROWS * part : t->n_words + (int64_t)ROWS * (part - t->word_parts);
  int64_t end = words ? t->n_words : t->n;
  *n = end - first < ROWS ? end - first : ROWS;
  return first;
}

static void turn(const float *from, int64_t n_rows, int64_t n_columns, float *to) {
  for (int64_t column = 0; column < n_columns; column += 16)
    for (int64_t row = 0; row < n_rows; row++)
      for (int64_t c = column; c < column + 16; c++) to[c * n_rows + row] = from[row * n_columns + c];
}

/* Looks up the vectors of the words; rows beyond the examples are 0. */
static void look_up(const lscfg_neural_trainer *t, int64_t first, int64_t n, batch_part *part) {
  const lscfg_neural_shape *s = &t->shape;
  int64_t words = s->window + s->history;
  for (int64_t k = 0; k < n; k++)
    for (int64_t w = 0; w < words; w++) {
      const float *table = t->parameters[w < s->window ? SOURCE : TARGET_WORDS];
      memcpy(part->inputs + k * t->inputs + w * s->dims, table + (int64_t)t->rows[(first + k) * words + w] * s->dims,
             (size_t)s->dims * sizeof(float));
    }
  if (n < ROWS) memset(part->inputs + n * t->inputs, 0, (size_t)((ROWS - n) * t->inputs) * sizeof(float));
  turn(part->inputs, ROWS, t->inputs, part->by_unit);
}

/* Computes hidden units and slopes; drops units if the pass learns. */
static void activate(const lscfg_neural_trainer *t, int64_t first, int32_t learn, batch_part *part) {
  int64_t hidden = t->shape.hidden;
  uint64_t limit = learn ? (uint64_t)(t->shape.dropout * 65536.0f) : 0;
  float kept = 65536.0f / (float)(65536 - limit);
  for (int64_t j = 0; j < hidden; j++)
    for (int k = 0; k < ROWS; k++) part->units[j * ROWS + k] = t->parameters[HIDDEN_BIAS][j];
  product p = {hidden, ROWS, t->inputs, part->units, t->parameters[HIDDEN], part->by_unit, ROWS, t->inputs, 1, ROWS};
  t->loops->multiply(&p);
  for (int64_t j = 0; j < hidden; j++)
    for (int k = 0; k < ROWS; k++) {
      float x = part->units[j * ROWS + k];
      if (learn) part->slopes[j * ROWS + k] = activation_slope(x);
      part->units[j * ROWS + k] = activation(x);
    }
  if (!limit) return;
  for (int k = 0; k < ROWS; k++)
    for (int64_t j = 0; j < hidden; j += 4) {
      uint64_t bits = hash_mix(t->noise + (uint64_t)((first + k) * hidden + j));
      for (int64_t i = j; i < j + 4; i++, bits >>= 16) {
        float factor = (bits & 0xffff) < limit ? 0 : kept;
        part->units[i * ROWS + k] *= factor;
        part->slopes[i * ROWS + k] *= factor;
      }
    }
}

/* Replaces scores by gradients and adds the losses: weight is that of an example in the loss of the batch. */
static void compare(const lscfg_neural_trainer *t, int64_t outputs, const int32_t *labels, int64_t n, int32_t learn,
                    float weight, float penalty, batch_part *part, double sums[3]) {
  float most[ROWS], total[ROWS] = {0}, own[ROWS], factor[ROWS] = {0};
  float *scores = part->scores;
  t->loops->find_most(outputs, scores, most);
  for (int64_t k = 0; k < n; k++) own[k] = scores[labels[k] * ROWS + k];
  t->loops->exponentiate(outputs, scores, most, total);
  for (int64_t k = 0; k < n; k++) {
    float log_z = most[k] + logf(total[k]);
    sums[0] += (double)(log_z - own[k]);
    sums[1] += (double)log_z * (double)log_z;
    sums[2] += own[k] == most[k];
    factor[k] = weight * (1 + 2 * penalty * log_z) / total[k];
  }
  if (!learn) return;
  t->loops->scale(outputs, scores, factor);
  for (int64_t k = 0; k < n; k++) scores[labels[k] * ROWS + k] -= weight;
}

/* Passes the gradients of scores back to units and words. */
static void pass_back(const lscfg_neural_trainer *t, int64_t outputs, const float *output, batch_part *part) {
  int64_t hidden = t->shape.hidden;
  float *back = part->unit_rows; /* not needed before the end */
  memset(back, 0, (size_t)(hidden * ROWS) * sizeof *back);
  product units = {hidden, ROWS, outputs, back, output, part->scores, ROWS, 1, hidden, ROWS};
  t->loops->multiply(&units);
  for (int64_t k = 0; k < hidden * ROWS; k++) part->slopes[k] *= back[k];
  memset(part->by_unit, 0, (size_t)(t->inputs * ROWS) * sizeof *part->by_unit);
  product inputs = {t->inputs, ROWS, hidden, part->by_unit, t->parameters[HIDDEN], part->slopes, ROWS, 1, t->inputs,
                    ROWS};
  t->loops->multiply(&inputs);
  turn(part->by_unit, t->inputs, ROWS, part->input_slopes);
  turn(part->units, hidden, ROWS, part->unit_rows);
}

void lscfg_neural_forward(lscfg_neural_trainer *t, int32_t number, int32_t learn, double sums[LSCFG_NEURAL_SUMS]) {
  int64_t n, first = examples_of(t, number, &n), hidden = t->shape.hidden;
  int words = number < t->word_parts;
  int64_t outputs = words ? t->shape.targets : CLASSES;
  const float *output = t->parameters[words ? OUTPUT : FERTILITY], *bias = output + outputs * hidden;
  batch_part *part = &t->parts.data[number];
  float weight = (words ? 1 : t->shape.fertility) / (float)(t->n_words ? t->n_words : 1);
  double found[3] = {0};
  look_up(t, first, n, part);
  activate(t, first, learn, part);
  for (int64_t o = 0; o < outputs; o++)
    for (int k = 0; k < ROWS; k++) part->scores[o * ROWS + k] = bias[o];
  product p = {outputs, ROWS, hidden, part->scores, output, part->units, ROWS, hidden, 1, ROWS};
  t->loops->multiply(&p);
  compare(t, outputs, t->labels + first, n, learn, weight, words ? t->shape.penalty : 0, part, found);
  sums[words ? 0 : 2] += found[0];
  if (words) sums[1] += found[1];
  if (words) sums[3] += found[2];
  if (learn) pass_back(t, outputs, output, part);
}

/* ---- steps ---- */

static void step_rows(lscfg_neural_trainer *t, int array, int64_t width, int64_t begin, int64_t end, float rate,
                      const float correct[2]) {
  int64_t at = begin * width;
  t->loops->adam((end - begin) * width, t->parameters[array] + at, t->gradients[array] + at, t->first[array] + at,
                 t->second[array] + at, rate, correct);
}

/* Adds the gradients of rows begin .. end-1 of the outputs, of words or of fertilities, and of their biases. */
static void add_outputs(lscfg_neural_trainer *t, int array, int32_t first_part, int32_t end_part, int64_t begin,
                        int64_t end) {
  int64_t hidden = t->shape.hidden;
  for (int32_t k = first_part; k < end_part; k++) {
    const batch_part *part = &t->parts.data[k];
    product p = {end - begin, hidden, ROWS, t->gradients[array] + begin * hidden, part->scores + begin * ROWS,
                 part->unit_rows, hidden, ROWS, 1, hidden};
    t->loops->multiply(&p);
    for (int64_t o = begin; o < end; o++)
      for (int i = 0; i < ROWS; i++) t->gradients[array + 1][o] += part->scores[o * ROWS + i];
  }
}

static void add_hidden(lscfg_neural_trainer *t, int64_t begin, int64_t end) {
  for (int32_t k = 0; k < t->n_parts; k++) {
    const batch_part *part = &t->parts.data[k];
    product p = {end - begin, t->inputs, ROWS, t->gradients[HIDDEN] + begin * t->inputs, part->slopes + begin * ROWS,
                 part->inputs, t->inputs, ROWS, 1, t->inputs};
    t->loops->multiply(&p);
    for (int64_t j = begin; j < end; j++)
      for (int i = 0; i < ROWS; i++) t->gradients[HIDDEN_BIAS][j] += part->slopes[j * ROWS + i];
  }
}

/* Adds the gradients of the words whose rows belong to the shard: frequent words have neighbouring rows. */
static void add_words(lscfg_neural_trainer *t, int32_t shard) {
  const lscfg_neural_shape *s = &t->shape;
  int64_t words = s->window + s->history;
  for (int32_t k = 0; k < t->n_parts; k++) {
    int64_t n, first = examples_of(t, k, &n);
    const float *slopes = t->parts.data[k].input_slopes;
    for (int64_t place = 0; place < n * words; place++) {
      int32_t row = t->rows[first * words + place];
      if (row % SHARDS != shard) continue;
      float *sum = t->gradients[place % words < s->window ? SOURCE : TARGET_WORDS] + (int64_t)row * s->dims;
      for (int32_t d = 0; d < s->dims; d++) sum[d] += slopes[place * s->dims + d];
    }
  }
}

void lscfg_neural_step(lscfg_neural_trainer *t, int32_t shard, float rate, const float correct[2]) {
  const lscfg_neural_shape *s = &t->shape;
  int64_t begin = (int64_t)s->targets * shard / SHARDS, end = (int64_t)s->targets * (shard + 1) / SHARDS;
  add_outputs(t, OUTPUT, 0, t->word_parts, begin, end);
  step_rows(t, OUTPUT, s->hidden, begin, end, rate, correct);
  step_rows(t, OUTPUT_BIAS, 1, begin, end, rate, correct);
  begin = (int64_t)s->hidden * shard / SHARDS;
  end = (int64_t)s->hidden * (shard + 1) / SHARDS;
  add_hidden(t, begin, end);
  step_rows(t, HIDDEN, t->inputs, begin, end, rate, correct);
  step_rows(t, HIDDEN_BIAS, 1, begin, end, rate, correct);
  add_words(t, shard);
  for (int32_t row = shard; row < s->sources; row += SHARDS) step_rows(t, SOURCE, s->dims, row, row + 1, rate, correct);
  for (int32_t row = shard; row < s->targets; row += SHARDS)
    step_rows(t, TARGET_WORDS, s->dims, row, row + 1, rate, correct);
  if (shard) return;
  add_outputs(t, FERTILITY, t->word_parts, t->n_parts, 0, CLASSES);
  step_rows(t, FERTILITY, s->hidden, 0, CLASSES, rate, correct);
  step_rows(t, FERTILITY_BIAS, 1, 0, CLASSES, rate, correct);
}
