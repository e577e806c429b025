/* The rule tokens at places of a text, by the extractor's own steps: a sentence pair is prepared once for all places in
 * it, and the tokens of an initial phrase pair are listed once. Tokens are visited in the extractor's order, so sums of
 * shares are the same to the last bit if no place is left out. */
#include "demand/visit.h"

/* ---- a sentence pair ---- */

static int load_side(lscfg_index *x, const text_view *t, int side, int64_t pair, lscfg_error *error) {
  int64_t begin = t->starts[side][pair], end = t->starts[side][pair + 1]; /* with the mark of the sentence's end */
  sentence_pair *p = &x->work.pair;
  if (begin < 0 || end <= begin || end > t->n_words[side] || end - begin < 2 || end - begin > LSCFG_ALIGNED_WORDS + 1)
    return damaged_index(error);
  int32_t n = (int32_t)(end - begin - 1);
  int64_t most = x->n_words + lscfg_vocab_size(&x->taught->tables.vocab);
  p->words[side].size = p->n_links[side].size = 0;
  if (ARRAY_RESERVE(p->words[side], n) || ARRAY_RESERVE(p->n_links[side], n)) return out_of_memory(error);
  p->words[side].size = p->n_links[side].size = n;
  memcpy(p->words[side].data, t->words[side] + begin, (size_t)n * sizeof(int32_t));
  memset(p->n_links[side].data, 0, (size_t)n * sizeof(int32_t));
  for (int32_t i = 0; i < n; i++)
    if (p->words[side].data[i] < 0 || p->words[side].data[i] >= most) return damaged_index(error);
  return LSCFG_OK;
}

static int load_pair(lscfg_index *x, const text_view *t, int64_t pair, lscfg_error *error) {
  sentence_pair *p = &x->work.pair;
  int code = load_side(x, t, SRC, pair, error);
  if (!code) code = load_side(x, t, TGT, pair, error);
  if (code) return code;
  int64_t begin = t->link_starts[pair], end = t->link_starts[pair + 1];
  if (begin < 0 || end < begin || end > t->n_links || end - begin > INT32_MAX / 2) return damaged_index(error);
  p->links.size = 0;
  if (ARRAY_RESERVE(p->links, 2 * (end - begin))) return out_of_memory(error);
  for (int64_t k = begin; k < end; k++)
    for (int side = SRC; side <= TGT; side++) {
      int32_t position = t->links[2 * k + side];
      if (position >= p->words[side].size) return damaged_index(error);
      p->links.data[p->links.size++] = position;
      p->n_links[side].data[position]++;
    }
  return LSCFG_OK;
}

static int list_phrases(lscfg_index *x) {
  x->listed.size = x->tokens.size = 0;
  if (hiero_prepare(&x->work) || ARRAY_RESERVE(x->listed, x->work.phrases.size)) return LSCFG_ENOMEM;
  for (int64_t k = 0; k < x->work.phrases.size; k++) x->listed.data[x->listed.size++] = (token_range){-1, -1};
  return LSCFG_OK;
}

static int list_tokens(lscfg_index *x, int64_t phrase) {
  hiero_pair *w = &x->work;
  if (hiero_tokens(w, &w->phrases.data[phrase]) || ARRAY_RESERVE(x->tokens, w->found.size)) return LSCFG_ENOMEM;
  memcpy(x->tokens.data + x->tokens.size, w->found.data, (size_t)w->found.size * sizeof *w->found.data);
  int64_t first = x->tokens.size;
  x->tokens.size += w->found.size;
  x->listed.data[phrase] = (token_range){first, x->tokens.size};
  return LSCFG_OK;
}

/* ---- places ---- */

/* True if the words of a token on one side are these sequences. at: where they begin, in the sentence. */
static int fits(const rule_token *token, int side, const int32_t span[2], const word_parts *p, const int32_t *at) {
  const int32_t(*gaps)[2] = side == SRC ? token->gap : token->tgt_gap;
  int32_t arity = (token->gap[0][0] >= 0) + (token->gap[1][0] >= 0), begin = span[0], part = 0;
  int swapped = arity == 2 && gaps[0][0] > gaps[1][0];
  for (int32_t k = 0; k <= arity; k++) {
    const int32_t *gap = k == arity ? NULL : gaps[swapped ? !k : k];
    int32_t end = gap ? gap[0] : span[1];
    if (end > begin) {
      if (part == p->n || at[part] != begin || p->length[part] != end - begin) return 0;
      part++;
    }
    if (gap) begin = gap[1];
  }
  return part == p->n;
}

