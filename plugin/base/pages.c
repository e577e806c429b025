#define _DEFAULT_SOURCE /* madvise */
#include "base/pages.h"

#include <stdlib.h>

#ifdef __linux__
#include <sys/mman.h>
#endif

void *large_pages(size_t bytes) {
#ifdef MADV_HUGEPAGE
  const size_t page = (size_t)2 << 20;
  if (bytes && (bytes % page == 0 || bytes >= 2 * page)) {
    void *memory = aligned_alloc(page, (bytes + page - 1) / page * page);
    if (memory) madvise(memory, bytes, MADV_HUGEPAGE); /* a refusal does no harm */
    if (memory) return memory;
  }
#endif
  return malloc(bytes);
}
