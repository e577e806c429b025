/* Cuts by type (Liang, Jordan & Klein 2010; Peng & Gildea 2014): all nodes at which the same two rules could be one are
 * sampled together, instead of one after the other.
 *
 * A type is three rules: those above and below a node, and their union if it is not cut. First the number of cuts is
 * sampled, then their nodes. The proposal distribution differs slightly from that of the rules if these share a
 * restaurant, so a Metropolis-Hastings step decides. Each pair contributes at most one node: the first one of the type.
 * A proposal is rejected if it would make another node the first one, so that the way back is as probable. */
#include <math.h>

#include "sample/types.h"
#include "sample/options.h"
#include "sample/tree.h"

enum { WHOLE, TOP, BOTTOM, N_RULES };
enum { MOST = 64 }; /* limit of sites for the rules of a type; larger types are cut one by one */
enum { N_SUMS = N_RULES * (2 * MOST + 1), N_TABLE = (MOST + 1) * (MOST + 1) };

typedef struct {
  rule_form form[N_RULES];
  int32_t id[N_RULES]; /* of the rule, or another number below 0 for each new one */
  int32_t slot;        /* nonterminal of the rule above that the node is */
} cut_type;

int sampler_init_sites(lscfg_sampler *s) {
  site_index *p = &s->sites_of;
  size_t n = (size_t)s->forests->nodes.size + 1;
  p->next = malloc(n * sizeof *p->next);
  p->previous = malloc(n * sizeof *p->previous);
  p->pair = malloc(n * sizeof *p->pair);
  p->sums = malloc((N_SUMS + N_TABLE + MOST + 1) * sizeof *p->sums);
  if (!p->next || !p->previous || !p->pair || !p->sums || n > INT32_MAX) return LSCFG_ENOMEM;
  const pair_begin *pairs = s->forests->pairs.data;
  for (int64_t k = 0; k < s->n_pairs; k++)
    for (int64_t node = pairs[k].node; node < pairs[k + 1].node; node++) p->pair[node] = (int32_t)k;
  return LSCFG_OK;
}

/* ---- the sites of a type ---- */

/* The index of the cut node among the nonterminals of the rule at head. */
static int32_t slot_of(lscfg_sampler *s, int32_t head, int32_t node) {
  int32_t n = sampler_list_children(s, head), slot = 0;
  while (slot < n && s->child_spans[slot][SRC][0] != s->nodes[node].span[SRC][0]) slot++;
  return slot;
}

/* Spells the rule at a cut node into the form. */
static int spell_into(lscfg_sampler *s, int32_t head, rule_form *form) {
  if (sampler_spell(s, head)) return LSCFG_ENOMEM;
  *form = s->forms.data[--s->forms.size];
  return LSCFG_OK;
}

/* The type of a free node. */
static int read_type(lscfg_sampler *s, int32_t above, int32_t node, cut_type *type) {
  uint8_t current = s->cut_of[node];
  s->cut_of[node] = 0;
  int failed = spell_into(s, above, &type->form[WHOLE]);
  s->cut_of[node] = 1;
  failed = failed || spell_into(s, above, &type->form[TOP]) || spell_into(s, node, &type->form[BOTTOM]);
  type->slot = slot_of(s, above, node);
  s->cut_of[node] = current;
  if (failed) return LSCFG_ENOMEM;
  for (int k = 0; k < N_RULES; k++) type->id[k] = type->form[k].rule < 0 ? -2 - k : type->form[k].rule;
  if (restaurant_same(s->symbols.data, &type->form[TOP], &type->form[BOTTOM])) type->id[BOTTOM] = type->id[TOP];
  return LSCFG_OK;
}

