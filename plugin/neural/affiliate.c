/* Affiliation of target words with source words. Learning and decoding call the same function, so grammars need no
 * links, and all decoders agree. */
#include "neural/affiliate.h"

enum { NO_PLACE = -1 };

int links_init(lscfg_links *links, const int32_t *pairs, const float *share, int64_t n) {
  links->share = share;
  for (int64_t k = 0; k < n; k++) {
    int64_t *value = int_map_at(&links->map, link_key(pairs[2 * k], pairs[2 * k + 1]));
    if (!value) return LSCFG_ENOMEM;
    *value = k + 1;
  }
  return LSCFG_OK;
}

int links_open(lscfg_links *links, const int32_t *pairs, const float *share, int64_t n, const int64_t rows[2],
               const char *const names[2], lscfg_error *error) {
  const int32_t *pair = pairs;
  for (int64_t k = 0; k < n; k++, pair += 2) {
    if (pair[0] < -1 || pair[0] >= rows[0] || pair[1] < 0 || pair[1] >= rows[1])
      return lscfg_fail(error, LSCFG_EINPUT, 0, "'%s' holds %ld and %ld", names[0], (long)pair[0], (long)pair[1]);
    if (k && (pair[-2] > pair[0] || (pair[-2] == pair[0] && pair[-1] >= pair[1])))
      return lscfg_fail(error, LSCFG_EINPUT, 0, "'%s' does not ascend", names[0]);
    if (share[k] < 0 || share[k] > 1)
      return lscfg_fail(error, LSCFG_EINPUT, 0, "'%s' holds %g", names[1], (double)share[k]);
  }
  return links_init(links, pairs, share, n) ? out_of_memory(error) : LSCFG_OK;
}

void links_release(lscfg_links *links) { free(links->map.entries); }

int lscfg_links_new(const int32_t *pairs, const float *share, int64_t n, lscfg_links **made, lscfg_error *error) {
  lscfg_links *links = *made = calloc(1, sizeof *links);
  if (links && !links_init(links, pairs, share, n)) return LSCFG_OK;
  lscfg_links_free(links);
  *made = NULL;
  return out_of_memory(error);
}

void lscfg_links_free(lscfg_links *links) {
  if (!links) return;
  links_release(links);
  free(links);
}

/* The share of a pair, 0 if it is unknown. */
static float share_of(const lscfg_links *links, int32_t source, int32_t target) {
  if (!links->map.slots) return 0;
  const int_entry *entry = int_map_slot(&links->map, link_key(source, target));
  return entry->key < 0 ? 0 : links->share[entry->value - 1];
}

/* Finds the linked source word of a target word: its number among the symbols, -1 for none. */
static int32_t linked_to(const lscfg_links *links, const int32_t *src, int32_t n_src, int32_t word) {
  float best = share_of(links, -1, word);
  int32_t found = -1;
  for (int32_t k = 0; k < n_src; k++) {
    if (src[k] < 0) continue;
    float share = share_of(links, src[k], word);
    if (share > 0 && (found < 0 ? share >= best : share > best)) {
      best = share;
      found = k;
    }
  }
  return found;
}

/* The place that the symbol at an index of the target side gives a word without a link, or NO_PLACE. linked: places of
 * linked words. */
static int32_t given_by(const int32_t *tgt, int32_t n_tgt, int32_t at, int on_right, const int32_t *tails,
                        const int32_t *linked) {
  if (at < 0 || at >= n_tgt) return NO_PLACE;
  if (tgt[at] >= 0) return linked[at];
  const int32_t *span = tails + 2 * (-1 - tgt[at]);
  return on_right ? span[0] : span[1] - 1;
}

void lscfg_affiliate(const lscfg_links *links, const int32_t *src, int32_t n_src, const int32_t *tgt, int32_t n_tgt,
                     int32_t begin, const int32_t *tails, int32_t *place, int32_t *fertility) {
  int32_t last = begin, at = begin, gap = 0, linked = 0;
  for (int32_t k = 0; k < n_src; k++) fertility[k] = 0;
  for (int32_t x = 0; x < n_tgt; x++) {
    int32_t found = tgt[x] < 0 ? -1 : linked_to(links, src, n_src, tgt[x]);
    place[x] = NO_PLACE;
    if (found < 0) continue;
    for (at = begin, gap = 0, last = 0; last < found; last++) at = src[last] < 0 ? tails[2 * gap++ + 1] : at + 1;
    place[x] = at;
    fertility[found]++;
    linked++;
  }
  int32_t first = begin; /* the rule's first source word */
  for (int32_t k = 0, found = 0, tail = 0; k < n_src && !found; k++) {
    found = src[k] >= 0;
    if (!found) first = tails[2 * tail++ + 1];
    if (!found && k == n_src - 1) first = begin;
  }
  if (linked == n_tgt) return;
  /* words without a link look at linked words only, so their own places are marked until all are found */
  for (int32_t x = 0; x < n_tgt; x++) {
    if (tgt[x] < 0 || place[x] != NO_PLACE) continue;
    int32_t found = NO_PLACE;
    for (int32_t d = 1; d < n_tgt && found == NO_PLACE; d++) {
      found = given_by(tgt, n_tgt, x + d, 1, tails, place);
      if (found < 0) found = given_by(tgt, n_tgt, x - d, 0, tails, place);
      if (found < 0) found = NO_PLACE;
    }
    place[x] = -2 - (found == NO_PLACE ? first : found);
  }
  for (int32_t x = 0; x < n_tgt; x++)
    if (place[x] < NO_PLACE) place[x] = -2 - place[x];
}

