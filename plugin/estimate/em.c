/* The E step of EM over derivation trees and forests, and the shrinkage of its counts (paper, section 4.2 and Fig. 2b).
 *
 * Numbers: the inside vector of a node is scaled to the sum 1 and its factor kept as a logarithm in the likelihood; the
 * outside vector is scaled so that outside . inside = 1, and is zero wherever inside is. The rest of both is bounded
 * (see SMALLEST_*), whatever the size of the tree. In a forest the factors below the edges of a node differ, so each
 * node keeps the logarithm of all factors below it; outside . inside is the probability of the node.
 *
 * Order: every sum is written as a sum over independent lanes, or as a tree of fixed shape, and no product and sum are
 * contracted. So the version for wide vectors gives the same bits as the other. */
#include <math.h>

#include "lscfg/estimate.h"
#include "base/common.h"
#include "base/simd.h"

/* EM cuts trees at rules of more than two nonterminals. Below such a rule begins a tree whose root has a separate
 * distribution, so that pi remains the distribution of sentences; above it, the node counts as unobserved. */

/* u = outside * scale / z must be finite: 1e100 * 1e60 * 1e100. */
#define SMALLEST_INSIDE 1e-100
#define SMALLEST_FACTOR 1e-100

/* Tokens of one rule whose outer products are summed in registers. */
#define BATCH 16

#define INLINE static inline __attribute__((always_inline))

/* Four numbers; on machines with registers for them, and with m a multiple of 4, the loops of m^3 use these (wide). */
typedef double four __attribute__((vector_size(32), aligned(8), may_alias));

/* Sum of x[k] y[k]: four lanes, k mod 4, where m is a multiple of 4. */
INLINE double dot(int32_t m, int wide, const double *x, const double *y) {
  if (m % 4) {
    double sum = 0;
    for (int32_t k = 0; k < m; k++) sum += x[k] * y[k];
    return sum;
  }
  if (wide) {
    four lane = *(const four *)x * *(const four *)y;
    for (int32_t k = 4; k < m; k += 4) lane += *(const four *)(x + k) * *(const four *)(y + k);
    return (lane[0] + lane[2]) + (lane[1] + lane[3]);
  }
  double lane[4];
  for (int j = 0; j < 4; j++) lane[j] = x[j] * y[j];
  for (int32_t k = 4; k < m; k += 4)
    for (int j = 0; j < 4; j++) lane[j] += x[k + j] * y[k + j];
  return (lane[0] + lane[2]) + (lane[1] + lane[3]);
}

/* line[0 .. m-1] = the sum over k of factor[k * f_step] * row[k * r_step + 0 .. m-1], k < n, in registers. */
INLINE void weighted_sum(int32_t m, int wide, int32_t n, const double *restrict factor, int64_t f_step,
                         const double *restrict row, int64_t r_step, double *restrict line) {
  if (!wide || m % 4) {
    for (int32_t b = 0; b < m; b++) line[b] = 0;
    for (int32_t k = 0; k < n; k++)
      for (int32_t b = 0; b < m; b++) line[b] += factor[k * f_step] * row[k * r_step + b];
    return;
  }
  int32_t b = 0;
  for (; b + 16 <= m; b += 16) {
    four s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    for (int32_t k = 0; k < n; k++) {
      const four *x = (const four *)(row + k * r_step + b);
      double f = factor[k * f_step];
      s0 += f * x[0];
      s1 += f * x[1];
      s2 += f * x[2];
      s3 += f * x[3];
    }
    four *out = (four *)(line + b);
    out[0] = s0;
    out[1] = s1;
    out[2] = s2;
    out[3] = s3;
  }
  for (; b + 8 <= m; b += 8) {
    four s0 = {0}, s1 = {0};
    for (int32_t k = 0; k < n; k++) {
      const four *x = (const four *)(row + k * r_step + b);
      double f = factor[k * f_step];
      s0 += f * x[0];
      s1 += f * x[1];
    }
    four *out = (four *)(line + b);
    out[0] = s0;
    out[1] = s1;
  }
  for (; b < m; b += 4) {
    four s0 = {0};
    for (int32_t k = 0; k < n; k++) s0 += factor[k * f_step] * *(const four *)(row + k * r_step + b);
    *(four *)(line + b) = s0;
  }
}

