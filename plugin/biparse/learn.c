/* Discovery of rules and learning of weights from visits (Xiao et al. 2012, Algorithm 1). */
#include <math.h>

#include "biparse/visits.h"

/* Pairs of a batch are parsed with the same weights and their gradients added in order. With the paper's rate and
 * batches of 64, learning diverges, because a frequent feature takes the steps of many pairs at once; AdaGrad
 * divides each step by the root of 1 + the squared gradients of the feature. */

#define SMALL_SCALE 1e-60   /* below it weights are brought to a common scale of 1 */
#define SMALL_STEP 1e-5     /* smaller steps of sparse weights are left out */
#define LARGEST_STEP 5.0    /* of the gradient of a dense weight, for each pair */
#define LEAST_LEXICAL 0.1   /* of lexical weights: without them, nothing guides the parser */
#define LARGEST_WEIGHT 1e6

/* ---- rules ---- */

/* Discovers a rule of a pair. */
static int discover(lscfg_biparse_model *m, const lscfg_biparse_visits *v, const lscfg_biparse_rule *r, int32_t pair) {
  rule_spec spec = {v->symbols.data + r->symbols,
                    v->links.data + r->links,
                    r->n_src,
                    r->n_tgt,
                    r->arity,
                    r->n_links,
                    {r->fingerprint[0], r->fingerprint[1], r->fingerprint[2]},
                    {r->lexical[0], r->lexical[1]}};
  int32_t same = m->text->same.data[pair], rule = model_intern_rule(m, &spec, same);
  int32_t number = rule < 0 ? rule : model_intern_aligned(m, &spec, rule);
  if (number < 0) return LSCFG_ENOMEM;
  if (same != pair) return LSCFG_OK; /* equal pairs count as one */
  aligned_rule *a = &m->cache.aligned.data[number];
  if (++a->now > a->shown) model_move_up(m, number);
  return LSCFG_OK;
}

/* ---- weights ---- */

/* The weights of a kind of feature, and which of them the entry is for; -1: no memory. */
static weights *weights_of(lscfg_biparse_model *m, const lscfg_biparse_visits *v, const gradient_entry *g,
                           int32_t *place) {
  if (g->kind < RULE_FEATURE) {
    *place = model_weight_place(&m->sparse[g->kind], g->key);
    return &m->sparse[g->kind].of;
  }
  *place = g->kind == RULE_FEATURE ? (int32_t)g->key
                                   : find_number(&m->by_rule.places, v->rules.data[g->key].fingerprint[1]);
  return &m->by_rule.of;
}

static int add_gradient(lscfg_biparse_model *m, const lscfg_biparse_visits *v, const gradient_entry *g) {
  int32_t place;
  weights *w = weights_of(m, v, g, &place);
  if (place < 0) return LSCFG_ENOMEM;
  w->pending.data[place] += g->value;
  if (w->is_touched.data[place]) return LSCFG_OK;
  if (ARRAY_RESERVE(w->touched, 1)) return LSCFG_ENOMEM;
  w->is_touched.data[place] = 1;
  w->touched.data[w->touched.size++] = place;
  return LSCFG_OK;
}

/* NaN stays NaN, which follow_dense refuses. */
static double clipped(double value) {
  return isnan(value) ? value : fmax(-LARGEST_STEP, fmin(LARGEST_STEP, value));
}

int lscfg_biparse_learn(lscfg_biparse_model *m, const lscfg_biparse_visits *v, lscfg_error *error) {
  int64_t rule = 0;
  if (refuse_if_settled(m, error)) return LSCFG_EINPUT;
  for (int32_t n = 0; n < v->results.size; n++) {
    for (; rule < v->rules.size && v->rules.data[rule].visit == n; rule++)
      if (discover(m, v, &v->rules.data[rule], v->results.data[n].pair)) return out_of_memory(error);
    if (v->results.data[n].tries <= 0) continue;
    m->visited++;
    for (int k = 0; k < LSCFG_N_DENSE; k++) m->dense_pending[k] += clipped(v->dense.data[LSCFG_N_DENSE * n + k]);
  }
  for (int64_t k = 0; k < v->gradient.size; k++)
    if (add_gradient(m, v, &v->gradient.data[k])) return out_of_memory(error);
  return LSCFG_OK;
}

/* The step of a weight: rate times gradient, which adagrad divides by the root of 1 + the sum of squares so far. */
static double step_of(const lscfg_biparse_step *step, double gradient, double squares) {
  return step->rate * gradient / (step->adagrad ? sqrt(1 + squares) : 1);
}

static int overflow(lscfg_error *error, const char *feature) {
  return lscfg_fail(error, LSCFG_EINPUT, 0, "the weight of %s diverges; lower the rate", feature);
}

/* Follows the gradient of the weights of the batch; shrink: their loss in addition to the common scale. */
static int follow(lscfg_biparse_model *m, weights *w, const lscfg_biparse_step *step, double shrink, const char *name,
                  lscfg_error *error) {
  for (int64_t k = 0; k < w->touched.size; k++) {
    int32_t place = w->touched.data[k];
    double gradient = w->pending.data[place] - shrink * m->scale * w->weight.data[place];
    w->squares.data[place] += (float)(gradient * gradient);
    double change = step_of(step, gradient, w->squares.data[place]);
    w->pending.data[place] = 0;
    w->is_touched.data[place] = 0;
    if (fabs(change) < SMALL_STEP) continue;
    w->weight.data[place] += change / m->scale;
    if (!(fabs(m->scale * w->weight.data[place]) <= LARGEST_WEIGHT)) return overflow(error, name);
  }
  w->touched.size = 0;
  return LSCFG_OK;
}

static int follow_dense(lscfg_biparse_model *m, const lscfg_biparse_step *step, double shrink, lscfg_error *error) {
  for (int k = 0; k < LSCFG_N_DENSE; k++) {
    int lexical = k != LSCFG_TARGET_WORDS;
    double gradient = m->dense_pending[k] - (lexical ? 0 : shrink * m->dense[k]);
    m->dense_squares[k] += gradient * gradient;
    m->dense[k] += (lexical ? step->lexical_rate / step->rate : 1) * step_of(step, gradient, m->dense_squares[k]);
    m->dense_pending[k] = 0;
    if (!(fabs(m->dense[k]) <= LARGEST_WEIGHT)) return overflow(error, "a dense feature");
    if (lexical) m->dense[k] = fmax(m->dense[k], LEAST_LEXICAL);
  }
  return LSCFG_OK;
}

int lscfg_biparse_update(lscfg_biparse_model *m, const lscfg_biparse_step *step, lscfg_error *error) {
  static const char *const names[] = {"a pair of linked words", "the ends of a span", "the words next to a span",
                                      "a rule"};
  if (refuse_if_settled(m, error)) return LSCFG_EINPUT;
  /* All weights shrink equally only if their rates are equal. */
  double shrink = step->prior == LSCFG_PRIOR_VISIT ? step->shrink : step->shrink * (double)m->visited;
  int common = step->prior == LSCFG_PRIOR_CORPUS && !step->adagrad;
  if (common) m->scale *= fmax(0, 1 - step->rate * shrink);
  if (m->scale < SMALL_SCALE) model_rescale(m);
  for (int kind = 0; kind <= LSCFG_N_SPARSE; kind++) {
    weights *w = weights_of_kind(m, kind);
    int code = follow(m, w, step, common ? 0 : shrink, names[kind], error);
    if (code) return code;
  }
  m->visited = 0;
  return follow_dense(m, step, shrink, error);
}
