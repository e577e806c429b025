#ifndef LSCFG_CRC32_H
#define LSCFG_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32 of the bytes as zlib, gzip and PNG define it (reflected polynomial 0xedb88320). */
uint32_t crc32_of(const void *bytes, size_t size);

#endif