/* True if the node is of the type as it is: 1, 0, or LSCFG_ENOMEM. */
static int has_type(lscfg_sampler *s, int32_t above, int32_t node, const cut_type *type) {
  if (s->cut_of[node])
    return s->rule_of[above] == type->id[TOP] && s->rule_of[node] == type->id[BOTTOM] &&
           slot_of(s, above, node) == type->slot;
  if (s->rule_of[above] != type->id[WHOLE]) return 0;
  int64_t n_symbols = s->symbols.size;
  rule_form form[2];
  s->cut_of[node] = 1;
  int same = slot_of(s, above, node) == type->slot;
  if (same && (spell_into(s, above, &form[0]) || spell_into(s, node, &form[1]))) same = LSCFG_ENOMEM;
  s->cut_of[node] = 0;
  if (same > 0)
    same = restaurant_same(s->symbols.data, &form[0], &type->form[TOP]) &&
           restaurant_same(s->symbols.data, &form[1], &type->form[BOTTOM]);
  s->symbols.size = n_symbols;
  return same;
}

/* The first node of the type in the pair, on the way down: 1, 0 if there is none, or LSCFG_ENOMEM. */
static int find_site(lscfg_sampler *s, int64_t pair, const cut_type *type, site *found) {
  sampler_view_pair(s, pair);
  int32_t height = 0, root = s->n_nodes - 1;
  s->search[height++] = (visit){root, root};
  while (height) {
    visit v = s->search[--height];
    const forest_node *at = &s->nodes[v.node];
    if (!at->must_cut && at->level <= s->max_level) {
      int same = has_type(s, v.above, v.node, type);
      if (same) {
        *found = (site){.pair = pair, .above = v.above, .node = v.node, .cut = s->cut_of[v.node]};
        return same;
      }
    }
    int32_t n, above = s->cut_of[v.node] ? v.node : v.above;
    const int32_t *tails = tails_of(s, v.node, &n);
    while (n-- > 0) s->search[height++] = (visit){tails[n], above};
  }
  return 0;
}

