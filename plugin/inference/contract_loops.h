/* The loops of contract.h for one instruction set. No include guard: contract.c includes this file once for each set
 * and defines before: NAME(f); TARGET; WIDTH, the doubles of a vector; TILE, the rows, at most 12, whose sums over two
 * vectors of columns fit into the registers; FMA(a, b, c), a * b + c of scalars, which the compiler by itself fuses in
 * some loops only. */

typedef double NAME(vector) __attribute__((vector_size(WIDTH * sizeof(double)), aligned(8), may_alias));

#define INLINE TARGET static inline __attribute__((always_inline))
#define LOOP TARGET static

#define LOAD(values) (*(const NAME(vector) *)(values))

/* Sums run in LANES lanes whatever the width of a vector is, and lanes are added up in one order. */
enum { NAME(PARTS) = LANES / WIDTH };

INLINE double NAME(total)(const NAME(vector) * sum) {
  double v[LANES];
  memcpy(v, sum, sizeof v);
  return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

/* sum += column of one state x its values in n rows. */
INLINE void NAME(add_column)(const int32_t n, const int32_t vectors, int32_t m, const double *values,
                             const NAME(vector) * column, NAME(vector) sum[][2]) {
  for (int32_t i = 0; i < n; i++)
    for (int32_t v = 0; v < vectors; v++) sum[i][v] += column[v] * values[(int64_t)i * m];
}

INLINE void NAME(put)(const int32_t n, const int32_t vectors, int64_t stride, NAME(vector) sum[][2], double *out) {
  for (int32_t i = 0; i < n; i++)
    for (int32_t v = 0; v < vectors; v++) *(NAME(vector) *)(out + i * stride + v * WIDTH) = sum[i][v];
}

/* n rows by `vectors` vectors of columns, which lie packed in columns [m][vectors * WIDTH]; rows of out are
 * `stride` values apart. */
INLINE void NAME(tile)(const int32_t n, const int32_t vectors, int32_t m, int64_t stride, const double *rows,
                       const double *columns, double *out) {
  NAME(vector) sum[TILE][2] = {0};
  for (int32_t h = 0; h < m; h++) {
    NAME(vector) column[2];
    for (int32_t v = 0; v < vectors; v++) column[v] = LOAD(columns + ((int64_t)h * vectors + v) * WIDTH);
    NAME(add_column)(n, vectors, m, rows + h, column, sum);
  }
  NAME(put)(n, vectors, stride, sum, out);
}

/* Calls function(n, ...) with a constant n, for the rows of a tile. */
#define ROWS(constant, function, ...)                      \
  case constant:                                           \
    if (constant <= TILE) function(constant, __VA_ARGS__); \
    break;
#define FOR_ROWS(n, ...)                                                                                            \
  switch (n) {                                                                                                      \
    ROWS(1, __VA_ARGS__)                                                                                            \
    ROWS(2, __VA_ARGS__)                                                                                            \
    ROWS(3, __VA_ARGS__) ROWS(4, __VA_ARGS__) ROWS(5, __VA_ARGS__) ROWS(6, __VA_ARGS__) ROWS(7, __VA_ARGS__)        \
        ROWS(8, __VA_ARGS__) ROWS(9, __VA_ARGS__) ROWS(10, __VA_ARGS__) ROWS(11, __VA_ARGS__) ROWS(12, __VA_ARGS__) \
  }

/* n rows by all columns, where tensor is read once from the one end to the other, four states at a time. */
INLINE void NAME(stream)(const int32_t n, int32_t m, int64_t size, int64_t stride, const double *rows,
                         const double *tensor, double *out) {
  for (int32_t h = 0; h + 4 <= m; h += 4) {
    const double *line = tensor + h * size;
    for (int64_t k = 0; k + WIDTH <= size; k += WIDTH) {
      NAME(vector) values[4];
      for (int32_t x = 0; x < 4; x++) values[x] = LOAD(line + x * size + k);
      for (int32_t i = 0; i < n; i++) {
        NAME(vector) sum = h ? LOAD(out + i * stride + k) : (NAME(vector)){0};
        for (int32_t x = 0; x < 4; x++) sum += values[x] * rows[(int64_t)i * m + h + x];
        *(NAME(vector) *)(out + i * stride + k) = sum;
      }
    }
  }
}

#define REST_OF_COLUMNS                                                                                       \
  for (; k < size; k++)                                                                                       \
    for (int32_t i = 0; i < n; i++) {                                                                         \
      double sum = 0;                                                                                         \
      for (int32_t h = 0; h < m; h++) sum = FMA((double)tensor[h * size + k], rows[(int64_t)i * m + h], sum); \
      out[i * stride + k] = sum;                                                                              \
    }

/* Rows are dealt evenly to tiles. The first tile converts and packs the columns for the others, so that it multiplies
 * while it waits for memory. */
#define CONTRACT(precision, type)                                                                                      \
  typedef type NAME(precision) __attribute__((vector_size(WIDTH * sizeof(type)), aligned(sizeof(type)), may_alias));   \
                                                                                                                       \
  INLINE void NAME(first_##precision)(const int32_t n, const int32_t vectors, int32_t m, int64_t size, int64_t stride, \
                                      const double *rows, const type *tensor, const type *next, double *columns,       \
                                      double *out) {                                                                   \
    NAME(vector) sum[TILE][2] = {0};                                                                                   \
    for (int32_t h = 0; h < m; h++) {                                                                                  \
      NAME(vector) column[2];                                                                                          \
      for (int32_t v = 0; v < vectors; v++) {                                                                          \
        column[v] = __builtin_convertvector(*(const NAME(precision) *)(tensor + h * size + v * WIDTH), NAME(vector));  \
        *(NAME(vector) *)(columns + ((int64_t)h * vectors + v) * WIDTH) = column[v];                                   \
      }                                                                                                                \
      if (next) __builtin_prefetch(next + h * size, 0, 2);                                                             \
      NAME(add_column)(n, vectors, m, rows + h, column, sum);                                                          \
    }                                                                                                                  \
    NAME(put)(n, vectors, stride, sum, out);                                                                           \
  }                                                                                                                    \
                                                                                                                       \
  INLINE void NAME(block_##precision)(int32_t n, const int32_t vectors, int32_t m, int64_t size, int64_t stride,       \
                                      const double *rows, const type *tensor, const type *next, double *columns,       \
                                      double *out) {                                                                   \
    int32_t tiles = (n + TILE - 1) / TILE, done = (n + tiles - 1) / tiles;                                             \
    FOR_ROWS(done, NAME(first_##precision), vectors, m, size, stride, rows, tensor, next, columns, out)                \
    for (int32_t some; done < n; done += some) {                                                                       \
      tiles--;                                                                                                         \
      some = (n - done + tiles - 1) / tiles;                                                                           \
      FOR_ROWS(some, NAME(tile), vectors, m, stride, rows + (int64_t)done * m, columns, out + done * stride)           \
    }                                                                                                                  \
  }                                                                                                                    \
                                                                                                                       \
  LOOP void NAME(packed_##precision)(int32_t n, int32_t m, int64_t size, int64_t stride, const double *rows,           \
                                     const type *tensor, const type *next, double *space, double *out) {               \
    int64_t k = 0;                                                                                                     \
    for (; k + 2 * WIDTH <= size; k += 2 * WIDTH)                                                                      \
      NAME(block_##precision)(n, 2, m, size, stride, rows, tensor + k, next ? next + k : NULL, space, out + k);        \
    if (k + WIDTH <= size) {                                                                                           \
      NAME(block_##precision)(n, 1, m, size, stride, rows, tensor + k, next ? next + k : NULL, space, out + k);        \
      k += WIDTH;                                                                                                      \
    }                                                                                                                  \
    REST_OF_COLUMNS                                                                                                    \
  }

CONTRACT(single, float)
CONTRACT(double, double)
#undef CONTRACT

LOOP void NAME(contract_double)(int32_t n, int32_t m, int64_t size, int64_t stride, const double *rows,
                                const double *tensor, const double *next, double *space, double *out) {
  if (n > 4 || m % 4) {
    NAME(packed_double)(n, m, size, stride, rows, tensor, next, space, out);
    return;
  }
  int64_t k = size / WIDTH * WIDTH;
  if (n == 4) NAME(stream)(4, m, size, stride, rows, tensor, out);
  if (n == 3) NAME(stream)(3, m, size, stride, rows, tensor, out);
  if (n == 2) NAME(stream)(2, m, size, stride, rows, tensor, out);
  if (n == 1) NAME(stream)(1, m, size, stride, rows, tensor, out);
  REST_OF_COLUMNS
}
#undef REST_OF_COLUMNS

LOOP double NAME(dot)(int64_t n, const double *a, const double *b) {
  NAME(vector) sum[NAME(PARTS)];
  double rest = 0;
  int64_t k = 0;
  for (int32_t v = 0; v < NAME(PARTS); v++) sum[v] = (NAME(vector)){0};
  for (; k + LANES <= n; k += LANES)
    for (int32_t v = 0; v < NAME(PARTS); v++) sum[v] += LOAD(a + k + v * WIDTH) * LOAD(b + k + v * WIDTH);
  for (; k < n; k++) rest = FMA(a[k], b[k], rest);
  return NAME(total)(sum) + rest;
}

/* n rows by `states` states. */
INLINE void NAME(project_tile)(const int32_t n, const int32_t states, int32_t m, int64_t size, const double *rows,
                               const double *tensor, double *out) {
  NAME(vector) sum[2][4][NAME(PARTS)];
  int64_t k = 0;
  for (int32_t i = 0; i < n; i++)
    for (int32_t h = 0; h < states; h++)
      for (int32_t v = 0; v < NAME(PARTS); v++) sum[i][h][v] = (NAME(vector)){0};
  for (; k + LANES <= size; k += LANES)
    for (int32_t v = 0; v < NAME(PARTS); v++)
      for (int32_t h = 0; h < states; h++) {
        NAME(vector) values = LOAD(tensor + h * size + k + v * WIDTH);
        for (int32_t i = 0; i < n; i++) sum[i][h][v] += values * LOAD(rows + i * size + k + v * WIDTH);
      }
  for (int32_t i = 0; i < n; i++)
    for (int32_t h = 0; h < states; h++) {
      double rest = 0;
      for (int64_t x = k; x < size; x++) rest = FMA(tensor[h * size + x], rows[i * size + x], rest);
      out[(int64_t)i * m + h] = NAME(total)(sum[i][h]) + rest;
    }
}

LOOP void NAME(project)(int32_t n, int32_t m, int64_t size, const double *rows, const double *tensor, double *out) {
  const int32_t states = 16 / 4 / NAME(PARTS) > 1 ? 16 / 4 / NAME(PARTS) : 1; /* 2 x states x PARTS sums in registers */
  int32_t h = 0;
  for (; h + states <= m; h += states) {
    int32_t i = 0;
    for (; i + 2 <= n; i += 2)
      NAME(project_tile)(2, states, m, size, rows + i * size, tensor + h * size, out + (int64_t)i * m + h);
    if (i < n) NAME(project_tile)(1, states, m, size, rows + i * size, tensor + h * size, out + (int64_t)i * m + h);
  }
  for (; h < m; h++)
    for (int32_t i = 0; i < n; i++) out[(int64_t)i * m + h] = NAME(dot)(size, rows + i * size, tensor + h * size);
}

LOOP void NAME(add)(int64_t n, double factor, const double *a, double *out) {
  for (int64_t k = 0; k < n; k++) out[k] = FMA(factor, a[k], out[k]);
}

LOOP void NAME(add_products)(int64_t n, double factor, const double *a, const double *b, double *out) {
  for (int64_t k = 0; k < n; k++) out[k] = FMA(factor * a[k], b[k], out[k]);
}

LOOP void NAME(add_outer)(int32_t m, double factor, const double *a, const double *b, double *out) {
  for (int32_t x = 0; x < m; x++) {
    double value = factor * a[x], *line = out + (int64_t)x * m;
    for (int32_t y = 0; y < m; y++) line[y] = FMA(value, b[y], line[y]);
  }
}

LOOP double NAME(bilinear)(int32_t m, const double *matrix, const double *a, const double *b) {
  NAME(vector) sum[NAME(PARTS)];
  double rest = 0;
  int32_t y = 0;
  for (int32_t v = 0; v < NAME(PARTS); v++) sum[v] = (NAME(vector)){0};
  for (; y + LANES <= m; y += LANES)
    for (int32_t v = 0; v < NAME(PARTS); v++) {
      const double *column = matrix + y + v * WIDTH;
      NAME(vector) even = {0}, odd = {0};
      int32_t x = 0;
      for (; x + 2 <= m; x += 2) {
        even += LOAD(column + (int64_t)x * m) * a[x];
        odd += LOAD(column + (int64_t)(x + 1) * m) * a[x + 1];
      }
      if (x < m) even += LOAD(column + (int64_t)x * m) * a[x];
      sum[v] += (even + odd) * LOAD(b + y + v * WIDTH);
    }
  for (; y < m; y++) {
    double value = 0;
    for (int32_t x = 0; x < m; x++) value = FMA(matrix[(int64_t)x * m + y], a[x], value);
    rest = FMA(value, b[y], rest);
  }
  return NAME(total)(sum) + rest;
}

static const contraction NAME(loops) = {
    SET,       NAME(packed_single), NAME(contract_double), NAME(project), NAME(add_outer),
    NAME(add), NAME(add_products),  NAME(bilinear),        NAME(dot),
};
#undef LOAD
#undef INLINE
#undef LOOP
#undef NAME
#undef TARGET
#undef FMA
#undef WIDTH
#undef TILE
#undef FOR_ROWS
#undef ROWS
#undef SET
