#if !defined(_POSIX_C_SOURCE) && !defined(__APPLE__)
#define _POSIX_C_SOURCE 200809L /* newlocale, uselocale */
#endif
#include "base/number.h"

#include <locale.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

enum { LONGEST_NUMBER = 1200 }; /* every double can be written exactly with fewer characters */

/* From enter_plain to leave_plain this thread has the numbers of the C locale. Other threads keep theirs. */
typedef struct {
  locale_t plain, before;
} numeric_locale;

static numeric_locale enter_plain(void) {
  numeric_locale n = {newlocale(LC_NUMERIC_MASK, "C", (locale_t)0), (locale_t)0};
  if (n.plain) n.before = uselocale(n.plain);
  return n;
}

static void leave_plain(numeric_locale n) {
  if (!n.plain) return;
  uselocale(n.before);
  freelocale(n.plain);
}

int lscfg_parse_double(const char *text, size_t length, double *value) {
  char copy[LONGEST_NUMBER + 1], *rest;
  if (!length || length > LONGEST_NUMBER) return LSCFG_EINPUT;
  memcpy(copy, text, length);
  copy[length] = '\0';
  numeric_locale n = enter_plain();
  *value = strtod(copy, &rest);
  leave_plain(n);
  return rest == copy + length ? LSCFG_OK : LSCFG_EINPUT;
}

int print_plain(char *text, size_t size, const char *format, ...) {
  va_list arguments;
  numeric_locale n = enter_plain();
  va_start(arguments, format);
  int length = vsnprintf(text, size, format, arguments);
  va_end(arguments);
  leave_plain(n);
  return length;
}

int lscfg_print_double(double value, int32_t digits, char *text, size_t size) {
  return print_plain(text, size, "%.*g", (int)digits, value);
}