static int compare_pairs(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* All pairs but one in which a rule of the type is, in order. */
static int list_candidates(lscfg_sampler *s, const cut_type *type, int64_t but) {
  site_index *p = &s->sites_of;
  p->candidates.size = 0;
  for (int k = WHOLE; k <= TOP; k++) {
    if (type->id[k] < 0) continue;
    for (int32_t node = p->first.data[type->id[k]]; node >= 0; node = p->next[node]) {
      if (ARRAY_RESERVE(p->candidates, 1)) return LSCFG_ENOMEM;
      p->candidates.data[p->candidates.size] = p->pair[node];
      p->candidates.size += p->pair[node] != but;
    }
  }
  if (p->candidates.size) qsort(p->candidates.data, (size_t)p->candidates.size, sizeof(int64_t), compare_pairs);
  int64_t n = 0;
  for (int64_t k = 0; k < p->candidates.size; k++)
    if (!n || p->candidates.data[k] != p->candidates.data[n - 1]) p->candidates.data[n++] = p->candidates.data[k];
  p->candidates.size = n;
  return LSCFG_OK;
}

/* The sites of the type, that of a node of the current pair first. */
static int list_sites(lscfg_sampler *s, int32_t above, int32_t node, const cut_type *type) {
  site_index *p = &s->sites_of;
  site first = {.pair = s->number, .above = above, .node = node, .cut = s->cut_of[node]};
  p->sites.size = 0;
  if (list_candidates(s, type, first.pair) || ARRAY_RESERVE(p->sites, p->candidates.size + 1)) return LSCFG_ENOMEM;
  p->sites.data[p->sites.size++] = first;
  for (int64_t k = 0; k < p->candidates.size; k++) {
    int found = find_site(s, p->candidates.data[k], type, &p->sites.data[p->sites.size]);
    if (found < 0) return LSCFG_ENOMEM;
    p->sites.size += found;
  }
  sampler_view_pair(s, first.pair);
  return LSCFG_OK;
}

/* ---- how many cuts, and which ---- */

/* Adds the rules of all sites to an option, with the current cuts. */
static int add_sites(lscfg_sampler *s, int32_t option, int known) {
  int (*add)(lscfg_sampler *, int32_t) = known ? sampler_recall : sampler_spell;
  for (int64_t k = 0; k < s->sites_of.sites.size; k++) {
    const site *at = &s->sites_of.sites.data[k];
    sampler_view_pair(s, at->pair);
    s->cut_of[at->node] = at->cut;
    if (add(s, at->above) || add(s, at->node)) return LSCFG_ENOMEM;
  }
  sampler_end_option(s, option, 0);
  return LSCFG_OK;
}

/* If a rule counts once for all its derivations, these determine the odds of a cut at a site. */
static int find_odds(lscfg_sampler *s) {
  for (int64_t k = 0; k < s->sites_of.sites.size; k++) {
    site *at = &s->sites_of.sites.data[k];
    at->log_odds = 0;
    if (!s->rules.options.corrected) continue;
    rule_form whole, top, bottom;
    int64_t n_symbols = s->symbols.size;
    sampler_view_pair(s, at->pair);
    s->cut_of[at->node] = 0;
    int failed = spell_into(s, at->above, &whole);
    s->cut_of[at->node] = 1;
    if (failed || spell_into(s, at->above, &top) || spell_into(s, at->node, &bottom)) return LSCFG_ENOMEM;
    s->cut_of[at->node] = at->cut;
    s->symbols.size = n_symbols;
    at->log_odds = (whole.log_ways - top.log_ways - bottom.log_ways) * s->inverse_temperature;
  }
  return LSCFG_OK;
}

/* Log probability of m cuts at n sites, if rules influence each other by their number only: log_cuts[0 .. n]. */
static void weigh_cuts(lscfg_sampler *s, cut_type *type, int32_t n, double *log_cuts) {
  const restaurant *r = &s->rules;
  double *sums[N_RULES];
  int32_t group[N_RULES], is_one = type->id[TOP] == type->id[BOTTOM];
  for (int k = 0; k < N_RULES; k++) {
    sums[k] = s->sites_of.sums + k * (2 * MOST + 1);
    restaurant_find(r, s->symbols.data, &type->form[k]);
    restaurant_log_run(r, &type->form[k], 2 * n, sums[k]);
    group[k] = type->form[k].group;
  }
  for (int32_t m = 0; m <= n; m++) {
    const int32_t tokens[N_RULES] = {n - m, m, m};
    double sum = sums[WHOLE][n - m] + (is_one ? sums[TOP][2 * m] : sums[TOP][m] + sums[BOTTOM][m]);
    for (int k = 0; k < N_RULES; k++) {
      int32_t in_group = 0, is_first = 1;
      for (int j = 0; j < N_RULES; j++) {
        if (group[j] != group[k]) continue;
        in_group += tokens[j];
        is_first &= j >= k;
      }
      double others = (double)r->groups[group[k]].tokens + r->processes[group[k]].alpha;
      if (is_first) sum -= log_rising(others, 1, in_group);
    }
    log_cuts[m] = sum * s->inverse_temperature;
  }
}

/* New cuts of all sites; returns the log of their proposal probability over that of the old ones. */
static double draw_cuts(lscfg_sampler *s, cut_type *type) {
  site *sites = s->sites_of.sites.data;
  int32_t n = (int32_t)s->sites_of.sites.size, m = 0, n_before = 0;
  double *table = s->sites_of.sums + N_SUMS, *log_cuts = table + N_TABLE, most = -HUGE_VAL, sum = 0, ratio = 0;
  weigh_cuts(s, type, n, log_cuts);
  /* table[k][j]: over all ways to cut j of the first k sites, the sum of the products of their odds */
  memset(table, 0, (size_t)(n + 1) * (MOST + 1) * sizeof *table);
  table[0] = 1;
  for (int32_t k = 0; k < n; k++)
    for (int32_t j = 0; j <= k + 1; j++)
      table[(k + 1) * (MOST + 1) + j] = table[k * (MOST + 1) + j] +
                                        (j ? table[k * (MOST + 1) + j - 1] * exp(sites[k].log_odds) : 0);
  const double *all = table + n * (MOST + 1);
  for (int32_t j = 0; j <= n; j++)
    if (log_cuts[j] + log(all[j]) > most) most = log_cuts[j] + log(all[j]);
  for (int32_t j = 0; j <= n; j++) sum += exp(log_cuts[j] - most) * all[j];
  double left = random_uniform(&s->random) * sum;
  for (m = 0; m < n; m++)
    if ((left -= exp(log_cuts[m] - most) * all[m]) < 0) break;
  ratio += log_cuts[m];
  for (int32_t k = n; k-- > 0;) {
    site *at = &sites[k];
    double cut = m ? table[k * (MOST + 1) + m - 1] * exp(at->log_odds) / table[(k + 1) * (MOST + 1) + m] : 0;
    at->was_cut = at->cut;
    n_before += at->cut;
    at->cut = random_uniform(&s->random) < cut;
    m -= at->cut;
    ratio += (at->cut - at->was_cut) * at->log_odds;
  }
  return ratio - log_cuts[n_before];
}

/* True if the same sites would be found after all proposed cuts: 1, 0 or LSCFG_ENOMEM. */
static int leads_back(lscfg_sampler *s, const cut_type *type) {
  site_index *p = &s->sites_of;
  int64_t tokens = 0;
  int same = 1;
  for (int k = WHOLE; k <= TOP; k++) tokens += type->form[k].n_rule;
  for (int64_t k = 0; k < p->sites.size; k++) {
    const site *at = &p->sites.data[k];
    tokens += 1 + (at->cut && type->id[TOP] == type->id[BOTTOM]);
    if (!k || at->cut == at->was_cut) continue;
    sampler_view_pair(s, at->pair);
    int32_t above = s->rule_of[at->above], node = s->rule_of[at->node];
    s->rule_of[at->above] = type->id[at->cut ? TOP : WHOLE];
    s->rule_of[at->node] = type->id[BOTTOM];
    site found = {0};
    int code = find_site(s, at->pair, type, &found);
    s->rule_of[at->above] = above;
    s->rule_of[at->node] = node;
    if (code < 0) return code;
    same &= code && found.above == at->above && found.node == at->node;
  }
  return same && tokens <= MOST;
}

/* Removes the tokens of all sites; the options are the current and the proposed cuts. */
static int propose(lscfg_sampler *s, cut_type *type, int *accepted) {
  site_index *p = &s->sites_of;
  if (ARRAY_RESERVE(s->left, 2 * p->sites.size)) return LSCFG_ENOMEM;
  for (int64_t k = 0; k < p->sites.size; k++) {
    sampler_view_pair(s, p->sites.data[k].pair);
    sampler_leave(s, p->sites.data[k].above);
    sampler_leave(s, p->sites.data[k].node);
  }
  if (add_sites(s, 0, 1) || find_odds(s)) return LSCFG_ENOMEM;
  double ratio = draw_cuts(s, type);
  if (add_sites(s, 1, 0)) return LSCFG_ENOMEM;
  ratio = s->weight[1] - s->weight[0] - ratio;
  int back = leads_back(s, type);
  if (back < 0) return LSCFG_ENOMEM;
  *accepted = back && sampler_accepts(s, ratio);
  return LSCFG_OK;
}

int sampler_move_type(lscfg_sampler *s, int32_t node, int32_t above, int *done) {
  site_index *p = &s->sites_of;
  int64_t pair = s->number;
  cut_type type;
  int accepted;
  *done = 0;
  sampler_begin_options(s);
  if (read_type(s, above, node, &type)) return LSCFG_ENOMEM;
  if (type.form[WHOLE].n_rule + type.form[TOP].n_rule > MOST) return LSCFG_OK;
  if (list_sites(s, above, node, &type)) return LSCFG_ENOMEM;
  if (p->sites.size == 1) return LSCFG_OK;
  if (propose(s, &type, &accepted)) return LSCFG_ENOMEM;
  int taken = sampler_take(s, accepted, 0);
  if (taken < 0) return LSCFG_ENOMEM;
  for (int64_t k = 0; k < p->sites.size; k++) {
    const site *at = &p->sites.data[k];
    sampler_view_pair(s, at->pair);
    s->cut_of[at->node] = accepted && taken ? at->cut : at->was_cut;
    s->state.cuts_moved += s->cut_of[at->node] != at->was_cut;
  }
  s->state.cuts_drawn += p->sites.size;
  s->state.types_drawn++;
  s->state.types_moved += accepted && taken;
  sampler_view_pair(s, pair);
  *done = 1;
  return LSCFG_OK;
}