/* ---- trees ---- */

typedef struct {
  int32_t *first_child, *next; /* [nodes of the tree], counted from its root */
  int64_t capacity;
  ARRAY(int32_t) symbols; /* rows of a rule */
  ARRAY(int32_t) places;
  ARRAY(int32_t) tails;
} tree_work;

static int reserve_tree(tree_work *w, int64_t n) {
  if (n <= w->capacity) return LSCFG_OK;
  free(w->first_child);
  free(w->next);
  w->first_child = malloc((size_t)n * sizeof *w->first_child);
  w->next = malloc((size_t)n * sizeof *w->next);
  w->capacity = w->first_child && w->next ? n : 0;
  return w->capacity ? LSCFG_OK : LSCFG_ENOMEM;
}

/* Affiliates the words of one node. */
static int affiliate_node(const lscfg_links *links, const lscfg_rules *rules, const lscfg_node_table *nodes,
                          const int32_t *row, int64_t root, int64_t node, tree_work *w, int32_t *place,
                          int32_t *fertility) {
  int32_t rule = nodes->rule[node], n_src = rules->src_length[rule];
  const int32_t *symbols = rules->symbols + rules->offsets[rule], *span = nodes->span + 4 * node;
  int32_t n = (int32_t)(rules->offsets[rule + 1] - rules->offsets[rule]), n_tgt = n - n_src, arity = 0;
  w->symbols.size = w->places.size = w->tails.size = 0;
  if (ARRAY_RESERVE(w->symbols, n) || ARRAY_RESERVE(w->places, n) || ARRAY_RESERVE(w->tails, 4 * (int64_t)n))
    return LSCFG_ENOMEM;
  int32_t *side = w->symbols.data, *tails = w->tails.data, *ends = tails + 2 * n;
  for (int32_t k = 0; k < n; k++) side[k] = symbols[k] < 0 ? symbols[k] : row[2 * symbols[k] + (k >= n_src)];
  for (int32_t c = w->first_child[node - root]; c >= 0; c = w->next[c], arity++) {
    memcpy(tails + 2 * arity, nodes->span + 4 * (root + c), 2 * sizeof *tails);
    memcpy(ends + 2 * arity, nodes->span + 4 * (root + c) + 2, 2 * sizeof *ends);
  }
  int32_t *places = w->places.data, *counts = places + n_tgt;
  lscfg_affiliate(links, side, n_src, side + n_src, n_tgt, span[0], tails, places, counts);
  for (int32_t k = 0, at = span[0], gap = 0; k < n_src; k++) {
    if (side[k] >= 0) fertility[at] = counts[k];
    at = side[k] < 0 ? tails[2 * gap++ + 1] : at + 1;
  }
  for (int32_t x = 0, at = span[2]; x < n_tgt; x++) {
    int32_t symbol = side[n_src + x];
    if (symbol >= 0) place[at] = places[x];
    at = symbol < 0 ? ends[2 * (-1 - symbol) + 1] : at + 1;
  }
  return LSCFG_OK;
}

int lscfg_affiliate_trees(const lscfg_links *links, const lscfg_rules *rules, const lscfg_node_table *nodes,
                          const int32_t *row, int32_t *place, int32_t *fertility, lscfg_error *error) {
  tree_work w = {0};
  int code = LSCFG_OK;
  for (int64_t t = 0; t < nodes->n_trees && !code; t++) {
    int64_t root = nodes->trees[t], n = nodes->trees[t + 1] - root;
    if (!n) continue;
    code = reserve_tree(&w, n);
    for (int64_t k = 0; k < n && !code; k++) w.first_child[k] = -1;
    for (int64_t k = n - 1; k > 0 && !code; k--) { /* children in source order */
      int64_t parent = nodes->parent[root + k] - root;
      w.next[k] = w.first_child[parent];
      w.first_child[parent] = (int32_t)k;
    }
    if (!code) w.next[0] = -1;
    for (int64_t k = 0; k < n && !code; k++)
      code = affiliate_node(links, rules, nodes, row, root, root + k, &w, place, fertility);
    place += nodes->span[4 * root + 3];
    fertility += nodes->span[4 * root + 1];
  }
  free(w.first_child);
  free(w.next);
  free(w.symbols.data);
  free(w.places.data);
  free(w.tails.data);
  return code ? out_of_memory(error) : LSCFG_OK;
}
