/* Word-aligned sentence pairs. */
#include "bitext.h"

void sentence_pair_release(sentence_pair *p) {
  free(p->words[BITEXT_SRC].data);
  free(p->words[BITEXT_TGT].data);
  free(p->links.data);
  memset(p, 0, sizeof *p);
}

static int read_side(sentence_pair *p, lscfg_vocab *vocab, int side, const char *line, size_t length, lscfg_error *error) {
  p->words[side].size = 0;
  if (ARRAY_RESERVE(p->words[side], (int64_t)length / 2 + 1)) return out_of_memory(error);
  int64_t n = lscfg_vocab_line(vocab, line, length, p->words[side].data, p->words[side].capacity);
  if (n < 0) return out_of_memory(error);
  p->words[side].size = n;
  if (n) return LSCFG_OK;
  return lscfg_fail(error, LSCFG_EINPUT, 0, "the %s sentence is empty", side == BITEXT_SRC ? "source" : "target");
}

static int ends_link(const char *p, const char *end) { return p == end || *p == ' ' || *p == '\t' || *p == '\r'; }

static int read_link(sentence_pair *p, const char **at, const char *end, lscfg_error *error) {
  const char *token = *at, *stop = token;
  while (!ends_link(stop, end)) stop++;
  int shown = stop - token > 40 ? 40 : (int)(stop - token);
  for (int side = BITEXT_SRC; side <= BITEXT_TGT; side++) {
    const char *digits = *at;
    int64_t position = 0;
    for (; *at < stop && **at >= '0' && **at <= '9' && position <= INT32_MAX; (*at)++)
      position = 10 * position + (**at - '0');
    int closed = side == BITEXT_SRC ? *at < stop && **at == '-' : *at == stop;
    if (*at == digits || !closed)
      return lscfg_fail(error, LSCFG_EINPUT, 0, "'%.*s' is not an alignment link i-j", shown, token);
    if (position >= p->words[side].size)
      return lscfg_fail(error, LSCFG_EINPUT, 0, "link '%.*s' points beyond the %s sentence of %lld words", shown, token,
                        side == BITEXT_SRC ? "source" : "target", (long long)p->words[side].size);
    if (ARRAY_RESERVE(p->links, 1)) return out_of_memory(error);
    p->links.data[p->links.size++] = (int32_t)position;
    *at += side == BITEXT_SRC;
  }
  return LSCFG_OK;
}

int sentence_pair_read(sentence_pair *p, lscfg_vocab *vocab, const char *src, size_t n_src, const char *tgt, size_t n_tgt,
                       const char *links, size_t n_links, lscfg_error *error) {
  const char *end = links + n_links;
  int code = read_side(p, vocab, BITEXT_SRC, src, n_src, error);
  if (!code) code = read_side(p, vocab, BITEXT_TGT, tgt, n_tgt, error);
  p->links.size = 0;
  while (!code && links < end) {
    if (ends_link(links, end))
      links++;
    else
      code = read_link(p, &links, end, error);
  }
  return code;
}

/* ---- how often two words are linked ---- */

int link_counts_init(link_counts *c) {
  memset(c, 0, sizeof *c);
  c->slots = 1024;
  if (!(c->table = malloc((size_t)c->slots * sizeof *c->table))) return LSCFG_ENOMEM;
  memset(c->table, 0xff, (size_t)c->slots * sizeof *c->table);
  return LSCFG_OK;
}

void link_counts_release(link_counts *c) {
  free(c->pairs.data);
  free(c->table);
  memset(c, 0, sizeof *c);
}

static int64_t pair_slot(const link_counts *c, int32_t src, int32_t tgt) {
  uint64_t h = hash_mix(((uint64_t)(uint32_t)src << 32) | (uint32_t)tgt);
  int64_t slot = (int64_t)(h & (uint64_t)(c->slots - 1));
  for (; c->table[slot] >= 0; slot = (slot + 1) & (c->slots - 1)) {
    const lscfg_word_pair *pair = &c->pairs.data[c->table[slot]];
    if (pair->src == src && pair->tgt == tgt) break;
  }
  return slot;
}

static int count_pair(link_counts *c, int32_t src, int32_t tgt) {
  if (2 * (c->pairs.size + 1) > c->slots) {
    int32_t *table = malloc((size_t)c->slots * 2 * sizeof *table);
    if (!table) return LSCFG_ENOMEM;
    free(c->table);
    c->table = table;
    c->slots *= 2;
    memset(table, 0xff, (size_t)c->slots * sizeof *table);
    for (int32_t k = 0; k < c->pairs.size; k++) table[pair_slot(c, c->pairs.data[k].src, c->pairs.data[k].tgt)] = k;
  }
  int64_t slot = pair_slot(c, src, tgt);
  if (c->table[slot] < 0) {
    if (c->pairs.size == INT32_MAX || ARRAY_RESERVE(c->pairs, 1)) return LSCFG_ENOMEM;
    c->pairs.data[c->pairs.size] = (lscfg_word_pair){src, tgt, 0};
    c->table[slot] = (int32_t)c->pairs.size++;
  }
  c->pairs.data[c->table[slot]].count++;
  return LSCFG_OK;
}

int link_counts_add(link_counts *c, const sentence_pair *p, const char *linked) {
  const int32_t *src = p->words[BITEXT_SRC].data, *tgt = p->words[BITEXT_TGT].data;
  int64_t n_src = p->words[BITEXT_SRC].size;
  for (int64_t k = 0; k < p->links.size; k += 2)
    if (count_pair(c, src[p->links.data[k]], tgt[p->links.data[k + 1]])) return LSCFG_ENOMEM;
  for (int64_t i = 0; i < n_src; i++)
    if (!linked[i] && count_pair(c, src[i], -1)) return LSCFG_ENOMEM;
  for (int64_t j = 0; j < p->words[BITEXT_TGT].size; j++)
    if (!linked[n_src + j] && count_pair(c, -1, tgt[j])) return LSCFG_ENOMEM;
  return LSCFG_OK;
}
