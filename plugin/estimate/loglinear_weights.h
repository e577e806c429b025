/* A log-linear context model during learning; see loglinear.c. */
#ifndef LSCFG_LOGLINEAR_WEIGHTS_H
#define LSCFG_LOGLINEAR_WEIGHTS_H

#include "lscfg/estimate.h"
#include "base/common.h"

#include <stdatomic.h>

enum { PARTS = LSCFG_CONTEXT_PARTS, PIECES = LSCFG_CONTEXT_PIECES, SHARDS = LSCFG_CONTEXT_SHARDS };

typedef struct {
  int32_t item;    /* -1: empty */
  float weight;
  float squares;   /* the sum of its squared gradients */
  float shrinkage; /* penalty / visits of a pass */
} learned_weight;

/* Slots that are looked up together are adjacent: a bucket has 16 bits of the hashes of eight items, 0 for an empty
 * slot, so that few of the larger weights are read in vain. */
enum { BUCKET = 8 };
typedef struct {
  uint64_t marks[BUCKET / 4]; /* four in each */
} mark_bucket;

/* The weights of an outcome. An item is in the bucket of its hash, or in the next one if that is full. */
typedef struct {
  uint32_t begin, size; /* buckets */
  int32_t shard;
  int32_t wide; /* non-zero: words far away are items too */
  int32_t outcome;
} weight_block;

/* The items around a token. */
typedef struct {
  ARRAY(int32_t) items; /* the bag's items last */
  ARRAY(uint32_t) hashes;
  int64_t n_near; /* the other items */
} token_items;

/* The workspace of a thread, and its results: for each shard gradients, each followed by the values of the enum below,
 * and the slots of the weights that it changes. */
typedef struct {
  token_items token[2];   /* the one in hand and the next one */
  ARRAY(uint32_t) slots;  /* of the weights that were met */
  ARRAY(int32_t) wanted;  /* their items */
  ARRAY(double) scores;   /* of the choices; of the outcomes that were met; gradients of the latter */
  ARRAY(uint32_t) found[SHARDS];
} token_work;

/* The parts of a gradient: the gradient itself, the number of slots, the outcome, rows of the token's dense values. */
enum { GRADIENT, NUMBER, OUTCOME, ROW_LEFT, ROW_RIGHT, HEAD };

struct lscfg_context_trainer {
  lscfg_context_problem problem;
  int64_t base, n_items, n_outcomes;
  int64_t *token_begin;        /* [rules + 1] in the problem's tokens */
  int64_t *outcome_begin;      /* [rules + 1] of each rule in outcomes */
  ARRAY(int64_t) outcomes;     /* a rule's own, its target words, its shape */
  uint8_t *wordy;              /* [rules] non-zero: the source side contains words, so the bag has items */
  int64_t *rule_begin;         /* [outcomes + 1] of each outcome in rules */
  int32_t *rules;              /* that have the outcome */
  ARRAY(int32_t) found[PARTS]; /* items of weights, outcome by outcome; until the blocks exist */
  int64_t *n_weights;          /* [outcomes] */
  weight_block *blocks;        /* [outcomes] */
  mark_bucket *buckets;
  learned_weight *weights; /* [slots], BUCKET for each bucket */
  _Atomic int32_t *visits; /* [slots] visits of each weight in a pass; until they are counted */
  int64_t n_buckets;
  int64_t *met_begin;          /* [sides + 1] of each side in met */
  ARRAY(weight_block) met;     /* of the outcomes of a side's choices that have weights, each once */
  int64_t *number_begin;       /* [choices + 1] of each choice in numbers */
  ARRAY(int32_t) numbers;      /* of a choice's outcomes among those of its side */
  float *dense, *dense_squares; /* [outcomes][2 dims] weights of dense values, and sums of squared gradients */
  float *dense_shrinkage;      /* [outcomes] penalty / visits of a pass */
  double *plain;               /* [choices] logarithms of their counts */
  double *plain_sum;           /* [sides] logarithms of the sums of their choices' counts */
  token_work work[PIECES];
};

/* Finds the items of a token: LSCFG_OK or LSCFG_ENOMEM. */
int find_items(const lscfg_context_trainer *, const lscfg_context_token *, token_items *);
void release_items(token_items *);

/* The number of items for which the outcome can have weights. */
static inline int64_t n_items_of(const token_items *found, int wide) {
  return wide ? found->items.size : found->n_near;
}

static inline uint32_t hash_item(int32_t item) { return (uint32_t)(((uint64_t)item * 0x9e3779b97f4a7c15u) >> 32); }

static inline uint64_t mark_of(uint32_t hash) { return (hash & 0xffff) + !(hash & 0xffff); }

/* The bucket where an item is looked for first. */
static inline uint32_t first_bucket(const weight_block *b, uint32_t hash) {
  return b->begin + (uint32_t)(((uint64_t)hash * b->size) >> 32);
}

static inline uint32_t next_bucket(const weight_block *b, uint32_t at) {
  return at + 1 < b->begin + b->size ? at + 1 : b->begin;
}

static inline int is_full(const mark_bucket *bucket) { return bucket->marks[1] >> 48 != 0; }

#endif
