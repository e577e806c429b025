/* Exact nearest neighbours of sparse vectors: a row meets, over the inverted lists of its columns, all that it shares
 * one with. The columns of very frequent words would make most of this work, so they come last: only for rows met
 * otherwise, and only where they could still bring the row among the best. */
#include "lscfg/induce.h"

#include <float.h>

#include "base/common.h"

enum { LANES = 8, BINS = 64 };

typedef struct {
  float similarity;
  int32_t row;
} neighbour;

/* True if a is less similar than b; of equals, the later row is. */
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

/* In lanes with independent sums, so that a compiler can compute several at once. */
static float product(const float *a, const float *b, int32_t n) {
  float lane[LANES] = {0}, sum = 0;
  int32_t whole = n - n % LANES;
  for (int32_t k = 0; k < whole; k += LANES) {
    for (int32_t l = 0; l < LANES; l++) lane[l] += a[k + l] * b[k + l];
  }
  for (int32_t k = whole; k < n; k++) sum += a[k] * b[k];
  for (int32_t l = 0; l < LANES; l++) sum += lane[l];
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

/* A sum that at least this number of candidates reach, and few more. */
static float promising(const float *sum, const int32_t *met, int32_t n, int32_t wanted) {
  int32_t count[BINS] = {0}, bin = BINS - 1;
  for (int32_t at = 0; at < n; at++) {
    float share = sum[met[at]];
    count[share >= 1 ? BINS - 1 : share > 0 ? (int32_t)(share * BINS) : 0]++;
  }
  for (int32_t above = count[bin]; bin > 0 && above < wanted; above += count[bin]) bin--;
  return bin > 0 ? (float)bin / BINS : -FLT_MAX;
}

/* True if a row whose similarity has this upper bound may be among the best. */
static int may_be(float most, const neighbour *heap, int32_t size, int32_t k) {
  most += 1e-5f; /* more than rounding can hide */
  return most > 0 && (size < k || most >= heap[0].similarity);
}

/* Offers a row that was met, unless its dense part cannot bring it among the best: most are left out by the lengths of
 * the dense parts, most others by the first entries and the lengths of the rest. */
static int32_t consider(const lscfg_vectors *v, int32_t row, neighbour one, int32_t k, neighbour *heap, int32_t size) {
  enum { FIRST = LSCFG_HEAD - 1 };
  if (v->apart) {
    if (!may_be(one.similarity + v->norm[row] * v->norm[one.row], heap, size, k)) return size;
    const float *own = v->head + (int64_t)row * LSCFG_HEAD, *other = v->head + (int64_t)one.row * LSCFG_HEAD;
    one.similarity += product(own, other, FIRST);
    if (!may_be(one.similarity + own[FIRST] * other[FIRST], heap, size, k)) return size;
    if (v->apart > FIRST) {
      const float *rest = v->dense + FIRST;
      one.similarity +=
          product(rest + (int64_t)row * v->apart, rest + (int64_t)one.row * v->apart, v->apart - FIRST);
    }
  }
  return one.similarity > 0 ? offer(heap, size, k, one) : size;
}

/* The most promising rows come first, so that few of the others are worth their dense product. */
static int32_t best_of(const lscfg_vectors *v, int32_t row, int32_t k, float *sum, uint8_t *seen, const int32_t *met,
                       int32_t n, neighbour *heap) {
  float border = n / 2 > k ? promising(sum, met, n, 2 * k) : -FLT_MAX;
  int32_t size = 0;
  for (int first = 1; first >= 0; first--) {
    for (int32_t at = 0; at < n; at++) {
      neighbour one = {sum[met[at]], met[at]};
      if ((one.similarity >= border) == first && one.row != row) size = consider(v, row, one, k, heap, size);
    }
  }
  for (int32_t at = 0; at < n; at++) {
    sum[met[at]] = 0;
    seen[met[at]] = 0;
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
