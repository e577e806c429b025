/* Probabilities of rules, given the others. Without seating, a rule of n tokens has n^discount tables (Huang & Renals
 * 2010), as in the paper; such rules are not exchangeable. */
#include <math.h>

#include "sample/restaurant.h"

enum { N_POWERS = 1024 };

int restaurant_init(restaurant *r, const lscfg_sample_options *options, const corpus_tables *text,
                    const label_table *labels, const int64_t n_types[2], int32_t max_length) {
  int32_t states = options->states > 1 ? options->states : 1;
  size_t n_lengths = (size_t)max_length + 1, n = n_lengths * (size_t)(labels ? labels->n_categories : states);
  memset(r, 0, sizeof *r);
  if (n > INT32_MAX) return LSCFG_ENOMEM;
  r->labels = labels;
  r->options = *options;
  r->options.states = states;
  r->max_length = max_length;
  r->n_groups = (int32_t)n;
  r->n_marks = states > 1;
  r->log_states = log(states);
  r->seated = options->tables == LSCFG_TABLES_EXACT;
  seats_init(&r->seats);
  for (int side = 0; side < 2; side++) r->log_types[side] = log(n_types[side] > 0 ? (double)n_types[side] : 1);
  for (int k = 1; k < N_POWERS; k++) r->powers[k] = pow(k, options->discount);
  r->groups = calloc(n, sizeof *r->groups);
  r->processes = malloc(n * sizeof *r->processes);
  r->log_length = malloc(n_lengths * sizeof *r->log_length);
  int failed = rule_table_init(&r->rules) || !r->groups || !r->processes || !r->log_length;
  if (options->base == LSCFG_BASE_LISTED) failed |= !(r->log_listed = calloc(n, sizeof *r->log_listed));
  if (!failed && options->base == LSCFG_BASE_LEXICAL)
    failed = lexical_init(&r->lexical, &text->lexicon, lscfg_vocab_size(&text->vocab));
  if (failed) {
    restaurant_release(r);
    return LSCFG_ENOMEM;
  }
  for (int32_t k = 0; k < r->n_groups; k++) r->processes[k] = (lscfg_process){options->alpha, options->discount};
  restaurant_set_mean(r, options->mean_length);
  return LSCFG_OK;
}

int restaurant_init_shard(restaurant *r, const restaurant *base) {
  size_t n = (size_t)base->n_groups;
  int64_t n_rules = base->count.size;
  *r = *base;
  r->base = base;
  r->n_base = (int32_t)n_rules;
  memset(&r->rules, 0, sizeof r->rules);
  memset(&r->count, 0, sizeof r->count);
  memset(&r->length, 0, sizeof r->length);
  memset(&r->group, 0, sizeof r->group);
  memset(&r->weight, 0, sizeof r->weight);
  r->groups = malloc(n * sizeof *r->groups);
  if (rule_table_init(&r->rules) || !r->groups || ARRAY_RESERVE(r->count, n_rules + 1) ||
      ARRAY_RESERVE(r->length, n_rules + 1) || ARRAY_RESERVE(r->group, n_rules + 1) ||
      ARRAY_RESERVE(r->weight, base->weight.size + 1)) {
    restaurant_release(r);
    return LSCFG_ENOMEM;
  }
  memcpy(r->groups, base->groups, n * sizeof *r->groups);
  r->count.size = r->length.size = r->group.size = n_rules;
  r->weight.size = base->weight.size;
  if (n_rules) {
    memcpy(r->count.data, base->count.data, (size_t)n_rules * sizeof(int32_t));
    memcpy(r->length.data, base->length.data, (size_t)n_rules * sizeof(int32_t));
    memcpy(r->group.data, base->group.data, (size_t)n_rules * sizeof(int32_t));
  }
  if (r->weight.size) memcpy(r->weight.data, base->weight.data, (size_t)r->weight.size * sizeof(double));
  return LSCFG_OK;
}

