/* The costs of a pair's words: tables for the parser, and estimates of the cost outside of spans. */
#include <math.h>

#include "biparse/costs.h"

void pair_release(pair_work *p) {
  void *const all[] = {p->log_tgt.data,  p->log_src.data,  p->prob_tgt.data, p->prob_src.data,  p->linked.data,
                       p->null_tgt.data, p->null_src.data, p->boundary.data, p->past_src.data,  p->past_tgt.data,
                       p->best_src.data, p->best_tgt.data, p->items.data,    p->nodes.data,     p->edges.data,
                       p->cells.data,    p->grid.data,     p->points.data,   p->heap.data,      p->order.data,
                       p->src_codes.data, p->tgt_hash.data};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
}

static int reserve(pair_work *p) {
  int64_t n = p->n + 1, m = p->m + 1;
  return ARRAY_RESERVE(p->log_tgt, n * m) || ARRAY_RESERVE(p->log_src, n * m) || ARRAY_RESERVE(p->prob_tgt, n * m) ||
         ARRAY_RESERVE(p->prob_src, n * m) || ARRAY_RESERVE(p->linked, n * m) || ARRAY_RESERVE(p->null_tgt, m) ||
         ARRAY_RESERVE(p->null_src, n) || ARRAY_RESERVE(p->boundary, n * n) ||
         ARRAY_RESERVE(p->past_src, m * m * n) || ARRAY_RESERVE(p->past_tgt, n * n * m) ||
         ARRAY_RESERVE(p->best_src, n * m) || ARRAY_RESERVE(p->best_tgt, n * m) || ARRAY_RESERVE(p->cells, n * n) ||
         ARRAY_RESERVE(p->grid, m * m) || ARRAY_RESERVE(p->src_codes, n) || ARRAY_RESERVE(p->tgt_hash, m);
}

static void look_up(pair_work *p) {
  const lscfg_biparse_model *model = p->model;
  const lscfg_bitexts *text = model->text;
  int32_t n = p->n, m = p->m;
  for (int32_t g = 0; g < n; g++) p->null_src.data[g] = bitexts_log_probability(text, p->src[g], -1)[1];
  for (int32_t h = 0; h < m; h++) p->null_tgt.data[h] = bitexts_log_probability(text, -1, p->tgt[h])[0];
  for (int32_t g = 0; g < n; g++)
    for (int32_t h = 0; h < m; h++) {
      const double *log_p = bitexts_log_probability(text, p->src[g], p->tgt[h]);
      p->log_tgt.data[g * m + h] = log_p[0];
      p->log_src.data[g * m + h] = log_p[1];
      p->prob_tgt.data[g * m + h] = exp(log_p[0]);
      p->prob_src.data[g * m + h] = exp(log_p[1]);
      p->linked.data[g * m + h] = sparse_weight(model, p->scale, LSCFG_LINKED_WORDS, p->src[g], p->tgt[h]);
    }
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = i + 1; j <= n; j++)
      p->boundary.data[i * (n + 1) + j] =
          sparse_weight(model, p->scale, LSCFG_SPAN_ENDS, p->src[i], p->src[j - 1]) +
          sparse_weight(model, p->scale, LSCFG_SPAN_SIDES, i ? p->src[i - 1] : -1, j < n ? p->src[j] : -1);
}

static void fingerprints(pair_work *p) {
  for (int32_t g = 0; g < p->n; g++) p->src_codes.data[g] = symbol_code(p->src[g]);
  p->tgt_hash.data[0] = 0;
  for (int32_t h = 0; h < p->m; h++) p->tgt_hash.data[h + 1] = fingerprint_append(p->tgt_hash.data[h], p->tgt[h]);
  p->powers[0] = 1;
  for (int32_t h = 0; h < MOST_WORDS; h++) p->powers[h + 1] = p->powers[h] * FINGERPRINT_FACTOR;
}

/* ---- estimates ---- */

/* past[(begin, end)][x]: the sum over the first x words of one side of the best score of each with a word of the other
 * side outside of [begin, end), or with none. score: [x][y] with these strides. */
static void sum_best(int32_t n_x, int32_t n_y, const double *score, int32_t stride_x, int32_t stride_y,
                     const double *none, double *past) {
  double before[MOST_WORDS + 1], behind[MOST_WORDS + 1];
  int64_t row = n_x + 1;
  for (int64_t span = 0; span < (int64_t)(n_y + 1) * (n_y + 1); span++) past[span * row] = 0;
  for (int32_t x = 0; x < n_x; x++) {
    before[0] = behind[n_y] = none[x];
    for (int32_t y = 0; y < n_y; y++) before[y + 1] = fmax(before[y], score[x * stride_x + y * stride_y]);
    for (int32_t y = n_y; y-- > 0;) behind[y] = fmax(behind[y + 1], score[x * stride_x + y * stride_y]);
    for (int32_t k = 0; k <= n_y; k++)
      for (int32_t l = k; l <= n_y; l++) {
        double *at = past + (int64_t)(k * (n_y + 1) + l) * row + x;
        at[1] = at[0] + fmax(before[k], behind[l]);
      }
  }
}

