/* The model file, mapped and validated. */
#include "inference/model.h"

#include <float.h>
#include <math.h>

#include "inference/map_scores.h"
#include "base/text.h"

static int check_values(const char *name, const void *values, int single, int64_t n, lscfg_error *error) {
  int bad = 0; /* loops without a way out, which compilers turn into vector instructions */
  if (single)
    for (int64_t k = 0; k < n; k++) bad |= !(fabsf(((const float *)values)[k]) <= FLT_MAX);
  else
    for (int64_t k = 0; k < n; k++) bad |= !(fabs(((const double *)values)[k]) <= DBL_MAX);
  return bad ? lscfg_fail(error, LSCFG_EINPUT, 0, "tensor '%s' holds a value that is not finite", name) : LSCFG_OK;
}

static int check_offsets(const char *name, const int64_t *offsets, int64_t n, int64_t end, lscfg_error *error) {
  for (int64_t k = 0; k < n; k++)
    if (offsets[k] > offsets[k + 1]) return lscfg_fail(error, LSCFG_EINPUT, 0, "'%s' is not in order", name);
  if (offsets[0] || offsets[n] != end)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "'%s' does not cover what it points into", name);
  return LSCFG_OK;
}

/* The first, for files without a version; files with packed tensors have the second, with categories the third,
 * with arrays in fewer bytes the fourth. */
static int check_format(const lscfg_model *model, lscfg_error *error) {
  size_t length;
  const char *format = tensor_file_metadata(&model->file, "format", &length);
  if (!format || (length == 1 && *format >= '1' && *format <= '4')) return LSCFG_OK;
  return lscfg_fail(error, LSCFG_EINPUT, 0,
                    "the model has format %.*s, and this version of lscfg reads formats 1 to 4; update it",
                    length < 20 ? (int)length : 20, format);
}