/* out[h] = sum over a (and b) of tensor[h, a (, b)] left[a] (right[b]) */
INLINE void inside_of(int32_t m, int wide, int32_t arity, const double *restrict tensor, const double *restrict left,
                      const double *restrict right, double *restrict out) {
  if (arity == 0) {
    for (int32_t h = 0; h < m; h++) out[h] = tensor[h];
  } else if (arity == 1) {
    for (int32_t h = 0; h < m; h++) out[h] = dot(m, wide, tensor + h * m, left);
  } else {
    for (int32_t h = 0; h < m; h++) {
      const double *slice = tensor + (int64_t)h * m * m;
      double line[LSCFG_EM_MAX_STATES];
      weighted_sum(m, wide, m, left, 1, slice, m, line);
      out[h] = dot(m, wide, line, right);
    }
  }
}

/* to_left[a] = sum over h (and b) of u[h] tensor[h, a (, b)] (right[b]), and to_right likewise */
INLINE void outside_of(int32_t m, int wide, int32_t arity, const double *restrict tensor, const double *restrict u,
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
    weighted_sum(m, wide, m, u, 1, slice, (int64_t)m * m, line);
    for (int32_t b = 0; b < m; b++) to_right[b] += left[a] * line[b];
    to_left[a] = dot(m, wide, line, right);
  }
}

/* Scales a node's outside so that outside . inside = 1; clears it if inside is 0; returns 0 if that is impossible. */
INLINE int settle_outside(int32_t m, int wide, const double *restrict inside, double *restrict outside) {
  double total;
  for (int32_t h = 0; h < m; h++) outside[h] = inside[h] > 0 ? outside[h] : 0;
  total = dot(m, wide, inside, outside);
  if (!(total > 0 && total <= 1e300)) return 0;
  for (int32_t h = 0; h < m; h++) outside[h] = outside[h] / total;
  return 1;
}

INLINE int64_t length_of(int32_t m, int32_t arity) { return arity == 0 ? m : arity == 1 ? m * m : (int64_t)m * m * m; }

/* ---- trees: node n has the one edge n + shift ---- */