void restaurant_release(restaurant *r) {
  rule_table_release(&r->rules);
  free(r->weight.data);
  free(r->count.data);
  free(r->length.data);
  free(r->group.data);
  free(r->groups);
  if (!r->base) { /* a shard reads those of its base */
    seats_release(&r->seats);
    lexical_release(&r->lexical);
    free(r->processes);
    free(r->log_length);
    free(r->log_listed);
  }
  memset(r, 0, sizeof *r);
}

void restaurant_set_mean(restaurant *r, double mean) {
  r->options.mean_length = mean;
  for (int32_t k = 0; k <= r->max_length; k++)
    switch (r->options.length) {
      case LSCFG_LENGTH_POISSON: r->log_length[k] = k * log(mean) - mean - lgamma(k + 1.0); break;
      case LSCFG_LENGTH_GEOMETRIC: r->log_length[k] = k * log(mean / (1 + mean)) - log1p(mean); break;
      default: r->log_length[k] = 0;
    }
}

/* The length of a rule or fragment, whose last symbol may be a mark. */
static int32_t length_of(const restaurant *r, const int32_t *symbols, const rule_form *f) {
  return r->labels ? f->n - f->arity : rule_length(symbols, f->n_src, f->n - r->n_marks, f->arity);
}

int32_t rule_length(const int32_t *symbols, int32_t n_src, int32_t n, int32_t arity) {
  int32_t scope = n_src ? (symbols[0] < 0) + (symbols[n_src - 1] < 0) : 0;
  for (int32_t i = 1; i < n_src; i++) scope += symbols[i - 1] < 0 && symbols[i] < 0;
  return n - 2 * arity + scope;
}

/* ---- probabilities ---- */

/* Tables of a rule of n tokens where they are not seated. */
static double power_tables(const restaurant *r, int32_t n) {
  return n < N_POWERS ? r->powers[n] : pow(n, r->options.discount);
}

static double tables_of(const restaurant *r, int32_t rule) {
  return r->seated ? r->seats.tables.data[rule] : power_tables(r, r->count.data[rule]);
}

/* For a form with known rule and length; for a new rule, the symbols are read. */
static double log_base(const restaurant *r, const int32_t *symbols, const rule_form *f) {
  double log_states = f->arity * r->log_states;
  switch (r->options.base) {
    case LSCFG_BASE_LENGTH: return r->log_length[f->length] - log_states;
    case LSCFG_BASE_UNIFORM: {
      if (r->labels) return -f->length * log((double)r->labels->category.size);
      int32_t n_tgt = f->n - f->n_src - r->n_marks;
      return -(f->n_src * r->log_types[0] + n_tgt * r->log_types[1]) - log_states;
    }
    case LSCFG_BASE_LABELS:
      return f->rule < 0 ? labels_log_weight(r->labels, symbols + f->symbols, f->n) : r->weight.data[f->rule];
    case LSCFG_BASE_LISTED: return f->rule < 0 ? -HUGE_VAL : -r->log_listed[f->group];
    default:
      return f->rule < 0 ? lexical_log_weight(&r->lexical, symbols + f->symbols, f->n_src, f->n) - log_states
                         : r->weight.data[f->rule];
  }
}

/* Log probability of a form with n tokens at this number of tables, given the others of its restaurant. */
static double log_probability(const restaurant *r, const rule_form *f, int32_t n, double tables,
                              lscfg_length_counts others) {
  const lscfg_process *p = &r->processes[f->group];
  double share = p->discount * others.tables + p->alpha;
  double value = n ? log(n - p->discount * tables + share * exp(f->log_base)) : log(share) + f->log_base;
  return r->log_length[f->length] + value - log((double)others.tokens + p->alpha);
}

double restaurant_log_probability(const restaurant *r, const rule_form *f) {
  return log_probability(r, f, f->n_rule, f->tables, r->groups[f->group]);
}

static int32_t find_rule(const restaurant *r, const int32_t *symbols, int32_t n_src, int32_t n) {
  int32_t rule = r->base ? rule_table_find(&r->base->rules, symbols, n_src, n) : -1;
  if (rule >= 0) return rule;
  rule = rule_table_find(&r->rules, symbols, n_src, n);
  return rule < 0 ? rule : r->n_base + rule;
}

