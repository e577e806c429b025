/* Word-aligned sentence pairs. */
#include "extract/bitext.h"

#include "base/text.h"

static const char *const side_name[] = {"source", "target"};

void sentence_pair_release(sentence_pair *p) {
  for (int side = SRC; side <= TGT; side++) {
    free(p->tokens[side].data);
    free(p->words[side].data);
    free(p->n_links[side].data);
  }
  free(p->links.data);
  memset(p, 0, sizeof *p);
}

/* ---- words ---- */

/* Words with a meaning in grammars: |||, and anything like [X]. */
static int is_reserved(const char *word, int64_t length) {
  return (length == 3 && !memcmp(word, "|||", 3)) || (length > 2 && word[0] == '[' && word[length - 1] == ']');
}

/* Finds the next word of a line, of length 0 at its end, and moves past it; returns the reason to refuse it, if any. */
static inline int next_word(const char **at, const char *end, token *word, lscfg_error *error) {
  const char *p = *at;
  while (p < end && *p == ' ') p++;
  word->begin = p;
  for (; p < end && *p != ' '; p++) {
    int32_t code = (signed char)*p > 0x20 && *p != 0x7f ? 0 : unwelcome(p, end);
    if (code) {
      int blank = code < 0xa0 || is_space(code);
      lscfg_fail(error, LSCFG_EINPUT, 0, "%s character U+%04lX; %s, as lscfg prepare does",
                 code < 0xa0 ? "control" : blank ? "space" : "invisible", code < 0 ? 0L : (long)code,
                 blank ? "separate words by single blanks" : "remove it");
      return LSCFG_PAIR_CONTROL;
    }
  }
  word->length = (int32_t)(p - word->begin);
  *at = p;
  if (!is_reserved(word->begin, word->length)) return LSCFG_PAIR_GOOD;
  lscfg_fail(error, LSCFG_EINPUT, 0, "the word '%.*s' is reserved in grammars; replace it, as lscfg prepare does",
             word->length > 60 ? 60 : (int)word->length, word->begin);
  return LSCFG_PAIR_RESERVED;
}

int32_t lscfg_refused_character(int32_t from) {
  for (int32_t code = from; code < 0x10000; code++)
    if (is_refused(code)) return code;
  return -1;
}

int lscfg_check_words(const char *line, size_t length, lscfg_error *error) {
  const char *end = line + length;
  token word = {line, 1};
  int reason = length > INT32_MAX ? out_of_memory(error) : LSCFG_PAIR_GOOD;
  while (!reason && word.length) reason = next_word(&line, end, &word, error);
  return reason;
}

static int read_words(sentence_pair *p, int side, const char *line, size_t length, int64_t most, lscfg_error *error) {
  const char *end = line + length;
  int64_t n = 0;
  p->tokens[side].size = 0;
  if (ARRAY_RESERVE(p->tokens[side], (int64_t)length / 2 + 2)) return out_of_memory(error);
  for (token *words = p->tokens[side].data;; n++) {
    int reason = next_word(&line, end, &words[n], error);
    if (reason) return reason;
    if (!words[n].length) break;
  }
  p->tokens[side].size = n;
  if (!n) {
    lscfg_fail(error, LSCFG_EINPUT, 0,
               "the %s sentence is empty; remove this pair from both sides, as lscfg prepare does", side_name[side]);
    return LSCFG_PAIR_EMPTY;
  }
  if (most && n > most) {
    lscfg_fail(error, LSCFG_EINPUT, 0, "the %s sentence has %lld words, more than %lld", side_name[side], (long long)n,
               (long long)most);
    return LSCFG_PAIR_TOO_LONG;
  }
  return LSCFG_PAIR_GOOD;
}

/* ---- links ---- */

