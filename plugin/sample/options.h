/* The options of a choice: the rules of each, their probability, and the choice itself. */
#ifndef LSCFG_SAMPLE_OPTIONS_H
#define LSCFG_SAMPLE_OPTIONS_H

#include "sample/chain.h"

/* Clears the options and the removed tokens. */
void sampler_begin_options(lscfg_sampler *);
/* The number of derivations of the forest that lead from a head to its children in child_spans, and have no other cut;
 * those of the nodes in between, into ways. A decoder sees one rule in all of them. */
double sampler_count_derivations(lscfg_sampler *, int32_t head, int32_t n_children);
/* Its log. */
double sampler_log_derivations(lscfg_sampler *, int32_t head, int32_t n_children);
/* Adds the rule at a node to the option, if it is cut: from its words, or as stored for the current tree. */
int sampler_spell(lscfg_sampler *, int32_t head);
int sampler_recall(lscfg_sampler *, int32_t head);
/* Adds the rules of the current tree, n_below of whose nodes below the root are listed, in either way. */
int sampler_add_tree(lscfg_sampler *, int32_t n_below, int known);
/* Ends an option; its weight is the probability of its rules and the given density. */
void sampler_end_option(lscfg_sampler *, int32_t option, double log_density);
/* Log probability of some forms, each as if it were alone. */
double sampler_log_apart(const lscfg_sampler *, int64_t first, int64_t end);
/* One of the options, as likely as its weight. */
int32_t sampler_choose(lscfg_sampler *, int32_t n);
/* The rule at a node leaves the restaurants, if it is cut; so do all rules of the tree. */
void sampler_leave(lscfg_sampler *, int32_t head);
int sampler_leave_tree(lscfg_sampler *, int32_t n_below);
/* Replaces the removed rules, which were the option current, by the rules of an option: 1, or 0 if the
 * Metropolis-Hastings step on their seats restores the removed ones; LSCFG_ENOMEM. */
int sampler_take(lscfg_sampler *, int32_t option, int32_t current);

/* Metropolis-Hastings: true if a proposal with this log ratio, corrected for its proposal probability, is accepted. */
int sampler_accepts(lscfg_sampler *, double log_ratio);
/* Ends a proposal of a whole tree, option 1, accepted or not, against the saved one, option 0. */
int sampler_settle(lscfg_sampler *, int accepted);

#endif
