/* The model file, mapped and validated. */
#include "context.h"
#include "model.h"

#include <math.h>

static int check_values(const char *name, const void *values, int single, int64_t n, lscfg_error *error) {
  for (int64_t k = 0; k < n; k++)
    if (!isfinite(single ? (double)((const float *)values)[k] : ((const double *)values)[k]))
      return lscfg_fail(error, LSCFG_EINPUT, 0, "tensor '%s' holds a value that is not finite", name);
  return LSCFG_OK;
}

static int check_offsets(const char *name, const int64_t *offsets, int64_t n, int64_t end, lscfg_error *error) {
  for (int64_t k = 0; k < n; k++)
    if (offsets[k] > offsets[k + 1]) return lscfg_fail(error, LSCFG_EINPUT, 0, "'%s' is not in order", name);
  if (offsets[0] || offsets[n] != end)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "'%s' does not cover what it points into", name);
  return LSCFG_OK;
}

/* Of files that do not say, the first. */
static int check_format(const lscfg_model *model, lscfg_error *error) {
  size_t length;
  const char *format = tensor_file_metadata(&model->file, "format", &length);
  if (!format || (length == 1 && *format == '1')) return LSCFG_OK;
  return lscfg_fail(error, LSCFG_EINPUT, 0, "the model has format %.*s, and this version of lscfg reads format 1; update it",
                    length < 20 ? (int)length : 20, format);
}

static int map_words(lscfg_model *model, lscfg_error *error) {
  tensor_view bytes, offsets;
  int code = tensor_file_get(&model->file, "vocab.bytes", "U8", 1, &bytes, error);
  if (!code) code = tensor_file_get(&model->file, "vocab.offsets", "I64", 1, &offsets, error);
  if (code) return code;
  if (offsets.shape[0] < 1) return lscfg_fail(error, LSCFG_EINPUT, 0, "'vocab.offsets' is empty");
  model->word_bytes = bytes.data;
  model->word_offsets = offsets.data;
  model->n_words = offsets.shape[0] - 1;
  return check_offsets("vocab.offsets", model->word_offsets, model->n_words, bytes.shape[0], error);
}

static int map_full(lscfg_model *model, int32_t arity, int64_t *n, lscfg_error *error) {
  static const char *const names[] = {"C0", "C1", "C2"};
  tensor_view view;
  int code = tensor_file_get(&model->file, names[arity], model->single ? "F32" : "F64", arity + 2, &view, error);
  if (code) return code;
  for (int32_t k = 1; k < arity + 2; k++)
    if (view.shape[k] != model->rank)
      return lscfg_fail(error, LSCFG_EINPUT, 0, "'%s' and 'CS' differ in the number of states", names[arity]);
  model->tensor[arity] = view.data;
  *n = view.shape[0];
  return LSCFG_OK;
}

static int map_components(lscfg_model *model, int64_t *n, lscfg_error *error) {
  tensor_view components, factors;
  int code = tensor_file_get(&model->file, "C2.components", "I64", 1, &components, error);
  if (!code) code = tensor_file_get(&model->file, "C2.factors", "F32", 3, &factors, error);
  if (code) return code;
  if (factors.shape[1] != 3 || factors.shape[2] != model->rank)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "'C2.factors' and 'CS' differ in the number of states");
  if (components.shape[0] < 1) return lscfg_fail(error, LSCFG_EINPUT, 0, "'C2.components' is empty");
  model->components = components.data;
  model->factors = factors.data;
  *n = components.shape[0] - 1;
  return check_offsets("C2.components", model->components, *n, factors.shape[0], error);
}

static int map_tensors(lscfg_model *model, lscfg_error *error) {
  tensor_view view;
  int code = tensor_file_get(&model->file, "CS", "F64", 1, &view, error);
  if (code) return code;
  if (view.shape[0] < 1 || view.shape[0] > 1024)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "%lld hidden states; 1 to 1024 are possible", (long long)view.shape[0]);
  model->rank = (int32_t)view.shape[0];
  model->root = view.data;
  if ((code = check_values("CS", model->root, 0, model->rank, error))) return code;
  if ((code = tensor_file_get(&model->file, "unk", "F64", 1, &view, error))) return code;
  if (view.shape[0] != model->rank) return lscfg_fail(error, LSCFG_EINPUT, 0, "'unk' and 'CS' differ in length");
  model->unk = view.data;
  if ((code = check_values("unk", model->unk, 0, model->rank, error))) return code;
  model->single = tensor_file_has(&model->file, "C0", "F32");
  for (int32_t arity = 0; arity <= MAX_ARITY; arity++) {
    int64_t n = 0;
    if (arity == 2 && tensor_file_has(&model->file, "C2.components", "I64"))
      code = map_components(model, &n, error);
    else
      code = map_full(model, arity, &n, error);
    if (code) return code;
    model->first_of_arity[arity + 1] = model->first_of_arity[arity] + n;
  }
  /* larger tensors are looked at when they are first needed: to read them all would cost more than a sentence does */
  if ((code = check_values("C0", model->tensor[0], model->single, model->first_of_arity[1] * model->rank, error)))
    return code;
  model->n_rules = model->first_of_arity[MAX_ARITY + 1];
  return model->n_rules <= INT32_MAX ? LSCFG_OK : lscfg_fail(error, LSCFG_EINPUT, 0, "more than 2^31 rules");
}

