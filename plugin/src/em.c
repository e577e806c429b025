/* The E step of EM over derivation trees, and the shrinkage of its counts (paper, section 4.2 and Fig. 2b).
 *
 * Numbers: the inside vector of a node is scaled to the sum 1 and its factor kept as a logarithm in the likelihood; the
 * outside vector is scaled so that outside . inside = 1, and is zero wherever inside is. What is left of both is bounded
 * (see SMALLEST_*), whatever the size of the tree.
 *
 * Order: every sum is written as a sum over independent lanes, or as a tree of fixed shape, and no product and sum are
 * contracted. So the loops below give the same bits at every vector width, and the compiler may make several versions. */
#include <math.h>

#include "common.h"

/* u = outside * scale / z must be finite: 1e100 * 1e60 * 1e100. */
#define SMALLEST_INSIDE 1e-100
#define SMALLEST_FACTOR 1e-100

/* Tokens of one rule whose outer products are summed while the sum stays in registers. */
#define BATCH 16

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define VERSIONS __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define VERSIONS
#endif
#define INLINE static inline __attribute__((always_inline))

/* Sum of x[0 .. m-1], which is overwritten: halves are added while the length is even. */
INLINE double fold(int32_t m, double *restrict x) {
  double sum = 0;
  while (m > 1 && m % 2 == 0) {
    m /= 2;
    for (int32_t k = 0; k < m; k++) x[k] += x[k + m];
  }
  for (int32_t k = 0; k < m; k++) sum += x[k];
  return sum;
}

INLINE double fold_product(int32_t m, const double *x, const double *y) {
  double product[LSCFG_EM_MAX_STATES];
  for (int32_t k = 0; k < m; k++) product[k] = x[k] * y[k];
  return fold(m, product);
}

/* out[h] = sum over a (and b) of tensor[h, a (, b)] left[a] (right[b]) */
INLINE void inside_of(int32_t m, int32_t arity, const double *restrict tensor, const double *restrict left,
                      const double *restrict right, double *restrict out) {
  if (arity == 0) {
    for (int32_t h = 0; h < m; h++) out[h] = tensor[h];
  } else if (arity == 1) {
    for (int32_t h = 0; h < m; h++) out[h] = fold_product(m, tensor + h * m, left);
  } else {
    for (int32_t h = 0; h < m; h++) {
      const double *slice = tensor + (int64_t)h * m * m;
      double line[LSCFG_EM_MAX_STATES];
      for (int32_t b = 0; b < m; b++) line[b] = 0;
      for (int32_t a = 0; a < m; a++)
        for (int32_t b = 0; b < m; b++) line[b] += left[a] * slice[a * m + b];
      for (int32_t b = 0; b < m; b++) line[b] *= right[b];
      out[h] = fold(m, line);
    }
  }
}

/* to_left[a] = sum over h (and b) of u[h] tensor[h, a (, b)] (right[b]), and to_right alike */
INLINE void outside_of(int32_t m, int32_t arity, const double *restrict tensor, const double *restrict u,
                       const double *restrict left, const double *restrict right, double *restrict to_left,
                       double *restrict to_right) {
  if (arity == 1) {
    for (int32_t a = 0; a < m; a++) to_left[a] = 0;
    for (int32_t h = 0; h < m; h++)
      for (int32_t a = 0; a < m; a++) to_left[a] += u[h] * tensor[h * m + a];
    return;
  }
  for (int32_t b = 0; b < m; b++) to_right[b] = 0;
  for (int32_t a = 0; a < m; a++) {
    const double *slice = tensor + a * m;
    double line[LSCFG_EM_MAX_STATES];
    for (int32_t b = 0; b < m; b++) line[b] = 0;
    for (int32_t h = 0; h < m; h++)
      for (int32_t b = 0; b < m; b++) line[b] += u[h] * slice[(int64_t)h * m * m + b];
    for (int32_t b = 0; b < m; b++) to_right[b] += left[a] * line[b];
    for (int32_t b = 0; b < m; b++) line[b] *= right[b];
    to_left[a] = fold(m, line);
  }
}

