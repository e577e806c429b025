/* Reads references, order by order: the n-grams of one length are adjacent, after all shorter ones. */
#include "search/references.h"

static int add_node(references *r, int32_t prefix, int32_t word, int32_t suffix) {
  if (r->word.size == INT32_MAX || ARRAY_RESERVE(r->word, 1) || ARRAY_RESERVE(r->prefix, 1) ||
      ARRAY_RESERVE(r->suffix, 1) || ARRAY_RESERVE(r->length, 1) || ARRAY_RESERVE(r->most, 1))
    return LSCFG_ENOMEM;
  int64_t node = r->word.size;
  if (node && trie_add(&r->children, prefix, word, (int32_t)node)) return LSCFG_ENOMEM;
  r->word.data[r->word.size++] = word;
  r->prefix.data[r->prefix.size++] = prefix;
  r->suffix.data[r->suffix.size++] = suffix;
  r->length.data[r->length.size++] = (uint8_t)(node ? r->length.data[prefix] + 1 : 0);
  r->most.data[r->most.size++] = 0;
  return LSCFG_OK;
}

/* Extends the n-grams that begin at each position by one word, and counts them. at: their nodes, -1 after the end of
 * the reference. */
static int read_order(references *r, int32_t order, int64_t length, const int32_t *words, int32_t *at, int32_t *counts,
                      lscfg_error *error) {
  for (int64_t i = 0; i + order <= length; i++) {
    int32_t word = words[i + order - 1], node = trie_child(&r->children, at[i], word);
    if (node < 0) {
      /* Its suffix begins one position further on, and has not been extended yet. */
      int32_t suffix = order > 1 ? trie_child(&r->children, r->suffix.data[at[i]], word) : 0;
      node = (int32_t)r->word.size;
      if (add_node(r, at[i], word, suffix)) return out_of_memory(error);
    }
    at[i] = node;
  }
  memset(counts, 0, (size_t)r->word.size * sizeof *counts);
  for (int64_t i = 0; i + order <= length; i++) {
    int32_t node = at[i];
    if (++counts[node] > UINT8_MAX)
      return lscfg_fail(error, LSCFG_EINPUT, 0, "a reference has a word or sequence of words more than %d times",
                        UINT8_MAX);
    if (counts[node] > r->most.data[node]) r->most.data[node] = (uint8_t)counts[node];
  }
  return LSCFG_OK;
}

int references_read(references *r, int32_t n, const int64_t *offsets, const int32_t *words, lscfg_error *error) {
  memset(r, 0, sizeof *r);
  if (n < 1) return lscfg_fail(error, LSCFG_EINPUT, 0, "a sentence needs at least one reference");
  int64_t total = offsets[n];
  if (total > INT32_MAX / BLEU_ORDER - 1) return lscfg_fail(error, LSCFG_EINPUT, 0, "the references are too long");
  int32_t *at = calloc((size_t)total + 1, sizeof *at);
  int32_t *counts = malloc(((size_t)total * BLEU_ORDER + 1) * sizeof *counts);
  int code = LSCFG_OK;
  if (!at || !counts || trie_init(&r->children) || add_node(r, 0, 0, 0)) code = out_of_memory(error);
  r->first[0] = 1;
  r->shortest = offsets[1] - offsets[0];
  for (int32_t order = 1; order <= BLEU_ORDER && !code; order++) {
    for (int32_t k = 0; k < n && !code; k++) {
      int64_t length = offsets[k + 1] - offsets[k];
      if (length < r->shortest) r->shortest = length;
      code = read_order(r, order, length, words + offsets[k], at + offsets[k], counts, error);
    }
    r->first[order] = (int32_t)r->word.size;
  }
  free(at);
  free(counts);
  return code;
}

void references_release(references *r) {
  trie_release(&r->children);
  free(r->word.data);
  free(r->prefix.data);
  free(r->suffix.data);
  free(r->length.data);
  free(r->most.data);
}
