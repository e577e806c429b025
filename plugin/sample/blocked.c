/* A whole tree at once, by inside sums over all its rules: fragments of the forest between a head and its frontier.
 *
 * The rules of the pair are removed, and the probabilities of all others stay fixed while a tree is sampled from the
 * top. Rules of one tree are not independent, so a Metropolis-Hastings step accepts or rejects the tree: the
 * probability of its rules one after the other, over that of the same rules independently, against this ratio of the
 * current tree. */
#include <math.h>

#include "sample/blocked.h"
#include "sample/local.h"
#include "sample/options.h"
#include "sample/tree.h"

enum { MAX_FRAGMENTS = 5000, MAX_HELD_OUT = 1000000 };

void fragments_release(fragment_table *t) {
  free(t->all.data);
  free(t->frontiers.data);
  free(t->first.data);
  free(t->inside.data);
  free(t->parts.data);
  free(t->part_frontiers.data);
  index_release(&t->index);
}

/* ---- what a tree may be: nodes above the highest level stay as they are ---- */

static int is_open(const lscfg_sampler *s, int32_t node) { return s->nodes[node].level <= s->max_level; }

static int may_be(const lscfg_sampler *s, int32_t node, int is_cut) {
  const forest_node *at = &s->nodes[node];
  if (at->must_cut) return is_cut;
  return is_open(s, node) || s->cut_of[node] == is_cut;
}

static void open_edges(const lscfg_sampler *s, int32_t node, int32_t *begin, int32_t *end) {
  *begin = is_open(s, node) ? 0 : s->edge_of[node];
  *end = is_open(s, node) ? s->nodes[node].n_edges : *begin + 1;
}

/* ---- fragments ---- */

/* Adds a fragment of the head at hand, which begins at first; one with the same frontier has more derivations then. */
static int add_fragment(fragment_table *t, int64_t first, const int32_t *frontier, int32_t n, double derivations,
                        int is_unique) {
  uint32_t hash = 0;
  if (!is_unique) {
    int64_t at = -1;
    hash = (uint32_t)hash_ints(frontier, n, 0);
    for (int32_t k; (k = index_next(&t->index, hash, &at)) >= 0;) {
      fragment *f = &t->all.data[first + k];
      if (f->n != n || memcmp(t->frontiers.data + f->frontier, frontier, (size_t)n * sizeof *frontier)) continue;
      f->derivations += derivations;
      return LSCFG_OK;
    }
    if (index_reserve(&t->index)) return LSCFG_ENOMEM;
    index_put(&t->index, hash, (int32_t)(t->all.size - first));
  }
  if (ARRAY_RESERVE(t->all, 1) || ARRAY_RESERVE(t->frontiers, n)) return LSCFG_ENOMEM;
  t->all.data[t->all.size++] = (fragment){.frontier = t->frontiers.size, .n = n, .derivations = derivations};
  if (n) memcpy(t->frontiers.data + t->frontiers.size, frontier, (size_t)n * sizeof *frontier);
  t->frontiers.size += n;
  return LSCFG_OK;
}

/* A part of an edge's frontier, and what its next tail adds to it. */
static int add_part(fragment_table *t, int64_t part, const int32_t *more, int32_t n, double derivations) {
  fragment before = t->parts.data[part];
  if (ARRAY_RESERVE(t->parts, 1) || ARRAY_RESERVE(t->part_frontiers, before.n + n)) return LSCFG_ENOMEM;
  int32_t *out = t->part_frontiers.data + t->part_frontiers.size;
  if (before.n) memcpy(out, t->part_frontiers.data + before.frontier, (size_t)before.n * sizeof *out);
  if (n) memcpy(out + before.n, more, (size_t)n * sizeof *out);
  t->parts.data[t->parts.size++] = (fragment){.frontier = t->part_frontiers.size,
                                              .n = before.n + n,
                                              .derivations = before.derivations * derivations};
  t->part_frontiers.size += before.n + n;
  return LSCFG_OK;
}

