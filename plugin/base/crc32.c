/* CRC-32 over sixteen bytes at a time ("slicing"). zlib is not linked, because a decoder builds the kernel without it;
 * the tables are built on each call, which keeps threads apart and costs as much as 16 kB of input. */
#include "base/crc32.h"

enum { SLICES = 16 };

uint32_t crc32_of(const void *bytes, size_t size) {
  uint32_t table[SLICES][256], crc = 0xffffffffu;
  const unsigned char *p = bytes;
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
