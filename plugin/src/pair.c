/* One word-aligned sentence pair: its three lines are checked and read, words without links set aside, and the rule of
 * a pair of spans spelt out. */
#include "derivations.h"

static const char *const side_name[] = {"source", "target"};

/* Words that stand for something else in grammars; |||, and anything like [X]. */
static int is_reserved(const char *word, int64_t length) {
  return (length == 3 && !memcmp(word, "|||", 3)) || (length > 2 && word[0] == '[' && word[length - 1] == ']');
}

/* The code point of the character at p if no word may contain it, else 0: control characters, line separators, and every
 * space but the blank. One program or another would end a word or a line there, or show two different words alike. The
 * joiners U+200C and U+200D are letters of some scripts and stay. The text is valid UTF-8 or at least not read beyond
 * end. */
static int32_t unwelcome(const char *p, const char *end) {
  const unsigned char *c = (const unsigned char *)p;
  if (*c < 0x20 || *c == 0x7f) return *c ? *c : -1;
  if (*c < 0xc2 || end - p < 2) return 0;
  if (*c == 0xc2) return c[1] <= 0xa0 ? c[1] : 0;
  if ((*c & 0xf0) != 0xe0 || end - p < 3) return 0;
  int32_t code = (*c & 0x0f) << 12 | (c[1] & 0x3f) << 6 | (c[2] & 0x3f);
  int refused = (code >= 0x2000 && code <= 0x200b) || code == 0x2028 || code == 0x2029 || code == 0x202f ||
                code == 0x205f || code == 0x2060 || code == 0x3000 || code == 0x1680 || code == 0x180e || code == 0xfeff;
  return refused ? code : 0;
}

static int read_words(lscfg_derivations *d, int side, const char *p, size_t length, lscfg_error *error) {
  const char *end = p + length;
  d->tokens[side].size = 0;
  if (length > INT32_MAX || ARRAY_RESERVE(d->tokens[side], (int64_t)length / 2 + 1)) return out_of_memory(error);
  while (p < end) {
    if (*p == ' ') {
      p++;
      continue;
    }
    const char *word = p;
    for (; p < end && *p != ' '; p++) {
      int32_t code = (signed char)*p > 0x20 && *p != 0x7f ? 0 : unwelcome(p, end);
      if (code) {
        lscfg_fail(error, LSCFG_EINPUT, 0, "%s character U+%04lX; separate words by single blanks",
                   code < 0xa0 ? "control" : "space", code < 0 ? 0L : (long)code);
        return LSCFG_PAIR_CONTROL;
      }
    }
    if (is_reserved(word, p - word)) {
      lscfg_fail(error, LSCFG_EINPUT, 0, "the word '%.*s' is reserved in grammars; replace it in the text",
                 p - word > 60 ? 60 : (int)(p - word), word);
      return LSCFG_PAIR_RESERVED;
    }
    d->tokens[side].data[d->tokens[side].size++] = (token){word, (int32_t)(p - word)};
  }
  int64_t n = d->tokens[side].size, longest = d->options.max_words;
  if (!n) {
    lscfg_fail(error, LSCFG_EINPUT, 0, "the %s sentence is empty; remove this pair from both sides", side_name[side]);
    return LSCFG_PAIR_EMPTY;
  }
  if (longest && n > longest) {
    lscfg_fail(error, LSCFG_EINPUT, 0, "the %s sentence has %lld words, more than %lld", side_name[side], (long long)n,
               (long long)longest);
    return LSCFG_PAIR_TOO_LONG;
  }
  return LSCFG_PAIR_GOOD;
}

