/* How probable rules are, given the others. Tables are not seated: a rule of n tokens has n^discount of them (Huang &
 * Renals 2010), as in the paper. With discount 0 both models are exact. */
#include <math.h>

#include "sample/restaurant.h"

enum { N_POWERS = 1024 };

int restaurant_init(restaurant *r, const lscfg_sample_options *options, const int64_t n_types[2], int32_t max_length) {
  memset(r, 0, sizeof *r);
  r->options = *options;
  r->max_length = max_length;
  for (int side = 0; side < 2; side++) r->log_types[side] = log(n_types[side] > 0 ? (double)n_types[side] : 1);
  for (int n = 1; n < N_POWERS; n++) r->powers[n] = pow(n, options->discount);
  r->by_length = calloc((size_t)max_length + 1, sizeof *r->by_length);
  r->log_length = calloc((size_t)max_length + 1, sizeof *r->log_length);
  if (rule_table_init(&r->rules) || !r->by_length || !r->log_length) {
    restaurant_release(r);
    return LSCFG_ENOMEM;
  }
  for (int32_t k = 0; k <= max_length; k++)
    r->log_length[k] = k * log(options->mean_length) - options->mean_length - lgamma(k + 1.0);
  return LSCFG_OK;
}

void restaurant_release(restaurant *r) {
  rule_table_release(&r->rules);
  free(r->count.data);
  free(r->length.data);
  free(r->by_length);
  free(r->log_length);
  memset(r, 0, sizeof *r);
}

int32_t rule_length(const int32_t *symbols, int32_t n_src, int32_t n, int32_t arity) {
  int32_t scope = n_src ? (symbols[0] < 0) + (symbols[n_src - 1] < 0) : 0;
  for (int32_t i = 1; i < n_src; i++) scope += symbols[i - 1] < 0 && symbols[i] < 0;
  return n - 2 * arity + scope;
}

/* Tables of a rule of n tokens. */
static double tables_of(const restaurant *r, int32_t n) {
  return n < N_POWERS ? r->powers[n] : pow(n, r->options.discount);
}

static double log_base(const restaurant *r, const rule_form *f) {
  return -(f->n_src * r->log_types[0] + (f->n - f->n_src) * r->log_types[1]);
}

/* Log probability of a form of which there are n tokens, beside so many of its length, or of all. */
static double log_probability(const restaurant *r, const rule_form *f, int32_t n, int64_t n_others, double tables) {
  const lscfg_sample_options *o = &r->options;
  if (o->model == LSCFG_SAMPLE_DP) {
    double base = log_base(r, f), total = log((double)n_others + o->alpha);
    return n ? log(n + o->alpha * exp(base)) - total : log(o->alpha) + base - total;
  }
  double base = r->log_length[f->length], share = o->discount * tables + o->alpha;
  double value = n ? log(n - o->discount * tables_of(r, n) + share * exp(base)) : log(share) + base;
  return base + value - log((double)n_others + o->alpha);
}

void restaurant_find(const restaurant *r, const int32_t *symbols, rule_form *f) {
  f->rule = rule_table_find(&r->rules, symbols + f->symbols, f->n_src, f->n);
  f->n_rule = f->rule < 0 ? 0 : r->count.data[f->rule];
  f->length = f->rule < 0 ? rule_length(symbols + f->symbols, f->n_src, f->n, f->arity) : r->length.data[f->rule];
}

rule_form restaurant_form(const restaurant *r, int32_t rule, int32_t head) {
  const rule_table *t = &r->rules;
  return (rule_form){.n_src = t->src_length.data[rule],
                     .n = (int32_t)(t->offsets.data[rule + 1] - t->offsets.data[rule]),
                     .arity = t->arity.data[rule],
                     .length = r->length.data[rule],
                     .rule = rule,
                     .n_rule = r->count.data[rule],
                     .head = head};
}

/* Whether two forms are the same rule: those of no known rule are compared. */
static int same_form(const int32_t *symbols, const rule_form *a, const rule_form *b) {
  if (a->rule >= 0 || b->rule >= 0) return a->rule == b->rule;
  return a->n == b->n && a->n_src == b->n_src &&
         !memcmp(symbols + a->symbols, symbols + b->symbols, (size_t)a->n * sizeof *symbols);
}

double restaurant_score(const restaurant *r, const int32_t *symbols, rule_form *forms, int64_t n) {
  int one_process = r->options.model == LSCFG_SAMPLE_DP;
  double sum = 0;
  for (int64_t k = 0; k < n; k++) {
    rule_form *f = &forms[k];
    lscfg_length_counts others = r->by_length[f->length];
    int32_t same = f->n_rule;
    if (one_process) others.tokens = r->n_tokens;
    for (int64_t j = 0; j < k; j++) {
      if (!one_process && forms[j].length != f->length) continue;
      others.tokens++;
      others.tables += forms[j].new_table;
      same += same_form(symbols, &forms[j], f);
    }
    sum += log_probability(r, f, same, others.tokens, others.tables);
    f->new_table = tables_of(r, same + 1) - tables_of(r, same);
  }
  return sum;
}