void restaurant_find(const restaurant *r, const int32_t *symbols, rule_form *f) {
  f->rule = find_rule(r, symbols + f->symbols, f->n_src, f->n);
  f->n_rule = f->rule < 0 ? 0 : r->count.data[f->rule];
  f->tables = f->rule < 0 ? 0 : tables_of(r, f->rule);
  if (f->rule < 0) {
    const int32_t *own = symbols + f->symbols;
    f->length = length_of(r, own, f);
    f->group = r->options.model == LSCFG_SAMPLE_DP ? 0 : f->length;
    if (r->n_marks) f->group += (-1 - own[f->n - 1]) * (r->max_length + 1);
    if (r->labels) f->group += r->labels->category.data[own[0]] * (r->max_length + 1);
  } else {
    f->length = r->length.data[f->rule];
    f->group = r->group.data[f->rule];
  }
  f->log_base = log_base(r, symbols, f);
}

rule_form restaurant_form(const restaurant *r, int32_t rule, int32_t head) {
  const rule_table *t = rule < r->n_base ? &r->base->rules : &r->rules;
  int32_t there = rule < r->n_base ? rule : rule - r->n_base;
  rule_form f = {.n_src = t->src_length.data[there],
                 .n = (int32_t)(t->offsets.data[there + 1] - t->offsets.data[there]),
                 .arity = t->arity.data[there],
                 .length = r->length.data[rule],
                 .group = r->group.data[rule],
                 .rule = rule,
                 .n_rule = r->count.data[rule],
                 .head = head,
                 .tables = tables_of(r, rule)};
  f.log_base = log_base(r, NULL, &f);
  return f;
}

int restaurant_same(const int32_t *symbols, const rule_form *a, const rule_form *b) {
  if (a->rule >= 0 || b->rule >= 0) return a->rule == b->rule;
  return a->n == b->n && a->n_src == b->n_src &&
         !memcmp(symbols + a->symbols, symbols + b->symbols, (size_t)a->n * sizeof *symbols);
}

double restaurant_score(const restaurant *r, const int32_t *symbols, rule_form *forms, int64_t n) {
  double sum = 0;
  for (int64_t k = 0; k < n; k++) {
    rule_form *f = &forms[k];
    int32_t group = f->group, same = f->n_rule;
    lscfg_length_counts others = r->groups[group];
    double tables = f->tables;
    for (int64_t j = 0; j < k; j++) {
      if (forms[j].group != group) continue;
      others.tokens++;
      others.tables += forms[j].new_table;
      if (!restaurant_same(symbols, &forms[j], f)) continue;
      same++;
      tables += forms[j].new_table;
    }
    if (!r->seated) tables = power_tables(r, same);
    sum += log_probability(r, f, same, tables, others);
    f->new_table = r->seated ? !same : power_tables(r, same + 1) - tables;
  }
  return sum;
}

void restaurant_log_run(const restaurant *r, const rule_form *f, int32_t n, double *sums) {
  int32_t group = f->group, same = f->n_rule;
  lscfg_length_counts others = r->groups[group];
  double tables = f->tables, log_all = log((double)others.tokens + r->processes[group].alpha);
  sums[0] = 0;
  for (int32_t k = 0; k < n; k++, same++) {
    sums[k + 1] = sums[k] + log_probability(r, f, same, tables, others) + log_all;
    double more = r->seated ? !same : power_tables(r, same + 1) - power_tables(r, same);
    tables += more;
    others.tables += more;
  }
}

/* ---- tokens ---- */