static int is_gap(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* "0-0 1-2 ...": pairs of positions, checked against the sentence lengths. */
static int read_links(lscfg_derivations *d, const char *p, size_t length, lscfg_error *error) {
  const char *end = p + length;
  d->links.size = 0;
  if (ARRAY_RESERVE(d->links, 2 * ((int64_t)length / 4 + 1))) return out_of_memory(error); /* "i-j " */
  while (p < end) {
    if (is_gap(*p)) {
      p++;
      continue;
    }
    const char *link = p;
    for (int side = SRC; side <= TGT; side++) {
      int64_t value = 0;
      const char *digits = p;
      for (; p < end && *p >= '0' && *p <= '9'; p++)
        if (value <= INT32_MAX) value = 10 * value + (*p - '0');
      int closed = side == SRC ? p < end && *p == '-' : p == end || is_gap(*p);
      if (p == digits || !closed) {
        while (p < end && !is_gap(*p)) p++;
        lscfg_fail(error, LSCFG_EINPUT, 0, "'%.*s' is not an alignment link i-j", p - link > 40 ? 40 : (int)(p - link), link);
        return LSCFG_PAIR_BAD_LINK;
      }
      if (value >= d->tokens[side].size) {
        while (p < end && !is_gap(*p)) p++;
        lscfg_fail(error, LSCFG_EINPUT, 0, "link '%.*s' points beyond the %s sentence of %lld words",
                   p - link > 40 ? 40 : (int)(p - link), link, side_name[side], (long long)d->tokens[side].size);
        return LSCFG_PAIR_LINK_BEYOND;
      }
      d->links.data[d->links.size++] = (int32_t)value;
      p += side == SRC;
    }
  }
  return LSCFG_PAIR_GOOD;
}

int pair_read(lscfg_derivations *d, const char *const line[3], const size_t length[3], int32_t *stream,
              lscfg_error *error) {
  int reason = LSCFG_PAIR_GOOD;
  for (*stream = 0; *stream < 3; ++*stream) {
    reason = *stream < 2 ? read_words(d, *stream, line[*stream], length[*stream], error)
                         : read_links(d, line[*stream], length[*stream], error);
    if (reason) return reason;
  }
  for (int side = SRC; side <= TGT; side++) {
    int64_t n = d->tokens[side].size;
    d->words[side].size = 0;
    if (ARRAY_RESERVE(d->words[side], n)) return out_of_memory(error);
    for (int64_t i = 0; i < n; i++) {
      token word = d->tokens[side].data[i];
      int32_t id = lscfg_vocab_add(&d->vocab, word.begin, (size_t)word.length);
      if (id < 0) return out_of_memory(error);
      d->words[side].data[d->words[side].size++] = id;
    }
  }
  return LSCFG_PAIR_GOOD;
}

int pair_condense(lscfg_derivations *d, linked_words *c) {
  int64_t length[2] = {d->words[SRC].size, d->words[TGT].size}, n_links = d->links.size / 2;
  d->work.size = 0;
  if (n_links > INT32_MAX || ARRAY_RESERVE(d->work, 6 * (length[SRC] + length[TGT]) + 2)) return LSCFG_ENOMEM;
  int32_t *p = d->work.data, *number[2];
  const int32_t *links = d->links.data;
  for (int side = SRC; side <= TGT; side++) {
    c->position[side] = p;
    number[side] = p + length[side];
    c->links_to[side] = p + 2 * length[side];
    p += 3 * length[side] + 1;
    memset(number[side], 0, (size_t)length[side] * sizeof *p);
    for (int64_t k = 0; k < 2 * n_links; k += 2) number[side][links[k + side]]++;
    c->n[side] = 0;
    c->links_to[side][0] = 0;
    for (int32_t i = 0; i < length[side]; i++) {
      int32_t n = c->n[side], here = number[side][i];
      if (!here) continue;
      number[side][i] = n;
      c->position[side][n] = i;
      c->links_to[side][n + 1] = c->links_to[side][n] + here;
      c->n[side] = n + 1;
    }
  }
  c->low = p;
  c->high = p + length[SRC];
  c->last = p + 2 * length[SRC];
  for (int32_t s = 0; s < c->n[SRC]; s++) {
    c->low[s] = INT32_MAX;
    c->high[s] = -1;
  }
  for (int32_t t = 0; t < c->n[TGT]; t++) c->last[t] = -1;
  for (int64_t k = 0; k < 2 * n_links; k += 2) {
    int32_t s = number[SRC][links[k]], t = number[TGT][links[k + 1]];
    if (t < c->low[s]) c->low[s] = t;
    if (t > c->high[s]) c->high[s] = t;
    if (s > c->last[t]) c->last[t] = s;
  }
  return LSCFG_OK;
}

int pair_reserve_children(lscfg_derivations *d, int64_t n) {
  return n <= d->child_spans_capacity ? LSCFG_OK
                                      : array_grow((void **)&d->child_spans, &d->child_spans_capacity, n, sizeof *d->child_spans);
}

int32_t pair_rule(lscfg_derivations *d, const span_pair span, const span_pair *children, int32_t arity) {
  int64_t room = (int64_t)span[SRC][1] - span[SRC][0] + span[TGT][1] - span[TGT][0];
  int64_t n_tgt_words = d->words[TGT].size;
  d->rule_symbols.size = 0;
  if (ARRAY_RESERVE(d->rule_symbols, room)) return LSCFG_ENOMEM;
  if (d->child_at.size < n_tgt_words) {
    if (ARRAY_RESERVE(d->child_at, n_tgt_words - d->child_at.size)) return LSCFG_ENOMEM;
    memset(d->child_at.data + d->child_at.size, 0, (size_t)(n_tgt_words - d->child_at.size) * sizeof(int32_t));
    d->child_at.size = n_tgt_words;
  }
  int32_t *out = d->rule_symbols.data, n_src = 0, n_tgt = 0, position = span[SRC][0];
  for (int32_t k = 0; k < arity; k++) {
    while (position < children[k][SRC][0]) out[n_src++] = d->words[SRC].data[position++];
    out[n_src++] = -1;
    position = children[k][SRC][1];
    d->child_at.data[children[k][TGT][0]] = k + 1;
  }
  while (position < span[SRC][1]) out[n_src++] = d->words[SRC].data[position++];
  for (position = span[TGT][0]; position < span[TGT][1];) {
    int32_t child = d->child_at.data[position];
    if (child) {
      d->child_at.data[position] = 0;
      out[n_src + n_tgt++] = -child;
      position = children[child - 1][TGT][1];
    } else {
      out[n_src + n_tgt++] = d->words[TGT].data[position++];
    }
  }
  return derivations_rule(d, out, n_src, n_tgt, arity);
}
