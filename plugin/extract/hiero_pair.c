/* The initial phrase pairs of one sentence pair, and the rule tokens of each. */
#include "extract/hiero_pair.h"

void hiero_pair_release(hiero_pair *h) {
  sentence_pair_release(&h->pair);
  free(h->hull.data);
  free(h->before.data);
  free(h->phrases.data);
  free(h->first.data);
  free(h->found.data);
  free(h->scratch.data);
  memset(h, 0, sizeof *h);
}

/* ---- initial phrase pairs ---- */

/* For each word the hull of its links, and how many source words with a link come before each position. */
static int find_hulls(hiero_pair *h) {
  int64_t n[2] = {h->pair.words[SRC].size, h->pair.words[TGT].size}, total = n[0] + n[1];
  h->hull.size = h->before.size = h->first.size = h->scratch.size = 0;
  if (ARRAY_RESERVE(h->hull, 2 * total) || ARRAY_RESERVE(h->before, n[0] + 1) || ARRAY_RESERVE(h->first, n[0] + 1) ||
      ARRAY_RESERVE(h->scratch, total + 4))
    return LSCFG_ENOMEM;
  for (int64_t w = 0; w < total; w++) {
    h->hull.data[2 * w] = INT32_MAX;
    h->hull.data[2 * w + 1] = -1;
  }
  for (int64_t k = 0; k < h->pair.links.size; k += 2) {
    int32_t position[2] = {h->pair.links.data[k], h->pair.links.data[k + 1]};
    for (int side = SRC; side <= TGT; side++) {
      int64_t word = side == SRC ? position[0] : n[0] + position[1];
      int32_t *hull = h->hull.data + 2 * word, other = position[!side];
      if (other < hull[0]) hull[0] = other;
      if (other > hull[1]) hull[1] = other;
    }
  }
  h->before.data[0] = 0;
  for (int64_t i = 0; i < n[0]; i++) h->before.data[i + 1] = h->before.data[i] + (h->pair.n_links[SRC].data[i] > 0);
  return LSCFG_OK;
}

/* Adds the phrase pairs of a source span, given the hull of its links: of loose ones, also with words without links
 * around the hull. */
static int add_phrases(hiero_pair *h, int32_t i, int32_t j, const int32_t *tight) {
  int32_t n_tgt = (int32_t)h->pair.words[TGT].size, limit = h->options->max_target_phrase;
  const int32_t *n_links = h->pair.n_links[TGT].data;
  if (limit < 1) limit = INT32_MAX;
  for (int32_t low = tight[0]; low >= 0; low--) {
    for (int32_t high = tight[1]; high <= n_tgt && high - low <= limit; high++) {
      if (ARRAY_RESERVE(h->phrases, 1)) return LSCFG_ENOMEM;
      h->phrases.data[h->phrases.size++] = (phrase_pair){{i, j}, {low, high}};
      if (!h->options->loose || high == n_tgt || n_links[high]) break;
    }
    if (!h->options->loose || !low || n_links[low - 1]) break;
  }
  return LSCFG_OK;
}

/* Lists the phrase pairs whose source sides begin at a word. */
static int list_from(hiero_pair *h, int32_t i) {
  int32_t n = (int32_t)h->pair.words[SRC].size, most = h->options->max_phrase;
  const int32_t *src = h->hull.data, *tgt = h->hull.data + 2 * (int64_t)n, *n_links = h->pair.n_links[SRC].data;
  int32_t low = INT32_MAX, high = -1, back_low = INT32_MAX, back_high = -1, seen_low = 0, seen_high = -1;
  if (!h->options->loose && !n_links[i]) return LSCFG_OK;
  for (int32_t j = i + 1; j <= n && j - i <= most; j++) {
    if (src[2 * (j - 1)] < low) low = src[2 * (j - 1)];
    if (src[2 * (j - 1) + 1] > high) high = src[2 * (j - 1) + 1];
    if (high < 0 || (!h->options->loose && !n_links[j - 1])) continue;
    if (seen_high < seen_low) seen_low = low, seen_high = low - 1;
    /* the target span only grows with j, and so does the hull of the links back from it */
    while (seen_low > low || seen_high < high) {
      int32_t t = seen_high < high ? ++seen_high : --seen_low;
      if (tgt[2 * t] < back_low) back_low = tgt[2 * t];
      if (tgt[2 * t + 1] > back_high) back_high = tgt[2 * t + 1];
    }
    if (back_low < i) return LSCFG_OK;
    if (back_high < j && add_phrases(h, i, j, (const int32_t[2]){low, high + 1})) return LSCFG_ENOMEM;
  }
  return LSCFG_OK;
}

int hiero_prepare(hiero_pair *h) {
  int32_t n = (int32_t)h->pair.words[SRC].size;
  h->phrases.size = 0;
  if (find_hulls(h)) return LSCFG_ENOMEM;
  for (int32_t i = 0; i < n; i++) {
    h->first.data[h->first.size++] = h->phrases.size;
    if (list_from(h, i)) return LSCFG_ENOMEM;
  }
  h->first.data[h->first.size++] = h->phrases.size;
  return LSCFG_OK;
}

/* ---- rules of one initial phrase pair ---- */

