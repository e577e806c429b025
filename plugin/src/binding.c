/* Which tensor belongs to which rule of a grammar. */
#include "compose.h"
#include "forest.h"

static int32_t *words_in_model(const lscfg_model *model, const lscfg_grammar *g) {
  int32_t n = lscfg_vocab_size(g->vocab);
  int32_t *ids = malloc(((size_t)n + 1) * sizeof *ids);
  if (!ids) return NULL;
  memset(ids, 0xff, ((size_t)n + 1) * sizeof *ids);
  for (int64_t w = 0; w < model->n_words; w++) {
    int64_t begin = model->word_offsets[w];
    int32_t id = lscfg_vocab_find(g->vocab, (const char *)model->word_bytes + begin,
                                  (size_t)(model->word_offsets[w + 1] - begin));
    if (id >= 0) ids[id] = (int32_t)w;
  }
  return ids;
}

/* The rule's symbols in the model's numbers; 0 if the model cannot know the rule. */
static int translate(const lscfg_grammar *g, const grammar_rule *rule, const int32_t *ids, int32_t *symbols) {
  if (rule->lhs != CATEGORY_X) return 0;
  for (int32_t k = 0; k < rule->n_src + rule->n_tgt; k++) {
    int32_t symbol = g->symbols.data[rule->src + k]; /* the target side follows the source side */
    if (symbol >= 0 && ids[symbol] < 0) return 0;
    if (k < rule->n_src && symbol < 0 && symbol != category_symbol(CATEGORY_X)) return 0;
    symbols[k] = symbol < 0 ? symbol : ids[symbol];
  }
  return 1;
}

/* Gives the rules without a tensor what the options say. */
static void supply_unknown(lscfg_binding *b) {
  for (int32_t r = 0; r < lscfg_grammar_size(b->grammar); r++) {
    if (b->rule_kind[r] != LSCFG_RULE_IS_ZERO) continue;
    int32_t composite = b->composition ? b->composition->of_rule[r] : -1;
    if (composite >= 0) {
      int oov = b->composition->composites.data[composite].oov_parts > 0;
      b->rule_kind[r] = oov ? LSCFG_RULE_IS_COMPOSED_OOV : LSCFG_RULE_IS_COMPOSED;
    } else if (b->options.oov && !b->grammar->rules.data[r].arity) {
      b->rule_tensor[r] = b->model->unk;
      b->rule_kind[r] = LSCFG_RULE_IS_OOV;
    }
  }
}

static int bind_rules(lscfg_binding *b, rule_table *known, rule_table *targets) {
  const lscfg_grammar *g = b->grammar;
  const lscfg_model *model = b->model;
  int32_t longest = 0, n = lscfg_grammar_size(g);
  for (int32_t r = 0; r < n; r++) {
    const grammar_rule *rule = &g->rules.data[r];
    if (rule->n_src + rule->n_tgt > longest) longest = rule->n_src + rule->n_tgt;
  }
  int32_t *ids = words_in_model(model, g), *symbols = malloc(((size_t)longest + 1) * sizeof *symbols);
  if (!ids || !symbols) {
    free(ids);
    free(symbols);
    return LSCFG_ENOMEM;
  }
  int code = LSCFG_OK;
  for (int64_t r = 0; r < model->n_rules && !code; r++)
    code = rule_table_intern(known, model->symbols + model->rule_offsets[r], model->src_length[r],
                             (int32_t)(model->rule_offsets[r + 1] - model->rule_offsets[r]), 0) < 0;
  for (int32_t r = 0; r < n && !code; r++) {
    const grammar_rule *rule = &g->rules.data[r];
    b->rule_target[r] = rule_table_intern(targets, g->symbols.data + rule->tgt, 0, rule->n_tgt, 0);
    b->rule_kind[r] = rule->lhs == CATEGORY_X ? LSCFG_RULE_IS_ZERO : LSCFG_RULE_IS_STATELESS;
    code = b->rule_target[r] < 0;
    if (code || !translate(g, rule, ids, symbols)) continue;
    int32_t k = rule_table_find(known, symbols, rule->n_src, rule->n_src + rule->n_tgt);
    if (k < 0) continue;
    int64_t row = k - model->first_of_arity[rule->arity];
    b->rule_tensor[r] = model->tensor[rule->arity] + row * tensor_length(model->rank, rule->arity);
    b->rule_kind[r] = LSCFG_RULE_IS_KNOWN;
  }
  if (!code && b->options.compose)
    code = !(b->composition = composition_new(b, known, ids, b->options.oov_parts));
  if (!code) supply_unknown(b);
  b->n_targets = (int32_t)rule_table_size(targets);
  free(ids);
  free(symbols);
  return code ? LSCFG_ENOMEM : LSCFG_OK;
}

