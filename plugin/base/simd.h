/* Instruction sets: those for which a function is compiled, and those of the machine.
 *
 * A file with hot loops compiles them once for each useful set and calls the best one that simd_level() allows. All
 * sets give the same bits, unless the loops state otherwise. LSCFG_NARROW disables all sets except the baseline. */
#ifndef LSCFG_SIMD_H
#define LSCFG_SIMD_H

enum { SIMD_BASELINE = 0, SIMD_AVX2 = 1, SIMD_AVX512 = 2 }; /* AVX2 with fused multiply-add */

#if defined(__x86_64__) && defined(__GNUC__) && !defined(LSCFG_NARROW)
#define SIMD_X86 1

/* Registers of four numbers; and with fused multiply-add. */
#define SIMD_FOR_AVX2 __attribute__((target("avx2")))
#define SIMD_FOR_AVX2_FMA __attribute__((target("avx2,fma")))
#define SIMD_FOR_AVX512 __attribute__((target("avx512f,avx512dq,avx512vl,avx2,fma")))

static inline int simd_level(void) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return SIMD_BASELINE;
  int avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
  return avx512 && __builtin_cpu_supports("avx512vl") ? SIMD_AVX512 : SIMD_AVX2;
}
#else
static inline int simd_level(void) { return SIMD_BASELINE; }
#endif

/* A separate function that is compiled for all sets; the loader chooses one. */
#if defined(SIMD_X86) && !defined(__clang__) && defined(__linux__)
#define SIMD_FOR_ALL __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define SIMD_FOR_ALL
#endif

#endif