static int check_rule(const lscfg_model *model, int64_t rule, int32_t arity, lscfg_error *error) {
  const int32_t *symbols = model->symbols + model->rule_offsets[rule];
  int64_t n = model->rule_offsets[rule + 1] - model->rule_offsets[rule], n_src = model->src_length[rule];
  int32_t found = 0, linked = 0;
  int ok = n_src >= 1 && n_src <= n && n <= INT32_MAX;
  for (int64_t k = 0; k < n && ok; k++) {
    ok = symbols[k] < model->n_words && symbols[k] >= (k < n_src ? -1 : -arity);
    if (symbols[k] >= 0 || !ok) continue;
    if (k < n_src) found++;
    else if (linked & (1 << (-1 - symbols[k]))) ok = 0;
    else linked |= 1 << (-1 - symbols[k]);
  }
  if (ok && found == arity && linked == (1 << arity) - 1) return LSCFG_OK;
  return lscfg_fail(error, LSCFG_EINPUT, 0, "rule %lld of the model is malformed", (long long)rule);
}

static int map_rules(lscfg_model *model, lscfg_error *error) {
  tensor_view symbols, offsets, lengths;
  int code = tensor_file_get(&model->file, "rules.symbols", "I32", 1, &symbols, error);
  if (!code) code = tensor_file_get(&model->file, "rules.offsets", "I64", 1, &offsets, error);
  if (!code) code = tensor_file_get(&model->file, "rules.src_length", "I32", 1, &lengths, error);
  if (code) return code;
  if (offsets.shape[0] != model->n_rules + 1 || lengths.shape[0] != model->n_rules)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "the model has %lld tensors, but %lld rules", (long long)model->n_rules,
                      (long long)lengths.shape[0]);
  model->symbols = symbols.data;
  model->rule_offsets = offsets.data;
  model->src_length = lengths.data;
  code = check_offsets("rules.offsets", model->rule_offsets, model->n_rules, symbols.shape[0], error);
  for (int32_t arity = 0; arity <= MAX_ARITY && !code; arity++)
    for (int64_t r = model->first_of_arity[arity]; r < model->first_of_arity[arity + 1] && !code; r++)
      code = check_rule(model, r, arity, error);
  return code;
}

/* Once for all bindings: grammars of single sentences are many, and each has only some hundred rules. */
static int index_rules(lscfg_model *model, lscfg_error *error) {
  if (rule_table_init(&model->index) || rule_table_init(&model->sources)) return out_of_memory(error);
  for (int64_t r = 0; r < model->n_rules; r++) {
    const int32_t *symbols = model->symbols + model->rule_offsets[r];
    int32_t n = (int32_t)(model->rule_offsets[r + 1] - model->rule_offsets[r]), n_src = model->src_length[r];
    int32_t found = rule_table_intern(&model->index, symbols, n_src, n, 0);
    if (found < 0 || rule_table_intern(&model->sources, symbols, n_src, n_src, 0) < 0) return out_of_memory(error);
    if (found < r)
      return lscfg_fail(error, LSCFG_EINPUT, 0, "the model's rules %ld and %lld are the same", (long)found, (long long)r);
  }
  return LSCFG_OK;
}

/* The model of one state, if the file has it. */
static int map_one_state(lscfg_model *model, lscfg_error *error) {
  static const double root = 1;
  tensor_view rules, unk;
  if (!tensor_file_has(&model->file, "one.rules", "F64")) return LSCFG_OK;
  int code = tensor_file_get(&model->file, "one.rules", "F64", 1, &rules, error);
  if (!code) code = tensor_file_get(&model->file, "one.unk", "F64", 1, &unk, error);
  if (code) return code;
  if (rules.shape[0] != model->n_rules || unk.shape[0] != 1)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "'one.rules' and 'one.unk' do not fit the model's rules");
  code = check_values("one.rules", rules.data, 0, rules.shape[0], error);
  if (!code) code = check_values("one.unk", unk.data, 0, 1, error);
  if (code) return code;
  lscfg_model *one = model->one_state = malloc(sizeof *one);
  if (!one) return out_of_memory(error);
  *one = *model;
  one->rank = 1;
  one->root = &root;
  one->unk = unk.data;
  one->single = 0;
  one->components = NULL;
  one->one_state = NULL;
  for (int32_t arity = 0; arity <= MAX_ARITY; arity++)
    one->tensor[arity] = (const double *)rules.data + model->first_of_arity[arity];
  return LSCFG_OK;
}

