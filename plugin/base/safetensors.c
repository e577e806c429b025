#define _POSIX_C_SOURCE 200809L /* mmap, under -std=c11 */
/* Reading safetensors: 8 bytes little-endian header length, a JSON object name -> {dtype, shape, data_offsets}, data.
 * */
#include "base/safetensors.h"

#include "base/crc32.h"
#include "base/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_DEPTH = 16 };

typedef struct narrow_made {
  struct narrow_made *next;
  tensor_view view;
  void *data;
  char name[];
} narrow_made;

struct tensor_expansions {
  narrow_made *first;
};

static void narrow_release(tensor_expansions *expansions) {
  for (narrow_made *made = expansions ? expansions->first : NULL, *next; made; made = next) {
    next = made->next;
    free(made->data);
    free(made);
  }
  free(expansions);
}

/* The program that decompresses a file with these first bytes, NULL for other files. */
static const char *decompressor(const char *bytes, size_t size) {
  static const struct {
    const char *begin, *program;
  } known[] = {{"\x1f\x8b", "gzip"}, {"\xfd\x37zXZ", "xz"}, {"BZh", "bzip2"}, {"\x28\xb5\x2f\xfd", "zstd"}};
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    size_t length = strlen(known[k].begin);
    if (size >= length && !memcmp(bytes, known[k].begin, length)) return known[k].program;
  }
  return NULL;
}

int tensor_file_open(tensor_file *file, const char *path, lscfg_error *error) {
  struct stat status;
  memset(file, 0, sizeof *file);
  int descriptor = open(path, O_RDONLY);
  if (descriptor < 0 || fstat(descriptor, &status)) {
    int code = lscfg_fail(error, LSCFG_EIO, 0, "cannot open the file: %s", strerror(errno));
    if (descriptor >= 0) close(descriptor);
    return code;
  }
  file->size = (size_t)status.st_size;
  void *bytes = file->size ? mmap(NULL, file->size, PROT_READ, MAP_PRIVATE, descriptor, 0) : MAP_FAILED;
  int reason = errno;
  close(descriptor);
  if (!file->size) return lscfg_fail(error, LSCFG_EINPUT, 0, "the file is empty");
  if (bytes == MAP_FAILED) return lscfg_fail(error, LSCFG_EIO, 0, "cannot map the file: %s", strerror(reason));
  file->bytes = bytes;
  uint64_t header = 0;
  if (file->size >= 8)
    for (int k = 7; k >= 0; k--) header = header << 8 | (unsigned char)file->bytes[k];
  if (file->size < 8 || header < 2 || header > file->size - 8 || file->bytes[8] != '{') {
    const char *program = decompressor(file->bytes, file->size);
    int code = program
                   ? lscfg_fail(error, LSCFG_EINPUT, 0, "the file is compressed; decompress it with %s -d", program)
                   : lscfg_fail(error, LSCFG_EINPUT, 0, "not a safetensors file, or cut off in its header");
    tensor_file_close(file);
    return code;
  }
  file->header = (size_t)header;
  file->expansions = calloc(1, sizeof *file->expansions);
  if (file->expansions) return LSCFG_OK;
  tensor_file_close(file);
  return out_of_memory(error);
}

void tensor_file_close(tensor_file *file) {
  narrow_release(file->expansions);
  if (file->bytes) munmap((void *)file->bytes, file->size);
  memset(file, 0, sizeof *file);
}

/* ---- the JSON that the header needs; every function returns the position after the value, NULL for malformed text
 * ---- */

