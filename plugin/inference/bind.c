/* Binds the rules of a grammar to tensors of a model. */
#include "inference/bind.h"
#include "inference/compose.h"
#include "inference/sums.h"
#include "forest/extra_rules.h"
#include "forest/forest.h"
#include <math.h>

/* [vocabulary of the grammar] numbers of its words in the vocabulary of other rules, -1: none; missing words may be
 * added to the grammar. */
static int32_t *words_in(const lscfg_rules *rules, const lscfg_grammar *g, int add) {
  size_t n = (size_t)lscfg_vocab_size(g->vocab) + (add ? (size_t)rules->n_words : 0);
  int32_t *ids = malloc((n + 1) * sizeof *ids);
  if (!ids) return NULL;
  memset(ids, 0xff, (n + 1) * sizeof *ids);
  for (int64_t w = 0; w < rules->n_words; w++) {
    const char *word = rules->words + rules->word_offsets[w];
    size_t length = (size_t)(rules->word_offsets[w + 1] - rules->word_offsets[w]);
    int32_t id = add ? lscfg_vocab_add(g->vocab, word, length) : lscfg_vocab_find(g->vocab, word, length);
    if (id >= 0) {
      ids[id] = (int32_t)w;
    } else if (add) {
      free(ids);
      return NULL;
    }
  }
  return ids;
}

static int bind_categories(lscfg_binding *b) {
  b->n_categories = lscfg_grammar_n_categories(b->grammar);
  b->category = malloc(((size_t)b->n_categories + 1) * sizeof *b->category);
  for (int32_t c = 0; b->category && c < b->n_categories; c++) {
    size_t length;
    const char *name = lscfg_grammar_category_name(b->grammar, c, &length);
    b->category[c] = model_category(b->model, name, length);
  }
  return b->category ? LSCFG_OK : LSCFG_ENOMEM;
}

/* The rule's symbols in the model's numbers, nonterminals by their categories or as those of [X]; 0 if the model cannot
 * contain the rule. */
static int translate(const lscfg_binding *b, const grammar_rule *rule, const int32_t *ids, int by_category,
                     int32_t *symbols) {
  const lscfg_grammar *g = b->grammar;
  if (binding_category(b, rule->lhs) < 0) return 0;
  for (int32_t k = 0; k < rule->n_src + rule->n_tgt; k++) {
    int32_t symbol = g->symbols.data[rule->src + k]; /* the target side follows the source side */
    if (symbol >= 0 && ids[symbol] < 0) return 0;
    symbols[k] = symbol < 0 ? symbol : ids[symbol];
    if (k >= rule->n_src || symbol >= 0) continue;
    int32_t category = binding_category(b, category_symbol(symbol));
    if (category < 0) return 0;
    symbols[k] = category_symbol(by_category ? category : 0);
  }
  return 1;
}

/* True for a word that is its own translation. A model of several categories that lacks such a rule takes the word for
 * an unknown one: a grammar for cdec or Moses passes such words through by rules. */
static int is_copy(const lscfg_grammar *g, const grammar_rule *rule) {
  return rule->n_src == 1 && rule->n_tgt == 1 && !rule->arity &&
         g->symbols.data[rule->src] == g->symbols.data[rule->tgt];
}

static int32_t longest_rule(const lscfg_grammar *g) {
  int32_t longest = 0;
  for (int32_t r = 0; r < lscfg_grammar_size(g); r++) {
    const grammar_rule *rule = &g->rules.data[r];
    if (rule->n_src + rule->n_tgt > longest) longest = rule->n_src + rule->n_tgt;
  }
  return longest;
}

