/* Scalar inside-outside over a forest: sums and maxima over derivations, marginals, samples and covariances.
 *
 * There is one walk. It goes up once, where each node gets its inside value and each application its share of that
 * value, and then down: what comes to a node is split among its applications by their shares and handed to their tails.
 * Going down needs no weights, logarithms or exponentials. Marginals hand down probabilities, Viterbi and sampling hand
 * down a single derivation.
 *
 * Inside values are natural logarithms. The terms of a node are divided by the largest before they are added, so that
 * neither large nor small weights overflow. */
#include <math.h>

#include "base/random.h"
#include "forest/forest.h"

static int check_forest(const lscfg_forest *f, lscfg_error *error) {
  if (f->node_cat.size) return LSCFG_OK;
  return lscfg_fail(error, LSCFG_EINPUT, 0, "the forest has no nodes, or is not finished");
}

static int check_semiring(int32_t semiring, lscfg_error *error) {
  if (semiring == LSCFG_SUM || semiring == LSCFG_MAX) return LSCFG_OK;
  return lscfg_fail(error, LSCFG_EINPUT, 0, "unknown semiring %ld", (long)semiring);
}

static int32_t root_of(const lscfg_forest *f) { return (int32_t)f->node_cat.size - 1; }

/* The applications of a node lie side by side: first_app(f, q) .. first_app(f, q + 1) - 1. */
static int32_t first_app(const lscfg_forest *f, int32_t node) { return f->edge_apps.data[f->node_edges.data[node]]; }

static const int32_t *tails_of(const lscfg_forest *f, int32_t edge) { return f->edge_tail.data + 2 * (int64_t)edge; }

/* Sum of a value over the tails of an edge. */
static double add_tails(const lscfg_forest *f, int32_t edge, const double *value) {
  const int32_t *tail = tails_of(f, edge);
  return (tail[0] < 0 ? 0 : value[tail[0]]) + (tail[1] < 0 ? 0 : value[tail[1]]);
}

#define FOR_EDGES(f, q, e) for (int32_t e = (f)->node_edges.data[q]; e < (f)->node_edges.data[(q) + 1]; e++)
#define FOR_APPS(f, e, a) for (int32_t a = (f)->edge_apps.data[e]; a < (f)->edge_apps.data[(e) + 1]; a++)

/* ---- up: inside values and shares ---- */

#define LARGEST 1e300 /* larger inside values could add up to infinity, whose differences are not numbers */

/* term[n] becomes the applications' logarithms: weights times insides of tails. Gives the largest of them. */
static int terms(const lscfg_forest *f, int32_t node, const double *log_weight, const double *inside, double *term,
                 double *largest, lscfg_error *error) {
  *largest = -INFINITY;
  FOR_EDGES(f, node, e) {
    double below = add_tails(f, e, inside);
    FOR_APPS(f, e, a) {
      if (!(log_weight[a] < INFINITY))
        return lscfg_fail(error, LSCFG_EINPUT, 0, "application %ld: the logarithm of its weight is %g", (long)a,
                          log_weight[a]);
      term[a] = log_weight[a] + below;
      if (term[a] > *largest) *largest = term[a];
    }
  }
  if (*largest <= LARGEST) return LSCFG_OK;
  return lscfg_fail(error, LSCFG_EINPUT, 0, "node %ld: the weights are so large that their products are not finite",
                    (long)node);
}

/* Terms of a node to shares; returns the logarithm of their sum. */
static double share_sum(double *term, int32_t n, double largest) {
  double total = 0;
  for (int32_t k = 0; k < n; k++) total += term[k] = exp(term[k] - largest);
  for (int32_t k = 0; k < n; k++) term[k] /= total;
  return largest + log(total);
}

static double share_largest(double *term, int32_t n, double largest) {
  for (int32_t k = 0; k < n; k++) term[k] -= largest;
  return largest;
}

/* Of a node without a possible derivation. */
static double share_nothing(double *term, int32_t n, double nothing) {
  for (int32_t k = 0; k < n; k++) term[k] = nothing;
  return -INFINITY;
}

int lscfg_forest_inside(const lscfg_forest *f, const double *log_weight, int32_t semiring, double *inside,
                        double *share, lscfg_error *error) {
  if (check_forest(f, error) || check_semiring(semiring, error)) return LSCFG_EINPUT;
  for (int32_t q = 0; q <= root_of(f); q++) {
    double *own = share + first_app(f, q), largest;
    int32_t n = first_app(f, q + 1) - first_app(f, q);
    if (terms(f, q, log_weight, inside, share, &largest, error)) return LSCFG_EINPUT;
    inside[q] = largest == -INFINITY    ? share_nothing(own, n, semiring == LSCFG_SUM ? 0 : -INFINITY)
                : semiring == LSCFG_SUM ? share_sum(own, n, largest)
                                        : share_largest(own, n, largest);
  }
  return inside[root_of(f)] == -INFINITY ? LSCFG_NO_PARSE : LSCFG_OK;
}

