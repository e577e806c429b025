#ifndef LSCFG_MODEL_H
#define LSCFG_MODEL_H

#include "contract.h"
#include "grammar.h"
#include "rule_table.h"
#include "safetensors.h"

/* A log-linear model of a rule's target side among the words around it; see context.c. Its rules need not be those that
 * there are tensors of. All of it but the index is in the mapped file. */
typedef struct {
  lscfg_rules rules;
  const double *counts;         /* [rules] in the corpus, above 0 */
  const int64_t *offsets;       /* items and weights of outcome k are offsets[k] .. offsets[k+1]-1 */
  const int32_t *items;
  const float *weights;
  rule_table index;             /* the rules by what they say, under their numbers */
} context_model;

/* The parameters of an L-SCFG, all in the mapped file but those that one_state points to, a view of it, and the index of
 * the rules. Rules are numbered by arity: those without nonterminals first. */
struct lscfg_model {
  tensor_file file;
  int32_t rank;                       /* m */
  int64_t n_rules;
  int64_t first_of_arity[MAX_ARITY + 2];
  const double *root;                 /* C^S [m] */
  const double *unk;                  /* tensor of the OOV rule [m] */
  int32_t single;                      /* whether tensors are stored in single precision, else in double */
  const void *tensor[MAX_ARITY + 1];   /* [rules][m], [rules][m][m], [rules][m][m][m]: head, then tails in source order */
  const int64_t *components;           /* where tensors of two nonterminals are of low rank, else NULL: tensor k has */
  const float *factors;                /* components[k] .. components[k+1]-1 of factors [.][3][m]; see low_rank.c */
  lscfg_rules rules;                   /* by arity */
  context_model *context;      /* NULL: none */
  rule_table index, sources;   /* the rules by what they say, under their numbers; their source sides */
  int32_t longest_source;      /* symbols of the longest source side */
  lscfg_model *one_state;      /* the same rules with m = 1; NULL where the file does not have it, and in itself */
};

/* The sums of the tensors of all rules of one source side, made when they are first needed; see sums.c. */
typedef struct group_sums group_sums;

group_sums *group_sums_new(int64_t n_groups);
void group_sums_free(group_sums *);

typedef struct composition composition;

/* How the rules of a grammar stand in a model. */
struct lscfg_binding {
  const lscfg_model *model;
  const lscfg_grammar *grammar;
  const contraction *loops;
  int32_t n_rules;   /* the grammar's, without the extra ones */
  int32_t n_known;   /* those that have a tensor of their own */
  int32_t *rule_row; /* [n_rules] place among the model's tensors of the rule's arity, or NO_ROW, OOV_ROW; of a rule that is
                      * to be composed, it is known after binding_compose */
  const int32_t *rule_group; /* the grammar's */
  int32_t *context_rule;     /* [n_rules] the rule of the model's context, -1: none; NULL where the model has no context */
  int32_t *word_in_context;  /* [n_vocab] the context's number of a word that the grammar knew, -1: none */
  int32_t n_vocab;
  group_sums *sums;
  int32_t *rule_target;        /* equal numbers: equal target sides */
  int32_t n_targets;
  lscfg_binding_options options;
  composition *composition;    /* NULL where no rule is to be composed */
  /* What forests that are expanded are bound to: the grammar's rules, the OOV rule, the model's rules. NULL in itself. */
  lscfg_binding *inner;
  lscfg_binding *one_state; /* the same of the model with one state; NULL where there is none, and in itself */
};

/* Finds out which of these rules are composed, if the binding has a composition: before it is asked for their rows.
 * *composed: whether there is any. */
int binding_compose(const lscfg_binding *, const int32_t *rules, int64_t n, int *composed);

/* Inference over a forest with composed rules, or with edges that have only some rules of a source side. */
int infer_expanded(const lscfg_binding *, const lscfg_forest *, double *app_marginals, double *node_marginals,
                   lscfg_inference *, lscfg_error *);

/* Refuses a forest of another rule table, such as one that lscfg_decompose made of rules that the grammar has not. */
int binding_check_forest(const lscfg_binding *, const lscfg_forest *, lscfg_error *);

enum { NO_ROW = -1, OOV_ROW = -2 }; /* no tensor; that of the OOV rule */

static inline int32_t binding_row(const lscfg_binding *b, int32_t rule) {
  return rule < b->n_rules ? b->rule_row[rule] : NO_ROW;
}

/* Sum of the tensors of some rules [m^(arity+1)]; NULL: none of them has one. *made is to be freed by the caller after
 * use, where it is not NULL. Fails where a value is not finite. */
int binding_sum(const lscfg_binding *, const int32_t *rules, int32_t n, int32_t arity, const double **sum, double **made,
                lscfg_error *);

static inline int64_t tensor_length(int32_t rank, int32_t arity) {
  int64_t length = rank;
  while (arity--) length *= rank;
  return length;
}

/* A tensor of that arity, in the model's precision. */
static inline const void *model_tensor(const lscfg_model *model, int32_t arity, int32_t row) {
  return (const char *)model->tensor[arity] +
         (size_t)row * (size_t)tensor_length(model->rank, arity) * (model->single ? sizeof(float) : sizeof(double));
}

#endif