/* [n_rules] The number of each rule in an index, -1: none. ids, by_category: see translate. */
static int find_rules(const lscfg_binding *b, const rule_index *index, const int32_t *ids, int by_category,
                      int32_t *found) {
  const lscfg_grammar *g = b->grammar;
  int32_t n = lscfg_grammar_size(g), longest = longest_rule(g), which[RULES_AT_ONCE], numbers[RULES_AT_ONCE];
  int32_t *symbols = malloc((RULES_AT_ONCE * (size_t)longest + 1) * sizeof *symbols);
  if (!symbols) return LSCFG_ENOMEM;
  for (int32_t begin = 0; begin < n; begin += RULES_AT_ONCE) {
    rule_query queries[RULES_AT_ONCE];
    int32_t end = n - begin < RULES_AT_ONCE ? n : begin + RULES_AT_ONCE, asked = 0;
    for (int32_t r = begin; r < end; r++) {
      const grammar_rule *rule = &g->rules.data[r];
      int32_t *own = symbols + (int64_t)asked * longest;
      found[r] = -1;
      if (!translate(b, rule, ids, by_category, own)) continue;
      queries[asked] = (rule_query){own, rule->n_src, rule->n_src + rule->n_tgt, binding_category(b, rule->lhs)};
      which[asked++] = r;
    }
    rule_index_find_all(index, queries, asked, numbers);
    for (int32_t k = 0; k < asked; k++) found[which[k]] = numbers[k];
  }
  free(symbols);
  return LSCFG_OK;
}

static int bind_rules(lscfg_binding *b) {
  const lscfg_grammar *g = b->grammar;
  const lscfg_model *model = b->model;
  int32_t *ids = words_in(&model->rules, g, 0), unknown = 0;
  if (!ids || find_rules(b, &model->index, ids, 1, b->rule_row)) {
    free(ids);
    return LSCFG_ENOMEM;
  }
  for (int32_t r = 0; r < b->n_rules; r++) {
    const grammar_rule *rule = &g->rules.data[r];
    int32_t number = b->rule_row[r];
    b->rule_row[r] = NO_ROW;
    if (binding_category(b, rule->lhs) < 0) continue;
    b->n_known += number >= 0;
    if (number >= 0)
      b->rule_row[r] = (int32_t)(number - model->first_of_arity[rule->arity]);
    else if (b->options.compose && !model->lhs && rule->arity <= MAX_TENSOR_ARITY)
      unknown = 1;
    else if ((model->lhs && is_copy(g, rule)) || (b->options.oov && !rule->arity))
      b->rule_row[r] = OOV_ROW;
  }
  if (!unknown) {
    free(ids);
    return LSCFG_OK;
  }
  b->composition = composition_new(b, ids);
  if (!b->composition) free(ids);
  return b->composition ? LSCFG_OK : LSCFG_ENOMEM;
}

static int bind_context(lscfg_binding *b) {
  const context_model *context = b->model->context;
  if (!context) return LSCFG_OK;
  /* all of them are added, so that it does not matter which words the vocabulary happens to have */
  b->word_in_context = words_in(&context->rules, b->grammar, 1);
  b->n_vocab = lscfg_vocab_size(b->grammar->vocab);
  b->context_rule = malloc(((size_t)b->n_rules + 1) * sizeof *b->context_rule);
  if (!b->word_in_context || !b->context_rule) return LSCFG_ENOMEM;
  return find_rules(b, &context->index, b->word_in_context, 0, b->context_rule);
}

static int bind_boundary(lscfg_binding *b) {
  if (!b->model->has_boundary) return LSCFG_OK;
  b->word_in_boundary = words_in(&b->model->boundary.vocabulary, b->grammar, 1);
  b->n_boundary_vocab = lscfg_vocab_size(b->grammar->vocab);
  return b->word_in_boundary ? LSCFG_OK : LSCFG_ENOMEM;
}

static int bind_sides(const lscfg_binding *b, const lscfg_rules vocabularies[2], side_words *words) {
  for (int side = 0; side < 2; side++) {
    words->number[side] = words_in(&vocabularies[side], b->grammar, 1);
    words->n[side] = lscfg_vocab_size(b->grammar->vocab);
    if (!words->number[side]) return LSCFG_ENOMEM;
  }
  return LSCFG_OK;
}

