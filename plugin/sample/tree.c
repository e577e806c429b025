/* Trees of a forest: their nodes, and the rules that cuts make of them. */
#include <math.h>

#include "sample/tree.h"

void sampler_view_pair(lscfg_sampler *s, int64_t number) {
  const lscfg_phrase_forests *f = s->forests;
  const pair_begin *p = &f->pairs.data[number];
  s->number = number;
  s->pair = p;
  s->nodes = f->nodes.data + p->node;
  s->n_nodes = (int32_t)(p[1].node - p->node);
  s->first_tail = f->first_tail.data + p->edge;
  s->tails = f->tails.data + p->tail;
  s->label = f->labels.n_categories ? f->label.data + p->edge : NULL;
  for (int side = SRC; side <= TGT; side++) s->words[side] = f->words[side].data + p->word[side];
  s->edge_of = s->edge + p->node;
  s->rule_of = s->rule + p->node;
  s->cut_of = s->cut + p->node;
  s->state_of = s->node_state + p->node;
  s->ways_of = s->log_ways + p->node;
  s->cost_of = s->edge_cost ? s->edge_cost + p->edge : NULL;
}

void sampler_open_pair(lscfg_sampler *s, int64_t number, int32_t sweep) {
  sampler_view_pair(s, number);
  s->random = sampler_stream(s, sweep, (uint32_t)number);
}

random_stream sampler_stream(const lscfg_sampler *s, int32_t sweep, uint32_t number) {
  uint64_t name = (uint64_t)s->rules.options.chain << 52 | (uint64_t)(uint32_t)sweep << 32 | number;
  return random_begin(s->rules.options.seed, name);
}

int32_t sampler_sample_below(lscfg_sampler *s, int32_t n) {
  int32_t drawn = (int32_t)(random_uniform(&s->random) * n);
  return drawn < n ? drawn : n - 1;
}

/* ---- variables outside the tree ---- */

static double *rate_of(const lscfg_sampler *s, const forest_node *at) {
  return &s->cut_rate[at->span[SRC][1] - at->span[SRC][0]];
}

static int32_t draw_edge(lscfg_sampler *s, const forest_node *at) {
  if (at->n_edges == 1) return 0;
  if (!s->cost_of) return sampler_sample_below(s, at->n_edges);
  double left = random_uniform(&s->random);
  for (int32_t e = 0; e + 1 < at->n_edges; e++)
    if ((left -= exp(-s->cost_of[at->first_edge + e])) < 0) return e;
  return at->n_edges - 1;
}

uint8_t sampler_sample_state(lscfg_sampler *s) {
  int32_t n = s->rules.options.states;
  return n > 1 ? (uint8_t)sampler_sample_below(s, n) : 0;
}

void sampler_sample_variables(lscfg_sampler *s, int32_t node) {
  const forest_node *at = &s->nodes[node];
  s->edge_of[node] = draw_edge(s, at);
  s->cut_of[node] =
      first_cut(at, !at->must_cut && random_uniform(&s->random) < (s->cost_of ? *rate_of(s, at) : 0.5));
  s->state_of[node] = sampler_sample_state(s);
  s->seen[node] = s->stamp;
  s->fresh[node] = 1;
}

static double log_edge_and_cut(const lscfg_sampler *s, int32_t node) {
  const forest_node *at = &s->nodes[node];
  if (s->rules.options.original & LSCFG_ORIGINAL_CUTS) return log(2.0 * at->n_edges);
  if (!s->cost_of) return at->log_values;
  double cut = at->must_cut ? 1 : *rate_of(s, at);
  return s->cost_of[at->first_edge + s->edge_of[node]] - log(s->cut_of[node] || at->must_cut ? cut : 1 - cut);
}

double sampler_log_values(const lscfg_sampler *s, int32_t node) {
  return log_edge_and_cut(s, node) + (s->cut_of[node] ? s->rules.log_states : 0);
}

/* Edges are as probable as the number of derivations below them. */
static void weigh_edges(lscfg_sampler *s) {
  double *cost = s->edge_cost + s->pair->edge;
  for (int32_t node = 0; node < s->n_nodes; node++) { /* tails before heads */
    const forest_node *at = &s->nodes[node];
    const int32_t *first = s->first_tail + at->first_edge;
    double most = 0, sum = 0;
    for (int32_t e = 0; e < at->n_edges; e++) {
      double *log_trees = &cost[at->first_edge + e];
      *log_trees = 0;
      for (int32_t k = first[e]; k < first[e + 1]; k++) *log_trees += s->ways[s->tails[k]];
      if (*log_trees > most) most = *log_trees;
    }
    for (int32_t e = 0; e < at->n_edges; e++) sum += exp(cost[at->first_edge + e] - most);
    s->ways[node] = most + log(sum);
    for (int32_t e = 0; e < at->n_edges; e++) cost[at->first_edge + e] = s->ways[node] - cost[at->first_edge + e];
  }
}

