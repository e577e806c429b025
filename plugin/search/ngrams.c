/* An n-gram model as a trie from the first word to the last, with a link from each n-gram to the one without its first
 * word. A state of the automaton is the longest context that some n-gram can still use. Its scores equal KenLM's to the
 * last bit: single precision, the n-gram first, then the weights of the contexts, the shortest first. */
#include "search/ngrams.h"

#include <math.h>

enum { ROOT = LSCFG_LM_NULL, BEGIN = LSCFG_LM_BEGIN, FIRST_NODE = 2, UNKNOWN = -1 };

static const double LARGEST = 1e30; /* sums of so few numbers stay in single precision */

/* The slot of the n-gram of a longer context and a unigram, or the empty slot for it. */
static ngram_slot *child_slot(const lscfg_ngrams *m, int32_t context, int32_t unigram) {
  uint64_t hash = hash_mix((uint64_t)(uint32_t)context << 32 | (uint32_t)unigram);
  int64_t i = (int64_t)((hash >> 32) * (uint64_t)m->n_slots >> 32);
  while (m->slots[i].node >= 0 && (m->slots[i].context != context || m->slots[i].unigram != unigram))
    if (++i == m->n_slots) i = 0;
  return m->slots + i;
}

/* The n-gram of a longer context and a unigram, -1 if the model has none. */
static int32_t find_child(const lscfg_ngrams *m, int32_t context, int32_t unigram) {
  return child_slot(m, context, unigram)->node;
}

static void put_child(lscfg_ngrams *m, int32_t context, int32_t unigram, int32_t child) {
  *child_slot(m, context, unigram) = (ngram_slot){context, unigram, child};
}

/* ---- reading ---- */

typedef struct {
  const char *at, *end;
  int64_t line;
  const char *text; /* the line in hand */
  size_t length;
} reader;

/* The next line: 0 at the end of the text. */
static int any_line(reader *r) {
  if (r->at >= r->end) return 0;
  const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
  r->text = r->at;
  r->at = newline ? newline + 1 : r->end;
  r->length = (size_t)((newline ? newline : r->end) - r->text);
  r->line++;
  return 1;
}

/* The next line with something on it: 0 at the end of the text. */
static int next_line(reader *r) {
  while (any_line(r))
    if (r->length) return 1;
  return 0;
}

static int line_is(const reader *r, const char *wanted) {
  return r->length == strlen(wanted) && !memcmp(r->text, wanted, r->length);
}

static int unusual(const reader *r, const char *what, lscfg_error *error) {
  return lscfg_fail(error, LSCFG_EINPUT, r->line, "%s", what);
}

/* The number of up to nine digits, -1 for another text. */
static int32_t digits(const char *text, size_t length) {
  int32_t value = 0;
  if (!length || length > 9) return -1;
  for (size_t i = 0; i < length; i++) {
    if (text[i] < '0' || text[i] > '9') return -1;
    value = 10 * value + (text[i] - '0');
  }
  return value;
}

/* The counts end with an empty line, as KenLM demands. */
static int read_header(lscfg_ngrams *m, reader *r, lscfg_error *error) {
  int64_t room = r->end - r->at; /* no header may claim more n-grams than bytes */
  if (!next_line(r) || !line_is(r, "\\data\\")) return unusual(r, "no \\data\\ line", error);
  while (any_line(r) && r->length) {
    const char *equals = memchr(r->text, '=', r->length);
    if (r->length < 9 || memcmp(r->text, "ngram ", 6) || !equals)
      return unusual(r, "expected ngram ORDER=COUNT", error);
    int32_t order = digits(r->text + 6, (size_t)(equals - r->text) - 6);
    int32_t count = digits(equals + 1, r->length - (size_t)(equals + 1 - r->text));
    if (order != m->order + 1 || order > NGRAMS_MAX_ORDER || count < 0 || (room -= count) < 0)
      return unusual(r, "expected ngram ORDER=COUNT", error);
    m->counts[m->order++] = count;
  }
  if (m->order < 2) return unusual(r, "no n-grams longer than words", error);
  return next_line(r) ? LSCFG_OK : unusual(r, "cut off", error);
}