/* All parts with one more tail: the new ones at the end replace those from begin on. */
static int extend_parts(const lscfg_sampler *s, fragment_table *t, int64_t begin, int32_t tail, int64_t most) {
  int64_t end = t->parts.size;
  for (int64_t part = begin; part < end; part++) {
    if (may_be(s, tail, 1) && add_part(t, part, &tail, 1, 1)) return LSCFG_ENOMEM;
    if (!may_be(s, tail, 0)) continue;
    for (int64_t k = t->first.data[tail]; k < t->first.data[tail + 1]; k++) {
      const fragment *f = &t->all.data[k];
      if (add_part(t, part, t->frontiers.data + f->frontier, f->n, f->derivations)) return LSCFG_ENOMEM;
    }
    if (t->parts.size > most) return LSCFG_EINPUT;
  }
  return LSCFG_OK;
}

static int list_of_node(const lscfg_sampler *s, fragment_table *t, int32_t node, int64_t most) {
  int64_t first = t->all.size;
  int32_t begin, end;
  open_edges(s, node, &begin, &end);
  index_clear(&t->index);
  for (int32_t e = begin; e < end; e++) {
    const int32_t *tails = s->first_tail + s->nodes[node].first_edge + e;
    int64_t part = 0;
    t->parts.size = t->part_frontiers.size = 0;
    if (ARRAY_RESERVE(t->parts, 1)) return LSCFG_ENOMEM;
    t->parts.data[t->parts.size++] = (fragment){.derivations = 1};
    for (int32_t k = tails[0]; k < tails[1]; k++) {
      int64_t next = t->parts.size;
      int code = extend_parts(s, t, part, s->tails[k], most);
      if (code) return code;
      part = next;
    }
    for (; part < t->parts.size; part++) {
      const fragment *f = &t->parts.data[part];
      if (add_fragment(t, first, t->part_frontiers.data + f->frontier, f->n, f->derivations, end - begin == 1))
        return LSCFG_ENOMEM;
    }
    if (t->all.size > most) return LSCFG_EINPUT;
  }
  return LSCFG_OK;
}

/* All fragments of the pair; LSCFG_EINPUT: more than the limit. */
static int list_fragments(lscfg_sampler *s, int64_t most) {
  fragment_table *t = &s->fragments;
  t->all.size = t->frontiers.size = t->first.size = 0;
  if (ARRAY_RESERVE(t->first, s->n_nodes + 1)) return LSCFG_ENOMEM;
  /* Fragments without a frontier have offsets into these too. */
  if (ARRAY_RESERVE(t->frontiers, 1) || ARRAY_RESERVE(t->part_frontiers, 1)) return LSCFG_ENOMEM;
  t->first.data[t->first.size++] = 0;
  for (int32_t node = 0; node < s->n_nodes; node++) {
    int code = list_of_node(s, t, node, most);
    if (code) return code;
    t->first.data[t->first.size++] = t->all.size;
  }
  return LSCFG_OK;
}

/* ---- inside ---- */

/* The rule of a fragment into the form: LSCFG_OK or LSCFG_ENOMEM. */
static int spell_fragment(lscfg_sampler *s, int32_t head, const fragment *f, rule_form *form) {
  const int32_t *frontier = s->fragments.frontiers.data + f->frontier;
  const int32_t (*span)[2] = s->nodes[head].span;
  int64_t room = (int64_t)span[SRC][1] - span[SRC][0] + span[TGT][1] - span[TGT][0];
  s->symbols.size = 0;
  if (ARRAY_RESERVE(s->symbols, room + 1)) return LSCFG_ENOMEM;
  for (int32_t k = 0; k < f->n; k++)
    memcpy(s->child_spans[k], s->nodes[frontier[k]].span, sizeof s->child_spans[k]);
  *form = (rule_form){.arity = f->n, .head = head};
  form->n = pair_spell(s->words, span, (const span_pair *)s->child_spans, f->n, s->child_at, s->symbols.data,
                       &form->n_src);
  restaurant_find(&s->rules, s->symbols.data, form);
  return LSCFG_OK;
}

