/* Memory for large arrays. */
#ifndef LSCFG_PAGES_H
#define LSCFG_PAGES_H

#include <stddef.h>

/* Memory in huge pages on systems that support them, if it fills them or is larger than two: they save address look-ups
 * of random reads, and clearing them takes less time than clearing small ones. Freed by free(); NULL: memory is out. */
void *large_pages(size_t bytes);

#endif