static int is_gap(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* Refuses the link that begins at token. */
static int bad_link(const sentence_pair *p, const char *token, const char *end, int reason, int side,
                    lscfg_error *error) {
  const char *stop = token;
  while (stop < end && !is_gap(*stop)) stop++;
  int shown = stop - token > 40 ? 40 : (int)(stop - token);
  if (reason == LSCFG_PAIR_BAD_LINK)
    lscfg_fail(error, LSCFG_EINPUT, 0, "'%.*s' is not an alignment link i-j", shown, token);
  else
    lscfg_fail(error, LSCFG_EINPUT, 0,
               "link '%.*s' points beyond the %s sentence of %lld words; are source and target swapped, or the "
               "alignment's directions?",
               shown, token, side_name[side], (long long)p->tokens[side].size);
  return reason;
}

/* "0-0 1-2 ...": pairs of positions, checked against the sentence lengths. */
static int read_links(sentence_pair *p, const char *line, size_t length, lscfg_error *error) {
  const char *end = line + length;
  p->links.size = 0;
  if (ARRAY_RESERVE(p->links, 2 * ((int64_t)length / 4 + 1))) return out_of_memory(error); /* "i-j " */
  for (int side = SRC; side <= TGT; side++) {
    p->n_links[side].size = 0;
    if (ARRAY_RESERVE(p->n_links[side], p->tokens[side].size)) return out_of_memory(error);
    p->n_links[side].size = p->tokens[side].size;
    memset(p->n_links[side].data, 0, (size_t)p->n_links[side].size * sizeof(int32_t));
  }
  while (line < end) {
    if (is_gap(*line)) {
      line++;
      continue;
    }
    const char *link = line;
    for (int side = SRC; side <= TGT; side++) {
      const char *digits = line;
      int64_t position = 0;
      for (; line < end && *line >= '0' && *line <= '9'; line++)
        if (position <= INT32_MAX) position = 10 * position + (*line - '0');
      int closed = side == SRC ? line < end && *line == '-' : line == end || is_gap(*line);
      if (line == digits || !closed) return bad_link(p, link, end, LSCFG_PAIR_BAD_LINK, side, error);
      if (position >= p->tokens[side].size) return bad_link(p, link, end, LSCFG_PAIR_LINK_BEYOND, side, error);
      p->links.data[p->links.size++] = (int32_t)position;
      p->n_links[side].data[position]++;
      line += side == SRC;
    }
  }
  return LSCFG_PAIR_GOOD;
}

int sentence_pair_read(sentence_pair *p, lscfg_vocab *vocab, const char *const line[3], const size_t length[3],
                       int32_t max_words, int32_t *stream, lscfg_error *error) {
  for (*stream = SRC; *stream <= LSCFG_LINKS; ++*stream) {
    if (length[*stream] > INT32_MAX) return out_of_memory(error);
    int reason = *stream == LSCFG_LINKS ? read_links(p, line[LSCFG_LINKS], length[LSCFG_LINKS], error)
                                        : read_words(p, *stream, line[*stream], length[*stream], max_words, error);
    if (reason) return reason;
  }
  for (int side = SRC; side <= TGT; side++) {
    int64_t n = p->tokens[side].size;
    p->words[side].size = 0;
    if (ARRAY_RESERVE(p->words[side], n)) return out_of_memory(error);
    for (int64_t i = 0; i < n; i++) {
      token word = p->tokens[side].data[i];
      int32_t id = lscfg_vocab_add(vocab, word.begin, (size_t)word.length);
      if (id < 0) return out_of_memory(error);
      p->words[side].data[p->words[side].size++] = id;
    }
  }
  return LSCFG_PAIR_GOOD;
}

/* ---- how often two words are linked ---- */

void link_counts_release(link_counts *c) {
  free(c->pairs.data);
  index_release(&c->index);
  memset(c, 0, sizeof *c);
}

static uint32_t hash_link(int32_t src, int32_t tgt) {
  return (uint32_t)hash_mix(((uint64_t)(uint32_t)src << 32) | (uint32_t)tgt);
}

static lscfg_word_pair *find_link(const link_counts *c, int32_t src, int32_t tgt) {
  int64_t at = -1;
  for (int32_t k; (k = index_next(&c->index, hash_link(src, tgt), &at)) >= 0;)
    if (c->pairs.data[k].src == src && c->pairs.data[k].tgt == tgt) return &c->pairs.data[k];
  return NULL;
}

int64_t link_counts_find(const link_counts *c, int32_t src, int32_t tgt) {
  const lscfg_word_pair *found = find_link(c, src, tgt);
  return found ? found->count : 0;
}

int link_counts_add(link_counts *c, int32_t src, int32_t tgt, int64_t count) {
  lscfg_word_pair *found = find_link(c, src, tgt);
  if (found) {
    found->count += count;
    return LSCFG_OK;
  }
  if (c->pairs.size == INT32_MAX || ARRAY_RESERVE(c->pairs, 1) || index_reserve(&c->index)) return LSCFG_ENOMEM;
  index_put(&c->index, hash_link(src, tgt), (int32_t)c->pairs.size);
  c->pairs.data[c->pairs.size++] = (lscfg_word_pair){src, tgt, count};
  return LSCFG_OK;
}

int link_counts_add_pair(link_counts *c, const sentence_pair *p) {
  const int32_t *words[2] = {p->words[SRC].data, p->words[TGT].data};
  for (int64_t k = 0; k < p->links.size; k += 2)
    if (link_counts_add(c, words[SRC][p->links.data[k]], words[TGT][p->links.data[k + 1]], 1)) return LSCFG_ENOMEM;
  for (int side = SRC; side <= TGT; side++)
    for (int64_t i = 0; i < p->words[side].size; i++) {
      int32_t word = words[side][i];
      if (!p->n_links[side].data[i] && link_counts_add(c, side == SRC ? word : -1, side == SRC ? -1 : word, 1))
        return LSCFG_ENOMEM;
    }
  return LSCFG_OK;
}
