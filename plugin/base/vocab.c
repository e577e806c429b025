/* Interned words: an append-only string table with an open-addressing index. */
#include "base/vocab.h"

int vocab_init(lscfg_vocab *v) {
  memset(v, 0, sizeof *v);
  v->slots = 64;
  v->table = malloc((size_t)v->slots * sizeof *v->table);
  if (!v->table || ARRAY_RESERVE(v->offsets, 1)) {
    vocab_release(v);
    return LSCFG_ENOMEM;
  }
  memset(v->table, 0xff, (size_t)v->slots * sizeof *v->table);
  v->offsets.data[v->offsets.size++] = 0;
  return LSCFG_OK;
}

void vocab_release(lscfg_vocab *v) {
  free(v->table);
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

/* The slot that holds the word, or the empty one where it belongs. */
static int64_t find_slot(const lscfg_vocab *v, const char *word, size_t length) {
  int64_t slot = (int64_t)(hash_bytes(word, length) & (uint64_t)(v->slots - 1));
  for (;; slot = (slot + 1) & (v->slots - 1)) {
    int32_t id = v->table[slot];
    if (id < 0) return slot;
    size_t known_length;
    const char *known = lscfg_vocab_word(v, id, &known_length);
    if (known_length == length && !memcmp(known, word, length)) return slot;
  }
}

static int grow_table(lscfg_vocab *v) {
  int32_t *old = v->table;
  int64_t slots = v->slots * 2;
  int32_t *table = malloc((size_t)slots * sizeof *table);
  if (!table) return LSCFG_ENOMEM;
  memset(table, 0xff, (size_t)slots * sizeof *table);
  v->table = table;
  v->slots = slots;
  for (int32_t id = 0; id < lscfg_vocab_size(v); id++) {
    size_t length;
    const char *word = lscfg_vocab_word(v, id, &length);
    v->table[find_slot(v, word, length)] = id;
  }
  free(old);
  return LSCFG_OK;
}

int32_t lscfg_vocab_find(const lscfg_vocab *v, const char *word, size_t length) {
  return v->table[find_slot(v, word, length)];
}

int32_t lscfg_vocab_add(lscfg_vocab *v, const char *word, size_t length) {
  int64_t slot = find_slot(v, word, length);
  if (v->table[slot] >= 0) return v->table[slot];
  int32_t id = lscfg_vocab_size(v);
  /* the room of one byte more is so that data is no null pointer even where all words are empty */
  if (id == INT32_MAX || ARRAY_RESERVE(v->bytes, length + 1) || ARRAY_RESERVE(v->offsets, 1)) return -1;
  if (2 * ((int64_t)id + 1) > v->slots) {
    if (grow_table(v)) return -1;
    slot = find_slot(v, word, length);
  }
  memcpy(v->bytes.data + v->bytes.size, word, length);
  v->bytes.size += (int64_t)length;
  v->offsets.data[v->offsets.size++] = v->bytes.size;
  v->table[slot] = id;
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
