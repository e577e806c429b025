/* Interned words: an append-only string table and its index. */
#include "base/vocab.h"

int vocab_init(lscfg_vocab *v) {
  memset(v, 0, sizeof *v);
  if (ARRAY_RESERVE(v->offsets, 1)) return LSCFG_ENOMEM;
  v->offsets.data[v->offsets.size++] = 0;
  return LSCFG_OK;
}

void vocab_release(lscfg_vocab *v) {
  index_release(&v->index);
  free(v->bytes.data);
  free(v->offsets.data);
  memset(v, 0, sizeof *v);
}

lscfg_vocab *lscfg_vocab_new(void) {
  lscfg_vocab *v = malloc(sizeof *v);
  if (v && vocab_init(v)) {
    free(v);
    return NULL;
  }
  return v;
}

void lscfg_vocab_free(lscfg_vocab *v) {
  if (!v) return;
  vocab_release(v);
  free(v);
}

int32_t lscfg_vocab_size(const lscfg_vocab *v) { return (int32_t)(v->offsets.size - 1); }

const char *lscfg_vocab_word(const lscfg_vocab *v, int32_t id, size_t *length) {
  *length = (size_t)(v->offsets.data[id + 1] - v->offsets.data[id]);
  return v->bytes.data + v->offsets.data[id];
}

static uint32_t hash_word(const char *word, size_t length) { return (uint32_t)hash_bytes(word, length); }

static int32_t find(const lscfg_vocab *v, uint32_t hash, const char *word, size_t length) {
  int64_t at = -1;
  for (int32_t id; (id = index_next(&v->index, hash, &at)) >= 0;) {
    size_t known_length;
    const char *known = lscfg_vocab_word(v, id, &known_length);
    if (known_length == length && !memcmp(known, word, length)) return id;
  }
  return -1;
}

int32_t lscfg_vocab_find(const lscfg_vocab *v, const char *word, size_t length) {
  return find(v, hash_word(word, length), word, length);
}

int32_t lscfg_vocab_add(lscfg_vocab *v, const char *word, size_t length) {
  uint32_t hash = hash_word(word, length);
  int32_t known = find(v, hash, word, length), id = lscfg_vocab_size(v);
  if (known >= 0) return known;
  /* room for one more byte, so that data is no null pointer even if all words are empty */
  if (id == INT32_MAX || ARRAY_RESERVE(v->bytes, length + 1) || ARRAY_RESERVE(v->offsets, 1) ||
      index_reserve(&v->index))
    return -1;
  memcpy(v->bytes.data + v->bytes.size, word, length);
  v->bytes.size += (int64_t)length;
  v->offsets.data[v->offsets.size++] = v->bytes.size;
  index_put(&v->index, hash, id);
  return id;
}

int64_t lscfg_vocab_line(lscfg_vocab *v, const char *line, size_t length, int32_t *ids, int64_t capacity) {
  int64_t n = 0;
  for (size_t begin = 0; begin < length;) {
    if (line[begin] == ' ') {
      begin++;
      continue;
    }
    size_t end = begin;
    while (end < length && line[end] != ' ') end++;
    if (n == capacity || (ids[n] = lscfg_vocab_add(v, line + begin, end - begin)) < 0) return -1;
    n++;
    begin = end;
  }
  return n;
}
