/* Hiero grammar extraction (Chiang 2007, section 3): from every initial phrase pair, the rules that are left when
 * smaller initial phrase pairs inside it become nonterminals. A grammar that exceeds the memory is extracted in parts,
 * by the hash of source sides, because sorted runs on disk would add shares in another order. */
#include "extract/hiero_pair.h"
#include "extract/tables.h"
#include "extract/wanted.h"

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
  hiero_pair work;
};

lscfg_hiero *lscfg_hiero_new(const lscfg_hiero_options *options) {
  lscfg_hiero *h = calloc(1, sizeof *h);
  if (!h) return NULL;
  h->options = *options;
  if (h->options.min_hole < 1) h->options.min_hole = 1;
  h->work.options = &h->options;
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
  hiero_pair_release(&h->work);
  free(h->count.data);
  free(h->tokens.data);
  free(h->first.data);
  free(h->places.data);
  free(h);
}

static int keep_place(lscfg_hiero *h, int32_t rule, const int32_t src[2], const rule_token *token) {
  if (ARRAY_RESERVE(h->places, 8)) return LSCFG_ENOMEM;
  int32_t *place = h->places.data + h->places.size;
  const int32_t head[4] = {rule, (int32_t)h->n_sentences, src[0], src[1]};
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

static int count_rule(lscfg_hiero *h, const int32_t src[2], const rule_token *token, double share) {
  spelling r = hiero_spell(&h->work, src, token);
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
  return h->options.places ? keep_place(h, rule, src, token) : LSCFG_OK;
}

static int count_target(lscfg_hiero *h, const int32_t src[2], const rule_token *token, double share) {
  spelling r = hiero_spell(&h->work, src, token);
  int32_t side = rule_table_find(&h->targets, r.symbols + r.n_src, 0, r.n - r.n_src);
  if (side >= 0) h->target_count.data[side] += share;
  return LSCFG_OK;
}

typedef int visit(lscfg_hiero *, const int32_t src[2], const rule_token *, double share);

/* All rule tokens of the pair that was read; *phrases and *used as in the view. */
static int walk(lscfg_hiero *h, visit *take, int64_t *phrases, int64_t *used) {
  hiero_pair *w = &h->work;
  if (hiero_prepare(w)) return LSCFG_ENOMEM;
  for (int64_t p = 0; p < w->phrases.size; p++) {
    const phrase_pair *whole = &w->phrases.data[p];
    if (hiero_tokens(w, whole)) return LSCFG_ENOMEM;
    ++*phrases;
    *used += w->found.size > 0;
    double share = 1.0 / (double)w->found.size;
    for (int64_t k = 0; k < w->found.size; k++)
      if (take(h, whole->src, &w->found.data[k], share)) return LSCFG_ENOMEM;
  }
  return LSCFG_OK;
}

static int read_pair(lscfg_hiero *h, const char *src, size_t n_src, const char *tgt, size_t n_tgt, const char *links,
                     size_t n_links, int32_t *stream, lscfg_error *error) {
  const char *const line[3] = {src, tgt, links};
  const size_t length[3] = {n_src, n_tgt, n_links};
  int code = sentence_pair_read(&h->work.pair, &h->tables.vocab, line, length, 0, stream, error);
  return code > 0 ? LSCFG_EINPUT : code;
}

int lscfg_hiero_add(lscfg_hiero *h, const char *src, size_t n_src, const char *tgt, size_t n_tgt, const char *links,
                    size_t n_links, int32_t *stream, lscfg_error *error) {
  int code = read_pair(h, src, n_src, tgt, n_tgt, links, n_links, stream, error);
  if (code) return code;
  if (link_counts_add_pair(&h->tables.lexicon, &h->work.pair) || walk(h, count_rule, &h->n_phrases, &h->n_used))
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
