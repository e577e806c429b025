/* The initial phrase pairs of one sentence pair, and the rule tokens of each. */
#include "extract/hiero_pair.h"

void hiero_pair_release(hiero_pair *h) {
  sentence_pair_release(&h->pair);
  free(h->hull.data);
  free(h->target.data);
  free(h->spans.data);
  free(h->spans_of.data);
  free(h->before.data);
  free(h->found.data);
  free(h->scratch.data);
  memset(h, 0, sizeof *h);
}

/* ---- initial phrase pairs ---- */

/* For each word the hull of its links, and how many source words with a link come before each position. */
static int find_hulls(hiero_pair *h) {
  int64_t n[2] = {h->pair.words[SRC].size, h->pair.words[TGT].size}, total = n[0] + n[1];
  int64_t longest = h->longest;
  h->hull.size = h->before.size = h->target.size = h->scratch.size = 0;
  if (ARRAY_RESERVE(h->hull, 2 * total) || ARRAY_RESERVE(h->before, n[0] + 1) ||
      ARRAY_RESERVE(h->target, 2 * n[0] * longest) || ARRAY_RESERVE(h->scratch, total + 4))
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

static const int32_t *target_span(const hiero_pair *h, int32_t i, int32_t j) {
  return h->target.data + 2 * ((int64_t)i * h->longest + (j - i - 1));
}

/* Finds the target span of every source span that is one side of an initial phrase pair. */
static void find_phrases(hiero_pair *h) {
  int32_t n = (int32_t)h->pair.words[SRC].size, longest = h->longest;
  const int32_t *src = h->hull.data, *tgt = h->hull.data + 2 * (int64_t)n, *n_links = h->pair.n_links[SRC].data;
  int32_t limit = h->options->max_target_phrase > 0 ? h->options->max_target_phrase : INT32_MAX;
  for (int32_t i = 0; i < n; i++) {
    int32_t low = INT32_MAX, high = -1, back_low = INT32_MAX, back_high = -1, seen_low = 0, seen_high = -1;
    for (int32_t j = i + 1; j <= n && j - i <= longest; j++) {
      int32_t *span = h->target.data + 2 * ((int64_t)i * longest + (j - i - 1));
      span[0] = span[1] = -1;
      if (!h->options->loose && (!n_links[i] || !n_links[j - 1])) continue;
      if (src[2 * (j - 1)] < low) low = src[2 * (j - 1)];
      if (src[2 * (j - 1) + 1] > high) high = src[2 * (j - 1) + 1];
      if (high < 0) continue;
      if (seen_high < seen_low) seen_low = low, seen_high = low - 1;
      /* the target span only grows with j, and so does the hull of the links back from it */
      while (seen_low > low || seen_high < high) {
        int32_t t = seen_high < high ? ++seen_high : --seen_low;
        if (tgt[2 * t] < back_low) back_low = tgt[2 * t];
        if (tgt[2 * t + 1] > back_high) back_high = tgt[2 * t + 1];
      }
      if (back_low < i) {
        for (int32_t rest = j + 1; rest <= n && rest - i <= longest; rest++) {
          span = h->target.data + 2 * ((int64_t)i * longest + (rest - i - 1));
          span[0] = span[1] = -1;
        }
        break;
      }
      if (back_high >= j || high + 1 - low > limit) continue;
      span[0] = low;
      span[1] = high + 1;
    }
  }
}

/* Lists the target spans of all source spans: of loose phrase pairs, also with words without links around the tight
 * ones. */
static int list_spans(hiero_pair *h) {
  int32_t n = (int32_t)h->pair.words[SRC].size, n_tgt = (int32_t)h->pair.words[TGT].size, longest = h->longest;
  int32_t limit = h->options->max_target_phrase > 0 ? h->options->max_target_phrase : INT32_MAX;
  const int32_t *n_links = h->pair.n_links[TGT].data;
  h->spans.size = h->spans_of.size = 0;
  if (ARRAY_RESERVE(h->spans_of, (int64_t)n * longest + 1)) return LSCFG_ENOMEM;
  for (int32_t i = 0; i < n; i++)
    for (int32_t length = 1; length <= longest; length++) {
      h->spans_of.data[h->spans_of.size++] = h->spans.size / 2;
      const int32_t *tight = i + length > n ? NULL : target_span(h, i, i + length);
      if (!tight || tight[0] < 0) continue;
      for (int32_t low = tight[0]; low >= 0; low--) {
        for (int32_t high = tight[1]; high <= n_tgt && high - low <= limit; high++) {
          if (ARRAY_RESERVE(h->spans, 2)) return LSCFG_ENOMEM;
          h->spans.data[h->spans.size++] = low;
          h->spans.data[h->spans.size++] = high;
          if (!h->options->loose || high == n_tgt || n_links[high]) break;
        }
        if (!h->options->loose || !low || n_links[low - 1]) break;
      }
    }
  h->spans_of.data[h->spans_of.size++] = h->spans.size / 2;
  return LSCFG_OK;
}

int hiero_prepare(hiero_pair *h) {
  int32_t n = (int32_t)h->pair.words[SRC].size;
  h->longest = h->options->max_phrase < n ? h->options->max_phrase : n;
  if (find_hulls(h)) return LSCFG_ENOMEM;
  find_phrases(h);
  return list_spans(h);
}

span_list hiero_spans(const hiero_pair *h, int32_t i, int32_t j) {
  const int64_t *first = h->spans_of.data + (int64_t)i * h->longest + (j - i - 1);
  return (span_list){h->spans.data + 2 * first[0], h->spans.data + 2 * first[1]};
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

static rule_token with_gap(rule_token token, int which, int32_t begin, int32_t end, const int32_t *tgt) {
  token.gap[which][0] = begin;
  token.gap[which][1] = end;
  memcpy(token.tgt_gap[which], tgt, sizeof token.tgt_gap[which]);
  return token;
}

/* Lists the choices of a second inner phrase pair after the first one, which is in the token. */
static int list_second(hiero_pair *h, int32_t i, int32_t j, int32_t left, const rule_token *token) {
  int32_t most = h->options->max_symbols, a = token->gap[0][0], b = token->gap[0][1];
  const int32_t *before = h->before.data, *first = token->tgt_gap[0];
  for (int32_t c = b + 1; c < j && c - b + a - i + 1 < most; c++)
    for (int32_t d = c + h->options->min_hole; d <= j; d++) {
      if (left == before[d] - before[c] || j - i - (b - a) - (d - c) + 2 > most) continue;
      span_list second = hiero_spans(h, c, d);
      for (; second.span < second.end; second.span += 2) {
        if (!is_inside(second.span, token->tgt) || (second.span[0] < first[1] && first[0] < second.span[1])) continue;
        if (add_token(h, with_gap(*token, 1, c, d, second.span))) return LSCFG_ENOMEM;
      }
    }
  return LSCFG_OK;
}

int hiero_tokens(hiero_pair *h, int32_t i, int32_t j, const int32_t *tgt) {
  int32_t most = h->options->max_symbols;
  const int32_t *before = h->before.data;
  int32_t linked = before[j] - before[i];
  const rule_token whole = {{{-1, -1}, {-1, -1}}, {{-1, -1}, {-1, -1}}, {tgt[0], tgt[1]}};
  h->found.size = 0;
  if (j - i <= most && add_token(h, whole)) return LSCFG_ENOMEM;
  if (h->options->max_arity < 1) return LSCFG_OK;
  for (int32_t a = i; a < j && a - i < most; a++)
    for (int32_t b = a + h->options->min_hole; b <= j; b++) {
      int32_t left = linked - (before[b] - before[a]);
      if (!left) continue; /* no linked pair of words would be in the rule */
      span_list inner = hiero_spans(h, a, b);
      for (; inner.span < inner.end; inner.span += 2) {
        if (!is_inside(inner.span, tgt)) continue;
        rule_token token = with_gap(whole, 0, a, b, inner.span);
        if (j - i - (b - a) + 1 <= most && add_token(h, token)) return LSCFG_ENOMEM;
        if (h->options->max_arity > 1 && list_second(h, i, j, left, &token)) return LSCFG_ENOMEM;
      }
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

spelling hiero_spell(hiero_pair *h, int32_t i, int32_t j, const rule_token *token) {
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
  int32_t *middle = copy_side(h->pair.words[SRC].data, i, j, src_gaps, src_symbols, arity, start);
  int32_t *end = copy_side(h->pair.words[TGT].data, token->tgt[0], token->tgt[1], tgt_gaps, tgt_symbols, arity, middle);
  return (spelling){start, (int32_t)(middle - start), (int32_t)(end - start), arity};
}
