/* Context scores, learned token by token with a separate step for each parameter (AdaGrad: Duchi, Hazan and Singer
 * 2011); and skip-grams of rules with the words around them (Mikolov et al. 2013). */
#include "estimate/score_loss.h"
#include "base/random.h"

#include <math.h>

/* Tokens of LSCFG_LOSS_MATCH that make one step: it has few parameters, and each token moves all of them. */
enum { TOGETHER = 16 };

/* Offsets of the parts of the parameters. */
typedef struct {
  int64_t rules, bias, hidden, other, hidden_bias, out, total;
  int64_t width; /* of a rule's own parameters, 0: it has none */
} layout;

static layout lay_out(const lscfg_score_problem *p) {
  layout at = {0};
  int match = p->loss == LSCFG_LOSS_MATCH;
  at.width = match ? 0 : p->hidden ? p->hidden : p->dims;
  at.bias = p->rows * at.width;
  at.hidden = at.bias + (match ? 1 : p->rows);
  at.other = at.hidden + p->hidden * p->dims;
  at.hidden_bias = at.other + (match ? p->hidden * p->dims : 0);
  at.out = at.hidden_bias + p->hidden;
  at.total = at.out + (match ? p->hidden : 0);
  return at;
}

int64_t lscfg_score_parameters(const lscfg_score_problem *problem) { return lay_out(problem).total; }

typedef struct {
  const lscfg_score_problem *problem;
  layout at;
  double *parameters, *squares, *gradient;
  double *layer, *below, *half;  /* [hidden] the layer's values, what its gradient adds up to, the context's half */
  double *sums;                  /* of the gradients of some tokens */
  ARRAY(double) scores, targets; /* of the options of a token */
} trainer;

/* A step against the gradient of one parameter, or only its sum. */
static void move_with(const trainer *t, int64_t parameter, double along, double penalty) {
  const lscfg_score_problem *p = t->problem;
  if (t->gradient) {
    t->gradient[parameter] += along;
    return;
  }
  along += penalty * t->parameters[parameter];
  t->squares[parameter] += along * along;
  t->parameters[parameter] -= p->rate * along / sqrt(t->squares[parameter] + 1e-8);
}

static void move(const trainer *t, int64_t parameter, double along) {
  move_with(t, parameter, along, t->problem->penalty);
}

static double product(const double *a, const double *b, int64_t n) {
  double part[4] = {0};
  int64_t k = 0;
  for (; k + 4 <= n; k += 4)
    for (int i = 0; i < 4; i++) part[i] += a[k + i] * b[k + i];
  for (int i = 0; k < n; k++, i++) part[i] += a[k] * b[k];
  return part[0] + part[1] + part[2] + part[3];
}

/* ---- linear scores and those of a hidden layer: one score for each option ---- */

static double learn_scores(trainer *t, const double *context, int64_t first, int64_t n, int64_t right) {
  const lscfg_score_problem *p = t->problem;
  const layout *at = &t->at;
  const double *input = context;
  for (int64_t h = 0; h < p->hidden; h++) {
    const double *weights = t->parameters + at->hidden + h * p->dims;
    t->layer[h] = tanh(product(weights, context, p->dims) + t->parameters[at->hidden_bias + h]);
    t->below[h] = 0;
    input = t->layer;
  }
  for (int64_t k = 0; k < n; k++)
    t->scores.data[k] = product(t->parameters + at->rules + (first + k) * at->width, input, at->width) +
                        t->parameters[at->bias + first + k];
  double loss = score_gradient(p->loss, p->counts + first, n, right, t->scores.data, t->targets.data);
  for (int64_t k = 0; k < n; k++) {
    double along = t->scores.data[k];
    int64_t rule = at->rules + (first + k) * at->width;
    if (fabs(along) <= 1e-6) continue;
    for (int64_t h = 0; h < p->hidden; h++) t->below[h] += along * t->parameters[rule + h];
    double penalty = p->visits ? p->penalty / p->visits[first + k] : p->penalty;
    for (int64_t i = 0; i < at->width; i++) move_with(t, rule + i, along * input[i], penalty);
    move_with(t, at->bias + first + k, along, penalty);
  }
  for (int64_t h = 0; h < p->hidden; h++) {
    double along = t->below[h] * (1 - t->layer[h] * t->layer[h]);
    for (int64_t i = 0; i < p->dims; i++) move(t, at->hidden + h * p->dims + i, along * context[i]);
    move(t, at->hidden_bias + h, along);
  }
  return loss;
}

/* ---- whether a context and a rule match ---- */

/* The loss of one option; adds the gradients of the parameters to sums, except those of the context's half of the
 * layer, which are summed over the options below. */
static double add_match(trainer *t, const double *rule, int right, double weight) {
  const lscfg_score_problem *p = t->problem;
  const layout *at = &t->at;
  double score = t->parameters[at->bias];
  for (int64_t h = 0; h < p->hidden; h++) {
    t->layer[h] = tanh(t->half[h] + product(t->parameters + at->other + h * p->dims, rule, p->dims));
    score += t->parameters[at->out + h] * t->layer[h];
  }
  double share = 1 / (1 + exp(-score)), along = weight * (share - right);
  for (int64_t h = 0; h < p->hidden; h++) {
    double below = along * t->parameters[at->out + h] * (1 - t->layer[h] * t->layer[h]);
    double *other = t->sums + at->other + h * p->dims;
    t->sums[at->out + h] += along * t->layer[h];
    t->below[h] += below;
    for (int64_t i = 0; i < p->dims; i++) other[i] += below * rule[i];
  }
  t->sums[at->bias] += along;
  double margin = right ? score : -score;
  return weight * (margin > 0 ? log1p(exp(-margin)) : log1p(exp(margin)) - margin);
}