static int map_words(const tensor_file *file, const char *bytes_name, const char *offsets_name, lscfg_rules *made,
                     lscfg_error *error) {
  tensor_view bytes, offsets;
  int code = tensor_file_get(file, bytes_name, "U8", 1, &bytes, error);
  if (!code) code = tensor_file_get(file, offsets_name, "I64", 1, &offsets, error);
  if (code) return code;
  if (offsets.shape[0] < 1) return lscfg_fail(error, LSCFG_EINPUT, 0, "'%s' is empty", offsets_name);
  made->words = bytes.data;
  made->word_offsets = offsets.data;
  made->n_words = offsets.shape[0] - 1;
  code = check_offsets(offsets_name, made->word_offsets, made->n_words, bytes.shape[0], error);
  for (int64_t w = 0; w < made->n_words && !code; w++)
    if (!is_word(made->words + made->word_offsets[w], (size_t)(made->word_offsets[w + 1] - made->word_offsets[w])))
      code = lscfg_fail(error, LSCFG_EINPUT, 0, "'%s' holds an invalid word at %lld", bytes_name,
                        (long long)made->word_offsets[w]);
  return code;
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

static int map_index(lscfg_model *model, int32_t arity, int64_t *n, lscfg_error *error) {
  static const char *const names[] = {NULL, "C1.index", "C2.index"};
  tensor_packing *packing = &model->packing[arity];
  tensor_view index;
  int code = tensor_file_get(&model->file, names[arity], "I32", 1, &index, error);
  if (code) return code;
  packing->index = index.data;
  *n = index.shape[0];
  for (int64_t r = 0; r < *n; r++)
    if (packing->index[r] < 0 || packing->index[r] >= packing->n_tensors)
      return lscfg_fail(error, LSCFG_EINPUT, 0, "'%s' holds %ld", names[arity], (long)packing->index[r]);
  return LSCFG_OK;
}

/* Packed tensors; see docs/reference/formats.md. */
static int map_packed(lscfg_model *model, int32_t arity, lscfg_error *error) {
  static const char *const names[][2] = {{NULL, NULL}, {"C1.support", "C1.values"}, {"C2.support", "C2.values"}};
  tensor_packing *packing = &model->packing[arity];
  tensor_view support, values;
  int64_t length = tensor_length(model->rank, arity), last = -1;
  int code = tensor_file_get(&model->file, names[arity][0], "I32", 1, &support, error);
  if (!code) code = tensor_file_get(&model->file, names[arity][1], model->single ? "F32" : "F64", 2, &values, error);
  if (code) return code;
  if (values.shape[1] != support.shape[0])
    return lscfg_fail(error, LSCFG_EINPUT, 0, "'%s' and '%s' do not fit", names[arity][0], names[arity][1]);
  packing->support = support.data;
  packing->n_tensors = values.shape[0];
  packing->n_support = values.shape[1];
  for (int64_t k = 0; k < packing->n_support; last = packing->support[k++])
    if (packing->support[k] <= last || packing->support[k] >= length)
      return lscfg_fail(error, LSCFG_EINPUT, 0, "'%s' does not ascend below %lld", names[arity][0], (long long)length);
  if (packing->n_support == length) packing->support = NULL;
  model->tensor[arity] = values.data;
  return LSCFG_OK;
}

/* Sparse tensors; see docs/reference/formats.md. */
static int map_sparse(lscfg_model *model, int32_t arity, lscfg_error *error) {
  static const char *const names[][5] = {
      {NULL, NULL, NULL, NULL, NULL},
      {"C1.first", "C1.positions", "C1.codes", "C1.scales", "C1.levels"},
      {"C2.first", "C2.positions", "C2.codes", "C2.scales", "C2.levels"},
  };
  const char *const *name = names[arity];
  tensor_packing *packing = &model->packing[arity];
  tensor_view first, positions, codes, scales, levels;
  int64_t length = tensor_length(model->rank, arity);
  int code = tensor_file_get(&model->file, name[0], "I64", 1, &first, error);
  if (!code) code = tensor_file_get(&model->file, name[1], "U16", 1, &positions, error);
  if (!code) code = tensor_file_get(&model->file, name[2], "U8", 1, &codes, error);
  if (!code) code = tensor_file_get(&model->file, name[3], "F32", 1, &scales, error);
  if (!code) code = tensor_file_get(&model->file, name[4], "F32", 1, &levels, error);
  if (code) return code;
  int64_t entries = positions.shape[0];
  if (!model->single)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "'%s' belongs to a model of single precision", name[1]);
  if (first.shape[0] != scales.shape[0] + 1 || codes.shape[0] != entries || levels.shape[0] != 256)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "'%s' to '%s' do not fit", name[0], name[4]);
  if ((code = check_offsets(name[0], first.data, scales.shape[0], entries, error))) return code;
  for (int64_t k = 0; k < entries; k++)
    if (((const uint16_t *)positions.data)[k] >= length)
      return lscfg_fail(error, LSCFG_EINPUT, 0, "'%s' holds %u", name[1], ((const uint16_t *)positions.data)[k]);
  packing->n_tensors = scales.shape[0];
  packing->first = first.data;
  packing->positions = positions.data;
  packing->codes = codes.data;
  packing->scales = scales.data;
  packing->levels = levels.data;
  code = check_values(name[3], scales.data, 1, scales.shape[0], error);
  return code ? code : check_values(name[4], levels.data, 1, levels.shape[0], error);
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

/* The categories, if the file has several. */
static int map_categories(lscfg_model *model, lscfg_error *error) {
  tensor_view view;
  model->n_categories = 1;
  if (!tensor_file_has(&model->file, "rules.lhs", "I32")) return LSCFG_OK;
  int code = map_words(&model->file, "categories.bytes", "categories.offsets", &model->categories, error);
  if (!code) code = tensor_file_get(&model->file, "rules.lhs", "I32", 1, &view, error);
  if (code) return code;
  int64_t n = model->categories.n_words;
  if (n < 1 || n > MAX_CATEGORIES)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "%lld categories; 1 to %d are possible", (long long)n, MAX_CATEGORIES);
  model->n_categories = (int32_t)n;
  model->lhs = view.data;
  for (int64_t r = 0; r < view.shape[0]; r++)
    if (model->lhs[r] < 0 || model->lhs[r] >= n)
      return lscfg_fail(error, LSCFG_EINPUT, 0, "'rules.lhs' holds %ld", (long)model->lhs[r]);
  model->n_rules = view.shape[0];
  return LSCFG_OK;
}