int32_t restaurant_intern(restaurant *r, const int32_t *symbols, const rule_form *f) {
  int32_t rule = f->rule;
  if (r->seated && seats_reserve(&r->seats, r->n_tokens + 1)) return LSCFG_ENOMEM;
  if (rule >= 0) return rule;
  if (ARRAY_RESERVE(r->count, 1) || ARRAY_RESERVE(r->length, 1) || ARRAY_RESERVE(r->group, 1)) return LSCFG_ENOMEM;
  rule = rule_table_intern(&r->rules, symbols + f->symbols, f->n_src, f->n, f->arity);
  if (rule < 0) return rule;
  rule += r->n_base;
  if (rule != r->count.size) return rule;
  if (r->seated && seats_add_rule(&r->seats)) return LSCFG_ENOMEM;
  if (r->options.base == LSCFG_BASE_LEXICAL || r->options.base == LSCFG_BASE_LABELS) {
    if (ARRAY_RESERVE(r->weight, 1)) return LSCFG_ENOMEM;
    r->weight.data[r->weight.size++] = f->log_base;
  }
  r->count.data[r->count.size++] = 0;
  r->length.data[r->length.size++] = f->length;
  r->group.data[r->group.size++] = f->group;
  return rule;
}

int32_t restaurant_new_seat(const restaurant *r, int32_t rule, random_stream *random) {
  if (!r->seated) return 0;
  if (!r->count.data[rule]) return 1;
  rule_form f = restaurant_form(r, rule, 0);
  const lscfg_process *p = &r->processes[f.group];
  double fresh = (p->discount * r->groups[f.group].tables + p->alpha) * exp(f.log_base);
  double number = random_uniform(random) * (f.n_rule - p->discount * f.tables + fresh) - fresh;
  return number < 0 ? 1 : seats_at(&r->seats, rule, number, p->discount) + 1;
}

int32_t restaurant_any_seat(const restaurant *r, int32_t rule, random_stream *random) {
  if (!r->seated) return 0;
  int32_t n = r->count.data[rule];
  return n == 1 ? 1 : seats_at(&r->seats, rule, random_uniform(random) * n, 0);
}

void restaurant_add(restaurant *r, int32_t rule, int32_t seat) {
  lscfg_length_counts *group = &r->groups[r->group.data[rule]];
  int32_t n = r->count.data[rule]++;
  group->tokens++;
  group->tables += r->seated ? seat == 1 : power_tables(r, n + 1) - power_tables(r, n);
  if (r->seated) seats_move(&r->seats, rule, seat - 1, seat);
  r->n_tokens++;
  r->n_types += !n;
}

void restaurant_remove(restaurant *r, int32_t rule, int32_t seat) {
  lscfg_length_counts *group = &r->groups[r->group.data[rule]];
  int32_t n = --r->count.data[rule];
  group->tokens--;
  group->tables -= r->seated ? seat == 1 : power_tables(r, n + 1) - power_tables(r, n);
  if (!group->tokens) group->tables = 0; /* no rounding error stays */
  if (r->seated) seats_move(&r->seats, rule, seat, seat - 1);
  r->n_tokens--;
  r->n_types -= !n;
}

void restaurant_change(restaurant *r, int32_t rule, int32_t tokens) {
  lscfg_length_counts *group = &r->groups[r->group.data[rule]];
  int32_t n = r->count.data[rule];
  r->count.data[rule] += tokens;
  group->tokens += tokens;
  group->tables += power_tables(r, n + tokens) - power_tables(r, n);
  if (!group->tokens) group->tables = 0;
  r->n_tokens += tokens;
  r->n_types += (n + tokens > 0) - (n > 0);
}

/* ---- all tokens ---- */

double log_rising(double x, double step, double n) {
  return step > 0 ? n * log(step) + lgamma(x / step + n) - lgamma(x / step) : n * log(x);
}

/* Of tokens with their seats, by the closed form: in this their order does not count. */
static double log_seated(const restaurant *r) {
  double sum = 0;
  for (int32_t k = 0; k < r->n_groups; k++) {
    const lscfg_process *p = &r->processes[k];
    const lscfg_length_counts *g = &r->groups[k];
    sum += log_rising(p->alpha, p->discount, g->tables) - log_rising(p->alpha, 1, (double)g->tokens);
  }
  for (int64_t rule = 0; rule < r->count.size; rule++) {
    rule_form f = restaurant_form(r, (int32_t)rule, 0);
    double discount = r->processes[f.group].discount;
    sum += f.n_rule * r->log_length[f.length] + f.tables * f.log_base;
    for (int32_t k = r->seats.first.data[rule]; k >= 0; k = r->seats.groups.data[k].next) {
      const seat_group *g = &r->seats.groups.data[k];
      sum += g->tables * log_rising(1 - discount, 1, g->size - 1);
    }
  }
  return sum;
}

