#include "lscfg/base.h"
#include "base/common.h"

static int64_t length_of(const lscfg_strings *strings, int64_t k) { return strings->begin[k + 1] - strings->begin[k]; }

static char *add(char *text, const lscfg_strings *strings, int64_t k) {
  size_t length = (size_t)length_of(strings, k);
  memcpy(text, strings->bytes + strings->begin[k], length);
  return text + length;
}

int64_t lscfg_print_rows(int64_t n, const lscfg_strings *first, const lscfg_strings *second,
                         const int32_t *const which[2], const lscfg_strings *labels, int32_t columns,
                         const double *values, int32_t digits, char *text, int64_t room) {
  int64_t most = labels->begin[columns + 1] - labels->begin[0] + (int64_t)columns * LSCFG_NUMBER_SIZE;
  char *p = text;
  if (digits > 17) return -1;
  for (int64_t row = 0; row < n; row++) {
    int64_t a = which[0][row], b = which[1][row];
    if (room - (p - text) < length_of(first, a) + length_of(second, b) + most) return -1;
    p = add(add(p, first, a), second, b);
    for (int32_t k = 0; k < columns; k++) {
      p = add(p, labels, k);
      p += lscfg_print_double(values[row * columns + k], digits, p, LSCFG_NUMBER_SIZE);
    }
    p = add(p, labels, columns);
  }
  return p - text;
}