/* ---- down: marginals ---- */

int lscfg_forest_marginals(const lscfg_forest *f, int32_t semiring, const double *share, double *app, double *node,
                           lscfg_error *error) {
  if (check_forest(f, error) || check_semiring(semiring, error)) return LSCFG_EINPUT;
  int sum = semiring == LSCFG_SUM;
  double none = sum ? 0 : -INFINITY, all = sum ? 1 : 0;
  int32_t root = root_of(f);
  for (int32_t q = 0; q < root; q++) node[q] = none;
  node[root] = none;
  for (int32_t a = first_app(f, root); a < first_app(f, root + 1); a++)
    if (share[a] > none) node[root] = all;
  for (int32_t q = root; q >= 0; q--) {
    FOR_EDGES(f, q, e) {
      double here = none;
      FOR_APPS(f, e, a) {
        app[a] = sum ? node[q] * share[a] : node[q] + share[a];
        if (sum)
          here += app[a];
        else if (app[a] > here)
          here = app[a];
      }
      for (int t = 0; t < 2; t++) {
        int32_t tail = tails_of(f, e)[t];
        if (tail < 0) continue;
        if (sum)
          node[tail] += here;
        else if (here > node[tail])
          node[tail] = here;
      }
    }
  }
  return node[root] == none ? LSCFG_NO_PARSE : LSCFG_OK;
}

int lscfg_forest_expect(const lscfg_forest *f, const double *log_weight, double *log_g, double *app, double *node,
                        lscfg_error *error) {
  int code = lscfg_forest_inside(f, log_weight, LSCFG_SUM, node, app, error);
  if (code < 0) return code;
  *log_g = node[root_of(f)];
  return lscfg_forest_marginals(f, LSCFG_SUM, app, app, node, error);
}

void lscfg_forest_add_features(const lscfg_forest *f, const double *amount, const int32_t *row, const int64_t *indptr,
                               const int32_t *indices, const double *values, double *out) {
  for (int64_t a = 0; a < f->app_rule.size; a++) {
    int64_t r = row ? row[a] : a;
    if (r < 0 || amount[a] == 0) continue;
    for (int64_t k = indptr[r]; k < indptr[r + 1]; k++) out[indices[k]] += amount[a] * values[k];
  }
}

/* ---- up and down once more: covariances ---- */

/* The expectation of the sum of value over a derivation of each node. */
static void mean_below(const lscfg_forest *f, const double *share, const double *value, double *below) {
  for (int32_t q = 0; q <= root_of(f); q++) {
    below[q] = 0;
    FOR_EDGES(f, q, e) {
      double tails = add_tails(f, e, below);
      FOR_APPS(f, e, a) below[q] += share[a] > 0 ? share[a] * (value[a] + tails) : 0;
    }
  }
}

/* around[q]: the marginal of a node times the expectation, given the node, of the sum of value over all nodes not below
 * it, minus the mean of all. So a covariance is never the difference of two products. */
static void mean_around(const lscfg_forest *f, const double *share, const double *value, const double *below,
                        const double *node, double *around, double *covariance) {
  int32_t root = root_of(f);
  for (int32_t q = 0; q < root; q++) around[q] = 0;
  around[root] = -node[root] * below[root];
  for (int32_t q = root; q >= 0; q--) {
    FOR_EDGES(f, q, e) {
      double tails = add_tails(f, e, below), moved = 0, probability = 0;
      FOR_APPS(f, e, a) {
        covariance[a] = share[a] > 0 ? share[a] * (around[q] + node[q] * (value[a] + tails)) : 0;
        moved += covariance[a];
        probability += node[q] * share[a];
      }
      for (int t = 0; t < 2; t++) {
        int32_t tail = tails_of(f, e)[t];
        if (tail >= 0) around[tail] += moved - probability * below[tail];
      }
    }
  }
}

int lscfg_forest_covariance(const lscfg_forest *f, const double *share, const double *value, double *mean,
                            double *covariance, lscfg_error *error) {
  if (check_forest(f, error)) return LSCFG_EINPUT;
  size_t n = (size_t)f->node_cat.size;
  double *below = malloc(3 * n * sizeof *below);
  if (!below) return out_of_memory(error);
  double *node = below + n;
  int code = lscfg_forest_marginals(f, LSCFG_SUM, share, covariance, node, error);
  mean_below(f, share, value, below);
  mean_around(f, share, value, below, node, node + n, covariance);
  *mean = below[root_of(f)];
  free(below);
  return code;
}

/* ---- down along one derivation: Viterbi and sampling ---- */

/* The application to choose at a node, -1 if there is none. */
typedef int32_t choice(void *state, const lscfg_forest *, int32_t node);