/* The values of each state, of each category where there are several. */
static int map_by_category(const lscfg_model *model, const char *name, tensor_view *view, lscfg_error *error) {
  int by_category = model->lhs != NULL;
  int code = tensor_file_get(&model->file, name, "F64", 1 + by_category, view, error);
  if (code) return code;
  if (by_category && view->shape[0] != model->n_categories)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "'%s' does not have a row for each category", name);
  return LSCFG_OK;
}

static int map_tensors(lscfg_model *model, lscfg_error *error) {
  static const char *const packed[] = {NULL, "C1.index", "C2.index"}; /* those without nonterminals never are */
  static const char *const sparse[] = {NULL, "C1.positions", "C2.positions"};
  tensor_view view;
  int last = model->lhs != NULL;
  int64_t n_lhs = model->n_rules;
  int code = map_by_category(model, "CS", &view, error);
  if (code) return code;
  if (view.shape[last] < 1 || view.shape[last] > 1024)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "%lld hidden states; 1 to 1024 are possible",
                      (long long)view.shape[last]);
  model->rank = (int32_t)view.shape[last];
  model->root = view.data;
  int64_t n_values = (int64_t)model->rank * model->n_categories;
  if ((code = check_values("CS", model->root, 0, n_values, error))) return code;
  if ((code = map_by_category(model, "unk", &view, error))) return code;
  if (view.shape[last] != model->rank) return lscfg_fail(error, LSCFG_EINPUT, 0, "'unk' and 'CS' differ in length");
  model->unk = view.data;
  if ((code = check_values("unk", model->unk, 0, n_values, error))) return code;
  model->single = tensor_file_has(&model->file, "C0", "F32");
  for (int32_t arity = 0; arity <= MAX_TENSOR_ARITY; arity++) {
    int64_t n = 0;
    if (arity == 2 && tensor_file_has(&model->file, "C2.components", "I64"))
      code = map_components(model, &n, error);
    else if (!arity || !tensor_file_has(&model->file, packed[arity], "I32"))
      code = map_full(model, arity, &n, error);
    else if (!(code = (tensor_file_has(&model->file, sparse[arity], "U16") ? map_sparse : map_packed)(model, arity,
                                                                                                   error)))
      code = map_index(model, arity, &n, error);
    if (code) return code;
    model->first_of_arity[arity + 1] = model->first_of_arity[arity] + n;
  }
  /* larger tensors are looked at when they are first needed: to read them all would cost more than a sentence does */
  if ((code = check_values("C0", model->tensor[0], model->single, model->first_of_arity[1] * model->rank, error)))
    return code;
  model->n_rules = model->first_of_arity[MAX_TENSOR_ARITY + 1];
  if (model->lhs && model->n_rules != n_lhs)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "'rules.lhs' has %lld rules, but the model has %lld tensors",
                      (long long)n_lhs, (long long)model->n_rules);
  return model->n_rules <= INT32_MAX ? LSCFG_OK : lscfg_fail(error, LSCFG_EINPUT, 0, "more than 2^31 rules");
}