static const char *skip_blanks(const char *p, const char *end) {
  while (p && p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')) p++;
  return p;
}

static const char *expect(const char *p, const char *end, char c) {
  p = skip_blanks(p, end);
  return p && p < end && *p == c ? p + 1 : NULL;
}

static const char *read_string(const char *p, const char *end, const char **text, size_t *length) {
  if (!(p = expect(p, end, '"'))) return NULL;
  *text = p;
  while (p < end && *p != '"') p += *p == '\\' ? 2 : 1;
  if (p >= end) return NULL;
  *length = (size_t)(p - *text);
  return p + 1;
}

static const char *skip_value(const char *p, const char *end, int depth) {
  const char *text;
  size_t length;
  p = skip_blanks(p, end);
  if (!p || p >= end || depth > MAX_DEPTH) return NULL;
  if (*p == '"') return read_string(p, end, &text, &length);
  if (*p == '{' || *p == '[') {
    char close = *p == '{' ? '}' : ']';
    p = skip_blanks(p + 1, end);
    if (p < end && *p == close) return p + 1;
    for (;;) {
      if (close == '}' && (!(p = read_string(skip_blanks(p, end), end, &text, &length)) || !(p = expect(p, end, ':'))))
        return NULL;
      if (!(p = skip_value(p, end, depth + 1)) || !(p = skip_blanks(p, end)) || p >= end) return NULL;
      if (*p == close) return p + 1;
      if (*p++ != ',') return NULL;
    }
  }
  while (p < end && *p != ',' && *p != '}' && *p != ']') p++;
  return p;
}

static const char *read_integers(const char *p, const char *end, int64_t *values, int32_t capacity, int32_t *n) {
  *n = 0;
  if (!(p = expect(p, end, '['))) return NULL;
  p = skip_blanks(p, end);
  if (p < end && *p == ']') return p + 1;
  for (;;) {
    int64_t value = 0;
    p = skip_blanks(p, end);
    if (p >= end || *p < '0' || *p > '9' || *n == capacity) return NULL;
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
      if (value > INT64_MAX / 16) return NULL;
      value = 10 * value + (*p - '0');
    }
    values[(*n)++] = value;
    p = skip_blanks(p, end);
    if (p >= end) return NULL;
    if (*p == ']') return p + 1;
    if (*p++ != ',') return NULL;
  }
}

static int same(const char *text, size_t length, const char *name) {
  return length == strlen(name) && !memcmp(text, name, length);
}

/* The object of a name in the outermost object; *found stays NULL if the name is absent. */
static const char *find_entry(const char *p, const char *end, const char *name, const char **found) {
  const char *key;
  size_t length;
  *found = NULL;
  p = skip_blanks(expect(p, end, '{'), end);
  if (p && p < end && *p == '}') return p;
  while (p) {
    if (!(p = read_string(p, end, &key, &length)) || !(p = expect(p, end, ':'))) return NULL;
    if (same(key, length, name)) *found = p;
    if (!(p = skip_value(p, end, 0)) || !(p = skip_blanks(p, end)) || p >= end) return NULL;
    if (*p == '}') return p;
    if (*p++ != ',') return NULL;
    p = skip_blanks(p, end);
  }
  return NULL;
}

static size_t element_size(const char *dtype) {
  if (!strcmp(dtype, "F64") || !strcmp(dtype, "I64")) return 8;
  if (!strcmp(dtype, "F32") || !strcmp(dtype, "I32")) return 4;
  if (!strcmp(dtype, "U16")) return 2;
  if (!strcmp(dtype, "U8")) return 1;
  return 0;
}

static const char *read_entry(const char *p, const char *end, tensor_view *view, int64_t *offsets, int32_t *n_offsets) {
  const char *key, *text;
  size_t length;
  p = expect(p, end, '{');
  while (p) {
    if (!(p = read_string(p, end, &key, &length)) || !(p = expect(p, end, ':'))) return NULL;
    if (same(key, length, "dtype")) {
      if (!(p = read_string(p, end, &text, &length)) || length >= DTYPE_LENGTH) return NULL;
      memcpy(view->dtype, text, length);
      view->dtype[length] = '\0';
    } else if (same(key, length, "shape")) {
      p = read_integers(p, end, view->shape, MAX_DIMS, &view->n_dims);
    } else if (same(key, length, "data_offsets")) {
      p = read_integers(p, end, offsets, 2, n_offsets);
    } else {
      p = skip_value(p, end, 0);
    }
    if (!(p = skip_blanks(p, end)) || p >= end) return NULL;
    if (*p == '}') return p;
    if (*p++ != ',') return NULL;
  }
  return NULL;
}

/* The tensor as the file stores it. */
static int get_stored(const tensor_file *file, const char *name, const char *dtype, int32_t n_dims, tensor_view *view,
                      lscfg_error *error) {
  const char *begin = file->bytes + 8, *end = begin + file->header, *entry;
  int64_t offsets[2] = {0, 0};
  int32_t n_offsets = 0;
  memset(view, 0, sizeof *view);
  if (!find_entry(begin, end, name, &entry))
    return lscfg_fail(error, LSCFG_EINPUT, 0, "the file's header is malformed");
  if (!entry) return lscfg_fail(error, LSCFG_EINPUT, 0, "tensor '%s' is missing", name);
  if (!read_entry(entry, end, view, offsets, &n_offsets) || n_offsets != 2)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "the header of tensor '%s' is malformed", name);
  if (strcmp(view->dtype, dtype) || view->n_dims != n_dims)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "tensor '%s' is %s with %d dimensions, expected %s with %d", name,
                      view->dtype, view->n_dims, dtype, n_dims);
  size_t room = file->size - 8 - file->header, bytes = element_size(dtype);
  for (int32_t k = 0; k < n_dims; k++) {
    if (view->shape[k] && bytes > (size_t)INT64_MAX / (size_t)view->shape[k])
      return lscfg_fail(error, LSCFG_EINPUT, 0, "tensor '%s' has impossible dimensions", name);
    bytes *= (size_t)view->shape[k];
  }
  if (offsets[0] > offsets[1] || (size_t)(offsets[1] - offsets[0]) != bytes)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "tensor '%s' does not have the size of its shape", name);
  if ((size_t)offsets[1] > room)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "the file is cut off: tensor '%s' ends at byte %lld of %zu", name,
                      (long long)offsets[1] + 8 + (long long)file->header, file->size);
  view->data = begin + file->header + offsets[0];
  if ((uintptr_t)view->data % element_size(dtype))
    return lscfg_fail(error, LSCFG_EINPUT, 0, "tensor '%s' is not aligned; create the file again", name);
  return LSCFG_OK;
}

