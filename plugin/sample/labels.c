#include "sample/labels.h"

#include <math.h>

double labels_log_weight(const label_table *l, const int32_t *symbols, int32_t n) {
  double sum = (n - 1) * log(0.5);
  for (int32_t k = 0; k < n; k++)
    if (symbols[k] != CUT_TAIL) sum += l->weight.data[symbols[k]];
  return sum;
}

int labels_are_fragment(const label_table *l, const int32_t *symbols, int64_t n, int32_t arity) {
  int64_t cut = 0;
  for (int64_t k = 0; k < n; k++) {
    if (symbols[k] < CUT_TAIL || symbols[k] >= l->category.size) return 0;
    cut += symbols[k] == CUT_TAIL;
  }
  return n > 0 && n <= INT32_MAX && symbols[0] != CUT_TAIL && cut == arity;
}