static int make_room(lscfg_ngrams *m, int64_t n) {
  m->n_slots = n + n / 2 + 1;
  m->nodes = malloc((size_t)n * sizeof *m->nodes);
  m->slots = malloc((size_t)m->n_slots * sizeof *m->slots);
  m->unigrams = malloc((size_t)n * sizeof *m->unigrams);
  if (!m->nodes || !m->slots || !m->unigrams) return LSCFG_ENOMEM;
  for (int64_t i = 0; i < m->n_slots; i++) m->slots[i] = (ngram_slot){0, 0, -1};
  return LSCFG_OK;
}

/* Takes a unigram in: its word is new. */
static int add_unigram(lscfg_ngrams *m, const char *word, size_t length, int32_t *node) {
  int32_t id = lscfg_vocab_size(&m->words);
  if (lscfg_vocab_find(&m->words, word, length) >= 0) return LSCFG_EINPUT;
  if (length == 5 && !memcmp(word, "<UNK>", 5)) return LSCFG_EINPUT; /* KenLM's other name of <unk> */
  if (lscfg_vocab_add(&m->words, word, length) != id) return LSCFG_ENOMEM;
  int is_begin = length == 3 && !memcmp(word, "<s>", 3);
  m->has_end |= length == 4 && !memcmp(word, "</s>", 4);
  *node = is_begin ? BEGIN : m->n_nodes++;
  if (length == 5 && !memcmp(word, "<unk>", 5)) m->unknown = *node;
  m->has_begin |= is_begin;
  m->unigrams[id] = *node;
  return LSCFG_OK;
}

/* Splits an n-gram's words at single blanks: its unigrams. */
static int find_unigrams(const lscfg_ngrams *m, const char *words, size_t size, int32_t length, int32_t *unigrams) {
  for (int32_t k = 0; k < length; k++) {
    const char *blank = memchr(words, ' ', size);
    size_t word = blank ? (size_t)(blank - words) : size;
    int32_t id = lscfg_vocab_find(&m->words, words, word);
    if (id < 0 || (unigrams[k] = m->unigrams[id]) == m->unknown || (k == length - 1) != !blank) return LSCFG_EINPUT;
    words += word + 1;
    size -= blank ? word + 1 : word;
  }
  return LSCFG_OK;
}

/* Takes a longer n-gram in, below its context: both parts must be there. */
static int add_longer(lscfg_ngrams *m, const int32_t *unigrams, int32_t length, int32_t *node) {
  int32_t context = unigrams[0], suffix = unigrams[1];
  for (int32_t k = 1; k < length - 1 && context >= 0; k++) context = find_child(m, context, unigrams[k]);
  for (int32_t k = 2; k < length && suffix >= 0; k++) suffix = find_child(m, suffix, unigrams[k]);
  if (context < 0 || suffix < 0 || find_child(m, context, unigrams[length - 1]) >= 0) return LSCFG_EINPUT;
  *node = m->n_nodes++;
  put_child(m, context, unigrams[length - 1], *node);
  m->nodes[context].goes_on = 1;
  m->nodes[suffix].extended = 1;
  m->nodes[*node].suffix = suffix;
  return LSCFG_OK;
}

/* A line of a section: probability, words, and perhaps a back-off weight, between tabs. */
static int add_ngram(lscfg_ngrams *m, const reader *r, int32_t length) {
  const char *end = r->text + r->length, *words = memchr(r->text, '\t', r->length);
  double log10p, backoff = 0;
  int32_t node, unigrams[NGRAMS_MAX_ORDER];
  int code;
  if (!words++ || lscfg_parse_double(r->text, (size_t)(words - r->text) - 1, &log10p) || !(log10p <= 0) ||
      log10p < -LARGEST)
    return LSCFG_EINPUT;
  const char *tab = memchr(words, '\t', (size_t)(end - words));
  size_t size = (size_t)((tab ? tab : end) - words);
  if (tab && (length == m->order || lscfg_parse_double(tab + 1, (size_t)(end - tab) - 1, &backoff) ||
              !(fabs(backoff) <= LARGEST)))
    return LSCFG_EINPUT;
  if (!size || memchr(words, '\r', size) || memchr(words, '\0', size)) return LSCFG_EINPUT;
  if (length == 1) {
    if (memchr(words, ' ', size)) return LSCFG_EINPUT;
    if ((code = add_unigram(m, words, size, &node))) return code;
    m->nodes[node] = (ngram_node){.suffix = ROOT};
  } else {
    if ((code = find_unigrams(m, words, size, length, unigrams))) return code;
    int32_t next = m->n_nodes;
    m->nodes[next] = (ngram_node){0};
    if ((code = add_longer(m, unigrams, length, &node))) return code;
  }
  ngram_node *n = m->nodes + node;
  n->log10p = (float)log10p;
  n->backoff = (float)backoff;
  n->length = (uint8_t)length;
  n->goes_on = n->backoff != 0;
  return LSCFG_OK;
}