static int stores(const tensor_file *file, const char *name, const char *dtype) {
  const char *begin = file->bytes + 8, *end = begin + file->header, *entry;
  int64_t offsets[2];
  int32_t n_offsets;
  tensor_view view = {0};
  return find_entry(begin, end, name, &entry) && entry && read_entry(entry, end, &view, offsets, &n_offsets) &&
         !strcmp(view.dtype, dtype);
}

/* ---- arrays in fewer bytes ---- */

enum { NAME_ROOM = 96, BIAS = 16, WIDE_BYTES = 3 };

static const struct {
  const char *suffix, *dtype;
} codings[] = {{".int32", "I32"}, {".signed32", "I32"}, {".lengths", "I64"}, {".which", "F32"}, {".which", "F64"}};

enum { SIGNED = 1, LENGTHS = 2, WHICH = 3, N_CODINGS = 5 };

/* The name with a suffix; 0 if it does not fit. */
static int join(char full[NAME_ROOM], const char *name, const char *suffix) {
  int n = snprintf(full, NAME_ROOM, "%s%s", name, suffix);
  return n > 0 && n < NAME_ROOM;
}

static int stored(const tensor_file *file, const char *name) {
  return stores(file, name, "U8") || stores(file, name, "U16");
}

/* The number of the coding, -1 if the array has none. */
static int coding_of(const tensor_file *file, const char *name, const char *dtype) {
  char full[NAME_ROOM], table[NAME_ROOM];
  for (int k = 0; k < N_CODINGS; k++)
    if (!strcmp(codings[k].dtype, dtype) && join(full, name, codings[k].suffix) && stored(file, full) &&
        (k < WHICH || (join(table, name, ".table") && stores(file, table, dtype))))
      return k;
  return -1;
}

static int narrow_has(const tensor_file *file, const char *name, const char *dtype) {
  return coding_of(file, name, dtype) >= 0;
}

/* The stored numbers of an array: 1, 2 or 3 bytes each. */
typedef struct {
  tensor_view view; /* of the array, without the axis of the bytes */
  int64_t n;
  int bytes;
} codes;

static int get_codes(const tensor_file *file, const char *full, int32_t n_dims, codes *c, lscfg_error *error) {
  int wide = 0, is_short = stores(file, full, "U16");
  int code = get_stored(file, full, is_short ? "U16" : "U8", n_dims, &c->view, is_short ? error : NULL);
  if (code && !is_short) {
    wide = 1;
    code = n_dims + 1 > MAX_DIMS ? LSCFG_EINPUT : get_stored(file, full, "U8", n_dims + 1, &c->view, error);
    if (!code && c->view.shape[n_dims] != WIDE_BYTES)
      code = lscfg_fail(error, LSCFG_EINPUT, 0, "tensor '%s' does not have numbers of 3 bytes", full);
  }
  if (code) return code;
  c->view.n_dims = n_dims;
  c->bytes = wide ? WIDE_BYTES : is_short ? 2 : 1;
  c->n = 1;
  for (int32_t k = 0; k < n_dims; k++) c->n *= c->view.shape[k];
  return LSCFG_OK;
}

static inline uint32_t code_at(const codes *c, int64_t k) {
  const uint8_t *bytes = c->view.data;
  if (c->bytes == 1) return bytes[k];
  if (c->bytes == 2) return ((const uint16_t *)c->view.data)[k];
  return bytes[3 * k] | (uint32_t)bytes[3 * k + 1] << 8 | (uint32_t)bytes[3 * k + 2] << 16;
}

/* Writes the wide values; -1 if a position lies outside the table. The loops are apart for each width, so that the
 * compiler can make them vectors. */