static void estimate(pair_work *p) {
  int32_t n = p->n, m = p->m;
  int whole = p->model->options.future == LSCFG_FUTURE_WHOLE;
  const double *w = p->weight;
  for (int32_t k = 0; k < n * m; k++) {
    double tgt = w[LSCFG_LEX_TARGET] * p->log_tgt.data[k], src = w[LSCFG_LEX_SOURCE] * p->log_src.data[k];
    p->best_src.data[k] = src + p->linked.data[k] + (whole ? tgt : 0);
    p->best_tgt.data[k] = tgt + (whole ? src + p->linked.data[k] : w[LSCFG_TARGET_WORDS]);
  }
  double none[MOST_WORDS];
  for (int32_t g = 0; g < n; g++) none[g] = w[LSCFG_LEX_SOURCE] * p->null_src.data[g];
  sum_best(n, m, p->best_src.data, m, 1, none, p->past_src.data);
  for (int32_t h = 0; h < m; h++)
    none[h] = w[LSCFG_LEX_TARGET] * p->null_tgt.data[h] + (whole ? 0 : w[LSCFG_TARGET_WORDS]);
  sum_best(m, n, p->best_tgt.data, 1, m, none, p->past_tgt.data);
}

int pair_open(pair_work *p, const lscfg_biparse_model *model, int32_t pair, int first) {
  const lscfg_bitexts *text = model->text;
  p->model = model;
  p->pair = pair;
  p->same = text->same.data[pair];
  p->src = text->words[SRC].data + text->first[SRC].data[pair];
  p->tgt = text->words[TGT].data + text->first[TGT].data[pair];
  p->n = (int32_t)(text->first[SRC].data[pair + 1] - text->first[SRC].data[pair]);
  p->m = (int32_t)(text->first[TGT].data[pair + 1] - text->first[TGT].data[pair]);
  p->scale = first ? 0 : model->scale;
  memcpy(p->weight, model->dense, sizeof p->weight);
  if (first) set_first_weights(p->weight);
  p->has_rules = p->scale != 0 && model->by_rule.of.weight.size > 0;
  if (reserve(p)) return LSCFG_ENOMEM;
  look_up(p);
  fingerprints(p);
  estimate(p);
  return LSCFG_OK;
}

/* ---- word items ---- */

/* Features of a source word with a set of target words, and an estimate of all others. */
static word_item item_of(const pair_work *p, int32_t g, word_set set) {
  int32_t n = p->n, m = p->m, size = set_size(set);
  double base = 0, probability = 0, outside = p->past_src.data[n] - p->past_src.data[g + 1] + p->past_src.data[g];
  const double *others = p->past_tgt.data + (int64_t)(g * (n + 1) + g + 1) * (m + 1);
  outside += others[m];
  for (word_set rest = set; set_any(rest);) {
    int32_t h = set_take(&rest), at = g * m + h;
    base += p->weight[LSCFG_LEX_TARGET] * p->log_tgt.data[at] + p->linked.data[at] + p->weight[LSCFG_TARGET_WORDS];
    probability += p->prob_src.data[at];
    outside -= others[h + 1] - others[h];
  }
  base += p->weight[LSCFG_LEX_SOURCE] * (size == 0   ? p->null_src.data[g]
                                         : size == 1 ? p->log_src.data[g * m + set_first(set)]
                                                     : log(probability / size));
  return (word_item){set, base, base + outside};
}

static int better_item(const void *a, const void *b) {
  const word_item *x = a, *y = b;
  if (x->total != y->total) return x->total > y->total ? -1 : 1;
  return set_order(x->set, y->set);
}

static int64_t number_above(const word_item *items, int64_t n, double total) {
  int64_t above = 0;
  for (int64_t k = 0; k < n; k++) above += items[k].total > total;
  return above;
}

/* The best sets: from the best of each size to those with one more word, which are less good than the others alone. */
static int items_of_word(pair_work *p, int32_t g, int32_t most) {
  int32_t m = p->m;
  int64_t begin = p->items.size;
  word_item single[MOST_WORDS];
  for (int32_t h = 0; h < m; h++) single[h] = item_of(p, g, set_of(h));
  qsort(single, (size_t)m, sizeof *single, better_item);
  if (ARRAY_RESERVE(p->items, 1)) return LSCFG_ENOMEM;
  p->items.data[p->items.size++] = item_of(p, g, (word_set){{0}});
  int64_t first = begin, last = p->items.size; /* the sets of one size */
  while (first < last) {
    for (int64_t at = first; at < last; at++) {
      word_set set = p->items.data[at].set;
      if (ARRAY_RESERVE(p->items, m)) return LSCFG_ENOMEM;
      for (int32_t rank = m; rank-- > 0 && !set_meets(set, single[rank].set);)
        p->items.data[p->items.size++] = set_any(set) ? item_of(p, g, set_or(set, single[rank].set)) : single[rank];
    }
    first = last;
    last = p->items.size;
    qsort(p->items.data + first, (size_t)(last - first), sizeof(word_item), better_item);
    if (last - first > most) last = first + most;
    p->items.size = last;
    if (first < last && number_above(p->items.data + begin, first - begin, p->items.data[first].total) >= most) break;
  }
  qsort(p->items.data + begin, (size_t)(last - begin), sizeof(word_item), better_item);
  if (last - begin > most) p->items.size = begin + most;
  p->of_word[g] = (choices){(int32_t)begin, (int32_t)(p->items.size - begin)};
  return LSCFG_OK;
}

int pair_word_items(pair_work *p, int32_t most) {
  p->items.size = 0;
  for (int32_t g = 0; g < p->n; g++)
    if (items_of_word(p, g, most)) return LSCFG_ENOMEM;
  return LSCFG_OK;
}