enum { NO_CHOICE = -1, TWICE = -2 };

/* A derivation, depth first, tails in source order; returns its length. Pending nodes wait at the end of apps, which
 * has room for all nodes of the forest. No derivation contains a node twice, since tails are adjacent. */
static int32_t derive(const lscfg_forest *f, choice *choose, void *state, int32_t *apps) {
  int32_t room = root_of(f) + 1, waiting = room, n = 0;
  apps[--waiting] = root_of(f);
  while (waiting < room) {
    int32_t a = choose(state, f, apps[waiting++]);
    if (a < 0) return NO_CHOICE;
    apps[n++] = a;
    for (int t = 1; t >= 0; t--) {
      int32_t tail = tails_of(f, f->app_edge.data[a])[t];
      if (tail < 0) continue;
      if (waiting == n) return TWICE;
      apps[--waiting] = tail;
    }
  }
  return n;
}

static int derivation_fault(int32_t fault, lscfg_error *error) {
  return lscfg_fail(error, LSCFG_EINPUT, 0,
                    fault == TWICE ? "a derivation of the forest has a node twice"
                                   : "the shares lead to a node at which there is nothing to choose");
}

/* The first application of the largest share, which is 0. */
static int32_t best_app(void *state, const lscfg_forest *f, int32_t node) {
  const double *share = state;
  int32_t best = first_app(f, node);
  for (int32_t a = best; a < first_app(f, node + 1); a++)
    if (share[a] > share[best]) best = a;
  return best < first_app(f, node + 1) && share[best] == 0 ? best : NO_CHOICE;
}

int lscfg_forest_viterbi(const lscfg_forest *f, const double *share, int32_t *apps, int32_t *n_apps,
                         lscfg_error *error) {
  if (check_forest(f, error)) return LSCFG_EINPUT;
  int32_t first = first_app(f, root_of(f)), last = first_app(f, root_of(f) + 1);
  *n_apps = 0;
  while (first < last && share[first] == -INFINITY) first++;
  if (first == last) return LSCFG_NO_PARSE;
  int32_t n = derive(f, best_app, (void *)share, apps);
  if (n < 0) return derivation_fault(n, error);
  *n_apps = n;
  return LSCFG_OK;
}

typedef struct {
  const double *upto; /* [n_apps] sum of the shares of a node's applications up to this one */
  random_stream random;
} sampler;

/* The first application whose cumulative sum exceeds a random part of the node's sum. */
static int32_t random_app(void *state, const lscfg_forest *f, int32_t node) {
  sampler *s = state;
  int32_t low = first_app(f, node), high = first_app(f, node + 1) - 1;
  if (high < low || !(s->upto[high] > 0)) return NO_CHOICE;
  double wanted = random_uniform(&s->random) * s->upto[high];
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (s->upto[middle] > wanted)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

static int sum_shares(const lscfg_forest *f, const double *share, double *upto, lscfg_error *error) {
  for (int32_t q = 0; q <= root_of(f); q++) {
    double sum = 0;
    for (int32_t a = first_app(f, q); a < first_app(f, q + 1); a++) {
      upto[a] = sum += share[a];
      if (!(share[a] >= 0 && sum < INFINITY))
        return lscfg_fail(error, LSCFG_EINPUT, 0, "application %ld: its share is %g", (long)a, share[a]);
    }
  }
  return LSCFG_OK;
}

static int draw(const lscfg_forest *f, const double *upto, uint64_t seed, int64_t first, int64_t n, int64_t *offsets,
                int32_t *apps, lscfg_error *error) {
  int32_t end = first_app(f, root_of(f) + 1);
  for (int64_t k = 0; k <= n; k++) offsets[k] = 0;
  if (end == first_app(f, root_of(f)) || upto[end - 1] == 0) return LSCFG_NO_PARSE;
  for (int64_t k = 0; k < n; k++) {
    sampler s = {upto, random_begin(seed, (uint64_t)(first + k))};
    int32_t length = derive(f, random_app, &s, apps + offsets[k]);
    if (length < 0) return derivation_fault(length, error);
    offsets[k + 1] = offsets[k] + length;
  }
  return LSCFG_OK;
}

int lscfg_forest_sample(const lscfg_forest *f, const double *share, uint64_t seed, int64_t first, int64_t n,
                        int64_t *offsets, int32_t *apps, lscfg_error *error) {
  if (check_forest(f, error)) return LSCFG_EINPUT;
  if (first < 0 || n < 0)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "%lld samples from number %lld on", (long long)n, (long long)first);
  double *upto = malloc(((size_t)f->app_rule.size + 1) * sizeof *upto);
  if (!upto) return out_of_memory(error);
  int code = sum_shares(f, share, upto, error);
  if (!code) code = draw(f, upto, seed, first, n, offsets, apps, error);
  free(upto);
  return code;
}
