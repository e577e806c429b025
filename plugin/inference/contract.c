/* The inner loops for each instruction set, and the choice between them when the program runs. */
#include "inference/contract.h"

#include "base/simd.h"

/* Edges of a node with the same rules form a run, and runs with the same rules are multiplied together: both
 * passes join the runs of one level, marginals those of the whole forest, by heads or first tails, whichever are
 * fewer. The loops exist for AVX-512, AVX2 with FMA, and as a baseline; the first two give the same bits. */

enum { LANES = 8 };

/* The rest of the kernel is compiled without contraction of a * b + c; here contraction makes the loops fast. */
#if defined(__clang__)
#pragma clang fp contract(fast)
#define FUSED
#elif defined(__GNUC__)
#define FUSED __attribute__((optimize("fp-contract=fast")))
#endif

#define NAME(f) f##_baseline
#define TARGET FUSED
#define WIDTH 2
#define TILE 6
#define FMA(a, b, c) ((a) * (b) + (c))
#define SET "baseline"
#include "inference/contract_loops.h"

#ifdef SIMD_X86

#define NAME(f) f##_avx2
#define TARGET FUSED SIMD_FOR_AVX2_FMA
#define WIDTH 4
#define TILE 6
#define FMA(a, b, c) __builtin_fma(a, b, c)
#define SET "avx2"
#include "inference/contract_loops.h"

#define NAME(f) f##_avx512
#define TARGET FUSED SIMD_FOR_AVX512
#define WIDTH 8
#define TILE 12
#define FMA(a, b, c) __builtin_fma(a, b, c)
#define SET "avx512"
#include "inference/contract_loops.h"

#endif

const contraction *contraction_find(const char *name) {
#ifdef SIMD_X86
  if (simd_level() >= SIMD_AVX512 && (!name || !strcmp(name, loops_avx512.name))) return &loops_avx512;
  if (simd_level() >= SIMD_AVX2 && (!name || !strcmp(name, loops_avx2.name))) return &loops_avx2;
#endif
  return !name || !strcmp(name, loops_baseline.name) ? &loops_baseline : NULL;
}