/* Inside vectors of the nodes [begin, end), and the logarithm of the tree's probability but for the root's factor. */
INLINE int tree_inside(int32_t m, int wide, const lscfg_em *em, int64_t begin, int64_t end, int64_t shift,
                       const double *ones, double *inside, double *factor, double *log_likelihood) {
  double product = 1, sum = 0;
  for (int64_t n = end - 1; n >= begin; n--) {
    const int32_t *child = em->children + 2 * (n + shift);
    int32_t arity = em->arity[n + shift];
    const double *left = child[0] >= 0 ? inside + (int64_t)child[0] * m : ones;
    const double *right = child[1] >= 0 ? inside + (int64_t)child[1] * m : ones;
    double *out = inside + n * m, z;
    inside_of(m, wide, arity, em->tensor[arity] + em->row[n + shift] * length_of(m, arity), left, right, out);
    for (int32_t h = 0; h < m; h++) out[h] *= em->scale[h];
    factor[n] = z = dot(m, wide, out, ones);
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

INLINE int tree_outside(int32_t m, int wide, const lscfg_em *em, int64_t begin, int64_t end, int64_t shift,
                        const double *ones, const double *root, const double *inside, const double *factor,
                        double *outside) {
  memcpy(outside + begin * m, root, (size_t)m * sizeof *outside);
  for (int64_t n = begin; n < end; n++) {
    const int32_t *child = em->children + 2 * (n + shift);
    int32_t arity = em->arity[n + shift];
    const double *left = child[0] >= 0 ? inside + (int64_t)child[0] * m : ones;
    const double *right = child[1] >= 0 ? inside + (int64_t)child[1] * m : ones;
    double *u = outside + n * m, unused[2][LSCFG_EM_MAX_STATES];
    if (!settle_outside(m, wide, inside + n * m, u)) return 0;
    for (int32_t h = 0; h < m; h++) u[h] = u[h] * em->scale[h] / factor[n];
    if (arity)
      outside_of(m, wide, arity, em->tensor[arity] + em->row[n + shift] * length_of(m, arity), u, left, right,
                 child[0] >= 0 ? outside + (int64_t)child[0] * m : unused[0],
                 child[1] >= 0 ? outside + (int64_t)child[1] * m : unused[1]);
  }
  return 1;
}

/* ---- forests ---- */

/* Factors below an edge, as a logarithm; -inf where a tail has no tree. */
INLINE double factors_below(const int32_t *child, const double *factor) {
  return (child[0] >= 0 ? factor[child[0]] : 0) + (child[1] >= 0 ? factor[child[1]] : 0);
}

/* The first edge after e with another rule. Only splits into two phrases share a node, and most of them share a rule:
 * its tensor is read once. */
INLINE int64_t behind_rule(const lscfg_em *em, int64_t e, int64_t last) {
  int64_t next = e + 1;
  while (next < last && em->arity[next] == 2 && em->arity[e] == 2 && em->row[next] == em->row[e]) next++;
  return next;
}

INLINE const double *vector_of(int32_t m, int32_t node, const double *inside, const double *ones) {
  return node >= 0 ? inside + (int64_t)node * m : ones;
}

/* out += the edges e .. next-1 of one rule of two nonterminals, each with its share. */
INLINE void splits_inside(int32_t m, int wide, const lscfg_em *em, int64_t e, int64_t next, const double *ones,
                          const double *inside, const double *share, double *restrict out) {
  double pair[LSCFG_EM_MAX_STATES * LSCFG_EM_MAX_STATES];
  const double *tensor = em->tensor[2] + em->row[e] * length_of(m, 2);
  memset(pair, 0, (size_t)(m * m) * sizeof *pair);
  for (; e < next; e++) {
    const double *left = vector_of(m, em->children[2 * e], inside, ones);
    const double *right = vector_of(m, em->children[2 * e + 1], inside, ones);
    for (int32_t a = 0; a < m; a++) {
      double factor = share[e] * left[a];
      for (int32_t b = 0; b < m; b++) pair[a * m + b] += factor * right[b];
    }
  }
  for (int32_t h = 0; h < m; h++) out[h] += dot(m * m, wide, tensor + (int64_t)h * m * m, pair);
}

/* Adds the edges e .. next-1 of one rule of two nonterminals to the outside vectors of their tails. */
INLINE void splits_outside(int32_t m, int wide, const lscfg_em *em, int64_t e, int64_t next, const double *u,
                           const double *ones, const double *inside, const double *share, double *outside) {
  double pair[LSCFG_EM_MAX_STATES * LSCFG_EM_MAX_STATES], unused[LSCFG_EM_MAX_STATES], line[LSCFG_EM_MAX_STATES];
  const double *tensor = em->tensor[2] + em->row[e] * length_of(m, 2);
  for (int32_t a = 0; a < m; a++) weighted_sum(m, wide, m, u, 1, tensor + a * m, (int64_t)m * m, pair + a * m);
  for (; e < next; e++) {
    const int32_t *child = em->children + 2 * e;
    const double *left = vector_of(m, child[0], inside, ones), *right = vector_of(m, child[1], inside, ones);
    double *to_left = child[0] >= 0 ? outside + (int64_t)child[0] * m : unused;
    double *to_right = child[1] >= 0 ? outside + (int64_t)child[1] * m : unused;
    weighted_sum(m, wide, m, left, 1, pair, m, line);
    for (int32_t b = 0; b < m; b++) to_right[b] += share[e] * line[b];
    for (int32_t a = 0; a < m; a++) to_left[a] += share[e] * dot(m, wide, pair + a * m, right);
  }
}

/* Inside vectors of the nodes [begin, end), with the logarithms of all factors; of each edge the number that its
 * product of tensor and tails has in its node's vector. A node without a possible tree has zeros and the factor -inf.
 */
INLINE void forest_inside(int32_t m, int wide, const lscfg_em *em, int64_t begin, int64_t end, const double *ones,
                          double *inside, double *factor, double *share) {
  for (int64_t n = end - 1; n >= begin; n--) {
    double best = -INFINITY, *out = inside + n * m, of_edge[LSCFG_EM_MAX_STATES], z = 0;
    for (int64_t e = em->first_edge[n]; e < em->first_edge[n + 1]; e++) {
      double below = factors_below(em->children + 2 * e, factor);
      if (below > best) best = below;
    }
    for (int32_t h = 0; h < m; h++) out[h] = 0;
    for (int64_t e = em->first_edge[n]; e < em->first_edge[n + 1]; e++)
      share[e] = best > -INFINITY ? exp(factors_below(em->children + 2 * e, factor) - best) : 0;
    for (int64_t e = em->first_edge[n], next; e < em->first_edge[n + 1]; e = next) {
      const int32_t *child = em->children + 2 * e;
      int32_t arity = em->arity[e];
      next = behind_rule(em, e, em->first_edge[n + 1]);
      if (next > e + 1) {
        splits_inside(m, wide, em, e, next, ones, inside, share, out);
        continue;
      }
      if (share[e] == 0) continue;
      inside_of(m, wide, arity, em->tensor[arity] + em->row[e] * length_of(m, arity),
                vector_of(m, child[0], inside, ones), vector_of(m, child[1], inside, ones), of_edge);
      for (int32_t h = 0; h < m; h++) out[h] += share[e] * of_edge[h];
    }
    for (int32_t h = 0; h < m; h++) out[h] *= em->scale[h];
    z = dot(m, wide, out, ones);
    int good = z >= SMALLEST_FACTOR;
    factor[n] = good ? best + log(z) : -INFINITY;
    for (int32_t h = 0; h < m; h++) {
      double value = good ? out[h] / z : 0;
      out[h] = value >= SMALLEST_INSIDE ? value : 0;
    }
    for (int64_t e = em->first_edge[n]; e < em->first_edge[n + 1]; e++) share[e] = good ? share[e] / z : 0;
  }
}

/* Outside vectors, g being the sum of all trees over the root's factors. */
INLINE void forest_outside(int32_t m, int wide, const lscfg_em *em, int64_t begin, int64_t end, const double *ones,
                           const double *root, double g, const double *inside, const double *share, double *outside) {
  memset(outside + begin * m, 0, (size_t)((end - begin) * m) * sizeof *outside);
  for (int32_t h = 0; h < m; h++) outside[begin * m + h] = root[h] / g;
  for (int64_t n = begin; n < end; n++) {
    double *u = outside + n * m, of_edge[LSCFG_EM_MAX_STATES], to[2][LSCFG_EM_MAX_STATES];
    for (int32_t h = 0; h < m; h++) u[h] = inside[n * m + h] > 0 ? u[h] * em->scale[h] : 0;
    for (int64_t e = em->first_edge[n], next; e < em->first_edge[n + 1]; e = next) {
      const int32_t *child = em->children + 2 * e;
      int32_t arity = em->arity[e];
      next = behind_rule(em, e, em->first_edge[n + 1]);
      if (next > e + 1) {
        splits_outside(m, wide, em, e, next, u, ones, inside, share, outside);
        continue;
      }
      if (!arity || share[e] == 0) continue;
      for (int32_t h = 0; h < m; h++) of_edge[h] = u[h] * share[e];
      outside_of(m, wide, arity, em->tensor[arity] + em->row[e] * length_of(m, arity), of_edge,
                 vector_of(m, child[0], inside, ones), vector_of(m, child[1], inside, ones), to[0], to[1]);
      for (int32_t side = 0; side < arity; side++)
        for (int32_t h = 0; child[side] >= 0 && h < m; h++) outside[(int64_t)child[side] * m + h] += to[side][h];
    }
  }
}

/* ---- both ---- */

/* True if the tree t was possible; its vectors are filled then. */
INLINE int one_tree(int32_t m, int wide, const lscfg_em *em, int64_t begin, int64_t end, const double *root,
                    const double *ones, double *log_likelihood, double *inside, double *factor, double *share,
                    double *outside) {
  int64_t shift = em->first_edge ? em->first_edge[begin] - begin : 0;
  int is_tree = !em->first_edge || em->first_edge[end] - end == shift;
  double g;
  if (is_tree) {
    for (int64_t n = begin; share && n < end; n++) share[n + shift] = 1;
    if (!tree_inside(m, wide, em, begin, end, shift, ones, inside, factor, log_likelihood)) return 0;
  } else {
    forest_inside(m, wide, em, begin, end, ones, inside, factor, share);
    *log_likelihood = factor[begin];
  }
  g = dot(m, wide, root, inside + begin * m);
  if (!(g >= SMALLEST_FACTOR)) return 0;
  if (outside && !is_tree) forest_outside(m, wide, em, begin, end, ones, root, g, inside, share, outside);
  if (outside && is_tree && !tree_outside(m, wide, em, begin, end, shift, ones, root, inside, factor, outside))
    return 0;
  *log_likelihood += log(g);
  return 1;
}

INLINE int64_t trees(int32_t m, int wide, const lscfg_em *em, const int64_t *first_node, const int32_t *root_kind,
                     int64_t first, int64_t last, double *log_likelihood, double *inside, double *factor,
                     double *share, double *outside) {
  double ones[LSCFG_EM_MAX_STATES];
  int64_t impossible = 0;
  for (int32_t h = 0; h < m; h++) ones[h] = 1;
  for (int64_t t = first; t < last; t++) {
    int64_t begin = first_node[t], end = first_node[t + 1];
    const double *root = em->root + (int64_t)root_kind[t] * m;
    if (!one_tree(m, wide, em, begin, end, root, ones, log_likelihood + t, inside, factor, share, outside)) {
      impossible++;
      log_likelihood[t] = -INFINITY;
      memset(inside + begin * m, 0, (size_t)((end - begin) * m) * sizeof *inside);
      if (outside) memset(outside + begin * m, 0, (size_t)((end - begin) * m) * sizeof *outside);
    }
  }
  return impossible;
}

/* sum[h, a, b] += the outer products of n <= BATCH tokens, gathered into rows of m. */
INLINE void add_outer(int32_t m, int wide, int32_t n, const double *restrict u, const double *restrict left,
                      const double *restrict right, double *restrict sum) {
  for (int32_t h = 0; h < m; h++)
    for (int32_t a = 0; a < m; a++) {
      double *out = sum + ((int64_t)h * m + a) * m, line[LSCFG_EM_MAX_STATES], value[BATCH];
      for (int32_t k = 0; k < n; k++) value[k] = u[k * m + h] * left[k * m + a];
      weighted_sum(m, wide, n, value, 1, right, m, line);
      for (int32_t b = 0; b < m; b++) out[b] += line[b];
    }
}

/* The token's vector u, of its node: in a forest the edge's share of it. */
INLINE void gather_head(int32_t m, const lscfg_em *em, int64_t edge, const double *outside, const double *share,
                        double *restrict u) {
  const double *of_node = outside + (em->first_edge ? em->head[edge] : edge) * m, part = share ? share[edge] : 1;
  for (int32_t h = 0; h < m; h++) u[h] = of_node[h] * part;
}

INLINE void gather(int32_t m, const double *source, double *restrict target) {
  if (source)
    for (int32_t h = 0; h < m; h++) target[h] = source[h];
  else
    for (int32_t h = 0; h < m; h++) target[h] = 1;
}

INLINE void outer(int32_t m, int wide, const lscfg_em *em, int32_t arity, const lscfg_em_chunk *chunk,
                   const int32_t *tokens, const double *inside, const double *share, const double *outside,
                   double *sum) {
  double u[BATCH * LSCFG_EM_MAX_STATES], side[2][BATCH * LSCFG_EM_MAX_STATES];
  memset(sum, 0, (size_t)length_of(m, arity) * sizeof *sum);
  for (int64_t k = chunk->begin; k < chunk->end; k += BATCH) {
    int32_t n = (int32_t)(chunk->end - k < BATCH ? chunk->end - k : BATCH);
    for (int32_t j = 0; j < n; j++) {
      const int32_t *child = em->children + 2 * (int64_t)tokens[k + j];
      gather_head(m, em, tokens[k + j], outside, share, u + j * m);
      for (int32_t s = 0; s < arity; s++)
        gather(m, child[s] >= 0 ? inside + (int64_t)child[s] * m : NULL, side[s] + j * m);
    }
    if (arity == 2) {
      add_outer(m, wide, n, u, side[0], side[1], sum);
      continue;
    }
    for (int32_t j = 0; j < n; j++)
      for (int32_t h = 0; h < m; h++) {
        if (arity == 0) sum[h] += u[j * m + h];
        for (int32_t a = 0; arity && a < m; a++) sum[h * m + a] += u[j * m + h] * side[0][j * m + a];
      }
  }
}

/* Gives the compiler constant values of m for the usual sizes. */
#define BY_SIZE(call)         \
  switch (m) {                \
    case 4: return call(4);   \
    case 8: return call(8);   \
    case 16: return call(16); \
    case 32: return call(32); \
    default: return call(m);  \
  }
#define TREES(m) trees(m, WIDTH, em, first_node, root_kind, first, last, ll, inside, factor, share, outside)
#define OUTER(m) outer(m, WIDTH, em, arity, chunk, tokens, inside, share, outside, sum)
#define TREES_PARAMETERS                                                                                           \
  int32_t m, const lscfg_em *em, const int64_t *first_node, const int32_t *root_kind, int64_t first, int64_t last, \
      double *ll, double *inside, double *factor, double *share, double *outside
#define OUTER_PARAMETERS                                                                           \
  int32_t m, const lscfg_em *em, int32_t arity, const lscfg_em_chunk *chunk, const int32_t *tokens, \
      const double *inside, const double *share, const double *outside, double *sum

#define WIDTH 0
/* clang-format off */
static int64_t trees_narrow(TREES_PARAMETERS) { BY_SIZE(TREES) }
static void outer_narrow(OUTER_PARAMETERS) { BY_SIZE(OUTER) }
#undef WIDTH

#ifdef SIMD_X86
#define WIDTH 1
SIMD_FOR_AVX2 static int64_t trees_wide(TREES_PARAMETERS) { BY_SIZE(TREES) }
SIMD_FOR_AVX2 static void outer_wide(OUTER_PARAMETERS) { BY_SIZE(OUTER) }
#else
#define trees_wide trees_narrow
#define outer_wide outer_narrow
#endif
/* clang-format on */

int64_t lscfg_em_trees(const lscfg_em *em, const int64_t *first_node, const int32_t *root_kind, int64_t first,
                       int64_t last, double *log_likelihood, double *inside, double *factor, double *share,
                       double *outside) {
  int64_t (*trees_of)(TREES_PARAMETERS) = simd_level() ? trees_wide : trees_narrow;
  return trees_of(em->m, em, first_node, root_kind, first, last, log_likelihood, inside, factor, share, outside);
}

/* totals[h] = sum of the row's values at left-hand-side state h. */
static void row_totals(int32_t m, int64_t width, const double *row, double *totals) {
  for (int32_t h = 0; h < m; h++) {
    double lane[8] = {0}; /* eight sums at a time: one alone waits for each addition */
    int64_t k = 0;
    for (; k + 8 <= width; k += 8)
      for (int j = 0; j < 8; j++) lane[j] += row[h * width + k + j];
    for (int j = 0; k < width; k++, j++) lane[j] += row[h * width + k];
    totals[h] = ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
  }
}

int lscfg_em_outer(const lscfg_em *em, int32_t arity, const lscfg_em_chunk *chunk, int64_t n, const int32_t *tokens,
                   const double *inside, const double *share, const double *outside, double *sums, double *parts) {
  int64_t length = length_of(em->m, arity);
  double *sum = malloc((size_t)length * sizeof *sum);
  void (*outer_of)(OUTER_PARAMETERS) = simd_level() ? outer_wide : outer_narrow;
  if (!sum) return LSCFG_ENOMEM;
  for (int64_t c = 0; c < n; c++) {
    if (chunk[c].part >= 0) {
      outer_of(em->m, em, arity, chunk + c, tokens, inside, share, outside, parts + chunk[c].part * length);
      continue;
    }
    double *row = sums + chunk[c].row * length;
    outer_of(em->m, em, arity, chunk + c, tokens, inside, share, outside, sum);
    for (int64_t k = 0; k < length; k++) row[k] += sum[k];
  }
  free(sum);
  return LSCFG_OK;
}

void lscfg_em_counts(int32_t m, int32_t arity, int64_t first, int64_t last, const double *sums, double *tensor,
                     double *totals) {
  int64_t length = length_of(m, arity);
  for (int64_t r = first; r < last; r++) {
    for (int64_t k = r * length; k < (r + 1) * length; k++) tensor[k] *= sums[k];
    row_totals(m, length / m, tensor + r * length, totals + r * m);
  }
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