/* Log of the weight of all trees of a fragment's rule. */
static int weigh_fragment(lscfg_sampler *s, int32_t head, fragment *f) {
  rule_form form;
  f->weight = log(f->derivations);
  if (s->nodes[head].is_choice) return LSCFG_OK;
  if (spell_fragment(s, head, f, &form)) return LSCFG_ENOMEM;
  double rule = restaurant_log_probability(&s->rules, &form);
  if (s->rules.options.corrected)
    rule -= s->nodes[s->n_nodes - 1].level <= s->max_level ? f->weight : sampler_log_derivations(s, head, f->n);
  f->weight += rule * s->inverse_temperature;
  return LSCFG_OK;
}

static int sum_inside(lscfg_sampler *s) {
  fragment_table *t = &s->fragments;
  t->inside.size = 0;
  if (ARRAY_RESERVE(t->inside, s->n_nodes)) return LSCFG_ENOMEM;
  for (int32_t node = 0; node < s->n_nodes; node++) {
    fragment *begin = t->all.data + t->first.data[node], *end = t->all.data + t->first.data[node + 1];
    double most = -HUGE_VAL, sum = 0;
    int is_head = may_be(s, node, 1) || s->nodes[node].is_choice;
    for (fragment *f = begin; f < end && is_head; f++) {
      if (weigh_fragment(s, node, f)) return LSCFG_ENOMEM;
      for (int32_t k = 0; k < f->n; k++) f->weight += t->inside.data[t->frontiers.data[f->frontier + k]];
      if (f->weight > most) most = f->weight;
    }
    for (fragment *f = begin; f < end && is_head; f++) sum += exp(f->weight - most);
    t->inside.data[t->inside.size++] = most + log(sum);
  }
  return LSCFG_OK;
}

/* ---- a tree from the top ---- */

static const fragment *draw_fragment(lscfg_sampler *s, int32_t head) {
  const fragment_table *t = &s->fragments;
  const fragment *f = t->all.data + t->first.data[head], *last = t->all.data + t->first.data[head + 1] - 1;
  double left = random_uniform(&s->random);
  for (; f < last; f++)
    if ((left -= exp(f->weight - t->inside.data[head])) < 0) break;
  return f;
}

/* The part of a frontier below a node: from *frontier on, which moves past it; returns its length. */
static int32_t part_below(const lscfg_sampler *s, int32_t node, const int32_t **frontier, const int32_t *end) {
  int32_t n = 0, stop = s->nodes[node].span[SRC][1];
  while (*frontier < end && s->nodes[**frontier].span[SRC][0] < stop) {
    (*frontier)++;
    n++;
  }
  return n;
}

/* Derivations from a node to a part of a frontier: 0 where none leads there. */
static double derivations_to(const lscfg_sampler *s, int32_t node, const int32_t *part, int32_t n) {
  const fragment_table *t = &s->fragments;
  if (n == 1 && part[0] == node) return 1;
  if (!may_be(s, node, 0)) return 0;
  for (int64_t k = t->first.data[node]; k < t->first.data[node + 1]; k++) {
    const fragment *f = &t->all.data[k];
    if (f->n == n && (!n || !memcmp(t->frontiers.data + f->frontier, part, (size_t)n * sizeof *part)))
      return f->derivations;
  }
  return 0;
}

static double derivations_by(const lscfg_sampler *s, int32_t node, int32_t edge, const int32_t *part, int32_t n) {
  const int32_t *tails = s->first_tail + s->nodes[node].first_edge + edge, *end = part + n;
  double product = 1;
  for (int32_t k = tails[0]; k < tails[1] && product > 0; k++) {
    const int32_t *begin = part;
    int32_t below = part_below(s, s->tails[k], &part, end);
    product *= derivations_to(s, s->tails[k], begin, below);
  }
  return part == end ? product : 0;
}

