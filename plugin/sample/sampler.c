/* Draws a tree of each pair and its cuts into rules (Chung, Fang, Gildea & Stefankovic 2014, sections 2 and 3).
 *
 * Each node has two variables: its edge and whether it is cut. A sweep goes down the current tree. An option of an edge
 * is weighed by the rules that it makes, and by the number of values of all variables in its tree below the node: the
 * density factor. Variables outside the tree are uniform and independent; they are drawn when a node is first looked
 * at, and need not be stored. */
#include <math.h>

#include "sample/forests.h"
#include "sample/restaurant.h"
#include "base/random.h"

/* A node on its way down, and the head of the rule that it is in, its own where it is cut. */
typedef struct {
  int32_t node, above;
} visit;

struct lscfg_sampler {
  const lscfg_phrase_forests *forests;
  restaurant rules;
  int32_t *edge, *rule; /* [nodes] of all pairs */
  uint8_t *cut;
  double *log_ways; /* [nodes] of cut nodes: log of the derivations that their rules stand for, where these divide */
  double sum_of_ways;
  ARRAY(int64_t) kept;
  ARRAY(int64_t) kept_short;
  ARRAY(int32_t) places;
  lscfg_sample_state state;
  /* of the pair at hand */
  const pair_begin *pair;
  const forest_node *nodes;
  const int32_t *first_tail, *tails, *words[2];
  int32_t n_nodes, *edge_of, *rule_of;
  uint8_t *cut_of;
  double *ways_of;
  random_stream random;
  double inverse_temperature;
  int32_t max_level;
  /* work space */
  int32_t *seen; /* [nodes] stamp of the decision in which a node got its values */
  uint8_t *fresh; /* [nodes] it got them by chance, outside the tree */
  int32_t stamp;
  int32_t *stack, *below, *child_at;
  visit *way;
  span_pair *child_spans;
  ARRAY(int32_t) symbols;
  ARRAY(rule_form) forms;
  int64_t *first_form; /* [options + 1] */
  double *weight;      /* [options] */
  double *ways;        /* [nodes] */
  int32_t *old_edge;   /* [nodes] of a tree that may come back */
  uint8_t *old_cut;
};

static int reserve_work(lscfg_sampler *s) {
  const lscfg_phrase_forests *f = s->forests;
  size_t n = (size_t)f->max_nodes + 1, options = (size_t)f->max_edges + 3;
  size_t all = (size_t)f->nodes.size + 1;
  s->edge = calloc(all, sizeof *s->edge);
  s->rule = malloc(all * sizeof *s->rule);
  s->cut = calloc(all, 1);
  s->log_ways = calloc(all, sizeof *s->log_ways);
  s->seen = calloc(n, sizeof *s->seen);
  s->fresh = calloc(n, 1);
  s->stack = malloc(n * sizeof *s->stack);
  s->below = malloc(n * sizeof *s->below);
  s->way = malloc(n * sizeof *s->way);
  s->child_spans = malloc(n * sizeof *s->child_spans);
  s->child_at = calloc((size_t)f->max_words[TGT] + 1, sizeof *s->child_at);
  s->first_form = malloc(options * sizeof *s->first_form);
  s->weight = malloc(options * sizeof *s->weight);
  s->ways = malloc(n * sizeof *s->ways);
  s->old_edge = malloc(n * sizeof *s->old_edge);
  s->old_cut = malloc(n);
  if (s->rule) memset(s->rule, -1, all * sizeof *s->rule);
  const void *rooms[] = {s->edge,     s->rule,  s->cut,   s->log_ways, s->ways,        s->old_edge,
                         s->old_cut,  s->seen,  s->fresh, s->stack,    s->below,       s->way,
                         s->child_at, s->weight, s->child_spans, s->first_form};
  for (size_t k = 0; k < sizeof rooms / sizeof *rooms; k++)
    if (!rooms[k]) return LSCFG_ENOMEM;
  return LSCFG_OK;
}

