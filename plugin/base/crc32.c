/* CRC-32 by carry-less products of 64 bytes at a time (Gopal et al. 2009, Fast CRC Computation for Generic Polynomials
 * Using PCLMULQDQ Instruction), or of sixteen bytes at a time by tables ("slicing"). zlib is not linked, because a
 * decoder builds the kernel without it; the tables are built on each call, which keeps threads apart and costs as much
 * as 16 kB of input. */
#include "base/crc32.h"

#include "base/simd.h"

#ifdef SIMD_X86
#include <immintrin.h>

enum { FOLDED = 64 }; /* bytes of a step */

#define FOR_PRODUCTS __attribute__((target("pclmul,sse4.1")))

FOR_PRODUCTS static inline __m128i load(const unsigned char *p) { return _mm_loadu_si128((const __m128i *)p); }

/* The remainder moved on by the distance of the factors, and the bytes there. */
FOR_PRODUCTS static inline __m128i fold(__m128i remainder, __m128i factors, __m128i next) {
  __m128i low = _mm_clmulepi64_si128(remainder, factors, 0x00), high = _mm_clmulepi64_si128(remainder, factors, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

/* size is a multiple of 16, and 64 or more. The factors are powers of x modulo the polynomial, in reflected order. */
FOR_PRODUCTS static uint32_t crc_by_products(uint32_t crc, const unsigned char *p, size_t size) {
  const __m128i by_64 = _mm_set_epi64x(0x01c6e41596, 0x0154442bd4), by_16 = _mm_set_epi64x(0x00ccaa009e, 0x01751997d0);
  const __m128i by_4 = _mm_set_epi64x(0, 0x0163cd6124), barrett = _mm_set_epi64x(0x01f7011641, 0x01db710641);
  const __m128i halves = _mm_setr_epi32(~0, 0, ~0, 0);
  __m128i part[4];
  for (int k = 0; k < 4; k++) part[k] = load(p + 16 * k);
  part[0] = _mm_xor_si128(part[0], _mm_cvtsi32_si128((int)crc));
  for (p += FOLDED, size -= FOLDED; size >= FOLDED; p += FOLDED, size -= FOLDED)
    for (int k = 0; k < 4; k++) part[k] = fold(part[k], by_64, load(p + 16 * k));
  __m128i all = part[0];
  for (int k = 1; k < 4; k++) all = fold(all, by_16, part[k]);
  for (; size; p += 16, size -= 16) all = fold(all, by_16, load(p));
  all = _mm_xor_si128(_mm_srli_si128(all, 8), _mm_clmulepi64_si128(all, by_16, 0x10));
  all = _mm_xor_si128(_mm_srli_si128(all, 4), _mm_clmulepi64_si128(_mm_and_si128(all, halves), by_4, 0x00));
  __m128i quotient = _mm_clmulepi64_si128(_mm_and_si128(all, halves), barrett, 0x10);
  all = _mm_xor_si128(all, _mm_clmulepi64_si128(_mm_and_si128(quotient, halves), barrett, 0x00));
  return (uint32_t)_mm_extract_epi32(all, 1);
}
#endif

enum { SLICES = 16 };

uint32_t crc32_of(const void *bytes, size_t size) {
  uint32_t table[SLICES][256], crc = 0xffffffffu;
  const unsigned char *p = bytes;
#ifdef SIMD_X86
  if (size >= FOLDED && __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1")) {
    size_t whole = size / 16 * 16;
    crc = crc_by_products(crc, p, whole);
    for (p += whole, size -= whole; size; size--) {
      crc ^= *p++;
      for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
  }
#endif
  for (uint32_t k = 0; k < 256; k++) {
    uint32_t value = k;
    for (int bit = 0; bit < 8; bit++) value = value >> 1 ^ (value & 1 ? 0xedb88320u : 0);
    table[0][k] = value;
  }
  for (int slice = 1; slice < SLICES; slice++)
    for (int k = 0; k < 256; k++)
      table[slice][k] = table[slice - 1][k] >> 8 ^ table[0][table[slice - 1][k] & 0xff];
  for (; size >= SLICES; size -= SLICES, p += SLICES) {
    uint32_t first = crc ^ (p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);
    uint32_t next = table[15][first & 0xff] ^ table[14][first >> 8 & 0xff] ^ table[13][first >> 16 & 0xff] ^
                    table[12][first >> 24];
    for (int k = 4; k < SLICES; k++) next ^= table[SLICES - 1 - k][p[k]];
    crc = next;
  }
  for (; size; size--) crc = crc >> 8 ^ table[0][(crc ^ *p++) & 0xff];
  return ~crc;
}
