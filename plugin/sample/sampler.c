/* A chain of samples: its memory, its beginning and its sweeps (Chung, Fang, Gildea & Stefankovic 2014). */
#include "sample/sampler.h"
#include "sample/blocked.h"
#include "sample/local.h"
#include "sample/options.h"
#include "sample/tree.h"
#include "sample/types.h"
#include "sample/whole.h"

/* Reserves the variables of the trees of all pairs. */
static int reserve_trees(lscfg_sampler *s) {
  size_t all = (size_t)s->forests->nodes.size + 1;
  s->edge = calloc(all, sizeof *s->edge);
  s->rule = malloc(all * sizeof *s->rule);
  s->cut = calloc(all, 1);
  s->node_state = calloc(all, 1);
  s->log_ways = calloc(all, sizeof *s->log_ways);
  if (!s->edge || !s->rule || !s->cut || !s->node_state || !s->log_ways) return LSCFG_ENOMEM;
  memset(s->rule, -1, all * sizeof *s->rule);
  return LSCFG_OK;
}

int sampler_reserve_work(lscfg_sampler *s) {
  const lscfg_phrase_forests *f = s->forests;
  size_t n = (size_t)f->max_nodes + 1, options = (size_t)f->max_edges + (size_t)s->rules.options.states + 3;
  s->seen = calloc(n, sizeof *s->seen);
  s->fresh = calloc(n, 1);
  s->stack = malloc(n * sizeof *s->stack);
  s->below = malloc(n * sizeof *s->below);
  s->way = malloc(n * sizeof *s->way);
  s->search = malloc(n * sizeof *s->search);
  s->child_spans = malloc(n * sizeof *s->child_spans);
  s->child_states = malloc(n);
  s->child_at = calloc((size_t)f->max_words[TGT] + 1, sizeof *s->child_at);
  s->first_form = malloc(options * sizeof *s->first_form);
  s->weight = malloc(options * sizeof *s->weight);
  s->log_rules = malloc(options * sizeof *s->log_rules);
  s->ways = malloc(n * sizeof *s->ways);
  s->old_edge = malloc(n * sizeof *s->old_edge);
  s->old_cut = malloc(n);
  s->old_state = malloc(n);
  const void *rooms[] = {s->search, s->ways,   s->old_edge, s->old_cut,   s->old_state,   s->seen,         s->fresh,
                         s->stack,  s->below,  s->way,      s->weight,    s->child_spans, s->child_states, s->child_at,
                         s->log_rules, s->first_form};
  for (size_t k = 0; k < sizeof rooms / sizeof *rooms; k++)
    if (!rooms[k]) return LSCFG_ENOMEM;
  return LSCFG_OK;
}

void sampler_release_work(lscfg_sampler *s) {
  restaurant_release(&s->rules);
  free(s->ways);
  free(s->old_edge);
  free(s->old_cut);
  free(s->old_state);
  free(s->seen);
  free(s->fresh);
  free(s->stack);
  free(s->below);
  free(s->way);
  free(s->search);
  sites_release(&s->sites_of);
  free(s->child_spans);
  free(s->child_states);
  free(s->child_at);
  free(s->symbols.data);
  free(s->forms.data);
  free(s->first_form);
  free(s->weight);
  free(s->log_rules);
  free(s->left.data);
  fragments_release(&s->fragments);
}

void lscfg_sampler_free(lscfg_sampler *s) {
  if (!s) return;
  sampler_release_work(s);
  free(s->edge);
  free(s->rule);
  free(s->cut);
  free(s->node_state);
  free(s->log_ways);
  free(s->kept.data);
  free(s->kept_short.data);
  free(s->places.data);
  free(s->seat_list.data);
  free(s->edge_cost);
  free(s->cut_rate);
  free(s->cuts_seen);
  free(s);
}

static int begin_pair(lscfg_sampler *s) {
  int32_t start = s->rules.options.start;
  for (int32_t k = 0; k < s->n_nodes; k++) {
    const forest_node *at = &s->nodes[k];
    s->cut_of[k] = first_cut(at, start != LSCFG_START_WHOLE);
    if (start == LSCFG_START_MINIMAL)
      s->edge_of[k] = at->is_choice ? 0 : at->n_edges - 1; /* ((A B) C) D */
    else
      s->edge_of[k] = at->n_edges > 1 ? sampler_sample_below(s, at->n_edges) : 0;
    s->state_of[k] = sampler_sample_state(s);
  }
  if (!s->n_nodes) return LSCFG_OK;
  sampler_begin_options(s);
  if (sampler_add_tree(s, sampler_mark_tree(s, s->n_nodes - 1), 0)) return LSCFG_ENOMEM;
  s->first_form[1] = s->forms.size;
  return sampler_take(s, 0, 0) < 0 ? LSCFG_ENOMEM : LSCFG_OK;
}