void lscfg_sampler_free(lscfg_sampler *s) {
  if (!s) return;
  restaurant_release(&s->rules);
  free(s->edge);
  free(s->rule);
  free(s->cut);
  free(s->log_ways);
  free(s->ways);
  free(s->old_edge);
  free(s->old_cut);
  free(s->kept.data);
  free(s->kept_short.data);
  free(s->places.data);
  free(s->seen);
  free(s->fresh);
  free(s->stack);
  free(s->below);
  free(s->way);
  free(s->child_spans);
  free(s->child_at);
  free(s->symbols.data);
  free(s->forms.data);
  free(s->first_form);
  free(s->weight);
  free(s);
}

static void open_pair(lscfg_sampler *s, int64_t number, int32_t sweep) {
  const lscfg_phrase_forests *f = s->forests;
  const pair_begin *p = &f->pairs.data[number];
  s->pair = p;
  s->nodes = f->nodes.data + p->node;
  s->n_nodes = (int32_t)(p[1].node - p->node);
  s->first_tail = f->first_tail.data + p->edge;
  s->tails = f->tails.data + p->tail;
  for (int side = SRC; side <= TGT; side++) s->words[side] = f->words[side].data + p->word[side];
  s->edge_of = s->edge + p->node;
  s->rule_of = s->rule + p->node;
  s->cut_of = s->cut + p->node;
  s->ways_of = s->log_ways + p->node;
  uint64_t name = (uint64_t)s->rules.options.chain << 52 | (uint64_t)(uint32_t)sweep << 32 | (uint32_t)number;
  s->random = random_begin(s->rules.options.seed, name);
}

/* ---- trees and fragments ---- */

static const int32_t *tails_of(const lscfg_sampler *s, int32_t node, int32_t *n) {
  const int32_t *first = s->first_tail + s->nodes[node].first_edge + s->edge_of[node];
  *n = first[1] - first[0];
  return s->tails + first[0];
}

/* Pushes the tails of a node so that they come off in source order; returns the new height of the stack. */
static int32_t push_tails(const lscfg_sampler *s, int32_t node, int32_t *stack, int32_t height) {
  int32_t n;
  const int32_t *tails = tails_of(s, node, &n);
  while (n-- > 0) stack[height++] = tails[n];
  return height;
}

static int32_t draw_below(lscfg_sampler *s, int32_t n) {
  int32_t drawn = (int32_t)(random_uniform(&s->random) * n);
  return drawn < n ? drawn : n - 1;
}

static void draw_variables(lscfg_sampler *s, int32_t node) {
  const forest_node *at = &s->nodes[node];
  s->edge_of[node] = at->n_edges > 1 ? draw_below(s, at->n_edges) : 0;
  s->cut_of[node] = at->must_cut || random_uniform(&s->random) < 0.5;
  s->seen[node] = s->stamp;
  s->fresh[node] = 1;
}

/* The nodes of the current tree strictly below a node, into below; their number. Those without a value get one. */
static int32_t list_below(lscfg_sampler *s, int32_t node) {
  int32_t n = 0, height = push_tails(s, node, s->stack, 0);
  while (height) {
    int32_t at = s->below[n++] = s->stack[--height];
    if (s->seen[at] != s->stamp) draw_variables(s, at);
    height = push_tails(s, at, s->stack, height);
  }
  return n;
}

/* The spans of the nonterminals of the rule at a cut node, in source order, into child_spans; their number. */
static int32_t list_children(lscfg_sampler *s, int32_t head) {
  int32_t n = 0, height = push_tails(s, head, s->stack, 0);
  while (height) {
    int32_t at = s->stack[--height];
    if (s->cut_of[at])
      memcpy(s->child_spans[n++], s->nodes[at].span, sizeof s->child_spans[0]);
    else
      height = push_tails(s, at, s->stack, height);
  }
  return n;
}

static int overlap(const int32_t a[2], const int32_t b[2]) { return a[0] < b[1] && b[0] < a[1]; }

/* Whether a node is one of the rule's children (1), lies in one or crosses one (-1), or neither. */
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

/* The log of the number of derivations of the forest that lead from a head to its children in child_spans, and have no
 * other cut. A decoder sees one rule in all of them. */
static double log_derivations(lscfg_sampler *s, int32_t head, int32_t n_children) {
  const int32_t *outer = s->nodes[head].span[SRC];
  if (s->nodes[head].is_plain) return 0;
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
  return log(s->ways[head]);
}