int32_t restaurant_add(restaurant *r, const int32_t *symbols, const rule_form *f) {
  int32_t rule = f->rule;
  if (rule < 0) {
    if (ARRAY_RESERVE(r->count, 1) || ARRAY_RESERVE(r->length, 1)) return LSCFG_ENOMEM;
    rule = rule_table_intern(&r->rules, symbols + f->symbols, f->n_src, f->n, f->arity);
    if (rule < 0) return LSCFG_ENOMEM;
    if (rule == r->count.size) {
      r->count.data[r->count.size++] = 0;
      r->length.data[r->length.size++] = f->length;
    }
  }
  int32_t n = r->count.data[rule]++;
  lscfg_length_counts *of_length = &r->by_length[f->length];
  of_length->tokens++;
  of_length->tables += tables_of(r, n + 1) - tables_of(r, n);
  r->n_tokens++;
  r->n_types += !n;
  return rule;
}

void restaurant_remove(restaurant *r, int32_t rule) {
  int32_t n = --r->count.data[rule];
  lscfg_length_counts *of_length = &r->by_length[r->length.data[rule]];
  of_length->tokens--;
  of_length->tables -= tables_of(r, n + 1) - tables_of(r, n);
  if (!of_length->tokens) of_length->tables = 0; /* no rounding error stays */
  r->n_tokens--;
  r->n_types -= !n;
}

double restaurant_log_joint(const restaurant *r) {
  lscfg_length_counts *seen = calloc((size_t)r->max_length + 1, sizeof *seen);
  if (!seen) return NAN;
  int64_t n_all = 0;
  double sum = 0;
  for (int64_t rule = 0; rule < r->count.size; rule++) {
    rule_form f = restaurant_form(r, (int32_t)rule, 0);
    lscfg_length_counts *others = &seen[f.length];
    for (int32_t n = 0; n < r->count.data[rule]; n++, n_all++) {
      int64_t n_others = r->options.model == LSCFG_SAMPLE_DP ? n_all : others->tokens;
      sum += log_probability(r, &f, n, n_others, others->tables);
      others->tokens++;
      others->tables += tables_of(r, n + 1) - tables_of(r, n);
    }
  }
  free(seen);
  return sum;
}

/* ---- going on ---- */

/* Whether symbols are a rule: words of the vocabulary, and on each side as many nonterminals as there are. */
static int is_rule(const int32_t *symbols, int32_t n_src, int64_t n, int32_t arity, int32_t n_words) {
  if (n_src < 1 || n <= n_src || n > INT32_MAX || arity < 0 || 2 * (int64_t)arity > n) return 0;
  int32_t gaps[2] = {0, 0};
  for (int64_t i = 0; i < n; i++) {
    if (symbols[i] >= n_words || symbols[i] < (i < n_src ? -1 : -arity)) return 0;
    gaps[i >= n_src] += symbols[i] < 0;
  }
  return gaps[0] == arity && gaps[1] == arity;
}

int restaurant_restore(restaurant *r, const lscfg_tables *t, int32_t n_words) {
  rule_table_release(&r->rules);
  if (rule_table_init(&r->rules)) return LSCFG_ENOMEM;
  memset(r->by_length, 0, ((size_t)r->max_length + 1) * sizeof *r->by_length);
  r->n_tokens = r->n_types = r->count.size = r->length.size = 0;
  for (int64_t rule = 0; rule < t->n_rules; rule++) {
    int64_t begin = t->offsets[rule], n = t->offsets[rule + 1] - begin;
    const int32_t *symbols = t->symbols + begin;
    int32_t n_src = t->src_length[rule], arity = t->arity[rule];
    if (begin < 0 || n < 0 || n > t->n_symbols - begin || !is_rule(symbols, n_src, n, arity, n_words))
      return LSCFG_EINPUT;
    int32_t length = rule_length(symbols, n_src, (int32_t)n, arity);
    if (ARRAY_RESERVE(r->count, 1) || ARRAY_RESERVE(r->length, 1)) return LSCFG_ENOMEM;
    int32_t number = rule_table_intern(&r->rules, symbols, n_src, (int32_t)n, arity);
    if (number < 0) return LSCFG_ENOMEM;
    if (number != rule || length > r->max_length) return LSCFG_EINPUT;
    r->count.data[r->count.size++] = 0;
    r->length.data[r->length.size++] = length;
  }
  return LSCFG_OK;
}