/* True if the options go with the forests: with given ones, rules have no text. */
static int is_possible(const lscfg_phrase_forests *f, const lscfg_sample_options *o) {
  if (!f->labels.n_categories) return o->base != LSCFG_BASE_LABELS;
  return o->base != LSCFG_BASE_LEXICAL && o->base != LSCFG_BASE_LISTED && o->moves != LSCFG_MOVES_BLOCKED &&
         o->moves != LSCFG_MOVES_TYPE && !o->corrected && !o->places && o->states <= 1 && !o->held_out;
}

lscfg_sampler *lscfg_sampler_new(const lscfg_phrase_forests *forests, const lscfg_sample_options *options) {
  if (!is_possible(forests, options)) return NULL;
  lscfg_sampler *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->forests = forests;
  s->n_pairs = forests->pairs.size - 1 - options->held_out;
  /* scope: at most one for each source word and one more */
  int32_t longest = 2 * forests->max_words[SRC] + forests->max_words[TGT] + 1;
  const corpus_tables *text = &forests->text->tables;
  const label_table *labels = forests->labels.n_categories ? &forests->labels : NULL;
  if (labels) longest = forests->max_level;
  int failed = restaurant_init(&s->rules, options, text, labels, forests->n_types, longest) || reserve_trees(s) ||
               sampler_reserve_work(s);
  if (!failed && options->moves == LSCFG_MOVES_TYPE) failed = sampler_init_sites(s);
  if (!failed && options->informed) failed = sampler_init_informed(s);
  for (int64_t k = 0; k < s->n_pairs && !failed; k++) {
    sampler_open_pair(s, k, 0);
    failed = begin_pair(s);
  }
  if (!failed) return s;
  lscfg_sampler_free(s);
  return NULL;
}

static int (*const MOVES[])(lscfg_sampler *) = {
    [LSCFG_MOVES_LOCAL] = sampler_move_nodes,
    [LSCFG_MOVES_TREE] = sampler_move_tree,
    [LSCFG_MOVES_BLOCKED] = sampler_move_blocked,
    [LSCFG_MOVES_TYPE] = sampler_move_nodes,
};

int lscfg_sampler_sweep(lscfg_sampler *s, int32_t sweep, int64_t first, int64_t last, int32_t max_level,
                        double temperature, lscfg_error *error) {
  int (*move)(lscfg_sampler *) = MOVES[s->rules.options.moves];
  s->max_level = max_level;
  s->inverse_temperature = 1 / temperature;
  for (int64_t k = first; k < last; k++) {
    sampler_open_pair(s, k, sweep);
    if (s->n_nodes && move(s)) return out_of_memory(error);
  }
  return LSCFG_OK;
}

void lscfg_sampler_state(const lscfg_sampler *s, lscfg_sample_state *state) {
  *state = s->state;
  state->n_tokens = s->rules.n_tokens;
  state->n_types = s->rules.n_types;
  state->mean_length = s->rules.options.mean_length;
  state->alpha = state->discount = 0;
  double n = s->rules.n_tokens ? (double)s->rules.n_tokens : 1;
  for (int32_t k = 0; k < s->rules.n_groups; k++) {
    double share = (double)s->rules.groups[k].tokens / n;
    state->alpha += share * s->rules.processes[k].alpha;
    state->discount += share * s->rules.processes[k].discount;
  }
  state->log_joint = restaurant_log_joint(&s->rules) - s->sum_of_ways;
}

static int list_seats(lscfg_sampler *s) {
  const seat_table *seats = &s->rules.seats;
  s->seat_list.size = 0;
  for (int32_t rule = 0; rule < seats->first.size; rule++)
    for (int32_t k = seats->first.data[rule]; k >= 0; k = seats->groups.data[k].next) {
      const int32_t group[3] = {rule, seats->groups.data[k].size, seats->groups.data[k].tables};
      if (ARRAY_RESERVE(s->seat_list, 3)) return LSCFG_ENOMEM;
      memcpy(s->seat_list.data + s->seat_list.size, group, sizeof group);
      s->seat_list.size += 3;
    }
  return LSCFG_OK;
}

int lscfg_sampler_get(lscfg_sampler *s, lscfg_sampler_view *view, lscfg_error *error) {
  if (list_seats(s)) return out_of_memory(error);
  corpus_tables tables = s->forests->text->tables;
  tables.rules = s->rules.rules;
  *view = (lscfg_sampler_view){.count = s->rules.count.data,
                               .n_kept = s->kept.size,
                               .kept = s->kept.data,
                               .kept_short = s->kept_short.data,
                               .n_places = s->places.size / 8,
                               .places = s->places.data,
                               .n_nodes = s->forests->nodes.size,
                               .edge = s->edge,
                               .cut = s->cut,
                               .node_state = s->node_state,
                               .rule = s->rule,
                               .n_restaurants = s->rules.n_groups,
                               .by_length = s->rules.groups,
                               .processes = s->rules.processes,
                               .mean_length = s->rules.options.mean_length,
                               .n_seats = s->seat_list.size / 3,
                               .seats = s->seat_list.data,
                               .n_rates = s->n_rates,
                               .cut_rates = s->cut_rate,
                               .log_ways = s->sum_of_ways,
                               .tables = corpus_tables_view(&tables)};
  return LSCFG_OK;
}
