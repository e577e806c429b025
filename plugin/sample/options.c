/* The options of a choice: rules that replace others, their probability, and their entry into the restaurants. */
#include <math.h>

#include "sample/options.h"
#include "sample/tree.h"

/* ---- rules ---- */

static int overlap(const int32_t a[2], const int32_t b[2]) { return a[0] < b[1] && b[0] < a[1]; }

/* True if a node is one of the rule's children (1), lies in one or crosses one (-1), or neither. */
static int is_child(const lscfg_sampler *s, int32_t node, int32_t n_children) {
  const int32_t *span = s->nodes[node].span[SRC];
  for (int32_t k = 0; k < n_children; k++) {
    const int32_t *child = s->child_spans[k][SRC];
    if (!overlap(span, child)) continue;
    if (span[0] == child[0] && span[1] == child[1]) return 1;
    if (span[0] > child[0] || span[1] < child[1]) return -1;
  }
  return 0;
}

double sampler_count_derivations(lscfg_sampler *s, int32_t head, int32_t n_children) {
  const int32_t *outer = s->nodes[head].span[SRC];
  for (int32_t node = 0; node <= head; node++) { /* tails before heads */
    const forest_node *at = &s->nodes[node];
    s->ways[node] = 0;
    if (at->span[SRC][0] < outer[0] || at->span[SRC][1] > outer[1]) continue;
    int which = node == head ? 0 : is_child(s, node, n_children);
    if (which > 0) s->ways[node] = 1;
    if (which || (at->must_cut && node != head)) continue;
    const int32_t *first = s->first_tail + at->first_edge;
    for (int32_t e = 0; e < at->n_edges; e++) {
      double product = 1;
      for (int32_t k = first[e]; k < first[e + 1]; k++) product *= s->ways[s->tails[k]];
      s->ways[node] += product;
    }
  }
  return s->ways[head];
}

double sampler_log_derivations(lscfg_sampler *s, int32_t head, int32_t n_children) {
  return s->nodes[head].is_plain ? 0 : log(sampler_count_derivations(s, head, n_children));
}

/* Writes states to the symbols of the last form, whose children are listed. */
static void spell_states(lscfg_sampler *s, int32_t head, rule_form *f) {
  int32_t *symbols = s->symbols.data + f->symbols, child = 0;
  for (int32_t i = 0; i < f->n_src; i++)
    if (symbols[i] < 0) symbols[i] -= s->child_states[child++];
  symbols[f->n++] = -1 - s->state_of[head];
}

/* The fragment at a head of a given forest. */
static int spell_fragment(lscfg_sampler *s, int32_t head) {
  if (ARRAY_RESERVE(s->symbols, s->n_nodes) || ARRAY_RESERVE(s->forms, 1)) return LSCFG_ENOMEM;
  rule_form *f = &s->forms.data[s->forms.size++];
  *f = (rule_form){.symbols = s->symbols.size, .head = (int32_t)s->pair->node + head};
  int32_t height = 0;
  s->stack[height++] = head;
  while (height) {
    int32_t at = s->stack[--height];
    int ends = at != head && s->cut_of[at];
    s->symbols.data[s->symbols.size++] = ends ? CUT_TAIL : s->label[s->nodes[at].first_edge + s->edge_of[at]];
    f->arity += ends;
    if (!ends) height = push_tails(s, at, s->stack, height);
  }
  f->n = f->n_src = (int32_t)(s->symbols.size - f->symbols);
  restaurant_find(&s->rules, s->symbols.data, f);
  return LSCFG_OK;
}

int sampler_spell(lscfg_sampler *s, int32_t head) {
  if (!s->cut_of[head]) return LSCFG_OK;
  if (s->label) return spell_fragment(s, head);
  const int32_t (*span)[2] = s->nodes[head].span;
  int64_t room = (int64_t)span[SRC][1] - span[SRC][0] + span[TGT][1] - span[TGT][0];
  if (ARRAY_RESERVE(s->symbols, room + 2) || ARRAY_RESERVE(s->forms, 1)) return LSCFG_ENOMEM;
  rule_form *f = &s->forms.data[s->forms.size++];
  *f = (rule_form){.symbols = s->symbols.size, .arity = sampler_list_children(s, head)};
  f->head = (int32_t)s->pair->node + head;
  f->n = pair_spell(s->words, span, (const span_pair *)s->child_spans, f->arity, s->child_at,
                    s->symbols.data + s->symbols.size, &f->n_src);
  if (s->rules.n_marks) spell_states(s, head, f);
  s->symbols.size += f->n;
  restaurant_find(&s->rules, s->symbols.data, f);
  if (s->rules.options.corrected) f->log_ways = sampler_log_derivations(s, head, f->arity);
  return LSCFG_OK;
}

int sampler_recall(lscfg_sampler *s, int32_t head) {
  if (!s->cut_of[head]) return LSCFG_OK;
  if (ARRAY_RESERVE(s->forms, 1)) return LSCFG_ENOMEM;
  rule_form *f = &s->forms.data[s->forms.size++];
  *f = restaurant_form(&s->rules, s->rule_of[head], (int32_t)s->pair->node + head);
  f->log_ways = s->ways_of[head];
  return LSCFG_OK;
}

int sampler_add_tree(lscfg_sampler *s, int32_t n_below, int known) {
  int (*add)(lscfg_sampler *, int32_t) = known ? sampler_recall : sampler_spell;
  if (add(s, s->n_nodes - 1)) return LSCFG_ENOMEM;
  for (int32_t k = 0; k < n_below; k++)
    if (add(s, s->below[k])) return LSCFG_ENOMEM;
  return LSCFG_OK;
}

