/* Hiero grammar extraction (Chiang 2007, section 3): from every initial phrase pair, the rules that are left when
 * smaller initial phrase pairs inside it become nonterminals.
 *
 * An initial phrase pair is tight, the words at its four borders are linked: its source span decides its target span. A
 * loose one may have words without links at its borders, and so may a source span have several target spans. */
#include "extract/tables.h"
#include "extract/wanted.h"

/* An initial phrase pair counts 1 in all, shared equally by the ways to subtract phrase pairs from it; two ways
 * that leave the same rule give it two shares. A grammar that exceeds the memory is extracted in parts by the hash
 * of source sides, because sorted runs on disk would add shares in another order. */

/* A rule token of one initial phrase pair: its subtracted source spans, half-open, -1 for none, with their target
 * spans, and the target span of the whole. */
typedef struct {
  int32_t gap[2][2], tgt_gap[2][2], tgt[2];
} rule_token;

struct lscfg_hiero {
  lscfg_hiero_options options;
  corpus_tables tables;
  ARRAY(double) count;   /* of each rule */
  ARRAY(int64_t) tokens; /* of each rule */
  ARRAY(int64_t) first;  /* of each rule, if there are parts */
  ARRAY(int32_t) places; /* of each token, if they are kept */
  int64_t n_sentences, n_phrases, n_used, n_tokens;
  /* where only the rules of use for some text are kept */
  int32_t chosen; /* whether they are */
  wanted_text wanted;
  rule_table targets;          /* target sides of the rules, once a pair was added again */
  ARRAY(double) target_count;  /* of each of them, in all rules */
  /* work space of one sentence pair, kept from pair to pair */
  sentence_pair pair;
  ARRAY(int32_t) hull;   /* lowest and highest link of each word, source words first */
  ARRAY(int32_t) target; /* [i][length - 1][2]: tight half-open target span, -1 for no phrase pair */
  ARRAY(int32_t) spans;  /* [][2] target spans of all source spans, concatenated lists */
  ARRAY(int64_t) spans_of; /* [i][length - 1]: where the list of a source span begins; the next one's is its end */
  ARRAY(int32_t) before; /* linked source words before each position */
  ARRAY(rule_token) found;
  ARRAY(int32_t) scratch;
};

lscfg_hiero *lscfg_hiero_new(const lscfg_hiero_options *options) {
  lscfg_hiero *h = calloc(1, sizeof *h);
  if (!h) return NULL;
  h->options = *options;
  if (h->options.min_hole < 1) h->options.min_hole = 1;
  if (!corpus_tables_init(&h->tables) && !wanted_init(&h->wanted) && !rule_table_init(&h->targets)) return h;
  lscfg_hiero_free(h);
  return NULL;
}

void lscfg_hiero_free(lscfg_hiero *h) {
  if (!h) return;
  corpus_tables_release(&h->tables);
  wanted_release(&h->wanted);
  rule_table_release(&h->targets);
  free(h->target_count.data);
  sentence_pair_release(&h->pair);
  free(h->count.data);
  free(h->tokens.data);
  free(h->first.data);
  free(h->places.data);
  free(h->hull.data);
  free(h->target.data);
  free(h->spans.data);
  free(h->spans_of.data);
  free(h->before.data);
  free(h->found.data);
  free(h->scratch.data);
  free(h);
}

/* ---- initial phrase pairs ---- */

