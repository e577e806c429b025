/* The loops of neural.c for one instruction set. No include guard: neural.c includes this file once for each set and
 * defines before: NAME(f); TARGET; WIDTH, the floats of a vector; TILE, the rows whose sums over two vectors fit into
 * the registers. */

typedef float NAME(vector) __attribute__((vector_size(WIDTH * sizeof(float)), aligned(4), may_alias));

/* `rows` rows by two vectors of columns: out += values x columns, a chain of sums for each entry. */
FUSED TARGET static inline __attribute__((always_inline)) void NAME(tile)(const int32_t rows, const product *p,
                                                                          int64_t first, int64_t end, int64_t row,
                                                                          int64_t column) {
  NAME(vector) sum[TILE][2];
  float *out = p->out + row * p->out_stride + column;
  const float *values = p->values + row * p->row_stride;
  for (int32_t i = 0; i < rows; i++)
    for (int32_t v = 0; v < 2; v++) sum[i][v] = *(const NAME(vector) *)(out + i * p->out_stride + v * WIDTH);
  for (int64_t k = first; k < end; k++) {
    const float *columns = p->columns + k * p->column_stride + column, *value = values + k * p->step;
    NAME(vector) a = *(const NAME(vector) *)columns, b = *(const NAME(vector) *)(columns + WIDTH);
    for (int32_t i = 0; i < rows; i++) {
      sum[i][0] += a * value[i * p->row_stride];
      sum[i][1] += b * value[i * p->row_stride];
    }
  }
  for (int32_t i = 0; i < rows; i++)
    for (int32_t v = 0; v < 2; v++) *(NAME(vector) *)(out + i * p->out_stride + v * WIDTH) = sum[i][v];
}

#define ROWS_CASE(constant)                                                       \
  case constant:                                                                  \
    if (constant <= TILE)                                                         \
      for (int64_t column = 0; column < p->n_columns; column += 2 * WIDTH)        \
        NAME(tile)(constant <= TILE ? constant : 1, p, k, end, row, column);      \
    break;

/* out [n_rows][n_columns] += values [n_rows][depth] x columns [depth][n_columns]. */
FUSED TARGET static void NAME(multiply)(const product *p) {
  for (int64_t k = 0; k < p->depth; k += DEPTH) {
    int64_t end = p->depth < k + DEPTH ? p->depth : k + DEPTH;
    for (int64_t row = 0; row < p->n_rows; row += TILE) {
      switch (p->n_rows - row < TILE ? p->n_rows - row : TILE) {
        ROWS_CASE(1)
        ROWS_CASE(2)
        ROWS_CASE(3) ROWS_CASE(4) ROWS_CASE(5) ROWS_CASE(6) ROWS_CASE(7) ROWS_CASE(8) ROWS_CASE(9) ROWS_CASE(10)
            ROWS_CASE(11) ROWS_CASE(12)
      }
    }
  }
}
#undef ROWS_CASE

/* Replaces scores [n][ROWS] by exp(score - most) and adds them to the total of their column. */
TARGET static void NAME(exponentiate)(int64_t n, float *scores, const float *most, float *total) {
  for (int64_t o = 0; o < n; o++, scores += ROWS) {
    float power[ROWS];
    int32_t bits[ROWS];
    for (int t = 0; t < ROWS; t++) {
      float x = scores[t] - most[t];
      x = x < -80 ? -80 : x;
      float whole = x * 1.44269504f + 12582912.0f; /* rounds to a whole number */
      whole -= 12582912.0f;
      bits[t] = ((int32_t)whole + 127) * (1 << 23);
      x -= whole * 0.693359375f;
      x += whole * 2.12194440e-4f;
      float sum = 1.9875691500e-4f;
      sum = sum * x + 1.3981999507e-3f;
      sum = sum * x + 8.3334519073e-3f;
      sum = sum * x + 4.1665795894e-2f;
      sum = sum * x + 1.6666665459e-1f;
      sum = sum * x + 5.0000001201e-1f;
      scores[t] = sum * x * x + x + 1;
    }
    memcpy(power, bits, sizeof power);
    for (int t = 0; t < ROWS; t++) {
      scores[t] *= power[t];
      total[t] += scores[t];
    }
  }
}

TARGET static void NAME(find_most)(int64_t n, const float *scores, float *most) {
  for (int t = 0; t < ROWS; t++) most[t] = scores[t];
  for (int64_t o = 1; o < n; o++)
    for (int t = 0; t < ROWS; t++) most[t] = scores[o * ROWS + t] > most[t] ? scores[o * ROWS + t] : most[t];
}

TARGET static void NAME(scale)(int64_t n, float *values, const float *factor) {
  for (int64_t o = 0; o < n; o++)
    for (int t = 0; t < ROWS; t++) values[o * ROWS + t] *= factor[t];
}

/* An Adam step; gradients become 0. */
NO_ERRNO TARGET static void NAME(adam)(int64_t n, float *restrict value, float *restrict gradient,
                                       float *restrict first, float *restrict second, float rate,
                                       const float correct[2]) {
  const float corrected = correct[1], step = rate * correct[0];
  for (int64_t k = 0; k < n; k++) {
    float slope = gradient[k];
    first[k] = 0.9f * first[k] + 0.1f * slope;
    second[k] = 0.999f * second[k] + 0.001f * (slope * slope);
    value[k] -= step * first[k] / (sqrtf(second[k] * corrected) + 1e-8f);
    gradient[k] = 0;
  }
}

static const neural_loops NAME(loops) = {SET, NAME(multiply), NAME(exponentiate), NAME(find_most), NAME(scale),
                                         NAME(adam)};

#undef NAME
#undef TARGET
#undef WIDTH
#undef TILE
#undef SET
