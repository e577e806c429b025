#define _POSIX_C_SOURCE 200809L /* mmap, under -std=c11 */
/* Reading safetensors: 8 bytes little-endian header length, a JSON object name -> {dtype, shape, data_offsets}, data.
 * */
#include "base/safetensors.h"

#include "base/crc32.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_DEPTH = 16 };

int tensor_file_open(tensor_file *file, const char *path, lscfg_error *error) {
  struct stat status;
  memset(file, 0, sizeof *file);
  int descriptor = open(path, O_RDONLY);
  if (descriptor < 0 || fstat(descriptor, &status)) {
    int code = lscfg_fail(error, LSCFG_EIO, 0, "cannot open the model: %s", strerror(errno));
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
    int code = lscfg_fail(error, LSCFG_EINPUT, 0, "not a safetensors file, or cut off in its header");
    tensor_file_close(file);
    return code;
  }
  file->header = (size_t)header;
  return LSCFG_OK;
}

void tensor_file_close(tensor_file *file) {
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

int tensor_file_get(const tensor_file *file, const char *name, const char *dtype, int32_t n_dims, tensor_view *view,
                    lscfg_error *error) {
  const char *begin = file->bytes + 8, *end = begin + file->header, *entry;
  int64_t offsets[2] = {0, 0};
  int32_t n_offsets = 0;
  memset(view, 0, sizeof *view);
  if (!find_entry(begin, end, name, &entry))
    return lscfg_fail(error, LSCFG_EINPUT, 0, "the model's header is malformed; create the file again");
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
    return lscfg_fail(error, LSCFG_EINPUT, 0, "the model is cut off: tensor '%s' ends at byte %lld of %zu", name,
                      (long long)offsets[1] + 8 + (long long)file->header, file->size);
  view->data = begin + file->header + offsets[0];
  if ((uintptr_t)view->data % element_size(dtype))
    return lscfg_fail(error, LSCFG_EINPUT, 0, "tensor '%s' is not aligned; create the file again", name);
  return LSCFG_OK;
}

int tensor_file_has(const tensor_file *file, const char *name, const char *dtype) {
  const char *begin = file->bytes + 8, *end = begin + file->header, *entry;
  int64_t offsets[2];
  int32_t n_offsets;
  tensor_view view = {0};
  return find_entry(begin, end, name, &entry) && entry && read_entry(entry, end, &view, offsets, &n_offsets) &&
         !strcmp(view.dtype, dtype);
}

const char *tensor_file_metadata(const tensor_file *file, const char *key, size_t *length) {
  const char *begin = file->bytes + 8, *end = begin + file->header, *entry, *text;
  if (!find_entry(begin, end, "__metadata__", &entry) || !entry || !find_entry(entry, end, key, &entry) || !entry)
    return NULL;
  return read_string(entry, end, &text, length) ? text : NULL;
}

int tensor_file_compiled(tensor_file *file, const char *path, const char *kind, const char *sha256,
                         lscfg_error *error) {
  size_t length, wanted = strlen(sha256);
  int code = tensor_file_open(file, path, error);
  if (code) return code;
  const char *found = tensor_file_metadata(file, "lscfg", &length);
  if (!found || !same(found, length, kind)) {
    code = lscfg_fail(error, LSCFG_EINPUT, 0, "not a compiled %s", kind);
  } else if (!(found = tensor_file_metadata(file, "format", &length)) || !same(found, length, "1")) {
    code = LSCFG_OTHER_SOURCE; /* of another version */
  } else if (!(found = tensor_file_metadata(file, "source", &length)) || length != wanted ||
             memcmp(found, sha256, wanted)) {
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
