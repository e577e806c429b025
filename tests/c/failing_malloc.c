/* Linked with --wrap: the allocation whose number is in FAILING fails, and no other; 0: none does, they are counted. */
#include <stdio.h>
#include <stdlib.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);

static long failing, made;

__attribute__((constructor)) static void begin(void) { failing = strtol(getenv("FAILING"), NULL, 10); }

__attribute__((destructor)) static void end(void) {
  if (!failing) fprintf(stderr, "%ld", made);
}

static int fails(void) { return ++made == failing; }

void *__wrap_malloc(size_t size) { return fails() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t n, size_t size) { return fails() ? NULL : __real_calloc(n, size); }
void *__wrap_realloc(void *old, size_t size) { return fails() ? NULL : __real_realloc(old, size); }
