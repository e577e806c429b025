/* Going on where another sampler was. */
#include <math.h>

#include "sample/options.h"
#include "sample/tree.h"

/* Restores the tree of the current pair, and its rules, which must be those of the checkpoint. */
static int restore_pair(lscfg_sampler *s, const lscfg_sampler_view *v) {
  int32_t root = s->n_nodes - 1;
  int64_t first = s->pair->node;
  for (int32_t k = 0; k <= root; k++) {
    const forest_node *at = &s->nodes[k];
    int32_t edge = v->edge[first + k], cut = v->cut[first + k], state = v->node_state[first + k];
    if (state >= s->rules.options.states) return LSCFG_EINPUT;
    if (edge < 0 || edge >= at->n_edges || cut > 1 || (at->must_cut && cut != first_cut(at, 1))) return LSCFG_EINPUT;
    s->edge_of[k] = edge;
    s->cut_of[k] = (uint8_t)cut;
    s->state_of[k] = (uint8_t)state;
  }
  if (root < 0) return LSCFG_OK;
  sampler_begin_options(s);
  if (sampler_add_tree(s, sampler_mark_tree(s, root), 0)) return LSCFG_ENOMEM;
  for (int64_t k = 0; k < s->forms.size; k++) {
    const rule_form *f = &s->forms.data[k];
    if (f->rule < 0 || f->rule != v->rule[f->head]) return LSCFG_EINPUT;
  }
  s->first_form[1] = s->forms.size;
  return sampler_take(s, 0, 0) < 0 ? LSCFG_ENOMEM : LSCFG_OK;
}

/* Restores the seats of the tokens over those that were just sampled. */
static int restore_seats(lscfg_sampler *s, const lscfg_sampler_view *v) {
  restaurant *r = &s->rules;
  if (!r->seated) return v->n_seats ? LSCFG_EINPUT : LSCFG_OK;
  int64_t n_rules = r->count.size;
  seats_release(&r->seats);
  for (int32_t k = 0; k < r->n_groups; k++) r->groups[k].tables = 0;
  for (int64_t rule = 0; rule < n_rules; rule++)
    if (seats_add_rule(&r->seats)) return LSCFG_ENOMEM;
  if (seats_reserve(&r->seats, r->n_tokens) || seats_reserve(&r->seats, v->n_seats)) return LSCFG_ENOMEM;
  for (int64_t seat = 0; seat < v->n_seats; seat++) {
    const int32_t *group = v->seats + 3 * seat;
    int32_t rule = group[0], size = group[1], tables = group[2];
    if (rule < 0 || rule >= n_rules || size < 1 || tables < 1 || tables > r->count.data[rule]) return LSCFG_EINPUT;
    for (int32_t k = 0; k < tables; k++) seats_move(&r->seats, rule, 0, size);
    r->groups[r->group.data[rule]].tables += tables;
  }
  for (int64_t rule = 0; rule < n_rules; rule++)
    if (seats_tokens(&r->seats, (int32_t)rule) != r->count.data[rule]) return LSCFG_EINPUT;
  return LSCFG_OK;
}

static int restore_settings(lscfg_sampler *s, const lscfg_sampler_view *v) {
  if (!(v->mean_length > 0 && v->mean_length < HUGE_VAL) || v->n_rates != s->n_rates) return LSCFG_EINPUT;
  for (int32_t k = 0; k < s->rules.n_groups; k++) {
    lscfg_process p = v->processes[k];
    if (!(p.alpha > 0 && p.alpha < HUGE_VAL && p.discount >= 0 && p.discount < 1)) return LSCFG_EINPUT;
    s->rules.processes[k] = p;
  }
  for (int32_t k = 0; k < s->n_rates; k++) {
    if (!(v->cut_rates[k] > 0 && v->cut_rates[k] < 1)) return LSCFG_EINPUT;
    s->cut_rate[k] = v->cut_rates[k];
  }
  restaurant_set_mean(&s->rules, v->mean_length);
  return LSCFG_OK;
}

/* Sums differ in rounding from those that were added up token by token, which the chain continues with. */
static int is_near(double a, double b) { return fabs(a - b) <= 1e-6 * (1 + fabs(b)); }

static int restore_sums(lscfg_sampler *s, const lscfg_sampler_view *v) {
  restaurant *r = &s->rules;
  for (int64_t rule = 0; rule < r->count.size; rule++)
    if (r->count.data[rule] != v->count[rule]) return LSCFG_EINPUT;
  for (int32_t k = 0; k < r->n_groups; k++) {
    const lscfg_length_counts *was = &v->by_length[k];
    if (r->groups[k].tokens != was->tokens || !is_near(was->tables, r->groups[k].tables)) return LSCFG_EINPUT;
    r->groups[k] = *was;
  }
  if (!is_near(v->log_ways, s->sum_of_ways)) return LSCFG_EINPUT;
  s->sum_of_ways = v->log_ways;
  return LSCFG_OK;
}

static int restore_kept(lscfg_sampler *s, const lscfg_sampler_view *v) {
  int64_t n_rules = s->rules.count.size, n_pairs = s->n_pairs;
  if (v->n_kept < 0 || v->n_kept > n_rules || v->n_places < 0) return LSCFG_EINPUT;
  s->kept.size = s->kept_short.size = s->places.size = 0;
  if (ARRAY_RESERVE(s->kept, v->n_kept + 1) || ARRAY_RESERVE(s->kept_short, v->n_kept + 1) ||
      ARRAY_RESERVE(s->places, 8 * v->n_places + 1))
    return LSCFG_ENOMEM;
  for (int64_t k = 0; k < v->n_kept; k++) {
    if (v->kept_short[k] < 0 || v->kept_short[k] > v->kept[k]) return LSCFG_EINPUT;
    s->kept.data[s->kept.size++] = v->kept[k];
    s->kept_short.data[s->kept_short.size++] = v->kept_short[k];
  }
  for (int64_t k = 0; k < 8 * v->n_places; k++) {
    int32_t value = v->places[k];
    if (value < (k % 8 < 2 ? 0 : -1) || (k % 8 == 0 && value >= n_rules) || (k % 8 == 1 && value >= n_pairs))
      return LSCFG_EINPUT;
    s->places.data[s->places.size++] = value;
  }
  return LSCFG_OK;
}

int lscfg_sampler_restore(lscfg_sampler *s, const lscfg_sampler_view *v, const lscfg_sample_state *state,
                          lscfg_error *error) {
  int code = LSCFG_EINPUT;
  if (v->n_nodes == s->forests->nodes.size && v->n_restaurants == s->rules.n_groups)
    code = restaurant_restore(&s->rules, &v->tables, lscfg_vocab_size(&s->forests->text->tables.vocab));
  if (!code) code = restore_settings(s, v);
  s->sum_of_ways = 0;
  s->sites_of.first.size = 0;
  for (int64_t k = 0; k < s->n_pairs && !code; k++) {
    sampler_open_pair(s, k, 0);
    code = restore_pair(s, v);
  }
  if (!code) code = restore_seats(s, v);
  if (!code) code = restore_sums(s, v);
  if (!code) code = restore_kept(s, v);
  s->state = *state;
  if (code == LSCFG_ENOMEM) return out_of_memory(error);
  return code ? lscfg_fail(error, code, 0, "the trees and rules belong to another chain or to other forests")
              : LSCFG_OK;
}
