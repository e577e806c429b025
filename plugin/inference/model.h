#ifndef LSCFG_MODEL_H
#define LSCFG_MODEL_H

#include "lscfg/inference.h"
#include "base/safetensors.h"
#include "forest/grammar.h"
#include "inference/orientation.h"
#include "inference/rule_index.h"
#include "inference/scores.h"
#include "neural/network.h"

/* A context model of a rule's target side; see context.c. Its rules may differ from those with tensors. All of it
 * except the index is in the mapped file. */
typedef struct {
  lscfg_rules rules;
  const double *counts;   /* [rules] in the corpus, above 0 */
  const int64_t *offsets; /* items and weights of outcome k are offsets[k] .. offsets[k+1]-1 */
  const int32_t *items;
  const float *weights;
  context_scores scores; /* its function is NULL if there are none */
  rule_index index;
} context_model;

/* Learned weights of source spans, by the words at both ends of the span and those before and after it; all in the
 * mapped file. */
typedef struct {
  lscfg_rules vocabulary;  /* words alone */
  int64_t n[2];            /* ends; sides */
  const int32_t *words[2]; /* [n][2] ascending; -1 beyond the sentence */
  const float *weights[2];
} boundary_model;

/* Context items. Kinds of words: item = kind * (words + 2) + word; the ends of the sentence follow the words of the
 * vocabulary. After all of those come the lengths of the first and the second nonterminal. docs/reference/formats.md
 * lists them. */
enum { WORD_KINDS = LSCFG_CONTEXT_WORD_KINDS, BAG = WORD_KINDS - 1, N_LENGTHS = LSCFG_CONTEXT_LENGTHS };

static inline int64_t context_items(int64_t n_words) { return WORD_KINDS * (n_words + 2) + 2 * N_LENGTHS; }

/* The class of a nonterminal's length, counted from 0. */
static inline int32_t length_class(int32_t length) { return length < N_LENGTHS ? length - 1 : N_LENGTHS - 1; }

/* Weights belong to outcomes: the rules, the words of their target sides, and the shapes of rules with nonterminals. */
enum { N_SHAPES = LSCFG_CONTEXT_SHAPES };

static inline int64_t first_shape(const lscfg_rules *rules) { return rules->n + rules->n_words; }
static inline int64_t context_outcomes(const lscfg_rules *rules) { return first_shape(rules) + N_SHAPES; }

enum {
  MAX_TENSOR_ARITY = 2
}; /* maximum number of nonterminals of a rule with a tensor; rules with more have no
                                * probability */

/* Equal tensors stored once, without the entries that are 0 in all of them; all of it in the mapped file. */
typedef struct {
  const int32_t *index;   /* [rules of the arity] the tensor of each rule; NULL: tensors are not packed */
  const int32_t *support; /* [n_support] ascending positions of the stored values in a tensor; NULL: all of them */
  int64_t n_tensors, n_support;
  /* of sparse tensors, else NULL: entries first[t] .. first[t+1]-1 of tensor t are scales[t] * levels[codes[k]] at
   * positions[k], in single precision */
  const int64_t *first;
  const uint16_t *positions;
  const uint8_t *codes;
  const float *scales, *levels; /* [tensors], [256] */
} tensor_packing;

enum { MAX_CATEGORIES = 1024 }; /* of a model */

/* Room for a packed tensor, which is 0 where its tensor is. */
typedef struct {
  void *values; /* tensor_length values, all 0 at first; NULL: tensors of the arity need no room */
  int32_t last; /* a sparse tensor that lies there, -1 for none */
} tensor_room;

/* The parameters of an L-SCFG, all in the mapped file except one_state, a view of it, and the index of the rules. Rules
 * are numbered by arity: those without nonterminals first. */
struct lscfg_model {
  tensor_file file;
  int32_t rank; /* m */
  int64_t n_rules;
  int64_t first_of_arity[MAX_TENSOR_ARITY + 2];
  int32_t n_categories;              /* N; 1 where there is only [X] */
  const int32_t *lhs;                /* [n_rules] category of each left-hand side; NULL: there is only [X] */
  lscfg_rules categories;            /* their names, words alone; none where there is only [X] */
  const double *root;                /* C^S [N][m] */
  const double *unk;                 /* tensors of the OOV rule [N][m] */
  int32_t single;                    /* non-zero: tensors are stored in single precision, else in double */
  /* [rules][m], [rules][m][m], [rules][m][m][m]: head, then tails in source order; of packed tensors the values
   * [tensors][n_support] */
  const void *tensor[MAX_TENSOR_ARITY + 1];
  tensor_packing packing[MAX_TENSOR_ARITY + 1];
  const int64_t *components;         /* for tensors of two nonterminals of low rank, else NULL: tensor k has */
  const float *factors;              /* components[k] .. components[k+1]-1 of factors [.][3][m]; see low_rank.c */
  lscfg_rules rules;                 /* by arity */
  context_model *context;            /* NULL: none */
  boundary_model boundary;
  int has_boundary;
  lscfg_rules neural_words[2]; /* vocabularies of the neural model, words alone */
  neural_network *neural;      /* NULL: none */
  lscfg_rules orientation_words[2]; /* vocabularies of the model of orientations, words alone */
  orientation_model *orientation;   /* NULL: none */
  rule_index index, sources;         /* the rules; their source sides */
  int32_t longest_source;            /* symbols of the longest source side */
  lscfg_model *one_state; /* the same rules with m = 1; NULL where the file does not have it, and in itself */
};

/* C^S of a category; the tensor of its OOV rule. */
static inline const double *model_root(const lscfg_model *model, int32_t category) {
  return model->root + (int64_t)category * model->rank;
}
static inline const double *model_unk(const lscfg_model *model, int32_t category) {
  return model->unk + (int64_t)category * model->rank;
}

/* The number of the category of this name, -1: none. */
int32_t model_category(const lscfg_model *model, const char *name, size_t length);

static inline int64_t tensor_length(int32_t rank, int32_t arity) {
  int64_t length = rank;
  while (arity--) length *= rank;
  return length;
}

/* The number of a rule's tensor: equal numbers, equal tensors. */
static inline int32_t tensor_number(const lscfg_model *model, int32_t arity, int32_t row) {
  return model->packing[arity].index ? model->packing[arity].index[row] : row;
}

/* The stored values of a tensor that is not sparse, in the model's precision: n_support of a packed one, else all. */
static inline const void *stored_tensor(const lscfg_model *model, int32_t arity, int32_t row) {
  const tensor_packing *packing = &model->packing[arity];
  size_t stored = (size_t)(packing->index ? packing->n_support : tensor_length(model->rank, arity));
  return (const char *)model->tensor[arity] +
         (size_t)tensor_number(model, arity, row) * stored * (model->single ? sizeof(float) : sizeof(double));
}

/* True if tensors of the arity need room to be unpacked. */
static inline int needs_room(const lscfg_model *model, int32_t arity) {
  return model->packing[arity].support || model->packing[arity].first;
}

/* A whole tensor, in the model's precision: in the file, or unpacked into the arity's room. */
const void *model_tensor(const lscfg_model *, int32_t arity, int32_t row, tensor_room *);
/* sum[k] += the entries of a tensor; entries of 0 leave the sum as it is. */
void model_add_tensor(const lscfg_model *, int32_t arity, int32_t row, double *sum);

#endif
