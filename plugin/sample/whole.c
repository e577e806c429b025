/* Whole trees, the baseline of the paper: the variables of all nodes of a new tree are sampled as if outside of it, and
 * a Metropolis-Hastings step decides if it replaces the current one (Chung, Fang, Gildea & Stefankovic 2014, algorithm
 * 3). */
#include <math.h>

#include "sample/whole.h"
#include "sample/options.h"
#include "sample/tree.h"

/* Weighs the tree by its rules, and by how improbable it is as a proposal. */
static int weigh_tree(lscfg_sampler *s, int32_t option, int32_t n_below) {
  int32_t root = s->n_nodes - 1;
  double log_density = s->nodes[root].level <= s->max_level ? sampler_log_values(s, root) : 0;
  for (int32_t k = 0; k < n_below; k++)
    if (s->nodes[s->below[k]].level <= s->max_level) log_density += sampler_log_values(s, s->below[k]);
  if (sampler_add_tree(s, n_below, !option)) return LSCFG_ENOMEM;
  sampler_end_option(s, option, log_density);
  return LSCFG_OK;
}

int sampler_move_tree(lscfg_sampler *s) {
  int32_t root = s->n_nodes - 1;
  int32_t n = sampler_mark_tree(s, root);
  sampler_begin_options(s);
  if (sampler_leave_tree(s, n) || weigh_tree(s, 0, n)) return LSCFG_ENOMEM;
  sampler_save_tree(s);
  n = 0;
  for (int32_t height = 1, at = s->stack[0] = root; height; height = push_tails(s, at, s->stack, height)) {
    at = s->stack[--height];
    if (s->nodes[at].level <= s->max_level) sampler_sample_variables(s, at);
    if (at != root) s->below[n++] = at;
  }
  if (weigh_tree(s, 1, n)) return LSCFG_ENOMEM;
  return sampler_settle(s, log(random_uniform(&s->random)) < s->weight[1] - s->weight[0]);
}