#define FILL(VALUE)                                          \
  do {                                                       \
    if (c->bytes == 1) {                                     \
      const uint8_t *from = c->view.data;                    \
      for (int64_t k = 0; k < c->n; k++) {                   \
        uint32_t v = from[k];                                \
        VALUE;                                               \
      }                                                      \
    } else if (c->bytes == 2) {                              \
      const uint16_t *from = c->view.data;                   \
      for (int64_t k = 0; k < c->n; k++) {                   \
        uint32_t v = from[k];                                \
        VALUE;                                               \
      }                                                      \
    } else {                                                 \
      for (int64_t k = 0; k < c->n; k++) {                   \
        uint32_t v = code_at(c, k);                          \
        VALUE;                                               \
      }                                                      \
    }                                                        \
  } while (0)

static void fill_integers(const codes *c, int32_t bias, int32_t *to) { FILL(to[k] = (int32_t)v - bias); }

static void fill_offsets(const codes *c, int64_t *to) {
  int64_t sum = to[0] = 0;
  FILL(to[k + 1] = sum += v);
}

static int fill_values(const codes *c, const tensor_view *table, void *to) {
  uint64_t size = (uint64_t)table->shape[0];
  if (!strcmp(table->dtype, "F32"))
    FILL(if (v >= size) return -1; ((float *)to)[k] = ((const float *)table->data)[v]);
  else
    FILL(if (v >= size) return -1; ((double *)to)[k] = ((const double *)table->data)[v]);
  return 0;
}

static int widen(const tensor_file *file, const char *name, const char *dtype, int32_t n_dims, narrow_made *made,
                 lscfg_error *error) {
  char full[NAME_ROOM], table_name[NAME_ROOM];
  codes c;
  tensor_view table;
  int coding = coding_of(file, name, dtype);
  if (coding < 0 || !join(full, name, codings[coding].suffix) || !join(table_name, name, ".table"))
    return lscfg_fail(error, LSCFG_EINPUT, 0, "tensor '%s' is missing", name);
  int code = get_codes(file, full, n_dims, &c, error);
  if (!code && coding >= WHICH) code = get_stored(file, table_name, dtype, 1, &table, error);
  if (!code && coding == LENGTHS && n_dims != 1)
    code = lscfg_fail(error, LSCFG_EINPUT, 0, "tensor '%s' has %d dimensions, expected 1", full, n_dims);
  if (code) return code;
  made->view = c.view;
  snprintf(made->view.dtype, sizeof made->view.dtype, "%s", dtype);
  if (coding == LENGTHS) made->view.shape[0]++;
  made->data = large_pages(((size_t)c.n + 1) * (dtype[1] == '6' ? 8 : 4));
  made->view.data = made->data;
  if (!made->data) return out_of_memory(error);
  if (coding == LENGTHS)
    fill_offsets(&c, made->data);
  else if (coding < WHICH)
    fill_integers(&c, coding == SIGNED ? BIAS : 0, made->data);
  else if (fill_values(&c, &table, made->data))
    return lscfg_fail(error, LSCFG_EINPUT, 0, "tensor '%s' has a position outside '%s'", full, table_name);
  return LSCFG_OK;
}

enum { PART = 8192 }; /* numbers of a stream at a time */

int tensor_stream_open(const tensor_file *file, const char *name, int32_t n_dims, tensor_stream *s,
                       lscfg_error *error) {
  char full[NAME_ROOM];
  codes c;
  int coding = stores(file, name, "I32") ? -1 : coding_of(file, name, "I32");
  int is_narrow = coding >= 0 && join(full, name, codings[coding].suffix);
  int code = is_narrow ? get_codes(file, full, n_dims, &c, error)
                       : get_stored(file, name, "I32", n_dims, &s->view, error);
  if (code) return code;
  if (is_narrow) {
    *s = (tensor_stream){.view = c.view, .n = c.n, .codes = c.view.data, .bytes = c.bytes};
    s->bias = coding == SIGNED ? BIAS : 0;
    s->view.data = NULL;
    return LSCFG_OK;
  }
  *s = (tensor_stream){.view = s->view, .n = 1};
  for (int32_t k = 0; k < n_dims; k++) s->n *= s->view.shape[k];
  return LSCFG_OK;
}

void tensor_stream_close(tensor_stream *s) { free(s->part); }