static int bind_parts(lscfg_binding *b) {
  const lscfg_model *model = b->model;
  if (model->neural && bind_sides(b, model->neural_words, &b->neural)) return LSCFG_ENOMEM;
  return model->orientation ? bind_sides(b, model->orientation_words, &b->orientation) : LSCFG_OK;
}

/* The binding of expanded forests. */
static int make_inner(lscfg_binding *b) {
  const lscfg_model *model = b->model;
  int32_t n = b->n_rules, n_inner = n + 1 + (int32_t)model->n_rules;
  lscfg_binding *inner = b->inner = calloc(1, sizeof *inner);
  if (!inner) return LSCFG_ENOMEM;
  *inner = (lscfg_binding){.model = model,
                           .grammar = b->grammar,
                           .loops = b->loops,
                           .n_rules = n_inner,
                           .rule_group = b->rule_group,
                           .category = b->category,
                           .n_categories = b->n_categories,
                           .sums = b->sums,
                           .rule_row = malloc((size_t)n_inner * sizeof *inner->rule_row)};
  if (!inner->rule_row) return LSCFG_ENOMEM;
  memcpy(inner->rule_row, b->rule_row, (size_t)n * sizeof *inner->rule_row);
  inner->rule_row[n] = OOV_ROW;
  for (int32_t arity = 0; arity <= MAX_TENSOR_ARITY; arity++)
    for (int64_t k = model->first_of_arity[arity]; k < model->first_of_arity[arity + 1]; k++)
      inner->rule_row[n + 1 + k] = (int32_t)(k - model->first_of_arity[arity]);
  return LSCFG_OK;
}

/* The binding of the model with one state, which shares all but tensors and their sums with this one. */
static int make_one_state(lscfg_binding *b) {
  if (!b->model->one_state) return LSCFG_OK;
  lscfg_binding *one = malloc(sizeof *one), *inner = malloc(sizeof *inner);
  group_sums *sums = group_sums_new(b->grammar->groups.size);
  if (!one || !inner || !sums) {
    free(one);
    free(inner);
    group_sums_free(sums);
    return LSCFG_ENOMEM;
  }
  *inner = *b->inner;
  *one = *b;
  one->model = inner->model = b->model->one_state;
  one->sums = inner->sums = sums;
  one->inner = inner;
  b->one_state = one;
  return LSCFG_OK;
}

int lscfg_binding_new(const lscfg_model *model, const lscfg_grammar *g, const lscfg_binding_options *options,
                      lscfg_binding **made, lscfg_error *error) {
  int32_t n = lscfg_grammar_size(g);
  *made = NULL;
  if (!g->finished)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "the grammar is not finished; call finish after its last rule");
  if (refuse_layer(g, error)) return LSCFG_EINPUT;
  if (n + model->n_rules >= INT32_MAX - 1 - LSCFG_EXTRA_RULES)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "model and grammar have more than 2^31 rules");
  lscfg_binding *b = calloc(1, sizeof *b);
  if (!b) return out_of_memory(error);
  b->model = model;
  b->grammar = g;
  if (options) b->options = *options;
  b->loops = contraction_find(NULL);
  b->n_rules = n;
  b->rule_row = malloc(((size_t)n + 1) * sizeof *b->rule_row);
  b->sums = group_sums_new(g->groups.size);
  b->rule_group = g->rule_group;
  int failed = !b->rule_row || !b->sums || bind_categories(b) || bind_rules(b) || bind_context(b) ||
               bind_boundary(b) || bind_parts(b) || make_inner(b) || make_one_state(b);
  if (failed) {
    lscfg_binding_free(b);
    return out_of_memory(error);
  }
  *made = b;
  return LSCFG_OK;
}