/* arity -1: any. */
static int check_rule(const lscfg_rules *rules, int64_t rule, int32_t arity, int32_t n_categories,
                      lscfg_error *error) {
  const int32_t *symbols = rules->symbols + rules->offsets[rule];
  int64_t n = rules->offsets[rule + 1] - rules->offsets[rule], n_src = rules->src_length[rule];
  int32_t found = 0, linked = 0;
  if (arity < 0) {
    arity = 0;
    for (int64_t k = 0; k < n_src && k < n && arity <= MAX_TENSOR_ARITY; k++) arity += symbols[k] < 0;
    if (arity > MAX_TENSOR_ARITY) n_src = 0; /* refused */
  }
  int ok = n_src >= 1 && n_src <= n && n <= INT32_MAX;
  for (int64_t k = 0; k < n && ok; k++) {
    ok = symbols[k] < rules->n_words && symbols[k] >= -(k < n_src ? n_categories : arity);
    if (symbols[k] >= 0 || !ok) continue;
    if (k < n_src)
      found++;
    else if (linked & (1 << (-1 - symbols[k])))
      ok = 0;
    else
      linked |= 1 << (-1 - symbols[k]);
  }
  if (ok && found == arity && linked == (1 << arity) - 1) return LSCFG_OK;
  return lscfg_fail(error, LSCFG_EINPUT, 0, "rule %lld of the model is malformed", (long long)rule);
}

static int map_rules(const tensor_file *file, const char *const names[3], lscfg_rules *made, lscfg_error *error) {
  tensor_view symbols, offsets, lengths;
  int code = tensor_file_get(file, names[0], "I32", 1, &symbols, error);
  if (!code) code = tensor_file_get(file, names[1], "I64", 1, &offsets, error);
  if (!code) code = tensor_file_get(file, names[2], "I32", 1, &lengths, error);
  if (code) return code;
  made->n = lengths.shape[0];
  if (offsets.shape[0] != made->n + 1 || made->n > INT32_MAX)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "'%s' and '%s' do not fit", names[1], names[2]);
  made->symbols = symbols.data;
  made->offsets = offsets.data;
  made->src_length = lengths.data;
  return check_offsets(names[1], made->offsets, made->n, symbols.shape[0], error);
}

static int map_model_rules(lscfg_model *model, lscfg_error *error) {
  static const char *const names[] = {"rules.symbols", "rules.offsets", "rules.src_length"};
  lscfg_rules *rules = &model->rules;
  int code = map_words(&model->file, "vocab.bytes", "vocab.offsets", rules, error);
  if (!code) code = map_rules(&model->file, names, rules, error);
  if (code) return code;
  if (rules->n != model->n_rules)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "the model has %lld tensors, but %lld rules", (long long)model->n_rules,
                      (long long)rules->n);
  for (int32_t arity = 0; arity <= MAX_TENSOR_ARITY && !code; arity++)
    for (int64_t r = model->first_of_arity[arity]; r < model->first_of_arity[arity + 1] && !code; r++)
      code = check_rule(rules, r, arity, model->n_categories, error);
  return code;
}

int32_t model_category(const lscfg_model *model, const char *name, size_t length) {
  const lscfg_rules *known = &model->categories;
  if (!model->lhs) return length == 1 && *name == 'X' ? 0 : -1;
  for (int32_t c = 0; c < model->n_categories; c++) {
    int64_t begin = known->word_offsets[c], end = known->word_offsets[c + 1];
    if ((size_t)(end - begin) == length && !memcmp(known->words + begin, name, length)) return c;
  }
  return -1;
}

/* Indexes the rules of a part of the model; whose: in the message of two equal rules. */
static int index_rules(const lscfg_rules *rules, const int32_t *lhs, const char *whose, rule_index *index,
                       lscfg_error *error) {
  int64_t same[2];
  if (rule_index_build(index, rules, lhs, 0, same)) return out_of_memory(error);
  if (same[0] < 0) return LSCFG_OK;
  return lscfg_fail(error, LSCFG_EINPUT, 0, "rules %lld and %lld of the %s are the same", (long long)same[0],
                    (long long)same[1], whose);
}

/* Once for all bindings: grammars of single sentences are many, and each has only some hundred rules. */
static int index_model_rules(lscfg_model *model, lscfg_error *error) {
  const lscfg_rules *rules = &model->rules;
  int64_t same[2];
  int code = index_rules(rules, model->lhs, "model", &model->index, error);
  if (code) return code;
  for (int64_t r = 0; r < rules->n; r++)
    if (rules->src_length[r] > model->longest_source) model->longest_source = rules->src_length[r];
  return rule_index_build(&model->sources, rules, NULL, 1, same) ? out_of_memory(error) : LSCFG_OK;
}