static int sum_groups(lscfg_binding *b) {
  const lscfg_grammar *g = b->grammar;
  int64_t total = 0;
  for (int64_t i = 0; i < g->groups.size; i++) {
    const grammar_group *group = &g->groups.data[i];
    int32_t terms = 0;
    for (int32_t k = group->rules_begin; k < group->rules_end; k++) {
      terms += b->rule_tensor[g->by_source[k]] != NULL;
    }
    if (terms > 1) total += tensor_length(b->model->rank, g->rules.data[g->by_source[group->rules_begin]].arity);
  }
  if (!(b->sums = calloc((size_t)total + 1, sizeof *b->sums))) return LSCFG_ENOMEM;
  double *next = b->sums;
  for (int64_t i = 0; i < g->groups.size; i++) {
    const grammar_group *group = &g->groups.data[i];
    int64_t length = tensor_length(b->model->rank, g->rules.data[g->by_source[group->rules_begin]].arity);
    double *sum = NULL;
    for (int32_t k = group->rules_begin; k < group->rules_end; k++) {
      const double *tensor = b->rule_tensor[g->by_source[k]];
      if (!tensor) continue;
      if (!b->group_tensor[i]) {
        b->group_tensor[i] = tensor;
        continue;
      }
      if (!sum) {
        sum = next;
        next += length;
        memcpy(sum, b->group_tensor[i], (size_t)length * sizeof *sum);
        b->group_tensor[i] = sum;
      }
      for (int64_t x = 0; x < length; x++) sum[x] += tensor[x];
    }
  }
  return LSCFG_OK;
}

/* The binding of expanded forests. */
static int make_inner(lscfg_binding *b) {
  int64_t n = lscfg_grammar_size(b->grammar), n_model = b->model->n_rules;
  lscfg_binding *inner = b->inner = calloc(1, sizeof *inner);
  lscfg_grammar *sizes = calloc(1, sizeof *sizes);
  if (!inner) free(sizes);
  if (!inner || !sizes) return LSCFG_ENOMEM;
  sizes->rules.size = n + 1 + n_model;
  *inner = (lscfg_binding){.model = b->model, .grammar = sizes, .group_tensor = b->group_tensor, .rule_group = b->rule_group};
  inner->rule_tensor = malloc((size_t)(n + 1 + n_model) * sizeof *inner->rule_tensor);
  if (!inner->rule_tensor) return LSCFG_ENOMEM;
  memcpy(inner->rule_tensor, b->rule_tensor, (size_t)n * sizeof *inner->rule_tensor);
  inner->rule_tensor[n] = b->model->unk;
  for (int32_t arity = 0; arity <= MAX_ARITY; arity++)
    for (int64_t k = b->model->first_of_arity[arity]; k < b->model->first_of_arity[arity + 1]; k++)
      inner->rule_tensor[n + 1 + k] =
          b->model->tensor[arity] + (k - b->model->first_of_arity[arity]) * tensor_length(b->model->rank, arity);
  return LSCFG_OK;
}

int lscfg_binding_new(const lscfg_model *model, const lscfg_grammar *g, const lscfg_binding_options *options,
                      lscfg_binding **made, lscfg_error *error) {
  rule_table known = {0}, targets = {0};
  int32_t n = lscfg_grammar_size(g);
  *made = NULL;
  if (!g->finished) return lscfg_fail(error, LSCFG_EINPUT, 0, "the grammar is not finished");
  if (n + model->n_rules >= INT32_MAX - 1 - LSCFG_EXTRA_RULES)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "model and grammar have more than 2^31 rules");
  lscfg_binding *b = calloc(1, sizeof *b);
  if (!b) return out_of_memory(error);
  b->model = model;
  b->grammar = g;
  if (options) b->options = *options;
  b->rule_tensor = calloc((size_t)n + 1, sizeof *b->rule_tensor);
  b->group_tensor = calloc((size_t)g->groups.size + 1, sizeof *b->group_tensor);
  b->rule_group = g->rule_group;
  b->rule_target = malloc(((size_t)n + 1) * sizeof *b->rule_target);
  b->rule_kind = calloc((size_t)n + 1, sizeof *b->rule_kind);
  int code = LSCFG_ENOMEM;
  if (b->rule_tensor && b->group_tensor && b->rule_target && b->rule_kind && !rule_table_init(&known) &&
      !rule_table_init(&targets))
    code = bind_rules(b, &known, &targets) || sum_groups(b) || make_inner(b) ? LSCFG_ENOMEM : LSCFG_OK;
  rule_table_release(&known);
  rule_table_release(&targets);
  if (code) {
    lscfg_binding_free(b);
    return out_of_memory(error);
  }
  *made = b;
  return LSCFG_OK;
}

void lscfg_binding_free(lscfg_binding *b) {
  if (!b) return;
  free(b->rule_tensor);
  free(b->group_tensor);
  free(b->rule_target);
  free(b->rule_kind);
  free(b->sums);
  composition_free(b->composition);
  if (b->inner) {
    free((lscfg_grammar *)b->inner->grammar);
    free(b->inner->rule_tensor);
    free(b->inner);
  }
  free(b);
}

int32_t lscfg_binding_known(const lscfg_binding *b) {
  int32_t known = 0;
  for (int32_t r = 0; r < lscfg_grammar_size(b->grammar); r++) known += b->rule_kind[r] == LSCFG_RULE_IS_KNOWN;
  return known;
}

const uint8_t *lscfg_binding_kinds(const lscfg_binding *b) { return b->rule_kind; }

int binding_check_forest(const lscfg_binding *b, const lscfg_forest *f, lscfg_error *error) {
  int32_t n = lscfg_grammar_size(b->grammar) + LSCFG_EXTRA_RULES;
  if (!f->node_cat.size) return lscfg_fail(error, LSCFG_EINPUT, 0, "the forest has no nodes, or is not finished");
  for (int64_t a = 0; a < f->app_rule.size; a++)
    if (f->app_rule.data[a] < 0 || f->app_rule.data[a] >= n)
      return lscfg_fail(error, LSCFG_EINPUT, 0, "the forest is not one of this grammar: it has a rule %ld",
                        (long)f->app_rule.data[a]);
  return LSCFG_OK;
}
