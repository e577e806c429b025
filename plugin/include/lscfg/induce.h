/* Nearest neighbours of phrases by their contexts in monolingual text. See lscfg.h for general conventions. */
#ifndef LSCFG_INDUCE_API_H
#define LSCFG_INDUCE_API_H

#include "lscfg/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* [declarations] */

enum { LSCFG_HEAD = 8 };

/* Unit vectors, by row and by column; entries in columns that create no neighbours are in dense rows. */
typedef struct {
  int32_t rows;
  const int64_t *row_begin;    /* [rows + 1] */
  const int32_t *row_column;
  const float *row_value;
  const int64_t *column_begin; /* [columns + 1]; the rows of each column in ascending order */
  const int32_t *column_row;
  const float *column_value;
  int32_t apart;               /* width of the dense rows */
  const float *dense;          /* [rows][apart]; bounds are tight if the first columns hold most of the length */
  const float *norm;           /* [rows] lengths of the dense rows */
  const float *head;           /* [rows][LSCFG_HEAD] the first entries of dense rows, then the length of the others */
} lscfg_vectors;

/* Finds the k most similar rows for each of the rows first .. last-1, best first: those that share a column and whose
 * product, with dense parts, is more than 0. Ties go to the first rows. A row is not its own neighbour. found: [last -
 * first] number of neighbours; neighbour, similarity: [last - first][k]. */
int lscfg_neighbours(const lscfg_vectors *, int32_t first, int32_t last, int32_t k, int32_t *found, int32_t *neighbour,
                     float *similarity, lscfg_error *);

/* [end of declarations] */

#ifdef __cplusplus
}
#endif

#endif
