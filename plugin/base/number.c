#if !defined(_POSIX_C_SOURCE) && !defined(__APPLE__)
#define _POSIX_C_SOURCE 200809L /* newlocale, uselocale */
#endif
#include "base/number.h"

#include <float.h>
#include <locale.h>
#include <math.h>
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

/* Reads digits with a point among them, and an exponent. If the digits make a number up to 2^53 and the power of ten is
 * exact, one multiplication or division rounds as strtod does (Clinger 1990), which avoids the slow change of locale.
 * Returns 0 for any other text. */
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

enum { MOST_DIGITS = 15, EXACT_LONG = 27 }; /* powers of ten that 64 bits hold without those of two: 10^0 .. 10^27 */

#if LDBL_MANT_DIG >= 64
static const char two_digits[] =
    "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849"
    "5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";

/* value * 10^power, to some 2^-60 of it. */
static long double scale_by_ten(long double value, int power) {
  static const long double ten[EXACT_LONG + 1] = {
      1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,  1e7L,  1e8L,  1e9L,  1e10L, 1e11L, 1e12L, 1e13L,
      1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L, 1e20L, 1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};
  for (; power > EXACT_LONG; power -= EXACT_LONG) value *= ten[EXACT_LONG];
  for (; power < -EXACT_LONG; power += EXACT_LONG) value /= ten[EXACT_LONG];
  return power < 0 ? value / ten[-power] : value * ten[power];
}

static const int64_t ten_to[MOST_DIGITS + 1] = {1,
                                               10,
                                               100,
                                               1000,
                                               10000,
                                               100000,
                                               1000000,
                                               10000000,
                                               100000000,
                                               1000000000,
                                               10000000000,
                                               100000000000,
                                               1000000000000,
                                               10000000000000,
                                               100000000000000,
                                               1000000000000000};

/* Rounds a number > 0 to so many digits, the first of them not 0, and sets the power of ten of the first. Returns 0 if
 * another method must decide how to round the last digit. */
static int64_t round_to(double value, int digits, int *exponent) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  int twos = (int)(bits >> 52) - 1023; /* 2^twos <= value, but where the number is subnormal */
  if (twos == -1023) return 0;
  *exponent = (twos * 315653) >> 20; /* floor(twos * log10(2)): that of the value, or one too small */
  long double scaled = scale_by_ten(value, digits - 1 - *exponent);
  if (scaled >= ten_to[digits]) scaled = scale_by_ten(value, digits - 1 - ++*exponent);
  int64_t number = (int64_t)scaled; /* faster than without a sign */
  long double rest = scaled - number;
  if (fabsl(rest - 0.5L) <= scaled * 0x1p-58L) return 0;
  number += rest > 0.5L;
  if (number < ten_to[digits]) return number;
  ++*exponent;
  return number / 10;
}

static void put_pairs(uint32_t number, int digits, char *text) {
  int k = digits;
  for (; k > 1; number /= 100) {
    k -= 2;
    memcpy(text + k, two_digits + 2 * (number % 100), 2);
  }
  if (k) text[0] = (char)('0' + number);
}

/* Halves of 32 bits, which are divided faster. */
static void put_digits(int64_t number, int digits, char *text) {
  enum { HALF = 9 };
  int high = digits > HALF ? digits - HALF : 0;
  if (high) put_pairs((uint32_t)(number / ten_to[HALF]), high, text);
  put_pairs((uint32_t)(high ? number % ten_to[HALF] : number), digits - high, text + high);
}

/* As printf's %.*g, without a NUL. Returns the length, at most digits + 8, or 0 if another method is needed. */
static int print_short(double value, int digits, char *text) {
  char *p = text;
  int exponent;
  if (digits < 1 || digits > MOST_DIGITS || !isfinite(value)) return 0;
  if (signbit(value)) *p++ = '-';
  if (value == 0) {
    *p++ = '0';
    return (int)(p - text);
  }
  int64_t number = round_to(fabs(value), digits, &exponent);
  if (!number) return 0;
  int plain = exponent >= -4 && exponent < digits, before = plain ? exponent + 1 : 1; /* digits before the point */
  if (before <= 0) {
    memcpy(p, "0.000", 5);
    p += 2 - before;
    put_digits(number, digits, p);
    p += digits;
    while (p[-1] == '0') p--;
  } else {
    char *end = p + 1 + digits;
    put_digits(number, digits, p + 1);
    for (int k = 0; k < before; k++) p[k] = p[k + 1];
    p += before;
    *p = '.';
    while (end > p + 1 && end[-1] == '0') end--;
    if (end > p + 1) p = end;
  }
  if (!plain) {
    int size = exponent < 0 ? -exponent : exponent;
    *p++ = 'e';
    *p++ = exponent < 0 ? '-' : '+';
    if (size >= 100) *p++ = (char)('0' + size / 100);
    *p++ = (char)('0' + size / 10 % 10);
    *p++ = (char)('0' + size % 10);
  }
  return (int)(p - text);
}
#else
static int print_short(double value, int digits, char *text) {
  (void)value, (void)digits, (void)text;
  return 0;
}
#endif

int lscfg_print_double(double value, int32_t digits, char *text, size_t size) {
  int length = size > MOST_DIGITS + 8 ? print_short(value, digits, text) : 0;
  if (!length) return print_plain(text, size, "%.*g", (int)digits, value);
  text[length] = '\0';
  return length;
}