/* The model of one state, if the file has it. */
static int map_one_state(lscfg_model *model, lscfg_error *error) {
  static const double only = 1;
  const double *root = &only;
  tensor_view rules, unk, roots;
  if (!tensor_file_has(&model->file, "one.rules", "F64")) return LSCFG_OK;
  int code = tensor_file_get(&model->file, "one.rules", "F64", 1, &rules, error);
  if (!code) code = tensor_file_get(&model->file, "one.unk", "F64", 1, &unk, error);
  if (code) return code;
  if (!code && model->lhs) {
    code = tensor_file_get(&model->file, "one.root", "F64", 1, &roots, error);
    if (!code && roots.shape[0] != model->n_categories)
      code = lscfg_fail(error, LSCFG_EINPUT, 0, "'one.root' does not have a value for each category");
    if (!code) code = check_values("one.root", root = roots.data, 0, roots.shape[0], error);
    if (code) return code;
  }
  if (rules.shape[0] != model->n_rules || unk.shape[0] != model->n_categories)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "'one.rules' and 'one.unk' do not fit the model's rules");
  code = check_values("one.rules", rules.data, 0, rules.shape[0], error);
  if (!code) code = check_values("one.unk", unk.data, 0, unk.shape[0], error);
  if (code) return code;
  lscfg_model *one = model->one_state = malloc(sizeof *one);
  if (!one) return out_of_memory(error);
  *one = *model;
  one->rank = 1;
  one->root = root;
  one->unk = unk.data;
  one->single = 0;
  one->components = NULL;
  memset(one->packing, 0, sizeof one->packing);
  one->one_state = NULL;
  for (int32_t arity = 0; arity <= MAX_TENSOR_ARITY; arity++)
    one->tensor[arity] = (const double *)rules.data + model->first_of_arity[arity];
  return LSCFG_OK;
}

static int check_items(const context_model *context, int64_t n, lscfg_error *error) {
  int64_t outcomes = context_outcomes(&context->rules), end = context_items(context->rules.n_words);
  int bad = 0;
  for (int64_t k = 0; k < n; k++) bad |= context->items[k] < 0 || context->items[k] >= end;
  for (int64_t k = 0; k < n && bad; k++)
    if (context->items[k] < 0 || context->items[k] >= end)
      return lscfg_fail(error, LSCFG_EINPUT, 0, "'context.items' holds %ld", (long)context->items[k]);
  for (int64_t o = 0; o < outcomes; o++) {
    for (int64_t k = context->offsets[o] + 1; k < context->offsets[o + 1]; k++)
      bad |= context->items[k] <= context->items[k - 1];
    if (bad) return lscfg_fail(error, LSCFG_EINPUT, 0, "'context.items' do not ascend for outcome %lld", (long long)o);
  }
  return LSCFG_OK;
}

static int map_context_weights(const tensor_file *file, context_model *context, lscfg_error *error) {
  tensor_view counts, offsets, items, weights;
  int64_t outcomes = context_outcomes(&context->rules);
  int code = tensor_file_get(file, "context.counts", "F64", 1, &counts, error);
  if (!code) code = tensor_file_get(file, "context.weights", "F32", 1, &weights, error);
  if (!code) code = tensor_file_get(file, "context.items", "I32", 1, &items, error);
  if (!code) code = tensor_file_get(file, "context.offsets", "I64", 1, &offsets, error);
  if (code) return code;
  if (counts.shape[0] != context->rules.n || offsets.shape[0] != outcomes + 1 || items.shape[0] != weights.shape[0])
    return lscfg_fail(error, LSCFG_EINPUT, 0,
                      "'context.counts', 'context.offsets' and 'context.items' do not fit its rules and words");
  context->counts = counts.data;
  context->offsets = offsets.data;
  context->items = items.data;
  context->weights = weights.data;
  code = check_offsets("context.offsets", context->offsets, outcomes, items.shape[0], error);
  if (!code) code = check_values("context.counts", context->counts, 0, context->rules.n, error);
  if (!code) code = check_values("context.weights", context->weights, 1, weights.shape[0], error);
  for (int64_t r = 0; r < context->rules.n && !code; r++)
    if (context->counts[r] <= 0)
      code = lscfg_fail(error, LSCFG_EINPUT, 0, "'context.counts' holds %g", context->counts[r]);
  return code ? code : check_items(context, items.shape[0], error);
}