/* True if a source span is a side of an initial phrase pair. */
static int is_phrase(const hiero_pair *w, int32_t begin, int32_t end) {
  for (int64_t k = w->first.data[begin]; k < w->first.data[begin + 1]; k++)
    if (w->phrases.data[k].src[1] == end) return 1;
  return 0;
}

/* Lists the tokens at a place. */
static int list_hits(lscfg_index *x, const text_view *t, int side, const place *found) {
  const pattern_table *table = &x->patterns[side];
  const hiero_pair *w = &x->work;
  int64_t offset = table->names.offsets.data[found->pattern];
  word_parts p = parts_of(table->names.symbols.data + offset, table->names.offsets.data[found->pattern + 1] - offset);
  int32_t at[MOST_PARTS], ends = table->facts.data[found->pattern].ends;
  for (int32_t k = 0; k < p.n; k++) at[k] = (int32_t)(found->at[k] - t->starts[side][found->pair]);
  int32_t begin = at[0], end = at[p.n - 1] + p.length[p.n - 1];
  int64_t last = side == SRC ? w->first.data[begin + 1] : w->phrases.size;
  for (int64_t k = 0; k < last; k++) {
    const phrase_pair *whole = &w->phrases.data[k];
    const int32_t *span = side == SRC ? whole->src : whole->tgt;
    if (span[0] > begin || span[1] < end || !(ends >> ((span[0] < begin) + 2 * (span[1] > end)) & 1)) continue;
    if (side == SRC && ((span[0] < begin && !is_phrase(w, span[0], begin)) ||
                        (span[1] > end && !is_phrase(w, end, span[1]))))
      continue;
    if (x->listed.data[k].first < 0 && list_tokens(x, k)) return LSCFG_ENOMEM;
    for (int64_t token = x->listed.data[k].first; token < x->listed.data[k].end; token++) {
      if (!fits(&x->tokens.data[token], side, span, &p, at)) continue;
      if (ARRAY_RESERVE(x->hits, 1)) return LSCFG_ENOMEM;
      x->hits.data[x->hits.size++] = (hit){k, token, found->pattern};
    }
  }
  return LSCFG_OK;
}

static int by_pair(const void *a, const void *b) {
  const place *p = a, *q = b;
  return (p->pair > q->pair) - (p->pair < q->pair);
}

static int in_order(const void *a, const void *b) {
  const hit *p = a, *q = b;
  if (p->phrase != q->phrase) return p->phrase < q->phrase ? -1 : 1;
  return (p->token > q->token) - (p->token < q->token);
}

/* Gathers the places of the patterns of this look-up. */
static int gather(lscfg_index *x, int which, int side) {
  const pattern_table *table = &x->patterns[side];
  x->visited.size = 0;
  for (int64_t k = 0; k < table->used.size; k++) {
    const pattern_facts *facts = &table->facts.data[table->used.data[k]];
    int64_t first = facts->first[which], n = facts->end[which] - first;
    if (ARRAY_RESERVE(x->visited, n)) return LSCFG_ENOMEM;
    if (n) memcpy(x->visited.data + x->visited.size, table->places[which].data + first, (size_t)n * sizeof(place));
    x->visited.size += n;
  }
  x->examined[side] += x->visited.size;
  return LSCFG_OK;
}

int visit_tokens(lscfg_index *x, int which, int side, token_visit *take, lscfg_error *error) {
  const text_view *t = &x->text[which];
  if (gather(x, which, side)) return out_of_memory(error);
  place *places = x->visited.data;
  int64_t n = x->visited.size;
  if (n) qsort(places, (size_t)n, sizeof *places, by_pair);
  for (int64_t k = 0; k < n;) {
    int64_t pair = places[k].pair;
    int code = load_pair(x, t, pair, error);
    if (code) return code;
    if (list_phrases(x)) return out_of_memory(error);
    for (x->hits.size = 0; k < n && places[k].pair == pair; k++)
      if (list_hits(x, t, side, &places[k])) return out_of_memory(error);
    if (x->hits.size) qsort(x->hits.data, (size_t)x->hits.size, sizeof *x->hits.data, in_order);
    for (int64_t h = 0; h < x->hits.size; h++) {
      const hit *one = &x->hits.data[h];
      const phrase_pair *whole = &x->work.phrases.data[one->phrase];
      const token_range *listed = &x->listed.data[one->phrase];
      double share = 1.0 / (double)(listed->end - listed->first);
      if (take(x, whole, &x->tokens.data[one->token], share, one->pattern)) return out_of_memory(error);
    }
  }
  return LSCFG_OK;
}
