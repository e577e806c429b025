#if !defined(_POSIX_C_SOURCE) && !defined(__APPLE__)
#define _POSIX_C_SOURCE 200809L /* newlocale, uselocale */
#endif
#include "base/number.h"

#include <float.h>
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

enum { EXACT_POWERS = 23 }; /* powers of ten that a double holds exactly: 10^0 .. 10^22 */

/* Reads digits with a point among them, and an exponent. Where the digits make a number up to 2^53 and the power of
 * ten is exact, one multiplication or division rounds as strtod does (Clinger 1990). The change of locale, which takes
 * longer than all the rest, is not needed then. Returns 0 where the text is anything else. */
static int parse_short(const char *p, const char *end, double *value) {
  static const double power[EXACT_POWERS] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                             1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  int negative = p < end && *p == '-', digits = 0, behind_point = 0, point = 0, exponent = 0;
  uint64_t mantissa = 0;
  if (p < end && (*p == '-' || *p == '+')) p++;
  for (; p < end && ((*p >= '0' && *p <= '9') || (*p == '.' && !point)); p++) {
    if (*p == '.') {
      point = 1;
      continue;
    }
    mantissa = 10 * mantissa + (uint64_t)(*p - '0');
    behind_point += point;
    if (mantissa > (uint64_t)1 << 53 || ++digits > 2 * EXACT_POWERS) return 0;
  }
  if (!digits) return 0;
  if (end - p > 1 && (*p == 'e' || *p == 'E')) {
    int below = p[1] == '-';
    p += 1 + (p[1] == '-' || p[1] == '+');
    if (p == end || end - p > 3) return 0;
    for (; p < end && *p >= '0' && *p <= '9'; p++) exponent = 10 * exponent + (*p - '0');
    if (below) exponent = -exponent;
  }
  exponent -= behind_point;
  if (p < end || exponent <= -EXACT_POWERS || exponent >= EXACT_POWERS) return 0;
  *value = exponent < 0 ? (double)mantissa / power[-exponent] : (double)mantissa * power[exponent];
  if (negative) *value = -*value;
  return 1;
}

int lscfg_parse_double(const char *text, size_t length, double *value) {
  char copy[LONGEST_NUMBER + 1], *rest;
  if (FLT_EVAL_METHOD == 0 && parse_short(text, text + length, value)) return LSCFG_OK; /* one rounding, no more */
  if (!length || length > LONGEST_NUMBER) return LSCFG_EINPUT;
  memcpy(copy, text, length);
  copy[length] = '\0';
  if (strspn(copy, "+-.0123456789eE") != length) return LSCFG_EINPUT; /* hexadecimal numbers, or NaN */
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