/* The weights of words around a rule, if the file has them. */
static int map_context(lscfg_model *model, lscfg_error *error) {
  tensor_view offsets, items, weights;
  int64_t outcomes = model->n_rules + model->n_words;
  if (!tensor_file_has(&model->file, "context.weights", "F32")) return LSCFG_OK;
  int code = tensor_file_get(&model->file, "context.weights", "F32", 1, &weights, error);
  if (!code) code = tensor_file_get(&model->file, "context.items", "I32", 1, &items, error);
  if (!code) code = tensor_file_get(&model->file, "context.offsets", "I64", 1, &offsets, error);
  if (code) return code;
  if (offsets.shape[0] != outcomes + 1 || items.shape[0] != weights.shape[0])
    return lscfg_fail(error, LSCFG_EINPUT, 0, "'context.offsets' and 'context.items' do not fit the model's rules and words");
  code = check_offsets("context.offsets", offsets.data, outcomes, items.shape[0], error);
  if (!code) code = check_values("context.weights", weights.data, 1, weights.shape[0], error);
  int64_t end = CONTEXT_KINDS * (model->n_words + 2);
  for (int64_t k = 0; k < items.shape[0] && !code; k++) {
    int32_t item = ((const int32_t *)items.data)[k];
    if (item < 0 || item >= end) code = lscfg_fail(error, LSCFG_EINPUT, 0, "'context.items' holds %ld", (long)item);
  }
  model->context_offsets = offsets.data;
  model->context_items = items.data;
  model->context_weights = weights.data;
  return code;
}

int lscfg_model_open(const char *path, lscfg_model **opened, lscfg_error *error) {
  lscfg_model *model = calloc(1, sizeof *model);
  *opened = NULL;
  if (!model) return out_of_memory(error);
  int code = tensor_file_open(&model->file, path, error);
  if (!code) code = check_format(model, error);
  if (!code) code = map_tensors(model, error);
  if (!code) code = map_words(model, error);
  if (!code) code = map_rules(model, error);
  if (!code) code = map_context(model, error);
  if (!code) code = index_rules(model, error);
  if (!code) code = map_one_state(model, error);
  if (code) {
    lscfg_model_close(model);
    return code;
  }
  *opened = model;
  return LSCFG_OK;
}

void lscfg_model_close(lscfg_model *model) {
  if (!model) return;
  tensor_file_close(&model->file);
  rule_table_release(&model->index);
  rule_table_release(&model->sources);
  free(model->one_state);
  free(model);
}

int32_t lscfg_model_rank(const lscfg_model *model) { return model->rank; }
int32_t lscfg_model_size(const lscfg_model *model) { return (int32_t)model->n_rules; }

int lscfg_model_add_rules(const lscfg_model *model, lscfg_grammar *g, lscfg_error *error) {
  int code = LSCFG_ENOMEM;
  ARRAY(int32_t) symbols = {0};
  int32_t *ids = malloc(((size_t)model->n_words + 1) * sizeof *ids);
  if (!ids) goto done;
  for (int64_t w = 0; w < model->n_words; w++) {
    int64_t begin = model->word_offsets[w];
    ids[w] = lscfg_vocab_add(g->vocab, (const char *)model->word_bytes + begin, (size_t)(model->word_offsets[w + 1] - begin));
    if (ids[w] < 0) goto done;
  }
  for (int64_t r = 0; r < model->n_rules; r++) {
    int64_t n = model->rule_offsets[r + 1] - model->rule_offsets[r];
    const int32_t *encoded = model->symbols + model->rule_offsets[r];
    symbols.size = 0;
    if (ARRAY_RESERVE(symbols, n)) goto done;
    for (int64_t k = 0; k < n; k++) symbols.data[k] = encoded[k] < 0 ? encoded[k] : ids[encoded[k]];
    int32_t n_src = model->src_length[r];
    int32_t rule = lscfg_grammar_add(g, CATEGORY_X, symbols.data, n_src, symbols.data + n_src, (int32_t)(n - n_src), error);
    if (rule < 0) {
      code = rule;
      free(symbols.data);
      free(ids);
      return code;
    }
  }
  code = LSCFG_OK;
done:
  free(symbols.data);
  free(ids);
  return code ? out_of_memory(error) : LSCFG_OK;
}