/* Draws edges down to the frontier, so that each derivation is as likely as another. */
static void draw_derivation(lscfg_sampler *s, int32_t node, const int32_t *part, int32_t n) {
  int32_t edge, last;
  open_edges(s, node, &edge, &last);
  if (last - edge > 1) {
    double left = 0;
    for (int32_t e = edge; e < last; e++) left += derivations_by(s, node, e, part, n);
    left *= random_uniform(&s->random);
    int32_t possible = edge;
    for (int32_t e = edge; e < last; e++) {
      double ways = derivations_by(s, node, e, part, n);
      if (ways > 0) possible = e;
      if ((left -= ways) < 0) break;
    }
    edge = possible;
  }
  s->edge_of[node] = edge;
  const int32_t *tails = s->first_tail + s->nodes[node].first_edge + edge, *end = part + n;
  for (int32_t k = tails[0]; k < tails[1]; k++) {
    int32_t tail = s->tails[k];
    const int32_t *begin = part;
    int32_t below = part_below(s, tail, &part, end);
    s->cut_of[tail] = below == 1 && *begin == tail;
    if (!s->cut_of[tail]) draw_derivation(s, tail, begin, below); /* no deeper than max_cut */
  }
}

/* Puts a new tree into the values of the nodes. */
static void draw_from_top(lscfg_sampler *s) {
  int32_t height = 0;
  s->stack[height++] = s->n_nodes - 1;
  while (height) {
    int32_t head = s->stack[--height];
    const fragment *f = draw_fragment(s, head);
    const int32_t *frontier = s->fragments.frontiers.data + f->frontier;
    draw_derivation(s, head, frontier, f->n);
    for (int32_t k = 0; k < f->n; k++) s->stack[height++] = frontier[k];
  }
}

/* Log probability of the rules of an option, one after the other, minus that of the same rules independently. */
static double log_dependence(const lscfg_sampler *s, int32_t option) {
  return s->log_rules[option] - sampler_log_apart(s, s->first_form[option], s->first_form[option + 1]);
}

int sampler_move_blocked(lscfg_sampler *s) {
  int32_t root = s->n_nodes - 1;
  int code = list_fragments(s, MAX_FRAGMENTS);
  if (code) return code == LSCFG_EINPUT ? sampler_move_nodes(s) : code;
  int32_t n = sampler_mark_tree(s, root);
  sampler_begin_options(s);
  if (sampler_leave_tree(s, n) || sum_inside(s)) return LSCFG_ENOMEM;
  s->symbols.size = 0;
  if (sampler_add_tree(s, n, 1)) return LSCFG_ENOMEM;
  sampler_end_option(s, 0, 0);
  sampler_save_tree(s);
  draw_from_top(s);
  if (sampler_add_tree(s, sampler_mark_tree(s, root), 0)) return LSCFG_ENOMEM;
  sampler_end_option(s, 1, 0);
  double ratio = (log_dependence(s, 1) - log_dependence(s, 0)) * s->inverse_temperature;
  return sampler_settle(s, sampler_accepts(s, ratio));
}

/* ---- held-out pairs ---- */

int lscfg_sampler_held_out(lscfg_sampler *s, double *sum, int64_t *n_words, int64_t *n_left_out, lscfg_error *error) {
  if (s->rules.n_marks)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "held-out probabilities do not support hidden states");
  s->max_level = s->forests->max_level;
  s->inverse_temperature = 1;
  *sum = 0;
  *n_words = *n_left_out = 0;
  for (int64_t k = s->n_pairs; k + 1 < s->forests->pairs.size; k++) {
    sampler_open_pair(s, k, 0);
    if (!s->n_nodes) continue; /* the pair was dropped */
    int code = list_fragments(s, MAX_HELD_OUT);
    if (!code) code = sum_inside(s);
    if (code == LSCFG_ENOMEM) return out_of_memory(error);
    *n_left_out += code == LSCFG_EINPUT;
    if (code) continue;
    *sum += s->fragments.inside.data[s->n_nodes - 1];
    *n_words += s->pair[1].word[TGT] - s->pair->word[TGT];
  }
  return LSCFG_OK;
}