/* ---- options ---- */

void sampler_begin_options(lscfg_sampler *s) {
  s->symbols.size = s->forms.size = s->first_form[0] = s->left.size = 0;
  s->log_left = 0;
}

double sampler_log_apart(const lscfg_sampler *s, int64_t first, int64_t end) {
  double sum = 0;
  for (int64_t k = first; k < end; k++) sum += restaurant_log_probability(&s->rules, &s->forms.data[k]);
  return sum;
}

void sampler_end_option(lscfg_sampler *s, int32_t option, double log_density) {
  int64_t first = s->first_form[option], n = s->forms.size - first;
  s->first_form[option + 1] = s->forms.size;
  double rules = restaurant_score(&s->rules, s->symbols.data, s->forms.data + first, n);
  if (s->rules.options.original & LSCFG_ORIGINAL_RULES) rules = sampler_log_apart(s, first, s->forms.size);
  s->log_rules[option] = rules;
  for (int64_t k = first; k < s->forms.size; k++) rules -= s->forms.data[k].log_ways;
  s->weight[option] = rules * s->inverse_temperature + log_density;
}

int32_t sampler_choose(lscfg_sampler *s, int32_t n) {
  double most = s->weight[0], sum = 0;
  for (int32_t k = 1; k < n; k++)
    if (s->weight[k] > most) most = s->weight[k];
  for (int32_t k = 0; k < n; k++) sum += s->weight[k] = exp(s->weight[k] - most);
  double drawn = random_uniform(&s->random) * sum;
  for (int32_t k = 0; k + 1 < n; k++)
    if ((drawn -= s->weight[k]) < 0) return k;
  return n - 1;
}

/* ---- tokens ---- */

void sampler_leave(lscfg_sampler *s, int32_t head) {
  if (!s->cut_of[head]) return;
  restaurant *r = &s->rules;
  int32_t rule = s->rule_of[head], seat = restaurant_any_seat(r, rule, &s->random);
  restaurant_remove(r, rule, seat);
  s->sum_of_ways -= s->ways_of[head];
  if (s->sites_of.next) sites_remove(&s->sites_of, rule, (int32_t)s->pair->node + head);
  if (!r->seated) return;
  s->left.data[s->left.size++] = (left_token){(int32_t)s->pair->node + head, rule, seat, s->ways_of[head]};
  rule_form f = restaurant_form(r, rule, head);
  s->log_left += restaurant_log_probability(r, &f);
}

int sampler_leave_tree(lscfg_sampler *s, int32_t n_below) {
  if (ARRAY_RESERVE(s->left, n_below + 1)) return LSCFG_ENOMEM;
  sampler_leave(s, s->n_nodes - 1);
  for (int32_t k = 0; k < n_below; k++) sampler_leave(s, s->below[k]);
  return LSCFG_OK;
}

static void seat_token(lscfg_sampler *s, left_token t) {
  restaurant_add(&s->rules, t.rule, t.seat);
  s->rule[t.head] = t.rule;
  s->log_ways[t.head] = t.log_ways;
  s->sum_of_ways += t.log_ways;
  if (s->sites_of.next) sites_add(&s->sites_of, t.rule, t.head);
}

int sampler_accepts(lscfg_sampler *s, double log_ratio) {
  return log_ratio >= 0 || log(random_uniform(&s->random)) < log_ratio;
}

/* With tables, an option was chosen as if known rules opened none. The sampled seats of its rules may make it less
 * probable; a Metropolis-Hastings step then restores the removed rules. */
static int seats_accepted(lscfg_sampler *s, int32_t option, int32_t current, double log_joined) {
  double ratio = log_joined - s->log_rules[option] - (s->log_left - s->log_rules[current]);
  return sampler_accepts(s, ratio * s->inverse_temperature);
}

int sampler_take(lscfg_sampler *s, int32_t option, int32_t current) {
  restaurant *r = &s->rules;
  int64_t n_left = s->left.size, first = s->first_form[option], end = s->first_form[option + 1];
  double log_joined = 0;
  if (r->seated && ARRAY_RESERVE(s->left, end - first)) return LSCFG_ENOMEM;
  for (int64_t k = first; k < end; k++) {
    const rule_form *f = &s->forms.data[k];
    int32_t rule = restaurant_intern(r, s->symbols.data, f);
    if (rule < 0) return LSCFG_ENOMEM;
    if (s->sites_of.next && sites_reserve(&s->sites_of, r->count.size)) return LSCFG_ENOMEM;
    left_token joins = {f->head, rule, restaurant_new_seat(r, rule, &s->random), f->log_ways};
    if (r->seated) {
      rule_form now = restaurant_form(r, rule, f->head);
      log_joined += restaurant_log_probability(r, &now);
      s->left.data[s->left.size++] = joins;
    }
    seat_token(s, joins);
  }
  if (!r->seated || !n_left || seats_accepted(s, option, current, log_joined)) return 1;
  while (s->left.size > n_left) {
    const left_token *t = &s->left.data[--s->left.size];
    restaurant_remove(r, t->rule, t->seat);
    s->sum_of_ways -= t->log_ways;
    if (s->sites_of.next) sites_remove(&s->sites_of, t->rule, t->head);
  }
  while (s->left.size) seat_token(s, s->left.data[--s->left.size]);
  return 0;
}

int sampler_settle(lscfg_sampler *s, int accepted) {
  int taken = sampler_take(s, accepted, 0);
  if (taken < 0) return LSCFG_ENOMEM;
  if (!accepted || !taken) sampler_restore_tree(s);
  s->state.trees_drawn++;
  s->state.trees_moved += accepted && taken;
  return LSCFG_OK;
}
