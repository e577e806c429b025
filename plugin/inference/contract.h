#ifndef LSCFG_CONTRACT_H
#define LSCFG_CONTRACT_H

#include "lscfg/inference.h"
#include "base/common.h"

/* The inner loops of inside-outside, compiled for several instruction sets. Tensors are stored in single or double
 * precision, everything is added up in double precision. Sets with fused multiply-add give the same bits. */
typedef struct {
  const char *name;
  /* out[i * stride + k] = sum over h of rows[i][h] * tensor[h][k]; i < n, h < m, k < size;
   * space [m][CONTRACT_COLUMNS]; next: the tensor that comes next, to be fetched ahead, or NULL */
  void (*contract_single)(int32_t n, int32_t m, int64_t size, int64_t stride, const double *rows, const float *tensor,
                          const float *next, double *space, double *out);
  void (*contract_double)(int32_t n, int32_t m, int64_t size, int64_t stride, const double *rows, const double *tensor,
                          const double *next, double *space, double *out);
  /* out[i][h] = sum over k of rows[i][k] * tensor[h][k]; i < n, h < m, k < size */
  void (*project)(int32_t n, int32_t m, int64_t size, const double *rows, const double *tensor, double *out);
  /* out[x][y] += factor * a[x] * b[y]; x, y < m */
  void (*add_outer)(int32_t m, double factor, const double *a, const double *b, double *out);
  /* out[y] += factor * a[y] */
  void (*add)(int64_t n, double factor, const double *a, double *out);
  /* out[y] += factor * a[y] * b[y] */
  void (*add_products)(int64_t n, double factor, const double *a, const double *b, double *out);
  /* sum over x and y of a[x] * matrix[x][y] * b[y] */
  double (*bilinear)(int32_t m, const double *matrix, const double *a, const double *b);
  double (*dot)(int64_t n, const double *a, const double *b);
} contraction;

enum { CONTRACT_COLUMNS = 16 }; /* columns that are worked on at a time */

/* The set of that name, or the best that this machine has where the name is NULL; NULL if it has not that one. */
const contraction *contraction_find(const char *name);

#endif
