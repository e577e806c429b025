/* What the harnesses share. Each defines LLVMFuzzerTestOneInput, which libFuzzer or driver.c calls; they use the public
 * interface alone and abort where an answer of the kernel is wrong. */
#ifndef LSCFG_FUZZ_H
#define LSCFG_FUZZ_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lscfg.h"

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      abort();                                                                \
    }                                                                         \
  } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The bytes that are still to be used; 0 behind the end. */
typedef struct {
  const uint8_t *next, *end;
} input;

static inline uint8_t take(input *in) { return in->next < in->end ? *in->next++ : 0; }
/* 0 .. n-1 */
static inline int32_t below(input *in, int32_t n) { return take(in) % n; }

/* Opens a model file that is these bytes; NULL where it is refused. */
lscfg_model *open_model(const void *bytes, size_t size);

/* A grammar, finished, and a model of some of its rules, made of the input; both NULL where they were refused. */
typedef struct {
  lscfg_vocab *vocab;
  lscfg_grammar *grammar;
  lscfg_model *model;
  int positive; /* whether no parameter is negative */
} world;

world make_world(input *);
void free_world(world *);

/* Infers, computes features and searches, and checks what comes of it. options: which way of binding and searching. */
void use_forest(const lscfg_model *, const lscfg_grammar *, const lscfg_forest *, uint8_t options, int positive);

#endif
