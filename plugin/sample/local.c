/* Node by node down the tree (Chung, Fang, Gildea & Stefankovic 2014, algorithm 4). An option of an edge is weighted by
 * its rules, and by the inverse probability of all variables in its tree below the node as values outside of it: the
 * density factor. */
#include "sample/local.h"
#include "sample/options.h"
#include "sample/tree.h"
#include "sample/types.h"

/* An option of a node's edge, with the rules of its tree: that at head, in which the node is, and all below. */
static int weigh_edge(lscfg_sampler *s, int32_t node, int32_t head, int32_t option, int32_t current) {
  s->edge_of[node] = option;
  int32_t n = sampler_list_below(s, node);
  double log_density = 0;
  for (int32_t k = 0; k < n; k++) log_density += sampler_log_values(s, s->below[k]);
  if (option == current ? sampler_recall(s, head) : sampler_spell(s, head)) return LSCFG_ENOMEM;
  for (int32_t k = 0; k < n; k++) {
    int32_t at = s->below[k];
    if (s->fresh[at] ? sampler_spell(s, at) : sampler_recall(s, at)) return LSCFG_ENOMEM;
  }
  sampler_end_option(s, option, s->rules.options.density ? log_density : 0);
  return LSCFG_OK;
}

static int draw_edge(lscfg_sampler *s, int32_t node, int32_t head) {
  int32_t current = s->edge_of[node], n = s->nodes[node].n_edges, n_below = sampler_mark_tree(s, node);
  sampler_begin_options(s);
  if (ARRAY_RESERVE(s->left, n_below + 1)) return LSCFG_ENOMEM;
  sampler_leave(s, head);
  for (int32_t k = 0; k < n_below; k++) sampler_leave(s, s->below[k]);
  for (int32_t option = 0; option < n; option++)
    if (weigh_edge(s, node, head, option, current)) return LSCFG_ENOMEM;
  int32_t chosen = sampler_choose(s, n);
  s->edge_of[node] = chosen;
  int taken = sampler_take(s, chosen, current);
  if (!taken) s->edge_of[node] = chosen = current;
  s->state.edges_drawn++;
  s->state.edges_moved += chosen != current;
  return taken < 0 ? LSCFG_ENOMEM : LSCFG_OK;
}

static void set_cut(lscfg_sampler *s, int32_t node, int32_t option, int32_t n_free) {
  s->cut_of[node] = option >= n_free;
  if (option >= n_free) s->state_of[node] = (uint8_t)(option - n_free);
}

/* True if a node is cut, and with which state. The options of a free node are not to be cut, and each state. */
static int draw_cut(lscfg_sampler *s, int32_t node, int32_t above) {
  int32_t n_free = !s->nodes[node].must_cut, n = n_free + s->rules.options.states;
  int32_t current = s->cut_of[node] ? n_free + s->state_of[node] : 0;
  uint8_t was_cut = s->cut_of[node];
  sampler_begin_options(s);
  if (ARRAY_RESERVE(s->left, 2)) return LSCFG_ENOMEM;
  if (above != node) sampler_leave(s, above);
  sampler_leave(s, node);
  for (int32_t option = 0; option < n; option++) {
    int (*add)(lscfg_sampler *, int32_t) = option == current ? sampler_recall : sampler_spell;
    set_cut(s, node, option, n_free);
    if ((above != node && add(s, above)) || add(s, node)) return LSCFG_ENOMEM;
    sampler_end_option(s, option, 0);
  }
  int32_t chosen = sampler_choose(s, n);
  int taken = sampler_take(s, chosen, current);
  if (!taken) chosen = current;
  set_cut(s, node, chosen, n_free);
  s->state.cuts_drawn += n_free;
  s->state.cuts_moved += s->cut_of[node] != was_cut;
  return taken < 0 ? LSCFG_ENOMEM : LSCFG_OK;
}

/* Parents first; a node's edge is sampled before its tails are visited. */
int sampler_move_nodes(lscfg_sampler *s) {
  int32_t height = 0, root = s->n_nodes - 1;
  s->way[height++] = (visit){root, root};
  while (height) {
    visit v = s->way[--height];
    const forest_node *at = &s->nodes[v.node];
    if (at->level <= s->max_level) {
      if (at->n_edges > 1 && draw_edge(s, v.node, s->cut_of[v.node] ? v.node : v.above)) return LSCFG_ENOMEM;
      int done = at->is_choice || (at->must_cut && s->rules.options.states == 1);
      if (!done && s->sites_of.next && sampler_move_type(s, v.node, v.above, &done)) return LSCFG_ENOMEM;
      if (!done && draw_cut(s, v.node, v.above)) return LSCFG_ENOMEM;
    }
    int32_t n, above = s->cut_of[v.node] ? v.node : v.above;
    const int32_t *tails = tails_of(s, v.node, &n);
    while (n-- > 0) s->way[height++] = (visit){tails[n], above};
  }
  return LSCFG_OK;
}