/* The weights of what is around a rule, if the file has them. */
static int map_context(lscfg_model *model, lscfg_error *error) {
  static const char *const names[] = {"context.rules.symbols", "context.rules.offsets", "context.rules.src_length"};
  if (!tensor_file_has(&model->file, "context.weights", "F32")) return LSCFG_OK;
  context_model *context = model->context = calloc(1, sizeof *context);
  if (!context) return out_of_memory(error);
  const lscfg_rules *rules = &context->rules;
  int code = map_words(&model->file, "context.vocab.bytes", "context.vocab.offsets", &context->rules, error);
  if (!code) code = map_rules(&model->file, names, &context->rules, error);
  for (int64_t r = 0; r < rules->n && !code; r++) code = check_rule(rules, r, -1, 1, error);
  if (!code) code = index_rules(rules, NULL, "context", &context->index, error);
  if (!code) code = map_context_weights(&model->file, context, error);
  return code ? code : map_scores(&model->file, rules->n, rules->n_words, &context->scores, error);
}

static int map_boundary_kind(lscfg_model *model, int kind, const char *words, const char *weights, lscfg_error *error) {
  boundary_model *boundary = &model->boundary;
  tensor_view pairs, values;
  int code = tensor_file_get(&model->file, words, "I32", 2, &pairs, error);
  if (!code) code = tensor_file_get(&model->file, weights, "F32", 1, &values, error);
  if (code) return code;
  if (pairs.shape[0] != values.shape[0] || pairs.shape[1] != 2)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "'%s' and '%s' do not fit", words, weights);
  const int32_t *pair = boundary->words[kind] = pairs.data;
  boundary->weights[kind] = values.data;
  boundary->n[kind] = values.shape[0];
  for (int64_t k = 0; k < 2 * pairs.shape[0]; k++)
    if (pair[k] < -1 || pair[k] >= boundary->vocabulary.n_words)
      return lscfg_fail(error, LSCFG_EINPUT, 0, "'%s' holds %ld", words, (long)pair[k]);
  for (int64_t k = 1; k < pairs.shape[0]; k++, pair += 2)
    if (pair[0] > pair[2] || (pair[0] == pair[2] && pair[1] >= pair[3]))
      return lscfg_fail(error, LSCFG_EINPUT, 0, "'%s' does not ascend", words);
  return check_values(weights, values.data, 1, values.shape[0], error);
}

/* The weights of spans, if the file has them. */
static int map_boundary(lscfg_model *model, lscfg_error *error) {
  if (!tensor_file_has(&model->file, "boundary.ends.weights", "F32")) return LSCFG_OK;
  model->has_boundary = 1;
  lscfg_rules *words = &model->boundary.vocabulary;
  int code = map_words(&model->file, "boundary.vocab.bytes", "boundary.vocab.offsets", words, error);
  if (!code) code = map_boundary_kind(model, 0, "boundary.ends.words", "boundary.ends.weights", error);
  return code ? code : map_boundary_kind(model, 1, "boundary.sides.words", "boundary.sides.weights", error);
}

/* The vocabularies of both sides; names: of their words and offsets. */
static int map_sides(const tensor_file *file, const char *const names[2][2], lscfg_rules words[2], int64_t n_words[2],
                     lscfg_error *error) {
  int code = LSCFG_OK;
  for (int side = 0; side < 2 && !code; side++) {
    code = map_words(file, names[side][0], names[side][1], &words[side], error);
    n_words[side] = words[side].n_words;
  }
  return code;
}