/* For each word the hull of its links, and how many source words with a link come before each position. */
static int prepare(lscfg_hiero *h) {
  int64_t n[2] = {h->pair.words[SRC].size, h->pair.words[TGT].size}, total = n[0] + n[1];
  int64_t longest = h->options.max_phrase < n[0] ? h->options.max_phrase : n[0];
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

static const int32_t *target_span(const lscfg_hiero *h, int32_t longest, int32_t i, int32_t j) {
  return h->target.data + 2 * ((int64_t)i * longest + (j - i - 1));
}

/* Finds the target span of every source span that is one side of an initial phrase pair. */
static void find_phrases(lscfg_hiero *h, int32_t longest) {
  int32_t n = (int32_t)h->pair.words[SRC].size;
  const int32_t *src = h->hull.data, *tgt = h->hull.data + 2 * (int64_t)n, *n_links = h->pair.n_links[SRC].data;
  int32_t limit = h->options.max_target_phrase > 0 ? h->options.max_target_phrase : INT32_MAX;
  for (int32_t i = 0; i < n; i++) {
    int32_t low = INT32_MAX, high = -1, back_low = INT32_MAX, back_high = -1, seen_low = 0, seen_high = -1;
    for (int32_t j = i + 1; j <= n && j - i <= longest; j++) {
      int32_t *span = h->target.data + 2 * ((int64_t)i * longest + (j - i - 1));
      span[0] = span[1] = -1;
      if (!h->options.loose && (!n_links[i] || !n_links[j - 1])) continue;
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
static int list_spans(lscfg_hiero *h, int32_t longest) {
  int32_t n = (int32_t)h->pair.words[SRC].size, n_tgt = (int32_t)h->pair.words[TGT].size;
  int32_t limit = h->options.max_target_phrase > 0 ? h->options.max_target_phrase : INT32_MAX;
  const int32_t *n_links = h->pair.n_links[TGT].data;
  h->spans.size = h->spans_of.size = 0;
  if (ARRAY_RESERVE(h->spans_of, (int64_t)n * longest + 1)) return LSCFG_ENOMEM;
  for (int32_t i = 0; i < n; i++)
    for (int32_t length = 1; length <= longest; length++) {
      h->spans_of.data[h->spans_of.size++] = h->spans.size / 2;
      const int32_t *tight = i + length > n ? NULL : target_span(h, longest, i, i + length);
      if (!tight || tight[0] < 0) continue;
      for (int32_t low = tight[0]; low >= 0; low--) {
        for (int32_t high = tight[1]; high <= n_tgt && high - low <= limit; high++) {
          if (ARRAY_RESERVE(h->spans, 2)) return LSCFG_ENOMEM;
          h->spans.data[h->spans.size++] = low;
          h->spans.data[h->spans.size++] = high;
          if (!h->options.loose || high == n_tgt || n_links[high]) break;
        }
        if (!h->options.loose || !low || n_links[low - 1]) break;
      }
    }
  h->spans_of.data[h->spans_of.size++] = h->spans.size / 2;
  return LSCFG_OK;
}

/* The target spans of a source span. */
typedef struct {
  const int32_t *span, *end;
} span_list;

static span_list spans_of(const lscfg_hiero *h, int32_t longest, int32_t i, int32_t j) {
  const int64_t *first = h->spans_of.data + (int64_t)i * longest + (j - i - 1);
  return (span_list){h->spans.data + 2 * first[0], h->spans.data + 2 * first[1]};
}

/* ---- rules of one initial phrase pair ---- */

static int add_token(lscfg_hiero *h, rule_token token) {
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
static int list_second(lscfg_hiero *h, int32_t longest, int32_t i, int32_t j, int32_t left, const rule_token *token) {
  int32_t most = h->options.max_symbols, a = token->gap[0][0], b = token->gap[0][1];
  const int32_t *before = h->before.data, *first = token->tgt_gap[0];
  for (int32_t c = b + 1; c < j && c - b + a - i + 1 < most; c++)
    for (int32_t d = c + h->options.min_hole; d <= j; d++) {
      if (left == before[d] - before[c] || j - i - (b - a) - (d - c) + 2 > most) continue;
      span_list second = spans_of(h, longest, c, d);
      for (; second.span < second.end; second.span += 2) {
        if (!is_inside(second.span, token->tgt) || (second.span[0] < first[1] && first[0] < second.span[1])) continue;
        if (add_token(h, with_gap(*token, 1, c, d, second.span))) return LSCFG_ENOMEM;
      }
    }
  return LSCFG_OK;
}

/* Lists the choices of at most two inner phrase pairs that leave a rule within the limits. Words between two of them
 * are never none, so that nonterminals are not adjacent. */
static int list_tokens(lscfg_hiero *h, int32_t longest, int32_t i, int32_t j, const int32_t *tgt) {
  int32_t most = h->options.max_symbols;
  const int32_t *before = h->before.data;
  int32_t linked = before[j] - before[i];
  const rule_token whole = {{{-1, -1}, {-1, -1}}, {{-1, -1}, {-1, -1}}, {tgt[0], tgt[1]}};
  h->found.size = 0;
  if (j - i <= most && add_token(h, whole)) return LSCFG_ENOMEM;
  if (h->options.max_arity < 1) return LSCFG_OK;
  for (int32_t a = i; a < j && a - i < most; a++)
    for (int32_t b = a + h->options.min_hole; b <= j; b++) {
      int32_t left = linked - (before[b] - before[a]);
      if (!left) continue; /* no linked pair of words would be in the rule */
      span_list inner = spans_of(h, longest, a, b);
      for (; inner.span < inner.end; inner.span += 2) {
        if (!is_inside(inner.span, tgt)) continue;
        rule_token token = with_gap(whole, 0, a, b, inner.span);
        if (j - i - (b - a) + 1 <= most && add_token(h, token)) return LSCFG_ENOMEM;
        if (h->options.max_arity > 1 && list_second(h, longest, i, j, left, &token)) return LSCFG_ENOMEM;
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

/* A rule as it is spelled in the work space. */
typedef struct {
  const int32_t *symbols;
  int32_t n_src, n, arity;
} spelling;

static spelling spell(lscfg_hiero *h, int32_t i, int32_t j, const rule_token *token) {
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

static int keep_place(lscfg_hiero *h, int32_t rule, int32_t i, int32_t j, const rule_token *token) {
  if (ARRAY_RESERVE(h->places, 8)) return LSCFG_ENOMEM;
  int32_t *place = h->places.data + h->places.size;
  const int32_t head[4] = {rule, (int32_t)h->n_sentences, i, j};
  memcpy(place, head, sizeof head);
  memcpy(place + 4, token->gap, sizeof token->gap);
  h->places.size += 8;
  return LSCFG_OK;
}

/* True if the rules of a source side are left to another part. */
static int is_elsewhere(const lscfg_hiero *h, const spelling *r) {
  const lscfg_hiero_options *o = &h->options;
  return o->parts > 1 && (int32_t)(hash_ints(r->symbols, r->n_src, 0) % (uint32_t)o->parts) != o->part;
}

static int count_rule(lscfg_hiero *h, int32_t i, int32_t j, const rule_token *token, double share) {
  spelling r = spell(h, i, j, token);
  int64_t number = h->n_tokens++;
  if (is_elsewhere(h, &r)) return LSCFG_OK;
  if (h->chosen && !wanted_side(&h->wanted, r.symbols, r.n_src)) return LSCFG_OK;
  if (ARRAY_RESERVE(h->count, 1) || ARRAY_RESERVE(h->tokens, 1) || ARRAY_RESERVE(h->first, 1)) return LSCFG_ENOMEM;
  int32_t rule = rule_table_intern(&h->tables.rules, r.symbols, r.n_src, r.n, r.arity);
  if (rule < 0) return LSCFG_ENOMEM;
  if (rule == h->count.size) {
    h->count.data[h->count.size++] = 0;
    h->tokens.data[h->tokens.size++] = 0;
    if (h->options.parts > 1) h->first.data[h->first.size++] = number;
  }
  h->count.data[rule] += share;
  h->tokens.data[rule]++;
  return h->options.places ? keep_place(h, rule, i, j, token) : LSCFG_OK;
}

static int count_target(lscfg_hiero *h, int32_t i, int32_t j, const rule_token *token, double share) {
  spelling r = spell(h, i, j, token);
  int32_t side = rule_table_find(&h->targets, r.symbols + r.n_src, 0, r.n - r.n_src);
  if (side >= 0) h->target_count.data[side] += share;
  return LSCFG_OK;
}

typedef int visit(lscfg_hiero *, int32_t i, int32_t j, const rule_token *, double share);

/* All rule tokens of the pair that was read; *phrases and *used as in the view. */
static int walk(lscfg_hiero *h, visit *take, int64_t *phrases, int64_t *used) {
  int32_t n = (int32_t)h->pair.words[SRC].size;
  int32_t longest = h->options.max_phrase < n ? h->options.max_phrase : n;
  if (prepare(h)) return LSCFG_ENOMEM;
  find_phrases(h, longest);
  if (list_spans(h, longest)) return LSCFG_ENOMEM;
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = i + 1; j <= n && j - i <= longest; j++)
      for (span_list tgt = spans_of(h, longest, i, j); tgt.span < tgt.end; tgt.span += 2) {
        if (list_tokens(h, longest, i, j, tgt.span)) return LSCFG_ENOMEM;
        ++*phrases;
        *used += h->found.size > 0;
        double share = 1.0 / (double)h->found.size;
        for (int64_t k = 0; k < h->found.size; k++)
          if (take(h, i, j, &h->found.data[k], share)) return LSCFG_ENOMEM;
      }
  return LSCFG_OK;
}

static int read_pair(lscfg_hiero *h, const char *src, size_t n_src, const char *tgt, size_t n_tgt, const char *links,
                     size_t n_links, int32_t *stream, lscfg_error *error) {
  const char *const line[3] = {src, tgt, links};
  const size_t length[3] = {n_src, n_tgt, n_links};
  int code = sentence_pair_read(&h->pair, &h->tables.vocab, line, length, 0, stream, error);
  return code > 0 ? LSCFG_EINPUT : code;
}

int lscfg_hiero_add(lscfg_hiero *h, const char *src, size_t n_src, const char *tgt, size_t n_tgt, const char *links,
                    size_t n_links, int32_t *stream, lscfg_error *error) {
  int code = read_pair(h, src, n_src, tgt, n_tgt, links, n_links, stream, error);
  if (code) return code;
  if (link_counts_add_pair(&h->tables.lexicon, &h->pair) || walk(h, count_rule, &h->n_phrases, &h->n_used))
    return out_of_memory(error);
  h->n_sentences++;
  return LSCFG_OK;
}

int lscfg_hiero_want(lscfg_hiero *h, const char *line, size_t length, lscfg_error *error) {
  h->chosen = 1;
  return wanted_add(&h->wanted, &h->tables.vocab, line, length) ? out_of_memory(error) : LSCFG_OK;
}

/* The target sides of all rules, numbered in order of first appearance. */
static int list_targets(lscfg_hiero *h) {
  const rule_table *rules = &h->tables.rules;
  for (int64_t r = 0; r < rule_table_size(rules); r++) {
    int64_t middle = rules->offsets.data[r] + rules->src_length.data[r], n = rules->offsets.data[r + 1] - middle;
    int32_t side = rule_table_intern(&h->targets, rules->symbols.data + middle, 0, (int32_t)n, 0);
    if (side < 0 || ARRAY_RESERVE(h->target_count, 1)) return LSCFG_ENOMEM;
    if (side == h->target_count.size) h->target_count.data[h->target_count.size++] = 0;
  }
  return LSCFG_OK;
}

int lscfg_hiero_add_targets(lscfg_hiero *h, const char *src, size_t n_src, const char *tgt, size_t n_tgt,
                            const char *links, size_t n_links, int32_t *stream, lscfg_error *error) {
  int64_t phrases = 0, used = 0;
  if (!h->target_count.size && list_targets(h)) return out_of_memory(error);
  int code = read_pair(h, src, n_src, tgt, n_tgt, links, n_links, stream, error);
  if (code) return code;
  return walk(h, count_target, &phrases, &used) ? out_of_memory(error) : LSCFG_OK;
}

void lscfg_hiero_get(const lscfg_hiero *h, lscfg_hiero_view *view) {
  *view = (lscfg_hiero_view){.n_sentences = h->n_sentences,
                             .n_phrases = h->n_phrases,
                             .n_used = h->n_used,
                             .count = h->count.data,
                             .tokens = h->tokens.data,
                             .n_places = h->places.size / 8,
                             .places = h->places.data,
                             .n_targets = h->target_count.size,
                             .target_count = h->target_count.data,
                             .first = h->options.parts > 1 ? h->first.data : NULL,
                             .tables = corpus_tables_view(&h->tables)};
}