/* Adds the rule at a cut node to the forms, as it is spelt. */
static int spell(lscfg_sampler *s, int32_t head) {
  const int32_t (*span)[2] = s->nodes[head].span;
  int64_t room = (int64_t)span[SRC][1] - span[SRC][0] + span[TGT][1] - span[TGT][0];
  if (ARRAY_RESERVE(s->symbols, room + 1) || ARRAY_RESERVE(s->forms, 1)) return LSCFG_ENOMEM;
  rule_form *f = &s->forms.data[s->forms.size++];
  *f = (rule_form){.symbols = s->symbols.size, .arity = list_children(s, head), .head = head};
  f->n = pair_spell(s->words, span, (const span_pair *)s->child_spans, f->arity, s->child_at,
                    s->symbols.data + s->symbols.size, &f->n_src);
  s->symbols.size += f->n;
  restaurant_find(&s->rules, s->symbols.data, f);
  if (s->rules.options.corrected) f->log_ways = log_derivations(s, head, f->arity);
  return LSCFG_OK;
}

/* Adds the rule at a cut node of the current tree, which is known. */
static int recall(lscfg_sampler *s, int32_t head) {
  if (ARRAY_RESERVE(s->forms, 1)) return LSCFG_ENOMEM;
  rule_form *f = &s->forms.data[s->forms.size++];
  *f = restaurant_form(&s->rules, s->rule_of[head], head);
  f->log_ways = s->ways_of[head];
  return LSCFG_OK;
}

/* ---- decisions ---- */

static void begin_options(lscfg_sampler *s) { s->symbols.size = s->forms.size = s->first_form[0] = 0; }

/* Weighs the option whose forms were added last. */
static void end_option(lscfg_sampler *s, int32_t option, double log_density) {
  int64_t first = s->first_form[option], n = s->forms.size - first;
  s->first_form[option + 1] = s->forms.size;
  double rules = restaurant_score(&s->rules, s->symbols.data, s->forms.data + first, n);
  for (int64_t k = first; k < s->forms.size; k++) rules -= s->forms.data[k].log_ways;
  s->weight[option] = rules * s->inverse_temperature + log_density;
}

static int32_t choose(lscfg_sampler *s, int32_t n) {
  double most = s->weight[0], sum = 0;
  for (int32_t k = 1; k < n; k++)
    if (s->weight[k] > most) most = s->weight[k];
  for (int32_t k = 0; k < n; k++) sum += s->weight[k] = exp(s->weight[k] - most);
  double drawn = random_uniform(&s->random) * sum;
  for (int32_t k = 0; k + 1 < n; k++)
    if ((drawn -= s->weight[k]) < 0) return k;
  return n - 1;
}

/* The rules of an option join the restaurants. */
static int take(lscfg_sampler *s, int32_t option) {
  for (int64_t k = s->first_form[option]; k < s->first_form[option + 1]; k++) {
    const rule_form *f = &s->forms.data[k];
    int32_t rule = restaurant_add(&s->rules, s->symbols.data, f);
    if (rule < 0) return LSCFG_ENOMEM;
    s->rule_of[f->head] = rule;
    s->ways_of[f->head] = f->log_ways;
    s->sum_of_ways += f->log_ways;
  }
  return LSCFG_OK;
}

/* The rule at a cut node leaves the restaurants. */
static void leave(lscfg_sampler *s, int32_t head) {
  restaurant_remove(&s->rules, s->rule_of[head]);
  s->sum_of_ways -= s->ways_of[head];
}