void lscfg_binding_free(lscfg_binding *b) {
  if (!b) return;
  if (b->one_state) {
    group_sums_free(b->one_state->sums);
    free(b->one_state->inner);
    free(b->one_state);
  }
  group_sums_free(b->sums);
  free(b->rule_row);
  free(b->category);
  free(b->context_rule);
  free(b->word_in_context);
  free(b->word_in_boundary);
  for (int side = 0; side < 2; side++) {
    free(b->neural.number[side]);
    free(b->orientation.number[side]);
  }
  composition_free(b->composition);
  if (b->inner) free(b->inner->rule_row);
  free(b->inner);
  free(b);
}

int lscfg_binding_use(lscfg_binding *b, const char *instructions, lscfg_error *error) {
  const contraction *loops = contraction_find(instructions);
  if (!loops) return lscfg_fail(error, LSCFG_EINPUT, 0, "this machine has no %s", instructions);
  b->loops = b->inner->loops = loops;
  if (b->one_state) b->one_state->loops = b->one_state->inner->loops = loops;
  return LSCFG_OK;
}

const char *lscfg_binding_instructions(const lscfg_binding *b) { return b->loops->name; }

int32_t lscfg_binding_known(const lscfg_binding *b) { return b->n_known; }

int32_t lscfg_binding_passed(const lscfg_binding *b, int32_t *passed) {
  int32_t n = 0;
  for (int32_t c = 0; c < b->n_categories; c++) {
    int32_t category = c == CATEGORY_X || c == CATEGORY_S ? -1 : b->category[c];
    double largest = 0;
    for (int32_t h = 0; category >= 0 && h < b->model->rank; h++)
      if (fabs(model_unk(b->model, category)[h]) > largest) largest = fabs(model_unk(b->model, category)[h]);
    if (largest > 0) passed[n++] = c;
  }
  return n;
}

int lscfg_binding_kinds(const lscfg_binding *b, uint8_t *kinds, lscfg_error *error) {
  for (int32_t r = 0; r < lscfg_grammar_size(b->grammar); r++) {
    kinds[r] = LSCFG_RULE_IS_ZERO;
    if (b->composition && composition_kind(b, r, &kinds[r])) return out_of_memory(error);
    if (binding_category(b, b->grammar->rules.data[r].lhs) < 0)
      kinds[r] = LSCFG_RULE_IS_STATELESS;
    else if (b->rule_row[r] != NO_ROW)
      kinds[r] = b->rule_row[r] == OOV_ROW ? LSCFG_RULE_IS_OOV : LSCFG_RULE_IS_KNOWN;
  }
  return LSCFG_OK;
}

/* Nonterminals of a rule, of the extra ones too; -1 where it may have any number. */
static int32_t arity_of(const lscfg_grammar *g, int32_t rule) {
  int32_t extra = rule - lscfg_grammar_size(g);
  return extra < 0 ? g->rules.data[rule].arity : extra_arity(extra);
}

int binding_check_forest(const lscfg_binding *b, const lscfg_forest *f, lscfg_error *error) {
  if (!f->node_cat.size) return lscfg_fail(error, LSCFG_EINPUT, 0, "the forest has no nodes, or is not finished");
  for (int32_t e = 0; e < f->edge_head.size; e++) {
    int32_t n_tails = forest_n_tails(f, e);
    for (int32_t a = f->edge_apps.data[e]; a < f->edge_apps.data[e + 1]; a++) {
      int32_t rule = f->app_rule.data[a], in_range = rule >= 0 && rule < b->n_rules + LSCFG_EXTRA_RULES;
      int32_t arity =
          in_range && b->inner ? arity_of(b->grammar, rule) : -1; /* rules of expanded forests are the model's */
      if (!in_range || (arity >= 0 && arity != n_tails))
        return lscfg_fail(error, LSCFG_EINPUT, 0, "the forest is not one of this grammar: it has a rule %ld%s",
                          (long)rule, in_range ? " of another number of nonterminals" : "");
    }
  }
  return LSCFG_OK;
}