const int32_t *tensor_stream_next(tensor_stream *s, int64_t n) {
  int64_t at = s->at;
  s->at += n;
  if (s->view.data) return (const int32_t *)s->view.data + at;
  if (s->at > s->end || !s->part) {
    if (n > s->capacity || !s->part) {
      free(s->part);
      s->capacity = n > PART ? n : PART;
      s->part = malloc((size_t)s->capacity * sizeof *s->part);
      if (!s->part) return NULL;
    }
    s->begin = at;
    s->end = s->n - at < s->capacity ? s->n : at + s->capacity;
    codes c = {.view.data = (const char *)s->codes + at * s->bytes, .n = s->end - at, .bytes = s->bytes};
    fill_integers(&c, s->bias, s->part);
  }
  return s->part + (at - s->begin);
}

static int narrow_get(const tensor_file *file, const char *name, const char *dtype, int32_t n_dims, tensor_view *view,
               lscfg_error *error) {
  for (const narrow_made *known = file->expansions->first; known; known = known->next)
    if (!strcmp(known->name, name) && !strcmp(known->view.dtype, dtype) && known->view.n_dims == n_dims) {
      *view = known->view;
      return LSCFG_OK;
    }
  narrow_made *made = calloc(1, sizeof *made + strlen(name) + 1);
  if (!made) return out_of_memory(error);
  memcpy(made->name, name, strlen(name) + 1);
  int code = widen(file, name, dtype, n_dims, made, error);
  if (code) {
    free(made->data);
    free(made);
    return code;
  }
  made->next = file->expansions->first;
  file->expansions->first = made;
  *view = made->view;
  return LSCFG_OK;
}

int tensor_file_get(const tensor_file *file, const char *name, const char *dtype, int32_t n_dims, tensor_view *view,
                    lscfg_error *error) {
  const char *begin = file->bytes + 8, *entry;
  int is_narrow = find_entry(begin, begin + file->header, name, &entry) && !entry && narrow_has(file, name, dtype);
  return (is_narrow ? narrow_get : get_stored)(file, name, dtype, n_dims, view, error);
}

int tensor_file_has(const tensor_file *file, const char *name, const char *dtype) {
  return stores(file, name, dtype) || narrow_has(file, name, dtype);
}

const char *tensor_file_metadata(const tensor_file *file, const char *key, size_t *length) {
  const char *begin = file->bytes + 8, *end = begin + file->header, *entry, *text;
  if (!find_entry(begin, end, "__metadata__", &entry) || !entry || !find_entry(entry, end, key, &entry) || !entry)
    return NULL;
  return read_string(entry, end, &text, length) ? text : NULL;
}

int tensor_file_compiled(tensor_file *file, const char *path, const char *kind, const char *sha256,
                         lscfg_error *error) {
  size_t length, wanted = sha256 ? strlen(sha256) : 0;
  int code = tensor_file_open(file, path, error);
  if (code) return code;
  const char *found = tensor_file_metadata(file, "lscfg", &length);
  if (!found || !same(found, length, kind)) {
    code = lscfg_fail(error, LSCFG_EINPUT, 0, "not a compiled %s", kind);
  } else if (!(found = tensor_file_metadata(file, "format", &length)) || !same(found, length, "2")) {
    code = LSCFG_OTHER_SOURCE; /* of another version */
  } else if (sha256 && (!(found = tensor_file_metadata(file, "source", &length)) || length != wanted ||
                         memcmp(found, sha256, wanted))) {
    code = LSCFG_OTHER_SOURCE;
  } else if (!tensor_file_has(file, "checksum", "U8")) {
    code = lscfg_fail(error, LSCFG_EINPUT, 0, "damaged: the checksum is missing; pack the system again");
  } else {
    code = tensor_file_check(file, error);
  }
  if (code) tensor_file_close(file);
  return code;
}

int tensor_file_check(const tensor_file *file, lscfg_error *error) {
  enum { BYTES = 4 };
  tensor_view view;
  size_t length;
  const char *kind = tensor_file_metadata(file, "checksum", &length);
  if (!kind && !tensor_file_has(file, "checksum", "U8")) return LSCFG_OK; /* made before files carried one */
  const unsigned char *last = (const unsigned char *)file->bytes + file->size - BYTES;
  if (kind && same(kind, length, "crc32") && !tensor_file_get(file, "checksum", "U8", 1, &view, NULL) &&
      view.shape[0] == BYTES && view.data == last) {
    uint32_t expected = last[0] | (uint32_t)last[1] << 8 | (uint32_t)last[2] << 16 | (uint32_t)last[3] << 24;
    if (crc32_of(file->bytes, file->size - BYTES) == expected) return LSCFG_OK;
  }
  return lscfg_fail(error, LSCFG_EINPUT, 0, "damaged: the checksum does not fit; copy or make the file again");
}