double restaurant_log_joint(const restaurant *r) {
  if (r->seated) return log_seated(r);
  lscfg_length_counts *seen = calloc((size_t)r->n_groups, sizeof *seen);
  if (!seen) return NAN;
  double sum = 0;
  for (int64_t rule = 0; rule < r->count.size; rule++) {
    rule_form f = restaurant_form(r, (int32_t)rule, 0);
    lscfg_length_counts *others = &seen[f.group];
    for (int32_t n = 0; n < r->count.data[rule]; n++) {
      double tables = power_tables(r, n);
      sum += log_probability(r, &f, n, tables, *others);
      others->tokens++;
      others->tables += power_tables(r, n + 1) - tables;
    }
  }
  free(seen);
  return sum;
}

/* ---- going on ---- */

/* True if symbols are a rule: words of the vocabulary, and equal numbers of nonterminals on both sides. */
static int is_rule(const restaurant *r, const int32_t *symbols, int32_t n_src, int64_t n, int32_t arity,
                   int32_t n_words) {
  if (r->labels) return n_src == n && labels_are_fragment(r->labels, symbols, n, arity);
  int32_t states = r->options.states;
  n -= r->n_marks;
  if (r->n_marks && (n < 0 || symbols[n] >= 0 || symbols[n] < -states)) return 0;
  if (n_src < 1 || n <= n_src || n > INT32_MAX || arity < 0 || 2 * (int64_t)arity > n) return 0;
  int32_t gaps[2] = {0, 0};
  for (int64_t i = 0; i < n; i++) {
    if (symbols[i] >= n_words || symbols[i] < (i < n_src ? -states : -arity)) return 0;
    gaps[i >= n_src] += symbols[i] < 0;
  }
  return gaps[0] == arity && gaps[1] == arity;
}

static void list_rules(restaurant *r) {
  for (int32_t k = 0; k < r->n_groups; k++) r->log_listed[k] = 0;
  for (int64_t rule = 0; rule < r->group.size; rule++) r->log_listed[r->group.data[rule]]++;
  for (int32_t k = 0; k < r->n_groups; k++) r->log_listed[k] = log(r->log_listed[k]);
}

int restaurant_restore(restaurant *r, const lscfg_tables *t, int32_t n_words) {
  rule_table_release(&r->rules);
  seats_release(&r->seats);
  if (rule_table_init(&r->rules)) return LSCFG_ENOMEM;
  memset(r->groups, 0, (size_t)r->n_groups * sizeof *r->groups);
  r->n_tokens = r->n_types = r->count.size = r->length.size = r->group.size = r->weight.size = 0;
  for (int64_t rule = 0; rule < t->n_rules; rule++) {
    int64_t begin = t->offsets[rule], n = t->offsets[rule + 1] - begin;
    if (begin < 0 || n < 0 || n > t->n_symbols - begin ||
        !is_rule(r, t->symbols + begin, t->src_length[rule], n, t->arity[rule], n_words))
      return LSCFG_EINPUT;
    rule_form f = {.symbols = begin, .n_src = t->src_length[rule], .n = (int32_t)n, .arity = t->arity[rule]};
    if (length_of(r, t->symbols + begin, &f) > r->max_length) return LSCFG_EINPUT;
    restaurant_find(r, t->symbols, &f);
    int32_t number = restaurant_intern(r, t->symbols, &f);
    if (number < 0) return LSCFG_ENOMEM;
    if (number != rule) return LSCFG_EINPUT;
  }
  if (r->log_listed) list_rules(r);
  return LSCFG_OK;
}