static int read_section(lscfg_ngrams *m, reader *r, int32_t length, lscfg_error *error) {
  char heading[24];
  snprintf(heading, sizeof heading, "\\%d-grams:", (int)length);
  if (!line_is(r, heading)) return unusual(r, "expected the next section", error);
  for (int32_t i = 0; i < m->counts[length - 1]; i++) {
    if (!next_line(r)) return unusual(r, "cut off", error);
    int code = add_ngram(m, r, length);
    if (code == LSCFG_ENOMEM) return out_of_memory(error);
    if (code) return unusual(r, "not an n-gram as lmplz writes it", error);
  }
  return next_line(r) ? LSCFG_OK : unusual(r, "cut off", error);
}

static void set_states(lscfg_ngrams *m) {
  for (int32_t n = 0; n < m->n_nodes; n++) { /* a suffix comes before what it is a suffix of */
    ngram_node *node = m->nodes + n;
    node->state = node->goes_on || n == ROOT ? n : m->nodes[node->suffix].state;
  }
}

static int read_model(lscfg_ngrams *m, reader *r, lscfg_error *error) {
  int code = read_header(m, r, error);
  if (code) return code;
  int64_t n = FIRST_NODE;
  for (int32_t k = 0; k < m->order; k++) n += m->counts[k];
  if (n >= 1 << 28) return unusual(r, "too many n-grams", error); /* states are numbers below that */
  if (make_room(m, n)) return out_of_memory(error);
  m->nodes[ROOT] = m->nodes[BEGIN] = (ngram_node){0};
  m->n_nodes = FIRST_NODE;
  for (int32_t length = 1; length <= m->order; length++)
    if ((code = read_section(m, r, length, error))) return code;
  if (!line_is(r, "\\end\\") || next_line(r)) return unusual(r, "expected \\end\\", error);
  if (!m->has_begin || !m->has_end || m->unknown == UNKNOWN) return unusual(r, "no <s>, </s> or <unk>", error);
  m->nodes[BEGIN].length = 1;
  set_states(m);
  return LSCFG_OK;
}

int lscfg_ngrams_read(const lscfg_vocab *vocab, const char *text, size_t length, lscfg_ngrams **ngrams,
                      lscfg_error *error) {
  reader r = {.at = text, .end = text + length};
  lscfg_ngrams *m = calloc(1, sizeof *m);
  *ngrams = NULL;
  if (!m || vocab_init(&m->words)) {
    free(m);
    return out_of_memory(error);
  }
  m->vocab = vocab;
  m->unknown = UNKNOWN;
  int code = read_model(m, &r, error);
  if (code)
    lscfg_ngrams_free(m);
  else
    *ngrams = m;
  return code;
}

void lscfg_ngrams_free(lscfg_ngrams *m) {
  if (!m) return;
  vocab_release(&m->words);
  free(m->known.data);
  free(m->nodes);
  free(m->slots);
  free(m->unigrams);
  free(m);
}

int32_t lscfg_ngrams_order(const lscfg_ngrams *m) { return m->order; }

/* ---- compiled models ---- */

void lscfg_ngrams_get(const lscfg_ngrams *m, lscfg_ngrams_view *view) {
  *view = (lscfg_ngrams_view){.order = m->order,
                              .unknown = m->unknown,
                              .n_nodes = m->n_nodes,
                              .n_slots = m->n_slots,
                              .n_words = lscfg_vocab_size(&m->words),
                              .nodes = (const int32_t *)m->nodes,
                              .slots = (const int32_t *)m->slots,
                              .unigrams = m->unigrams,
                              .words = m->words.bytes.data,
                              .word_offsets = m->words.offsets.data};
}

