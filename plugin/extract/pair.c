/* One word-aligned sentence pair: renumbering without unaligned words, and the rule of a pair of spans. */
#include "extract/pair.h"

int pair_condense(lscfg_derivations *d, linked_words *c) {
  int64_t length[2] = {d->pair.words[SRC].size, d->pair.words[TGT].size}, n_links = d->pair.links.size / 2;
  d->work.size = 0;
  if (ARRAY_RESERVE(d->work, 6 * (length[SRC] + length[TGT]) + 2)) return LSCFG_ENOMEM;
  int32_t *p = d->work.data, *number[2];
  const int32_t *links = d->pair.links.data;
  for (int side = SRC; side <= TGT; side++) {
    c->position[side] = p;
    number[side] = p + length[side];
    c->links_to[side] = p + 2 * length[side];
    p += 3 * length[side] + 1;
    c->n[side] = 0;
    c->links_to[side][0] = 0;
    for (int32_t i = 0; i < length[side]; i++) {
      int32_t n = c->n[side], here = d->pair.n_links[side].data[i];
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
  return n <= d->child_spans_capacity
             ? LSCFG_OK
             : array_grow((void **)&d->child_spans, &d->child_spans_capacity, n, sizeof *d->child_spans);
}

int32_t pair_spell(const int32_t *const words[2], const span_pair span, const span_pair *children, int32_t arity,
                   int32_t *child_at, int32_t *out, int32_t *n_src) {
  int32_t n = 0, position = span[SRC][0];
  for (int32_t k = 0; k < arity; k++) {
    while (position < children[k][SRC][0]) out[n++] = words[SRC][position++];
    out[n++] = -1;
    position = children[k][SRC][1];
    child_at[children[k][TGT][0]] = k + 1;
  }
  while (position < span[SRC][1]) out[n++] = words[SRC][position++];
  *n_src = n;
  for (position = span[TGT][0]; position < span[TGT][1];) {
    int32_t child = child_at[position];
    if (child) {
      child_at[position] = 0;
      out[n++] = -child;
      position = children[child - 1][TGT][1];
    } else {
      out[n++] = words[TGT][position++];
    }
  }
  return n;
}

int32_t pair_rule(lscfg_derivations *d, const span_pair span, const span_pair *children, int32_t arity) {
  int64_t room = (int64_t)span[SRC][1] - span[SRC][0] + span[TGT][1] - span[TGT][0];
  int64_t n_tgt_words = d->pair.words[TGT].size;
  d->rule_symbols.size = 0;
  if (ARRAY_RESERVE(d->rule_symbols, room)) return LSCFG_ENOMEM;
  if (d->child_at.size < n_tgt_words) {
    if (ARRAY_RESERVE(d->child_at, n_tgt_words - d->child_at.size)) return LSCFG_ENOMEM;
    memset(d->child_at.data + d->child_at.size, 0, (size_t)(n_tgt_words - d->child_at.size) * sizeof(int32_t));
    d->child_at.size = n_tgt_words;
  }
  const int32_t *const words[2] = {d->pair.words[SRC].data, d->pair.words[TGT].data};
  int32_t n_src, n = pair_spell(words, span, children, arity, d->child_at.data, d->rule_symbols.data, &n_src);
  return derivations_rule(d, d->rule_symbols.data, n_src, n, arity);
}