/* The tree below the node keeps its values, all other nodes below it get new ones when they are needed. */
static int32_t mark_tree(lscfg_sampler *s, int32_t node) {
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

/* An option of a node's edge, with the rules of its tree: that at head, in which the node is, and all below. */
static int weigh_edge(lscfg_sampler *s, int32_t node, int32_t head, int32_t option, int32_t current) {
  s->edge_of[node] = option;
  int32_t n = list_below(s, node);
  double log_density = 0;
  for (int32_t k = 0; k < n; k++) log_density += s->nodes[s->below[k]].log_values;
  if (option == current ? recall(s, head) : spell(s, head)) return LSCFG_ENOMEM;
  for (int32_t k = 0; k < n; k++) {
    int32_t at = s->below[k];
    if (s->cut_of[at] && (s->fresh[at] ? spell(s, at) : recall(s, at))) return LSCFG_ENOMEM;
  }
  end_option(s, option, s->rules.options.density ? log_density : 0);
  return LSCFG_OK;
}

static int draw_edge(lscfg_sampler *s, int32_t node, int32_t head) {
  int32_t current = s->edge_of[node], n = s->nodes[node].n_edges, n_below = mark_tree(s, node);
  leave(s, head);
  for (int32_t k = 0; k < n_below; k++)
    if (s->cut_of[s->below[k]]) leave(s, s->below[k]);
  begin_options(s);
  for (int32_t option = 0; option < n; option++)
    if (weigh_edge(s, node, head, option, current)) return LSCFG_ENOMEM;
  int32_t chosen = choose(s, n);
  s->edge_of[node] = chosen;
  s->state.edges_drawn++;
  s->state.edges_moved += chosen != current;
  return take(s, chosen);
}

static int draw_cut(lscfg_sampler *s, int32_t node, int32_t above) {
  int32_t current = s->cut_of[node];
  leave(s, above);
  if (current) leave(s, node);
  begin_options(s);
  for (uint8_t option = 0; option < 2; option++) {
    s->cut_of[node] = option;
    if (option == current ? recall(s, above) : spell(s, above)) return LSCFG_ENOMEM;
    if (option && (current ? recall(s, node) : spell(s, node))) return LSCFG_ENOMEM;
    end_option(s, option, 0);
  }
  int32_t chosen = choose(s, 2);
  s->cut_of[node] = (uint8_t)chosen;
  s->state.cuts_drawn++;
  s->state.cuts_moved += chosen != current;
  return take(s, chosen);
}

/* Adds the rules of the tree to the forms, and weighs it by how improbable it is as a proposal, too. */
static int weigh_tree(lscfg_sampler *s, int32_t option, int32_t n_below, int known) {
  int32_t root = s->n_nodes - 1;
  double log_density = s->nodes[root].level <= s->max_level ? s->nodes[root].log_values : 0;
  if (known ? recall(s, root) : spell(s, root)) return LSCFG_ENOMEM;
  for (int32_t k = 0; k < n_below; k++) {
    int32_t at = s->below[k];
    if (s->nodes[at].level <= s->max_level) log_density += s->nodes[at].log_values;
    if (s->cut_of[at] && (known ? recall(s, at) : spell(s, at))) return LSCFG_ENOMEM;
  }
  end_option(s, option, log_density);
  return LSCFG_OK;
}

/* The variables of all nodes of a new tree are uniform, and it takes the place of the current one by the rule of
 * Metropolis and Hastings (algorithm 3): the baseline of the paper. */
static int draw_tree(lscfg_sampler *s) {
  int32_t root = s->n_nodes - 1;
  if (root < 0) return LSCFG_OK;
  int32_t n = mark_tree(s, root);
  leave(s, root);
  for (int32_t k = 0; k < n; k++)
    if (s->cut_of[s->below[k]]) leave(s, s->below[k]);
  begin_options(s);
  if (weigh_tree(s, 0, n, 1)) return LSCFG_ENOMEM;
  memcpy(s->old_edge, s->edge_of, (size_t)s->n_nodes * sizeof *s->old_edge);
  memcpy(s->old_cut, s->cut_of, (size_t)s->n_nodes);
  n = 0;
  for (int32_t height = 1, at = s->stack[0] = root; height; height = push_tails(s, at, s->stack, height)) {
    at = s->stack[--height];
    if (s->nodes[at].level <= s->max_level) draw_variables(s, at);
    if (at != root) s->below[n++] = at;
  }
  if (weigh_tree(s, 1, n, 0)) return LSCFG_ENOMEM;
  int32_t accepted = log(random_uniform(&s->random)) < s->weight[1] - s->weight[0];
  if (!accepted) {
    memcpy(s->edge_of, s->old_edge, (size_t)s->n_nodes * sizeof *s->old_edge);
    memcpy(s->cut_of, s->old_cut, (size_t)s->n_nodes);
  }
  s->state.edges_drawn++;
  s->state.edges_moved += accepted;
  return take(s, accepted);
}

/* Goes down the tree, parents first; a node's edge is drawn before its tails are looked at. */
static int draw_pair(lscfg_sampler *s) {
  int32_t height = 0, root = s->n_nodes - 1;
  if (root < 0) return LSCFG_OK;
  s->way[height++] = (visit){root, root};
  while (height) {
    visit v = s->way[--height];
    const forest_node *at = &s->nodes[v.node];
    if (at->level <= s->max_level) {
      if (at->n_edges > 1 && draw_edge(s, v.node, s->cut_of[v.node] ? v.node : v.above)) return LSCFG_ENOMEM;
      if (!at->must_cut && draw_cut(s, v.node, v.above)) return LSCFG_ENOMEM;
    }
    int32_t n, above = s->cut_of[v.node] ? v.node : v.above;
    const int32_t *tails = tails_of(s, v.node, &n);
    while (n-- > 0) s->way[height++] = (visit){tails[n], above};
  }
  return LSCFG_OK;
}

int lscfg_sampler_sweep(lscfg_sampler *s, int32_t sweep, int64_t first, int64_t last, int32_t max_level,
                        double temperature, lscfg_error *error) {
  s->max_level = max_level;
  s->inverse_temperature = 1 / temperature;
  for (int64_t k = first; k < last; k++) {
    open_pair(s, k, sweep);
    if (s->rules.options.moves == LSCFG_MOVES_TREE ? draw_tree(s) : draw_pair(s)) return out_of_memory(error);
  }
  return LSCFG_OK;
}

/* ---- beginning ---- */

/* All nodes cut, all edges uniform. */
static int begin_pair(lscfg_sampler *s) {
  int32_t root = s->n_nodes - 1;
  for (int32_t k = 0; k < s->n_nodes; k++) {
    s->cut_of[k] = 1;
    s->edge_of[k] = s->nodes[k].n_edges > 1 ? draw_below(s, s->nodes[k].n_edges) : 0;
  }
  if (root < 0) return LSCFG_OK;
  int32_t n = mark_tree(s, root);
  begin_options(s);
  if (spell(s, root)) return LSCFG_ENOMEM;
  for (int32_t k = 0; k < n; k++)
    if (spell(s, s->below[k])) return LSCFG_ENOMEM;
  s->first_form[1] = s->forms.size;
  return take(s, 0);
}

lscfg_sampler *lscfg_sampler_new(const lscfg_phrase_forests *forests, const lscfg_sample_options *options) {
  lscfg_sampler *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->forests = forests;
  /* scope: at most one for each source word and one more */
  int32_t longest = 2 * forests->max_words[SRC] + forests->max_words[TGT] + 1;
  int failed = restaurant_init(&s->rules, options, forests->n_types, longest) || reserve_work(s);
  for (int64_t k = 0; k + 1 < forests->pairs.size && !failed; k++) {
    open_pair(s, k, 0);
    failed = begin_pair(s);
  }
  if (!failed) return s;
  lscfg_sampler_free(s);
  return NULL;
}

/* ---- what is kept ---- */

/* Whether a source word with a link is in the rule at head; a word of the tight spans that is linked to it is, too. */
static int has_link(const lscfg_sampler *s, int32_t head, int32_t arity) {
  const uint8_t *linked = s->forests->linked.data + s->pair->word[SRC];
  int32_t position = s->nodes[head].span[SRC][0];
  for (int32_t k = 0; k <= arity; k++) {
    int32_t end = k < arity ? s->child_spans[k][SRC][0] : s->nodes[head].span[SRC][1];
    for (; position < end; position++)
      if (linked[position]) return 1;
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
  const int32_t (*span)[2] = s->nodes[head].span;
  int32_t rule = s->rule_of[head], arity = list_children(s, head), most = s->rules.options.max_phrase;
  s->kept.data[rule]++;
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
  for (int64_t k = 0; k + 1 < s->forests->pairs.size; k++) {
    open_pair(s, k, 0);
    int32_t root = s->n_nodes - 1;
    if (root < 0) continue;
    int32_t n = mark_tree(s, root);
    int failed = keep_rule(s, k, root);
    for (int32_t i = 0; i < n && !failed; i++)
      if (s->cut_of[s->below[i]]) failed = keep_rule(s, k, s->below[i]);
    if (failed) return out_of_memory(error);
  }
  return LSCFG_OK;
}

void lscfg_sampler_state(const lscfg_sampler *s, lscfg_sample_state *state) {
  *state = s->state;
  state->n_tokens = s->rules.n_tokens;
  state->n_types = s->rules.n_types;
  state->log_joint = restaurant_log_joint(&s->rules) - s->sum_of_ways;
}

void lscfg_sampler_get(const lscfg_sampler *s, lscfg_sampler_view *view) {
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
                               .rule = s->rule,
                               .max_length = s->rules.max_length,
                               .by_length = s->rules.by_length,
                               .log_ways = s->sum_of_ways,
                               .tables = corpus_tables_view(&tables)};
}

/* ---- going on where another sampler was ---- */

/* The tree of the pair at hand as it was, and its rules, which must be those that it had. */
static int restore_pair(lscfg_sampler *s, const lscfg_sampler_view *v) {
  int32_t root = s->n_nodes - 1;
  int64_t first = s->pair->node;
  for (int32_t k = 0; k <= root; k++) {
    const forest_node *at = &s->nodes[k];
    int32_t edge = v->edge[first + k], cut = v->cut[first + k];
    if (edge < 0 || edge >= at->n_edges || cut > 1 || (at->must_cut && !cut)) return LSCFG_EINPUT;
    s->edge_of[k] = edge;
    s->cut_of[k] = (uint8_t)cut;
  }
  if (root < 0) return LSCFG_OK;
  int32_t n = mark_tree(s, root);
  begin_options(s);
  if (spell(s, root)) return LSCFG_ENOMEM;
  for (int32_t k = 0; k < n; k++)
    if (s->cut_of[s->below[k]] && spell(s, s->below[k])) return LSCFG_ENOMEM;
  for (int64_t k = 0; k < s->forms.size; k++) {
    const rule_form *f = &s->forms.data[k];
    if (f->rule < 0 || f->rule != v->rule[first + f->head]) return LSCFG_EINPUT;
  }
  s->first_form[1] = s->forms.size;
  return take(s, 0);
}

/* Sums differ in rounding from those that were added up token by token, which are the ones to go on with. */
static int is_near(double a, double b) { return fabs(a - b) <= 1e-6 * (1 + fabs(b)); }

static int restore_sums(lscfg_sampler *s, const lscfg_sampler_view *v) {
  restaurant *r = &s->rules;
  for (int64_t rule = 0; rule < r->count.size; rule++)
    if (r->count.data[rule] != v->count[rule]) return LSCFG_EINPUT;
  for (int32_t k = 0; k <= r->max_length; k++) {
    const lscfg_length_counts *was = &v->by_length[k];
    if (r->by_length[k].tokens != was->tokens || !is_near(was->tables, r->by_length[k].tables)) return LSCFG_EINPUT;
    r->by_length[k] = *was;
  }
  if (!is_near(v->log_ways, s->sum_of_ways)) return LSCFG_EINPUT;
  s->sum_of_ways = v->log_ways;
  return LSCFG_OK;
}

static int restore_kept(lscfg_sampler *s, const lscfg_sampler_view *v) {
  int64_t n_rules = s->rules.count.size, n_pairs = s->forests->pairs.size - 1;
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
  if (v->n_nodes == s->forests->nodes.size && v->max_length == s->rules.max_length)
    code = restaurant_restore(&s->rules, &v->tables, lscfg_vocab_size(&s->forests->text->tables.vocab));
  s->sum_of_ways = 0;
  for (int64_t k = 0; k + 1 < s->forests->pairs.size && !code; k++) {
    open_pair(s, k, 0);
    code = restore_pair(s, v);
  }
  if (!code) code = restore_sums(s, v);
  if (!code) code = restore_kept(s, v);
  s->state = *state;
  if (code == LSCFG_ENOMEM) return out_of_memory(error);
  return code ? lscfg_fail(error, code, 0, "the trees and rules are not those of a chain of these forests") : LSCFG_OK;
}