/* The neural model, if the file has it. */
static int map_neural(lscfg_model *model, lscfg_error *error) {
  static const char *const names[2][2] = {{"neural.source.vocab.bytes", "neural.source.vocab.offsets"},
                                          {"neural.target.vocab.bytes", "neural.target.vocab.offsets"}};
  int64_t n_words[2];
  if (!tensor_file_has(&model->file, "neural.shape", "I32")) return LSCFG_OK;
  int code = map_sides(&model->file, names, model->neural_words, n_words, error);
  return code ? code : network_open(&model->file, n_words, &model->neural, error);
}

/* The model of orientations, if the file has it. */
static int map_orientation(lscfg_model *model, lscfg_error *error) {
  static const char *const names[2][2] = {{"orientation.source.vocab.bytes", "orientation.source.vocab.offsets"},
                                          {"orientation.target.vocab.bytes", "orientation.target.vocab.offsets"}};
  int64_t n_words[2];
  if (!tensor_file_has(&model->file, "orientation.words", "F32")) return LSCFG_OK;
  int code = map_sides(&model->file, names, model->orientation_words, n_words, error);
  return code ? code : orientation_open(&model->file, n_words, &model->orientation, error);
}

static void free_context(context_model *context) {
  if (!context) return;
  rule_index_release(&context->index);
  free(context);
}

int lscfg_model_open(const char *path, lscfg_model **opened, lscfg_error *error) {
  lscfg_model *model = calloc(1, sizeof *model);
  *opened = NULL;
  if (!model) return out_of_memory(error);
  int code = tensor_file_open(&model->file, path, error);
  if (!code) code = check_format(model, error);
  if (!code) code = tensor_file_check(&model->file, error);
  if (!code) code = map_categories(model, error);
  if (!code) code = map_tensors(model, error);
  if (!code) code = map_model_rules(model, error);
  if (!code) code = map_context(model, error);
  if (!code) code = map_boundary(model, error);
  if (!code) code = map_neural(model, error);
  if (!code) code = map_orientation(model, error);
  if (!code) code = index_model_rules(model, error);
  if (!code) code = map_one_state(model, error);
  if (code) {
    lscfg_model_close(model);
    return lscfg_cure(code, error, "create the model again");
  }
  *opened = model;
  return LSCFG_OK;
}

void lscfg_model_close(lscfg_model *model) {
  if (!model) return;
  tensor_file_close(&model->file);
  rule_index_release(&model->index);
  rule_index_release(&model->sources);
  free_context(model->context);
  network_close(model->neural);
  orientation_close(model->orientation);
  free(model->one_state);
  free(model);
}

static const void *sparse_tensor(const tensor_packing *packing, int32_t tensor, tensor_room *room) {
  float *values = room->values;
  if (room->last >= 0)
    for (int64_t k = packing->first[room->last]; k < packing->first[room->last + 1]; k++)
      values[packing->positions[k]] = 0;
  for (int64_t k = packing->first[tensor]; k < packing->first[tensor + 1]; k++)
    values[packing->positions[k]] = packing->scales[tensor] * packing->levels[packing->codes[k]];
  room->last = tensor;
  return values;
}

const void *model_tensor(const lscfg_model *model, int32_t arity, int32_t row, tensor_room *room) {
  const tensor_packing *packing = &model->packing[arity];
  if (packing->first) return sparse_tensor(packing, packing->index[row], room);
  const void *stored = stored_tensor(model, arity, row);
  const int32_t *support = packing->support;
  if (!support) return stored;
  if (model->single)
    for (int64_t k = 0; k < packing->n_support; k++) ((float *)room->values)[support[k]] = ((const float *)stored)[k];
  else
    for (int64_t k = 0; k < packing->n_support; k++) ((double *)room->values)[support[k]] = ((const double *)stored)[k];
  return room->values;
}