/* Scales a node's outside so that outside . inside = 1, nothing where inside is 0; 0 if that cannot be. */
INLINE int settle_outside(int32_t m, const double *restrict inside, double *restrict outside) {
  double total;
  for (int32_t h = 0; h < m; h++) outside[h] = inside[h] > 0 ? outside[h] : 0;
  total = fold_product(m, inside, outside);
  if (!(total > 0 && total <= 1e300)) return 0;
  for (int32_t h = 0; h < m; h++) outside[h] = outside[h] / total;
  return 1;
}

INLINE int64_t length_of(int32_t m, int32_t arity) { return arity == 0 ? m : arity == 1 ? m * m : (int64_t)m * m * m; }

/* Inside vectors of the nodes [begin, end), and the logarithm of the tree's probability but for the root's factor. */
INLINE int tree_inside(int32_t m, const lscfg_em *em, int64_t begin, int64_t end, const double *ones, double *inside,
                       double *factor, double *log_likelihood) {
  double product = 1, sum = 0;
  for (int64_t n = end - 1; n >= begin; n--) {
    const int32_t *child = em->children + 2 * n;
    int32_t arity = em->arity[n];
    const double *left = child[0] >= 0 ? inside + (int64_t)child[0] * m : ones;
    const double *right = child[1] >= 0 ? inside + (int64_t)child[1] * m : ones;
    double *out = inside + n * m, copy[LSCFG_EM_MAX_STATES], z;
    inside_of(m, arity, em->tensor[arity] + em->row[n] * length_of(m, arity), left, right, out);
    for (int32_t h = 0; h < m; h++) copy[h] = out[h] *= em->scale[h];
    factor[n] = z = fold(m, copy);
    if (!(z >= SMALLEST_FACTOR)) return 0;
    for (int32_t h = 0; h < m; h++) {
      double value = out[h] / z;
      out[h] = value >= SMALLEST_INSIDE ? value : 0;
    }
    product *= z;
    if (product < 1e-150 || product > 1e150) {
      sum += log(product);
      product = 1;
    }
  }
  *log_likelihood = sum + log(product);
  return 1;
}

INLINE int tree_outside(int32_t m, const lscfg_em *em, int64_t begin, int64_t end, const double *ones,
                        const double *root, const double *inside, const double *factor, double *outside) {
  memcpy(outside + begin * m, root, (size_t)m * sizeof *outside);
  for (int64_t n = begin; n < end; n++) {
    const int32_t *child = em->children + 2 * n;
    int32_t arity = em->arity[n];
    const double *left = child[0] >= 0 ? inside + (int64_t)child[0] * m : ones;
    const double *right = child[1] >= 0 ? inside + (int64_t)child[1] * m : ones;
    double *u = outside + n * m, unused[2][LSCFG_EM_MAX_STATES];
    if (!settle_outside(m, inside + n * m, u)) return 0;
    for (int32_t h = 0; h < m; h++) u[h] = u[h] * em->scale[h] / factor[n];
    if (arity)
      outside_of(m, arity, em->tensor[arity] + em->row[n] * length_of(m, arity), u, left, right,
                 child[0] >= 0 ? outside + (int64_t)child[0] * m : unused[0],
                 child[1] >= 0 ? outside + (int64_t)child[1] * m : unused[1]);
  }
  return 1;
}

INLINE int64_t trees(int32_t m, const lscfg_em *em, const int64_t *first_node, const int32_t *root_kind, int64_t first,
                     int64_t last, double *log_likelihood, double *inside, double *factor, double *outside) {
  double ones[LSCFG_EM_MAX_STATES];
  int64_t impossible = 0;
  for (int32_t h = 0; h < m; h++) ones[h] = 1;
  for (int64_t t = first; t < last; t++) {
    int64_t begin = first_node[t], end = first_node[t + 1];
    const double *root = em->root + (int64_t)root_kind[t] * m;
    double g = 0;
    int good = tree_inside(m, em, begin, end, ones, inside, factor, log_likelihood + t);
    if (good) {
      g = fold_product(m, root, inside + begin * m);
      good = g >= SMALLEST_FACTOR && (!outside || tree_outside(m, em, begin, end, ones, root, inside, factor, outside));
    }
    if (good) {
      log_likelihood[t] += log(g);
      continue;
    }
    impossible++;
    log_likelihood[t] = -INFINITY;
    memset(inside + begin * m, 0, (size_t)((end - begin) * m) * sizeof *inside);
    if (outside) memset(outside + begin * m, 0, (size_t)((end - begin) * m) * sizeof *outside);
  }
  return impossible;
}