static int damaged(const char *name, lscfg_error *error) {
  return lscfg_fail(error, LSCFG_EINPUT, 0, "damaged: '%s' does not fit; pack the system again", name);
}

/* The columns of a compiled model, a row for each node. */
typedef struct {
  tensor_view log10p, backoff, context, last, suffix;
} columns;

static int get_columns(lscfg_ngrams *m, const tensor_file *file, columns *c, lscfg_error *error) {
  int code = tensor_file_get(file, "log10p", "F32", 1, &c->log10p, error);
  if (!code) code = tensor_file_get(file, "backoff", "F32", 1, &c->backoff, error);
  if (!code) code = tensor_file_get(file, "context", "I32", 1, &c->context, error);
  if (!code) code = tensor_file_get(file, "last", "I32", 1, &c->last, error);
  if (!code) code = tensor_file_get(file, "suffix", "I32", 1, &c->suffix, error);
  if (code) return code;
  int64_t n = c->log10p.shape[0];
  if (n < FIRST_NODE || n >= 1 << 28) return damaged("log10p", error);
  if (c->backoff.shape[0] != n || c->context.shape[0] != n || c->last.shape[0] != n || c->suffix.shape[0] != n)
    return damaged("context", error);
  m->n_nodes = (int32_t)n;
  return LSCFG_OK;
}

/* Adds the node of a row: 0 if it does not fit. Its context and its suffix come before it and are one word shorter, so
 * that walks along them end. */
static int add_row(lscfg_ngrams *m, const columns *c, int32_t k) {
  int32_t context = ((const int32_t *)c->context.data)[k], suffix = ((const int32_t *)c->suffix.data)[k],
          last = ((const int32_t *)c->last.data)[k];
  ngram_node *node = m->nodes + k;
  *node = (ngram_node){((const float *)c->log10p.data)[k], ((const float *)c->backoff.data)[k], .suffix = suffix};
  node->goes_on = node->backoff != 0;
  if (!isfinite(node->log10p) || !isfinite(node->backoff)) return 0;
  if (k == ROOT) return !context && !suffix;
  if (context < 0 || context >= k || suffix < 0 || suffix >= k || last < 0 || last > k) return 0;
  int32_t length = node->length = (uint8_t)(m->nodes[context].length + 1);
  if (length > m->order || m->nodes[suffix].length != length - 1) return 0;
  if (length == 1) return last == k;
  if (m->nodes[last].length != 1) return 0;
  ngram_slot *slot = child_slot(m, context, last);
  if (slot->node >= 0) return 0;
  *slot = (ngram_slot){context, last, k};
  m->nodes[context].goes_on = 1;
  m->nodes[suffix].extended = 1;
  return 1;
}

/* Adds the words of the file to the model's vocabulary. */
static int read_words(lscfg_ngrams *m, const tensor_file *file, lscfg_error *error) {
  tensor_view bytes, offsets, unigrams;
  int code = tensor_file_get(file, "words", "U8", 1, &bytes, error);
  if (!code) code = tensor_file_get(file, "word_offsets", "I64", 1, &offsets, error);
  if (!code) code = tensor_file_get(file, "unigrams", "I32", 1, &unigrams, error);
  if (code) return code;
  const int64_t *begin = offsets.data;
  if (offsets.shape[0] != unigrams.shape[0] + 1 || begin[0] || begin[unigrams.shape[0]] != bytes.shape[0])
    return damaged("word_offsets", error);
  if (unigrams.shape[0] > m->n_nodes) return damaged("unigrams", error);
  memcpy(m->unigrams, unigrams.data, (size_t)unigrams.shape[0] * sizeof *m->unigrams);
  if (index_reserve_all(&m->words.index, unigrams.shape[0])) return out_of_memory(error);
  for (int64_t w = 0; w < unigrams.shape[0]; w++) {
    if (begin[w] > begin[w + 1] || begin[w + 1] > bytes.shape[0]) return damaged("word_offsets", error);
    if (m->unigrams[w] < 0 || m->unigrams[w] >= m->n_nodes || m->nodes[m->unigrams[w]].length != 1)
      return damaged("unigrams", error);
    int32_t id = lscfg_vocab_add(&m->words, (const char *)bytes.data + begin[w], (size_t)(begin[w + 1] - begin[w]));
    if (id < 0) return out_of_memory(error);
    if (id != w) return damaged("words", error);
  }
  return LSCFG_OK;
}

