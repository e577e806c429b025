/* Exact nearest neighbours of sparse vectors: a row meets, over the inverted lists of its columns, all that it shares
 * one with. The columns of very frequent words would make most of this work, so they come last: only for rows met
 * otherwise, and only where they could still bring the row among the best. */
#include "lscfg/induce.h"

#include "base/common.h"

typedef struct {
  float similarity;
  int32_t row;
} neighbour;

/* Whether a is less similar than b; of equals, the later row is. */
static int is_worse(neighbour a, neighbour b) {
  return a.similarity < b.similarity || (a.similarity == b.similarity && a.row > b.row);
}

static void sift_down(neighbour *heap, int32_t size, int32_t at) {
  for (int32_t child; (child = 2 * at + 1) < size; at = child) {
    if (child + 1 < size && is_worse(heap[child + 1], heap[child])) child++;
    if (!is_worse(heap[child], heap[at])) return;
    neighbour kept = heap[at];
    heap[at] = heap[child];
    heap[child] = kept;
  }
}

/* Keeps the k best in a heap with the worst on top. */
static int32_t offer(neighbour *heap, int32_t size, int32_t k, neighbour one) {
  if (size == k) {
    if (!is_worse(heap[0], one)) return size;
    heap[0] = one;
    sift_down(heap, k, 0);
    return size;
  }
  int32_t at = size;
  for (int32_t up; at > 0 && is_worse(one, heap[up = (at - 1) / 2]); at = up) heap[at] = heap[up];
  heap[at] = one;
  return size + 1;
}

static float product(const float *a, const float *b, int32_t n) {
  float sum = 0;
  for (int32_t k = 0; k < n; k++) sum += a[k] * b[k];
  return sum;
}

/* Sums over shared columns; returns how many rows were met. */
static int32_t meet(const lscfg_vectors *v, int32_t row, float *sum, uint8_t *seen, int32_t *met) {
  int32_t n = 0;
  for (int64_t at = v->row_begin[row]; at < v->row_begin[row + 1]; at++) {
    int32_t column = v->row_column[at];
    float value = v->row_value[at];
    for (int64_t in = v->column_begin[column]; in < v->column_begin[column + 1]; in++) {
      int32_t other = v->column_row[in];
      if (!seen[other]) {
        seen[other] = 1;
        met[n++] = other;
      }
      sum[other] += value * v->column_value[in];
    }
  }
  return n;
}

static int32_t best_of(const lscfg_vectors *v, int32_t row, int32_t k, float *sum, uint8_t *seen, const int32_t *met,
                       int32_t n, neighbour *heap) {
  const float *own = v->apart ? v->dense + (int64_t)row * v->apart : NULL;
  int32_t size = 0;
  for (int32_t at = 0; at < n; at++) {
    int32_t other = met[at];
    float total = sum[other];
    sum[other] = 0;
    seen[other] = 0;
    if (other == row) continue;
    if (own) {
      float bound = total + v->norm[row] * v->norm[other] + 1e-5f; /* more than rounding can hide */
      if (bound <= 0 || (size == k && bound < heap[0].similarity)) continue;
      total += product(own, v->dense + (int64_t)other * v->apart, v->apart);
    }
    if (total > 0) size = offer(heap, size, k, (neighbour){total, other});
  }
  return size;
}

int lscfg_neighbours(const lscfg_vectors *v, int32_t first, int32_t last, int32_t k, int32_t *found,
                     int32_t *neighbours, float *similarity, lscfg_error *error) {
  size_t rows = v->rows > 0 ? (size_t)v->rows : 1;
  float *sum = calloc(rows, sizeof *sum);
  uint8_t *seen = calloc(rows, 1);
  int32_t *met = malloc(rows * sizeof *met);
  neighbour *heap = malloc((size_t)k * sizeof *heap);
  int code = LSCFG_OK;
  if (!sum || !seen || !met || !heap) {
    code = out_of_memory(error);
  } else {
    for (int32_t row = first; row < last; row++) {
      int32_t n = meet(v, row, sum, seen, met);
      int32_t size = found[row - first] = best_of(v, row, k, sum, seen, met, n, heap);
      int64_t out = (int64_t)(row - first) * k;
      while (size > 0) { /* the worst one leaves the heap first */
        neighbour worst = heap[0];
        heap[0] = heap[--size];
        sift_down(heap, size, 0);
        neighbours[out + size] = worst.row;
        similarity[out + size] = worst.similarity;
      }
    }
  }
  free(sum);
  free(seen);
  free(met);
  free(heap);
  return code;
}
