/* The tree of the pair at hand: its variables, its rules and their children. */
#ifndef LSCFG_SAMPLE_TREE_H
#define LSCFG_SAMPLE_TREE_H

#include "sample/chain.h"

/* The random numbers of a pair in a sweep. */
random_stream sampler_stream(const lscfg_sampler *, int32_t sweep, uint32_t number);
void sampler_open_pair(lscfg_sampler *, int64_t number, int32_t sweep);
/* The same, with the random numbers of another one. */
void sampler_view_pair(lscfg_sampler *, int64_t number);
/* A number below n, each as likely as another. */
int32_t sampler_sample_below(lscfg_sampler *, int32_t n);
/* A hidden state, each as likely as another. */
uint8_t sampler_sample_state(lscfg_sampler *);
/* Gives a node values as if it were outside the tree. */
void sampler_sample_variables(lscfg_sampler *, int32_t node);
/* Less the log of the probability of a node's values outside the tree. */
double sampler_log_values(const lscfg_sampler *, int32_t node);
/* Memory for variables outside trees that are not uniform. */
int sampler_init_informed(lscfg_sampler *);
/* Lists the nodes of the current tree strictly below a node in below; returns their number. Nodes without values get
 * some. */
int32_t sampler_list_below(lscfg_sampler *, int32_t node);
/* The same; all get the stamp of a new decision: they keep their values, and all other nodes below get new ones when
 * needed. */
int32_t sampler_mark_tree(lscfg_sampler *, int32_t node);
/* The spans of the nonterminals of the rule at a cut node, in source order, into child_spans, and their states into
 * child_states; their number. */
int32_t sampler_list_children(lscfg_sampler *, int32_t head);

/* Keeps all values of the pair, and puts them back. */
void sampler_save_tree(lscfg_sampler *);
void sampler_restore_tree(lscfg_sampler *);

#endif