int sampler_init_informed(lscfg_sampler *s) {
  const lscfg_phrase_forests *f = s->forests;
  int32_t n = f->max_cut < f->max_words[SRC] ? f->max_cut : f->max_words[SRC];
  s->n_rates = n + 1;
  s->edge_cost = malloc(((size_t)f->first_tail.size + 1) * sizeof *s->edge_cost);
  s->cut_rate = malloc((size_t)s->n_rates * sizeof *s->cut_rate);
  s->cuts_seen = malloc(2 * (size_t)s->n_rates * sizeof *s->cuts_seen);
  if (!s->edge_cost || !s->cut_rate || !s->cuts_seen) return LSCFG_ENOMEM;
  for (int32_t k = 0; k < s->n_rates; k++) s->cut_rate[k] = 0.5;
  for (int64_t k = 0; k < s->n_pairs; k++) {
    sampler_open_pair(s, k, 0);
    weigh_edges(s);
  }
  return LSCFG_OK;
}

void lscfg_sampler_adapt(lscfg_sampler *s) {
  if (!s->cut_rate) return;
  int64_t n_seen = 2 * (int64_t)s->n_rates;
  for (int64_t k = 0; k < n_seen; k++) s->cuts_seen[k] = 1; /* neither is ever impossible */
  for (int64_t p = 0; p < s->n_pairs; p++) {
    sampler_open_pair(s, p, 0);
    if (!s->n_nodes) continue;
    int32_t n = sampler_mark_tree(s, s->n_nodes - 1);
    for (int32_t k = 0; k < n; k++) {
      const forest_node *at = &s->nodes[s->below[k]];
      if (!at->must_cut) s->cuts_seen[2 * (at->span[SRC][1] - at->span[SRC][0]) + s->cut_of[s->below[k]]]++;
    }
  }
  for (int32_t k = 0; k < s->n_rates; k++)
    s->cut_rate[k] = (double)s->cuts_seen[2 * k + 1] / (double)(s->cuts_seen[2 * k] + s->cuts_seen[2 * k + 1]);
}

/* ---- the current tree ---- */

int32_t sampler_list_below(lscfg_sampler *s, int32_t node) {
  int32_t n = 0, height = push_tails(s, node, s->stack, 0);
  while (height) {
    int32_t at = s->below[n++] = s->stack[--height];
    if (s->seen[at] != s->stamp) sampler_sample_variables(s, at);
    height = push_tails(s, at, s->stack, height);
  }
  return n;
}

int32_t sampler_mark_tree(lscfg_sampler *s, int32_t node) {
  if (s->stamp == INT32_MAX) {
    memset(s->seen, 0, ((size_t)s->forests->max_nodes + 1) * sizeof *s->seen);
    s->stamp = 0;
  }
  s->stamp++;
  int32_t n = 0, height = push_tails(s, node, s->stack, 0);
  while (height) {
    int32_t at = s->below[n++] = s->stack[--height];
    s->seen[at] = s->stamp;
    s->fresh[at] = 0;
    height = push_tails(s, at, s->stack, height);
  }
  return n;
}

int32_t sampler_list_children(lscfg_sampler *s, int32_t head) {
  int32_t n = 0, height = push_tails(s, head, s->stack, 0);
  while (height) {
    int32_t at = s->stack[--height];
    if (s->cut_of[at]) {
      s->child_states[n] = s->state_of[at];
      memcpy(s->child_spans[n++], s->nodes[at].span, sizeof s->child_spans[0]);
    } else {
      height = push_tails(s, at, s->stack, height);
    }
  }
  return n;
}

void sampler_save_tree(lscfg_sampler *s) {
  memcpy(s->old_edge, s->edge_of, (size_t)s->n_nodes * sizeof *s->old_edge);
  memcpy(s->old_cut, s->cut_of, (size_t)s->n_nodes);
  memcpy(s->old_state, s->state_of, (size_t)s->n_nodes);
}

void sampler_restore_tree(lscfg_sampler *s) {
  memcpy(s->edge_of, s->old_edge, (size_t)s->n_nodes * sizeof *s->old_edge);
  memcpy(s->cut_of, s->old_cut, (size_t)s->n_nodes);
  memcpy(s->state_of, s->old_state, (size_t)s->n_nodes);
}
