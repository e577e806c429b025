#ifndef LSCFG_MODEL_H
#define LSCFG_MODEL_H

#include "grammar.h"
#include "safetensors.h"

/* The parameters of an L-SCFG, all in the mapped file. Rules are numbered by arity: those without nonterminals first. */
struct lscfg_model {
  tensor_file file;
  int32_t rank;                       /* m */
  int64_t n_rules, n_words;
  int64_t first_of_arity[MAX_ARITY + 2];
  const double *root;                 /* C^S [m] */
  const double *unk;                  /* tensor of the OOV rule [m] */
  const double *tensor[MAX_ARITY + 1]; /* [rules][m], [rules][m][m], [rules][m][m][m]: head, then tails in source order */
  const uint8_t *word_bytes;
  const int64_t *word_offsets; /* [n_words + 1] */
  const int32_t *symbols;
  const int64_t *rule_offsets; /* [n_rules + 1], in symbols */
  const int32_t *src_length;   /* [n_rules] */
};

typedef struct composition composition;

/* How the rules of a grammar stand in a model. */
struct lscfg_binding {
  const lscfg_model *model;
  const lscfg_grammar *grammar;
  const double **rule_tensor;  /* grammar rule -> its tensor; NULL: none */
  const double **group_tensor; /* group -> sum of its rules' tensors; NULL: none of them has one */
  const int32_t *rule_group;   /* the grammar's */
  int32_t *rule_target;        /* equal numbers: equal target sides */
  int32_t n_targets;
  double *sums;                /* storage of group tensors with more than one term */
  lscfg_binding_options options;
  uint8_t *rule_kind;          /* LSCFG_RULE_IS_... */
  composition *composition;    /* NULL where no rule is composed */
  /* What forests that are expanded are bound to: the grammar's rules, the OOV rule, the model's rules. Of its grammar
   * there is only the number of rules. NULL in itself. */
  lscfg_binding *inner;
};

/* Inference over a forest with composed rules, or with edges that have only some rules of a source side. */
int infer_expanded(const lscfg_binding *, const lscfg_forest *, double *app_marginals, double *node_marginals,
                   lscfg_inference *, lscfg_error *);

/* Refuses a forest of another rule table, such as one that lscfg_decompose made of rules that the grammar has not. */
int binding_check_forest(const lscfg_binding *, const lscfg_forest *, lscfg_error *);

static inline int64_t tensor_length(int32_t rank, int32_t arity) {
  int64_t length = rank;
  while (arity--) length *= rank;
  return length;
}

#endif