/* The right pair counts as often as there are others. */
static double add_matches(trainer *t, const double *context, int64_t first, int64_t n, int64_t right) {
  const lscfg_score_problem *p = t->problem;
  const layout *at = &t->at;
  double loss = 0;
  for (int64_t h = 0; h < p->hidden; h++) {
    t->half[h] = product(t->parameters + at->hidden + h * p->dims, context, p->dims);
    t->half[h] += t->parameters[at->hidden_bias + h];
    t->below[h] = 0;
  }
  for (int64_t k = 0; k < n; k++)
    loss += add_match(t, p->vectors + (first + k) * p->dims, k == right, k == right ? (double)(n - 1) : 1);
  for (int64_t h = 0; h < p->hidden; h++) {
    double *hidden = t->sums + at->hidden + h * p->dims;
    for (int64_t i = 0; i < p->dims; i++) hidden[i] += t->below[h] * context[i];
    t->sums[at->hidden_bias + h] += t->below[h];
  }
  return loss;
}

/* Moves all parameters along what was added up for some tokens, and forgets it. */
static void move_all(trainer *t) {
  for (int64_t k = 0; k < t->at.total; k++) {
    if (t->sums[k] != 0) move(t, k, t->sums[k]);
    t->sums[k] = 0;
  }
}

static int start(trainer *t, const lscfg_score_problem *p) {
  size_t n = (size_t)p->hidden + 1;
  t->layer = malloc(n * sizeof *t->layer);
  t->below = malloc(n * sizeof *t->below);
  t->half = malloc(n * sizeof *t->half);
  t->sums = calloc(p->loss == LSCFG_LOSS_MATCH ? (size_t)t->at.total : 1, sizeof *t->sums);
  return t->layer && t->below && t->half && t->sums ? LSCFG_OK : LSCFG_ENOMEM;
}

static void stop(trainer *t) {
  free(t->layer);
  free(t->below);
  free(t->half);
  free(t->sums);
  free(t->scores.data);
  free(t->targets.data);
}

/* Options of a token one by one. */
static int learn_token(trainer *t, int64_t token, double *loss) {
  const lscfg_score_problem *p = t->problem;
  int64_t first = p->first[token], n = p->size[token], right = p->own[token] - first;
  const double *context = p->contexts + token * p->dims;
  if (ARRAY_RESERVE(t->scores, n) || ARRAY_RESERVE(t->targets, n)) return LSCFG_ENOMEM;
  *loss += p->loss == LSCFG_LOSS_MATCH ? add_matches(t, context, first, n, right)
                                        : learn_scores(t, context, first, n, right);
  return LSCFG_OK;
}

int lscfg_score_learn(const lscfg_score_problem *p, double *parameters, double *squares, double *gradient,
                      const int64_t *order, int64_t n, double *loss, lscfg_error *error) {
  trainer t = {.problem = p, .at = lay_out(p), .parameters = parameters, .squares = squares, .gradient = gradient};
  int code = start(&t, p), match = p->loss == LSCFG_LOSS_MATCH;
  *loss = 0;
  for (int64_t k = 0; k < n && !code; k++) {
    code = learn_token(&t, order[k], loss);
    if (match && (k + 1 == n || (k + 1) % TOGETHER == 0)) move_all(&t);
  }
  stop(&t);
  return code ? out_of_memory(error) : LSCFG_OK;
}

/* ---- skip-grams ---- */

/* The word that a number in [0, 1) falls to. */
static int64_t draw(const double *cumulative, int64_t n, double at) {
  int64_t low = 0, high = n - 1;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (cumulative[middle] <= at)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* One pair or one that is not; adds what the rule's vector has to move. */
static double learn_pair(double *word, const double *rule, double *move_rule, int64_t dims, int right, double rate) {
  double score = product(word, rule, dims), share = 1 / (1 + exp(-score)), along = rate * (right - share);
  for (int64_t i = 0; i < dims; i++) {
    move_rule[i] += along * word[i];
    word[i] += along * rule[i];
  }
  double margin = right ? score : -score;
  return margin > 0 ? log1p(exp(-margin)) : log1p(exp(margin)) - margin;
}

int lscfg_skip_grams(const lscfg_skip_gram_problem *p, double *rules, double *words, double first_rate,
                     double last_rate, uint64_t seed, double *loss, lscfg_error *error) {
  double *move_rule = malloc((size_t)p->dims * sizeof *move_rule);
  random_stream random = random_begin(seed, 0);
  *loss = 0;
  if (!move_rule) return out_of_memory(error);
  for (int64_t k = 0; k < p->n_tokens; k++) {
    double rate = first_rate + (last_rate - first_rate) * (double)k / (double)p->n_tokens;
    double *rule = rules + (int64_t)p->rule[k] * p->dims;
    for (int64_t i = p->begin[k]; i < p->begin[k + 1]; i++) {
      int64_t word = p->items[i];
      if (p->keep[word] < 1 && random_uniform(&random) >= p->keep[word]) continue;
      memset(move_rule, 0, (size_t)p->dims * sizeof *move_rule);
      *loss += learn_pair(words + word * p->dims, rule, move_rule, p->dims, 1, rate);
      for (int32_t s = 0; s < p->negatives; s++) {
        int64_t other = draw(p->cumulative, p->n_words, random_uniform(&random));
        if (other != word) *loss += learn_pair(words + other * p->dims, rule, move_rule, p->dims, 0, rate);
      }
      for (int64_t d = 0; d < p->dims; d++) rule[d] += move_rule[d];
    }
  }
  free(move_rule);
  return LSCFG_OK;
}