/* sum[h, a, b] += the outer products of n <= BATCH tokens, gathered into rows of m. */
INLINE void add_outer(int32_t m, int32_t n, const double *restrict u, const double *restrict left,
                      const double *restrict right, double *restrict sum) {
  for (int32_t h = 0; h < m; h++)
    for (int32_t a = 0; a < m; a++) {
      double *out = sum + ((int64_t)h * m + a) * m, line[LSCFG_EM_MAX_STATES];
      for (int32_t b = 0; b < m; b++) line[b] = out[b];
      for (int32_t k = 0; k < n; k++) {
        double value = u[k * m + h] * left[k * m + a];
        for (int32_t b = 0; b < m; b++) line[b] += value * right[k * m + b];
      }
      for (int32_t b = 0; b < m; b++) out[b] = line[b];
    }
}

INLINE void gather(int32_t m, const double *source, double *restrict target) {
  if (source)
    for (int32_t h = 0; h < m; h++) target[h] = source[h];
  else
    for (int32_t h = 0; h < m; h++) target[h] = 1;
}

INLINE void counts(int32_t m, const lscfg_em *em, int32_t arity, const lscfg_em_chunk *chunk, const int32_t *tokens,
                   const double *inside, const double *outside, double *sum) {
  double u[BATCH * LSCFG_EM_MAX_STATES], side[2][BATCH * LSCFG_EM_MAX_STATES];
  memset(sum, 0, (size_t)length_of(m, arity) * sizeof *sum);
  for (int64_t k = chunk->begin; k < chunk->end; k += BATCH) {
    int32_t n = (int32_t)(chunk->end - k < BATCH ? chunk->end - k : BATCH);
    for (int32_t j = 0; j < n; j++) {
      int64_t node = tokens[k + j];
      const int32_t *child = em->children + 2 * node;
      gather(m, outside + node * m, u + j * m);
      for (int32_t s = 0; s < arity; s++) gather(m, child[s] >= 0 ? inside + (int64_t)child[s] * m : NULL, side[s] + j * m);
    }
    if (arity == 2) {
      add_outer(m, n, u, side[0], side[1], sum);
      continue;
    }
    for (int32_t j = 0; j < n; j++)
      for (int32_t h = 0; h < m; h++) {
        if (arity == 0) sum[h] += u[j * m + h];
        for (int32_t a = 0; arity && a < m; a++) sum[h * m + a] += u[j * m + h] * side[0][j * m + a];
      }
  }
}

/* The compiler knows m in the usual sizes, and keeps what it sums in registers there. */
VERSIONS static int64_t trees_of_any(int32_t m, const lscfg_em *em, const int64_t *first_node, const int32_t *root_kind,
                                     int64_t first, int64_t last, double *ll, double *inside, double *factor,
                                     double *outside) {
  switch (m) {
    case 4: return trees(4, em, first_node, root_kind, first, last, ll, inside, factor, outside);
    case 8: return trees(8, em, first_node, root_kind, first, last, ll, inside, factor, outside);
    case 16: return trees(16, em, first_node, root_kind, first, last, ll, inside, factor, outside);
    case 32: return trees(32, em, first_node, root_kind, first, last, ll, inside, factor, outside);
    default: return trees(m, em, first_node, root_kind, first, last, ll, inside, factor, outside);
  }
}