static int add_token(hiero_pair *h, rule_token token) {
  if (ARRAY_RESERVE(h->found, 1)) return LSCFG_ENOMEM;
  h->found.data[h->found.size++] = token;
  return LSCFG_OK;
}

static int is_inside(const int32_t *inner, const int32_t *outer) {
  return inner[0] >= outer[0] && inner[1] <= outer[1];
}

static rule_token with_gap(rule_token token, int which, const phrase_pair *inner) {
  memcpy(token.gap[which], inner->src, sizeof token.gap[which]);
  memcpy(token.tgt_gap[which], inner->tgt, sizeof token.tgt_gap[which]);
  return token;
}

/* Lists the choices of a second inner phrase pair after the first one, which is in the token. */
static int list_second(hiero_pair *h, const phrase_pair *whole, int32_t left, const rule_token *token) {
  int32_t most = h->options->max_symbols, a = token->gap[0][0], b = token->gap[0][1], j = whole->src[1];
  const int32_t *before = h->before.data, *first = token->tgt_gap[0];
  if (b + 1 >= j) return LSCFG_OK;
  const phrase_pair *end = h->phrases.data + h->phrases.size;
  for (const phrase_pair *p = h->phrases.data + h->first.data[b + 1]; p < end && p->src[0] < j; p++) {
    int32_t c = p->src[0], d = p->src[1];
    if (c - b + a - whole->src[0] + 1 >= most) break;
    if (d > j || d - c < h->options->min_hole || left == before[d] - before[c] ||
        j - whole->src[0] - (b - a) - (d - c) + 2 > most)
      continue;
    if (!is_inside(p->tgt, token->tgt) || (p->tgt[0] < first[1] && first[0] < p->tgt[1])) continue;
    if (add_token(h, with_gap(*token, 1, p))) return LSCFG_ENOMEM;
  }
  return LSCFG_OK;
}

int hiero_tokens(hiero_pair *h, const phrase_pair *whole) {
  int32_t most = h->options->max_symbols, i = whole->src[0], j = whole->src[1];
  const int32_t *before = h->before.data;
  int32_t linked = before[j] - before[i];
  const rule_token plain = {{{-1, -1}, {-1, -1}}, {{-1, -1}, {-1, -1}}, {whole->tgt[0], whole->tgt[1]}};
  h->found.size = 0;
  if (j - i <= most && add_token(h, plain)) return LSCFG_ENOMEM;
  if (h->options->max_arity < 1) return LSCFG_OK;
  const phrase_pair *end = h->phrases.data + h->phrases.size;
  for (const phrase_pair *p = h->phrases.data + h->first.data[i]; p < end && p->src[0] < j; p++) {
    int32_t a = p->src[0], b = p->src[1], left = linked - (before[b] - before[a]);
    if (a - i >= most) break;
    if (b > j || b - a < h->options->min_hole || !is_inside(p->tgt, whole->tgt)) continue;
    if (!left) continue; /* no linked pair of words would be in the rule */
    rule_token token = with_gap(plain, 0, p);
    if (j - i - (b - a) + 1 <= most && add_token(h, token)) return LSCFG_ENOMEM;
    if (h->options->max_arity > 1 && list_second(h, whole, left, &token)) return LSCFG_ENOMEM;
  }
  return LSCFG_OK;
}

/* Copies words begin .. end-1 of one side with the gaps replaced; gaps are in order of that side. */
static int32_t *copy_side(const int32_t *words, int32_t begin, int32_t end, const int32_t *gaps[2],
                          const int32_t symbols[2], int32_t n_gaps, int32_t *out) {
  for (int32_t k = 0; k < n_gaps; k++) {
    while (begin < gaps[k][0]) *out++ = words[begin++];
    *out++ = symbols[k];
    begin = gaps[k][1];
  }
  while (begin < end) *out++ = words[begin++];
  return out;
}

spelling hiero_spell(hiero_pair *h, const int32_t src[2], const rule_token *token) {
  int32_t arity = (token->gap[0][0] >= 0) + (token->gap[1][0] >= 0);
  const int32_t *src_gaps[2] = {token->gap[0], token->gap[1]}, *tgt_gaps[2] = {NULL, NULL};
  int32_t src_symbols[2] = {-1, -1}, tgt_symbols[2] = {-1, -2};
  for (int32_t k = 0; k < arity; k++) tgt_gaps[k] = token->tgt_gap[k];
  if (arity == 2 && tgt_gaps[0][0] > tgt_gaps[1][0]) {
    const int32_t *first = tgt_gaps[1];
    tgt_gaps[1] = tgt_gaps[0];
    tgt_gaps[0] = first;
    tgt_symbols[0] = -2;
    tgt_symbols[1] = -1;
  }
  int32_t *start = h->scratch.data;
  int32_t *middle = copy_side(h->pair.words[SRC].data, src[0], src[1], src_gaps, src_symbols, arity, start);
  int32_t *end = copy_side(h->pair.words[TGT].data, token->tgt[0], token->tgt[1], tgt_gaps, tgt_symbols, arity, middle);
  return (spelling){start, (int32_t)(middle - start), (int32_t)(end - start), arity};
}