void model_add_tensor(const lscfg_model *model, int32_t arity, int32_t row, double *sum) {
  const tensor_packing *packing = &model->packing[arity];
  if (packing->first) {
    int32_t tensor = packing->index[row];
    for (int64_t k = packing->first[tensor]; k < packing->first[tensor + 1]; k++)
      sum[packing->positions[k]] += (double)(packing->scales[tensor] * packing->levels[packing->codes[k]]);
    return;
  }
  const void *tensor = stored_tensor(model, arity, row);
  const int32_t *support = packing->support;
  int64_t n = support ? packing->n_support : tensor_length(model->rank, arity);
  if (model->single && support)
    for (int64_t k = 0; k < n; k++) sum[support[k]] += (double)((const float *)tensor)[k];
  else if (model->single)
    for (int64_t k = 0; k < n; k++) sum[k] += (double)((const float *)tensor)[k];
  else if (support)
    for (int64_t k = 0; k < n; k++) sum[support[k]] += ((const double *)tensor)[k];
  else
    for (int64_t k = 0; k < n; k++) sum[k] += ((const double *)tensor)[k];
}

int32_t lscfg_model_rank(const lscfg_model *model) { return model->rank; }
int32_t lscfg_model_size(const lscfg_model *model) { return (int32_t)model->n_rules; }

/* The grammar's numbers of the model's categories, added where they are new; NULL: memory is out. */
static int32_t *add_categories(const lscfg_model *model, lscfg_grammar *g) {
  int32_t *numbers = malloc((size_t)model->n_categories * sizeof *numbers);
  if (numbers) numbers[0] = CATEGORY_X;
  for (int32_t c = 0; numbers && model->lhs && c < model->n_categories; c++) {
    int64_t begin = model->categories.word_offsets[c];
    numbers[c] = lscfg_grammar_category(g, model->categories.words + begin,
                                        (size_t)(model->categories.word_offsets[c + 1] - begin));
    if (numbers[c] >= 0) continue;
    free(numbers);
    return NULL;
  }
  return numbers;
}

int lscfg_model_add_rules(const lscfg_model *model, lscfg_grammar *g, lscfg_error *error) {
  int code = LSCFG_ENOMEM;
  ARRAY(int32_t) symbols = {0};
  if (refuse_layer(g, error)) return LSCFG_EINPUT;
  int32_t *categories = add_categories(model, g);
  int32_t *ids = malloc(((size_t)model->rules.n_words + 1) * sizeof *ids);
  if (!ids || !categories) goto done;
  for (int64_t w = 0; w < model->rules.n_words; w++) {
    int64_t begin = model->rules.word_offsets[w];
    ids[w] = lscfg_vocab_add(g->vocab, model->rules.words + begin, (size_t)(model->rules.word_offsets[w + 1] - begin));
    if (ids[w] < 0) goto done;
  }
  for (int64_t r = 0; r < model->n_rules; r++) {
    int64_t n = model->rules.offsets[r + 1] - model->rules.offsets[r];
    const int32_t *encoded = model->rules.symbols + model->rules.offsets[r];
    symbols.size = 0;
    if (ARRAY_RESERVE(symbols, n)) goto done;
    int32_t n_src = model->rules.src_length[r], lhs = categories[model->lhs ? model->lhs[r] : 0];
    for (int64_t k = 0; k < n; k++)
      symbols.data[k] = encoded[k] >= 0 ? ids[encoded[k]]
                        : k < n_src     ? category_symbol(categories[-1 - encoded[k]])
                                        : encoded[k];
    int32_t rule =
        lscfg_grammar_add(g, lhs, symbols.data, n_src, symbols.data + n_src, (int32_t)(n - n_src), error);
    if (rule < 0) {
      code = rule;
      goto done;
    }
  }
  code = LSCFG_OK;
done:
  free(symbols.data);
  free(categories);
  free(ids);
  return code == LSCFG_ENOMEM ? out_of_memory(error) : code;
}