static int read_file(lscfg_ngrams *m, const tensor_file *file, lscfg_error *error) {
  tensor_view facts;
  columns c;
  int code = tensor_file_get(file, "facts", "I32", 1, &facts, error);
  if (code) return code;
  if (facts.shape[0] != 2) return damaged("facts", error);
  m->order = ((const int32_t *)facts.data)[0];
  m->unknown = ((const int32_t *)facts.data)[1];
  if ((code = get_columns(m, file, &c, error))) return code;
  if (m->order < 2 || m->order > NGRAMS_MAX_ORDER || m->unknown < FIRST_NODE || m->unknown >= m->n_nodes)
    return damaged("facts", error);
  if (make_room(m, m->n_nodes)) return out_of_memory(error);
  for (int32_t k = 0; k < m->n_nodes; k++)
    if (!add_row(m, &c, k)) return damaged("context", error);
  if (m->nodes[BEGIN].length != 1 || m->nodes[m->unknown].length != 1) return damaged("facts", error);
  set_states(m);
  return read_words(m, file, error);
}

int lscfg_ngrams_open(const lscfg_vocab *vocab, const char *path, const char *sha256, lscfg_ngrams **ngrams,
                      lscfg_error *error) {
  tensor_file file = {0};
  lscfg_ngrams *m = calloc(1, sizeof *m);
  *ngrams = NULL;
  if (!m || vocab_init(&m->words)) {
    free(m);
    return out_of_memory(error);
  }
  m->vocab = vocab;
  int code = tensor_file_compiled(&file, path, "ngrams", sha256, error);
  if (!code) code = read_file(m, &file, error);
  tensor_file_close(&file);
  code = lscfg_cure(code, error, "pack the system again");
  if (code)
    lscfg_ngrams_free(m);
  else
    *ngrams = m;
  return code;
}

/* ---- the automaton ---- */

/* Finds the unigrams of the vocabulary's words that came since the last time. */
static int learn_words(lscfg_ngrams *m) {
  int32_t size = lscfg_vocab_size(m->vocab);
  if (ARRAY_RESERVE(m->known, size - m->known.size)) return LSCFG_ENOMEM;
  while (m->known.size < size) {
    size_t length;
    const char *word = lscfg_vocab_word(m->vocab, (int32_t)m->known.size, &length);
    int32_t id = lscfg_vocab_find(&m->words, word, length);
    m->known.data[m->known.size++] = id < 0 ? m->unknown : m->unigrams[id];
  }
  return LSCFG_OK;
}

int lscfg_ngrams_step(void *ngrams, int32_t state, int32_t word, float *log10p, int32_t *next, int32_t *reach) {
  lscfg_ngrams *m = ngrams;
  float backoff[NGRAMS_MAX_ORDER];
  int32_t waived = 0;
  if (state < 0 || state >= m->n_nodes || word < 0) return 1;
  if (word >= m->known.size && learn_words(m)) return LSCFG_ENOMEM;
  if (word >= m->known.size) return 1;
  int32_t unigram = m->known.data[word], found = unigram;
  for (int32_t context = state; context != ROOT; context = m->nodes[context].suffix) {
    int32_t longer = unigram == m->unknown ? -1 : find_child(m, context, unigram);
    if (longer >= 0) {
      found = longer;
      break;
    }
    backoff[waived++] = m->nodes[context].backoff;
  }
  const ngram_node *node = m->nodes + found;
  float p = node->log10p;
  while (waived) p += backoff[--waived];
  *log10p = p;
  *next = node->state;
  *reach = unigram == m->unknown ? LSCFG_LM_UNKNOWN : node->length - !(node->extended || node->length == m->order);
  return 0;
}