VERSIONS static void counts_of_any(int32_t m, const lscfg_em *em, int32_t arity, const lscfg_em_chunk *chunk,
                                   const int32_t *tokens, const double *inside, const double *outside, double *sum) {
  switch (m) {
    case 4: counts(4, em, arity, chunk, tokens, inside, outside, sum); break;
    case 8: counts(8, em, arity, chunk, tokens, inside, outside, sum); break;
    case 16: counts(16, em, arity, chunk, tokens, inside, outside, sum); break;
    case 32: counts(32, em, arity, chunk, tokens, inside, outside, sum); break;
    default: counts(m, em, arity, chunk, tokens, inside, outside, sum);
  }
}

int64_t lscfg_em_trees(const lscfg_em *em, const int64_t *first_node, const int32_t *root_kind, int64_t first,
                       int64_t last, double *log_likelihood, double *inside, double *factor, double *outside) {
  return trees_of_any(em->m, em, first_node, root_kind, first, last, log_likelihood, inside, factor, outside);
}

/* totals[h] = sum of the row's values at left-hand-side state h. */
static void row_totals(int32_t m, int64_t width, const double *row, double *totals) {
  for (int32_t h = 0; h < m; h++) {
    double lane[8] = {0}; /* eight sums at a time: one alone waits for each addition */
    int64_t k = 0;
    for (; k + 8 <= width; k += 8)
      for (int j = 0; j < 8; j++) lane[j] += row[h * width + k + j];
    for (int j = 0; k < width; k++, j++) lane[j] += row[h * width + k];
    totals[h] = fold(8, lane);
  }
}

int lscfg_em_counts(const lscfg_em *em, int32_t arity, const lscfg_em_chunk *chunk, int64_t n, const int32_t *tokens,
                    const double *inside, const double *outside, double *tensor, double *totals, double *parts) {
  int64_t length = length_of(em->m, arity);
  double *sum = malloc((size_t)length * sizeof *sum);
  if (!sum) return LSCFG_ENOMEM;
  for (int64_t c = 0; c < n; c++) {
    if (chunk[c].part >= 0) {
      counts_of_any(em->m, em, arity, chunk + c, tokens, inside, outside, parts + chunk[c].part * length);
      continue;
    }
    double *row = tensor + chunk[c].row * length;
    counts_of_any(em->m, em, arity, chunk + c, tokens, inside, outside, sum);
    for (int64_t k = 0; k < length; k++) row[k] *= sum[k];
    row_totals(em->m, length / em->m, row, totals + chunk[c].row * em->m);
  }
  free(sum);
  return LSCFG_OK;
}

void lscfg_em_sum(int64_t length, int64_t first, int64_t last, const double *tensor, double *out) {
  for (int64_t row = first; row < last; row++)
    for (int64_t k = 0; k < length; k++) out[k] += tensor[row * length + k];
}

int lscfg_em_shrink(int32_t m, int32_t arity, const int64_t *group_begin, const int32_t *group_rows, int64_t first,
                    int64_t last, const double *tokens, const double *weight, const double *average, double to_source,
                    double to_arity, double *tensor, double *totals) {
  int64_t length = length_of(m, arity);
  double *target = malloc((size_t)length * sizeof *target);
  if (!target) return LSCFG_ENOMEM;
  for (int64_t g = first; g < last; g++) {
    double all = to_arity;
    for (int64_t k = 0; k < length; k++) target[k] = to_arity * average[k];
    for (int64_t j = group_begin[g]; j < group_begin[g + 1]; j++) {
      const double *row = tensor + group_rows[j] * length;
      all += tokens[group_rows[j]];
      for (int64_t k = 0; k < length; k++) target[k] += row[k];
    }
    for (int64_t k = 0; k < length; k++) target[k] = all > 0 ? target[k] / all : average[k];
    for (int64_t j = group_begin[g]; j < group_begin[g + 1]; j++) {
      int32_t r = group_rows[j];
      double *row = tensor + r * length, own = tokens[r] + to_source;
      for (int64_t k = 0; k < length; k++)
        row[k] = weight[r] * (own > 0 ? (row[k] + to_source * target[k]) / own : target[k]);
      row_totals(m, length / m, row, totals + (int64_t)r * m);
    }
  }
  free(target);
  return LSCFG_OK;
}
