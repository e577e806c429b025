#ifndef LSCFG_SAFETENSORS_H
#define LSCFG_SAFETENSORS_H

#include "base/common.h"

enum { MAX_DIMS = 4, DTYPE_LENGTH = 8 };

typedef struct {
  const void *data;
  char dtype[DTYPE_LENGTH];
  int32_t n_dims;
  int64_t shape[MAX_DIMS];
} tensor_view;

/* Arrays of a file in fewer bytes than their readers take. An array NAME is there as one of
 *
 *   NAME.int32     I32, not negative: U8, U16, or U8 with a last axis of 3 for 24 bits, the lowest first
 *   NAME.signed32  I32, at least -16: the same, of value + 16
 *   NAME.lengths   I64 [n + 1], which begin with 0: the same [n], of the differences
 *   NAME.which     F32 or F64: the same, of positions in NAME.table, an array of that type
 *
 * The wide array is made at the first request and lives as long as the file is open. */
typedef struct tensor_expansions tensor_expansions;

/* A memory-mapped file. */
typedef struct {
  const char *bytes;
  size_t size;
  size_t header; /* bytes of the JSON header, which begins at byte 8 */
  tensor_expansions *expansions;
} tensor_file;

int tensor_file_open(tensor_file *, const char *path, lscfg_error *);
void tensor_file_close(tensor_file *);
/* Compares the file with its checksum, the last array; a file of an older version has none and passes. */
int tensor_file_check(const tensor_file *, lscfg_error *);
/* Finds a tensor of the given type and number of dimensions and checks that it lies, aligned, inside the file. An array
 * that is there in fewer bytes is made wide. */
int tensor_file_get(const tensor_file *, const char *name, const char *dtype, int32_t n_dims, tensor_view *,
                    lscfg_error *);
/* An array of int32 that is read once, from front to back, without room for a wide array. */
typedef struct {
  tensor_view view; /* of the array, without data unless the file stores it wide */
  int64_t n, at;    /* its numbers; those that were read */
  const void *codes;
  int bytes; /* of a code */
  int32_t bias;
  int32_t *part; /* the numbers from begin to end in wide form, room for capacity */
  int64_t begin, end, capacity;
} tensor_stream;
int tensor_stream_open(const tensor_file *, const char *name, int32_t n_dims, tensor_stream *, lscfg_error *);
void tensor_stream_close(tensor_stream *);
static inline int64_t tensor_stream_left(const tensor_stream *s) { return s->n - s->at; }
/* The next n numbers of those that are left, valid until the next call; NULL: memory is out. */
const int32_t *tensor_stream_next(tensor_stream *, int64_t n);
/* True if a tensor of that name and type exists, in fewer bytes perhaps. */
int tensor_file_has(const tensor_file *, const char *name, const char *dtype);
/* Opens and checks the compiled file of a kind ("lscfg" in its metadata). LSCFG_OTHER_SOURCE, and the file stays
 * closed: another version made it, or it was not made from the file of this SHA-256, in hexadecimal digits (NULL: of
 * any file). */
int tensor_file_compiled(tensor_file *, const char *path, const char *kind, const char *sha256, lscfg_error *);
/* The string of a key of the metadata, not NUL-terminated and with its escapes; NULL if the key is absent. */
const char *tensor_file_metadata(const tensor_file *, const char *key, size_t *length);

#endif
