/* Inner loops over what monolingual text says of phrases. See lscfg.h for what holds everywhere. */
#ifndef LSCFG_INDUCE_API_H
#define LSCFG_INDUCE_API_H

#include "lscfg/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* [declarations] */

enum { LSCFG_HEAD = 8 };

/* Unit vectors, by row and by column; entries that make no two rows neighbours stand apart in dense rows. */
typedef struct {
  int32_t rows;
  const int64_t *row_begin;    /* [rows + 1] */
  const int32_t *row_column;
  const float *row_value;
  const int64_t *column_begin; /* [columns + 1]; the rows of each column in ascending order */
  const int32_t *column_row;
  const float *column_value;
  int32_t apart;               /* width of the dense rows */
  const float *dense;          /* [rows][apart]; bounds are tight if the first columns have most of the lengths */
  const float *norm;           /* [rows] lengths of the dense rows */
  const float *head;           /* [rows][LSCFG_HEAD] the first entries of dense rows, then the length of the others */
} lscfg_vectors;

/* The k most similar rows of each of the rows first .. last-1, best first: those that share a column and whose product,
 * dense parts included, is more than 0. Of equally similar ones the first rows stay. A row is no neighbour of itself.
 * found: [last - first] how many; neighbour, similarity: [last - first][k]. */
int lscfg_neighbours(const lscfg_vectors *, int32_t first, int32_t last, int32_t k, int32_t *found, int32_t *neighbour,
                     float *similarity, lscfg_error *);

/* [end of declarations] */

#ifdef __cplusplus
}
#endif

#endif
