/* Kept samples: counts of the rules in the trees, and their positions. */
#include "sample/tree.h"

/* True if a source word with a link is in the rule at head; a word of the tight spans that is linked to it is, too. */
static int has_link(const lscfg_sampler *s, int32_t head, int32_t arity) {
  int32_t root = s->n_nodes - 1, alignment = s->nodes[root].is_choice ? s->edge_of[root] : 0;
  const uint8_t *linked = s->forests->linked.data + s->pair->word[SRC];
  int32_t position = s->nodes[head].span[SRC][0];
  for (int32_t k = 0; k <= arity; k++) {
    int32_t end = k < arity ? s->child_spans[k][SRC][0] : s->nodes[head].span[SRC][1];
    for (; position < end; position++)
      if (linked[position] >> alignment & 1) return 1;
    if (k < arity) position = s->child_spans[k][SRC][1];
  }
  return 0;
}

static int keep_place(lscfg_sampler *s, int64_t number, int32_t head, int32_t arity) {
  if (ARRAY_RESERVE(s->places, 8)) return LSCFG_ENOMEM;
  int32_t *place = s->places.data + s->places.size;
  place[0] = s->rule_of[head];
  place[1] = (int32_t)number;
  memcpy(place + 2, s->nodes[head].span[SRC], 2 * sizeof *place);
  for (int32_t k = 0; k < 2; k++) {
    const int32_t none[2] = {-1, -1};
    memcpy(place + 4 + 2 * k, k < arity ? s->child_spans[k][SRC] : none, sizeof none);
  }
  s->places.size += 8;
  return LSCFG_OK;
}

static int keep_rule(lscfg_sampler *s, int64_t number, int32_t head) {
  if (!s->cut_of[head]) return LSCFG_OK;
  const int32_t (*span)[2] = s->nodes[head].span;
  int32_t rule = s->rule_of[head], most = s->rules.options.max_phrase;
  s->kept.data[rule]++;
  if (s->label) return LSCFG_OK; /* of no text */
  int32_t arity = sampler_list_children(s, head);
  int is_short = span[SRC][1] - span[SRC][0] <= most && span[TGT][1] - span[TGT][0] <= most;
  s->kept_short.data[rule] += is_short && has_link(s, head, arity);
  return s->rules.options.places ? keep_place(s, number, head, arity) : LSCFG_OK;
}

static int reserve_kept(lscfg_sampler *s) {
  int64_t more = s->rules.count.size - s->kept.size;
  if (ARRAY_RESERVE(s->kept, more + 1) || ARRAY_RESERVE(s->kept_short, more + 1)) return LSCFG_ENOMEM;
  while (s->kept.size < s->rules.count.size)
    s->kept.data[s->kept.size++] = s->kept_short.data[s->kept_short.size++] = 0;
  return LSCFG_OK;
}

int lscfg_sampler_keep(lscfg_sampler *s, lscfg_error *error) {
  if (reserve_kept(s)) return out_of_memory(error);
  for (int64_t k = 0; k < s->n_pairs; k++) {
    sampler_open_pair(s, k, 0);
    int32_t root = s->n_nodes - 1;
    if (root < 0) continue;
    int32_t n = sampler_mark_tree(s, root);
    int failed = keep_rule(s, k, root);
    for (int32_t i = 0; i < n && !failed; i++) failed = keep_rule(s, k, s->below[i]);
    if (failed) return out_of_memory(error);
  }
  return LSCFG_OK;
}
