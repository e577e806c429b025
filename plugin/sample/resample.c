/* Concentrations, discounts and the mean length, resampled between sweeps: slice sampling (Neal 2003) from their
 * distribution given all tokens with their seats. Priors: Gamma(1, 1) of each concentration, uniform of each discount,
 * Gamma(2, 1) of the mean length. */
#include <math.h>

#include "sample/tree.h"

#define LEAST_DISCOUNT 1e-4 /* below, and as near to 1, is not looked at */
#define MOST_LOG 14.0       /* nor are others beyond e^14 and e^-14 */

/* Parameters of the densities: a restaurant with its tables by size, and the lengths of all rules. */
typedef struct {
  const lscfg_length_counts *group;
  lscfg_process process;
  const int64_t *of_size; /* [largest + 1] */
  int64_t largest;
  double n_lengths, sum_of_lengths; /* of tokens, and of tables where the base includes the length */
  int32_t is_geometric;
} evidence;

typedef double (*log_density)(const evidence *, double x);

/* x: log of the concentration. */
static double log_alpha(const evidence *e, double x) {
  double alpha = exp(x);
  return x - alpha + log_rising(alpha, e->process.discount, e->group->tables) -
         log_rising(alpha, 1, (double)e->group->tokens);
}

static double log_discount(const evidence *e, double x) {
  double sum = log_rising(e->process.alpha, x, e->group->tables);
  for (int64_t size = 2; size <= e->largest; size++)
    if (e->of_size[size]) sum += (double)e->of_size[size] * log_rising(1 - x, 1, (double)size - 1);
  return sum;
}

/* x: log of the mean. */
static double log_mean(const evidence *e, double x) {
  double mean = exp(x), of_none = e->is_geometric ? log1p(mean) : mean;
  double of_one = e->is_geometric ? x - of_none : x;
  return 2 * x - mean + of_one * e->sum_of_lengths - of_none * e->n_lengths;
}

/* A new value for x, between the limits; the interval about it grows by steps, and shrinks at each miss. */
static double draw_slice(random_stream *random, log_density f, const evidence *e, double x, double low, double high,
                         double step) {
  double level = f(e, x) + log(random_uniform(random) + 0x1p-54), left = x - step * random_uniform(random);
  double right = left + step;
  while (left > low && f(e, left) > level) left -= step;
  while (right < high && f(e, right) > level) right += step;
  if (left < low) left = low;
  if (right > high) right = high;
  for (int n = 0; n < 200; n++) {
    double at = left + random_uniform(random) * (right - left);
    if (f(e, at) >= level) return at;
    if (at < x)
      left = at;
    else
      right = at;
  }
  return x;
}

static double draw_discount(random_stream *random, const evidence *e) {
  double x = fmin(fmax(e->process.discount, LEAST_DISCOUNT), 1 - LEAST_DISCOUNT);
  return draw_slice(random, log_discount, e, x, LEAST_DISCOUNT, 1 - LEAST_DISCOUNT, 0.25);
}

static double draw_log(random_stream *random, log_density f, const evidence *e, double value) {
  return exp(draw_slice(random, f, e, fmin(fmax(log(value), -MOST_LOG), MOST_LOG), -MOST_LOG, MOST_LOG, 1));
}

typedef ARRAY(int64_t) size_counts;

/* Tables of a restaurant by size, into counts; the largest size. */
static int64_t count_sizes(const restaurant *r, int32_t group, size_counts *counts) {
  int64_t largest = 0;
  memset(counts->data, 0, (size_t)counts->size * sizeof *counts->data);
  for (int64_t rule = 0; rule < r->count.size; rule++) {
    if (r->group.data[rule] != group) continue;
    for (int32_t k = r->seats.first.data[rule]; k >= 0; k = r->seats.groups.data[k].next) {
      const seat_group *g = &r->seats.groups.data[k];
      counts->data[g->size] += g->tables;
      if (g->size > largest) largest = g->size;
    }
  }
  return largest;
}

static void draw_mean(restaurant *r, random_stream *random) {
  evidence e = {.is_geometric = r->options.length == LSCFG_LENGTH_GEOMETRIC};
  for (int64_t rule = 0; rule < r->count.size; rule++) {
    double n = r->count.data[rule];
    if (r->options.base == LSCFG_BASE_LENGTH) n += r->seats.tables.data[rule];
    e.n_lengths += n;
    e.sum_of_lengths += n * r->length.data[rule];
  }
  restaurant_set_mean(r, draw_log(random, log_mean, &e, r->options.mean_length));
}

int lscfg_sampler_resample(lscfg_sampler *s, int32_t sweep, lscfg_error *error) {
  restaurant *r = &s->rules;
  int one_process = r->options.model == LSCFG_SAMPLE_DP;
  random_stream random = sampler_stream(s, sweep, UINT32_MAX);
  if (!r->seated) return lscfg_fail(error, LSCFG_EINPUT, 0, "tokens are not seated");
  int64_t most = 0;
  for (int64_t rule = 0; rule < r->count.size; rule++)
    if (r->count.data[rule] > most) most = r->count.data[rule];
  size_counts counts = {0};
  if (ARRAY_RESERVE(counts, most + 1)) return out_of_memory(error);
  counts.size = most + 1;
  for (int32_t k = 0; k < r->n_groups; k += one_process ? r->max_length + 1 : 1) {
    lscfg_process *p = &r->processes[k];
    evidence e = {.group = &r->groups[k], .process = *p, .of_size = counts.data};
    if (e.group->tokens) e.largest = count_sizes(r, k, &counts);
    if (!one_process) e.process.discount = draw_discount(&random, &e);
    e.process.alpha = draw_log(&random, log_alpha, &e, p->alpha);
    *p = e.process;
  }
  free(counts.data);
  if (r->options.length != LSCFG_LENGTH_NONE) draw_mean(r, &random);
  return LSCFG_OK;
}
