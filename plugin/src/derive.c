/* Minimal derivation trees of word-aligned sentence pairs (Zhang, Gildea & Chiang 2008): the normalized decomposition
 * tree by shift-reduce. A node is a tight phrase pair, the root the whole sentence; sequences of phrases are bracketed to
 * the left. Words without a link are terminals of the lowest node whose span covers them. */
#include "vocab.h"

/* A sequence of symbols in the rule table: its source side, then its target side. */
typedef struct {
  int64_t begin;
  int32_t n_src, n_tgt, arity;
} rule_entry;

struct lscfg_derivations {
  lscfg_vocab vocab;
  ARRAY(int32_t) symbols;
  ARRAY(rule_entry) rules;
  ARRAY(int64_t) rule_count;
  int32_t *table; /* open addressing over rules, -1 where empty */
  int64_t slots;
  ARRAY(int64_t) trees; /* sentence -> first node, one more than there are sentences */
  ARRAY(int32_t) node_rule;
  ARRAY(int32_t) node_parent;
  ARRAY(int32_t) node_slot;
  ARRAY(int32_t) node_span;
  ARRAY(lscfg_word_pair) pairs; /* word translations, in order of first appearance */
  int32_t *pair_table;
  int64_t pair_slots;
  /* work space of one sentence, kept from pair to pair */
  ARRAY(int32_t) words[2];
  ARRAY(int32_t) links;
  ARRAY(int32_t) work;
  ARRAY(int32_t) symbols_of_rule;
  struct phrase *phrases;
  int64_t phrase_capacity;
};

/* A word or phrase pair of the shift-reduce stack; phrases stay as tree nodes. Spans are inclusive, over linked words. */
typedef struct phrase {
  int32_t src[2], tgt[2];
  int32_t is_phrase;
  int32_t first_child, next_sibling; /* in source order, -1 at the end */
} phrase;

enum { SRC = 0, TGT = 1 };

lscfg_derivations *lscfg_derivations_new(void) {
  lscfg_derivations *d = calloc(1, sizeof *d);
  if (!d) return NULL;
  d->slots = 1024;
  d->table = malloc((size_t)d->slots * sizeof *d->table);
  if (vocab_init(&d->vocab) || !d->table || ARRAY_RESERVE(d->trees, 1)) {
    lscfg_derivations_free(d);
    return NULL;
  }
  memset(d->table, 0xff, (size_t)d->slots * sizeof *d->table);
  d->trees.data[d->trees.size++] = 0;
  d->pair_slots = 1024;
  if (!(d->pair_table = malloc((size_t)d->pair_slots * sizeof *d->pair_table))) {
    lscfg_derivations_free(d);
    return NULL;
  }
  memset(d->pair_table, 0xff, (size_t)d->pair_slots * sizeof *d->pair_table);
  return d;
}

void lscfg_derivations_free(lscfg_derivations *d) {
  if (!d) return;
  if (d->vocab.table) vocab_release(&d->vocab);
  free(d->symbols.data);
  free(d->rules.data);
  free(d->rule_count.data);
  free(d->table);
  free(d->trees.data);
  free(d->node_rule.data);
  free(d->node_parent.data);
  free(d->node_slot.data);
  free(d->node_span.data);
  free(d->pairs.data);
  free(d->pair_table);
  free(d->words[SRC].data);
  free(d->words[TGT].data);
  free(d->links.data);
  free(d->work.data);
  free(d->symbols_of_rule.data);
  free(d->phrases);
  free(d);
}

/* ---- rule table ---- */

static int same_rule(const lscfg_derivations *d, const rule_entry *rule, const int32_t *symbols, int32_t n_src,
                     int32_t n_tgt) {
  return rule->n_src == n_src && rule->n_tgt == n_tgt &&
         !memcmp(d->symbols.data + rule->begin, symbols, (size_t)(n_src + n_tgt) * sizeof *symbols);
}

static int64_t rule_slot(const lscfg_derivations *d, const int32_t *symbols, int32_t n_src, int32_t n_tgt) {
  int64_t slot = (int64_t)(hash_ints(symbols, n_src + n_tgt, (uint64_t)n_src) & (uint64_t)(d->slots - 1));
  while (d->table[slot] >= 0 && !same_rule(d, &d->rules.data[d->table[slot]], symbols, n_src, n_tgt))
    slot = (slot + 1) & (d->slots - 1);
  return slot;
}

static int grow_rule_table(lscfg_derivations *d) {
  int32_t *table = malloc((size_t)d->slots * 2 * sizeof *table);
  if (!table) return LSCFG_ENOMEM;
  free(d->table);
  d->table = table;
  d->slots *= 2;
  memset(table, 0xff, (size_t)d->slots * sizeof *table);
  for (int32_t r = 0; r < d->rules.size; r++) {
    const rule_entry *rule = &d->rules.data[r];
    d->table[rule_slot(d, d->symbols.data + rule->begin, rule->n_src, rule->n_tgt)] = r;
  }
  return LSCFG_OK;
}

/* The number of the rule, new or known; a negative code when memory is out. */
static int32_t intern_rule(lscfg_derivations *d, const int32_t *symbols, int32_t n_src, int32_t n_tgt, int32_t arity) {
  if (2 * (d->rules.size + 1) > d->slots && grow_rule_table(d)) return LSCFG_ENOMEM;
  int64_t slot = rule_slot(d, symbols, n_src, n_tgt);
  if (d->table[slot] < 0) {
    if (d->rules.size == INT32_MAX || ARRAY_RESERVE(d->rules, 1) || ARRAY_RESERVE(d->rule_count, 1) ||
        ARRAY_RESERVE(d->symbols, n_src + n_tgt))
      return LSCFG_ENOMEM;
    memcpy(d->symbols.data + d->symbols.size, symbols, (size_t)(n_src + n_tgt) * sizeof *symbols);
    d->rules.data[d->rules.size] = (rule_entry){d->symbols.size, n_src, n_tgt, arity};
    d->rule_count.data[d->rule_count.size++] = 0;
    d->symbols.size += n_src + n_tgt;
    d->table[slot] = (int32_t)d->rules.size++;
  }
  d->rule_count.data[d->table[slot]]++;
  return d->table[slot];
}

/* ---- one sentence pair ---- */

static int read_words(lscfg_derivations *d, int side, const char *line, size_t length, lscfg_error *error) {
  if (ARRAY_RESERVE(d->words[side], (int64_t)length / 2 + 1 - d->words[side].size)) return out_of_memory(error);
  int64_t n = lscfg_vocab_line(&d->vocab, line, length, d->words[side].data, d->words[side].capacity);
  if (n < 0) return out_of_memory(error);
  d->words[side].size = n;
  return n ? LSCFG_OK : lscfg_fail(error, LSCFG_EINPUT, 0, "the %s sentence is empty", side == SRC ? "source" : "target");
}

/* "0-0 1-2 ...": pairs of positions, checked against the sentence lengths. */
static int read_links(lscfg_derivations *d, const char *p, size_t length, lscfg_error *error) {
  const char *end = p + length;
  d->links.size = 0;
  while (p < end) {
    if (*p == ' ' || *p == '\t' || *p == '\r') {
      p++;
      continue;
    }
    const char *token = p;
    for (int side = SRC; side <= TGT; side++) {
      int64_t value = 0;
      const char *digits = p;
      for (; p < end && *p >= '0' && *p <= '9' && value <= INT32_MAX; p++) value = 10 * value + (*p - '0');
      int closed = side == SRC ? p < end && *p == '-' : p == end || *p == ' ' || *p == '\t' || *p == '\r';
      if (p == digits || !closed) {
        while (p < end && *p != ' ') p++;
        return lscfg_fail(error, LSCFG_EINPUT, 0, "'%.*s' is not an alignment link i-j", p - token > 40 ? 40 : (int)(p - token),
                          token);
      }
      if (value >= d->words[side].size)
        return lscfg_fail(error, LSCFG_EINPUT, 0, "link '%.*s' points beyond the %s sentence of %lld words",
                          (int)(p - token), token, side == SRC ? "source" : "target", (long long)d->words[side].size);
      if (ARRAY_RESERVE(d->links, 1)) return out_of_memory(error);
      d->links.data[d->links.size++] = (int32_t)value;
      p += side == SRC;
    }
  }
  return LSCFG_OK;
}

/* The linked words of both sides, renumbered without the others; low/high: the hull of each word's links. */
typedef struct {
  int32_t n[2];
  int32_t *position[2]; /* renumbered -> position in the sentence */
  int32_t *low[2], *high[2];
} linked_words;

static int condense(lscfg_derivations *d, linked_words *c) {
  int64_t length[2] = {d->words[SRC].size, d->words[TGT].size}, total = length[SRC] + length[TGT];
  d->work.size = 0;
  if (ARRAY_RESERVE(d->work, 4 * total)) return LSCFG_ENOMEM;
  int32_t *p = d->work.data, *number[2];
  for (int side = SRC; side <= TGT; side++) {
    c->position[side] = p;
    c->low[side] = p + length[side];
    c->high[side] = p + 2 * length[side];
    number[side] = p + 3 * length[side];
    p += 4 * length[side];
    memset(number[side], 0xff, (size_t)length[side] * sizeof *p);
    for (int64_t k = 0; k < d->links.size; k += 2) number[side][d->links.data[k + side]] = 0;
    c->n[side] = 0;
    for (int32_t i = 0; i < length[side]; i++) {
      if (number[side][i] < 0) continue;
      number[side][i] = c->n[side];
      c->low[side][c->n[side]] = INT32_MAX;
      c->high[side][c->n[side]] = -1;
      c->position[side][c->n[side]++] = i;
    }
  }
  for (int64_t k = 0; k < d->links.size; k += 2) {
    int32_t link[2] = {number[SRC][d->links.data[k]], number[TGT][d->links.data[k + 1]]};
    for (int side = SRC; side <= TGT; side++) {
      int32_t *low = &c->low[side][link[side]], *high = &c->high[side][link[side]];
      if (link[!side] < *low) *low = link[!side];
      if (link[!side] > *high) *high = link[!side];
    }
  }
  return LSCFG_OK;
}

/* ---- word translations: how often two words are linked ---- */

static int64_t pair_slot(const lscfg_derivations *d, int32_t src, int32_t tgt) {
  uint64_t h = hash_mix(((uint64_t)(uint32_t)src << 32) | (uint32_t)tgt);
  int64_t slot = (int64_t)(h & (uint64_t)(d->pair_slots - 1));
  for (; d->pair_table[slot] >= 0; slot = (slot + 1) & (d->pair_slots - 1)) {
    const lscfg_word_pair *pair = &d->pairs.data[d->pair_table[slot]];
    if (pair->src == src && pair->tgt == tgt) break;
  }
  return slot;
}

static int count_pair(lscfg_derivations *d, int32_t src, int32_t tgt) {
  if (2 * (d->pairs.size + 1) > d->pair_slots) {
    int32_t *table = malloc((size_t)d->pair_slots * 2 * sizeof *table);
    if (!table) return LSCFG_ENOMEM;
    free(d->pair_table);
    d->pair_table = table;
    d->pair_slots *= 2;
    memset(table, 0xff, (size_t)d->pair_slots * sizeof *table);
    for (int32_t k = 0; k < d->pairs.size; k++) table[pair_slot(d, d->pairs.data[k].src, d->pairs.data[k].tgt)] = k;
  }
  int64_t slot = pair_slot(d, src, tgt);
  if (d->pair_table[slot] < 0) {
    if (d->pairs.size == INT32_MAX || ARRAY_RESERVE(d->pairs, 1)) return LSCFG_ENOMEM;
    d->pairs.data[d->pairs.size] = (lscfg_word_pair){src, tgt, 0};
    d->pair_table[slot] = (int32_t)d->pairs.size++;
  }
  d->pairs.data[d->pair_table[slot]].count++;
  return LSCFG_OK;
}

/* Every link counts once, every word without a link once with -1. */
static int count_links(lscfg_derivations *d, const linked_words *c) {
  for (int64_t k = 0; k < d->links.size; k += 2)
    if (count_pair(d, d->words[SRC].data[d->links.data[k]], d->words[TGT].data[d->links.data[k + 1]])) return LSCFG_ENOMEM;
  for (int side = SRC; side <= TGT; side++)
    for (int32_t i = 0, linked = 0; i < d->words[side].size; i++) {
      if (linked < c->n[side] && c->position[side][linked] == i) {
        linked++;
        continue;
      }
      int32_t word = d->words[side].data[i];
      if (side == SRC ? count_pair(d, word, -1) : count_pair(d, -1, word)) return LSCFG_ENOMEM;
    }
  return LSCFG_OK;
}


/* ---- the tree ---- */

/* Replaces the top items of the stack by the smallest phrase pair that they end; 0 if there is none. */
static int reduce(lscfg_derivations *d, const linked_words *c, int32_t *stack, int32_t *height, int32_t *n_phrases) {
  phrase *items = d->phrases;
  int32_t top = *height - 1, end = items[stack[top]].src[1];
  int32_t tgt_low = items[stack[top]].tgt[0], tgt_high = items[stack[top]].tgt[1];
  int32_t seen_low = tgt_low, seen_high = tgt_low - 1; /* target words whose links are in src_low, src_high */
  int32_t src_low = INT32_MAX;
  for (int32_t bottom = top; bottom >= 0; bottom--) {
    const phrase *item = &items[stack[bottom]];
    if (item->tgt[0] < tgt_low) tgt_low = item->tgt[0];
    if (item->tgt[1] > tgt_high) tgt_high = item->tgt[1];
    while (seen_low > tgt_low || seen_high < tgt_high) {
      int32_t t = seen_high < tgt_high ? ++seen_high : --seen_low;
      if (c->high[TGT][t] > end) return 0; /* a wider window keeps this word, so that no phrase ends here */
      if (c->low[TGT][t] < src_low) src_low = c->low[TGT][t];
    }
    if (src_low < item->src[0] || (bottom == top && item->is_phrase)) continue;
    phrase whole = {{item->src[0], end}, {tgt_low, tgt_high}, 1, -1, -1};
    for (int32_t k = top; k >= bottom; k--) {
      if (!items[stack[k]].is_phrase) continue;
      items[stack[k]].next_sibling = whole.first_child;
      whole.first_child = stack[k];
    }
    items[*n_phrases] = whole;
    stack[bottom] = (*n_phrases)++;
    *height = bottom + 1;
    return 1;
  }
  return 0;
}

/* Builds the tree; returns the item of its root, -1 where no word is linked. */
static int32_t decompose(lscfg_derivations *d, const linked_words *c, int32_t *stack) {
  int32_t height = 0, n_phrases = 0;
  for (int32_t i = 0; i < c->n[SRC]; i++) {
    d->phrases[n_phrases] = (phrase){{i, i}, {c->low[SRC][i], c->high[SRC][i]}, 0, -1, -1};
    stack[height++] = n_phrases++;
    while (reduce(d, c, stack, &height, &n_phrases)) {
    }
  }
  if (!height) return -1;
  /* Source words before or behind all links: a node of the whole sentence has them, over the tight root. Target words
   * alone do not make one: its rule would be [X,1] on the source side, which no decoder could apply only once. */
  int32_t root = stack[0], last = (int32_t)d->words[SRC].size - 1;
  if (c->position[SRC][0] == 0 && c->position[SRC][c->n[SRC] - 1] == last) return root;
  d->phrases[n_phrases] = d->phrases[root];
  d->phrases[n_phrases].first_child = root;
  return n_phrases;
}

/* Words of one side from begin to end, with the children (in that side's order) replaced by their symbols. */
static int append_side(lscfg_derivations *d, int side, int32_t begin, int32_t end, const int32_t (*children)[3], int32_t n) {
  int32_t next = 0;
  if (ARRAY_RESERVE(d->symbols_of_rule, end - begin + 1)) return LSCFG_ENOMEM;
  for (int32_t i = begin; i < end;) {
    if (next < n && children[next][0] == i) {
      d->symbols_of_rule.data[d->symbols_of_rule.size++] = side == SRC ? -1 : -1 - children[next][2];
      i = children[next++][1];
    } else {
      d->symbols_of_rule.data[d->symbols_of_rule.size++] = d->words[side].data[i++];
    }
  }
  return LSCFG_OK;
}

static int by_begin(const void *a, const void *b) { return *(const int32_t *)a - *(const int32_t *)b; }

/* Half-open span of a phrase in words of the sentence, unlinked words counted. */
static void sentence_span(const linked_words *c, const phrase *p, int side, int32_t *span) {
  const int32_t *inner = side == SRC ? p->src : p->tgt;
  span[0] = c->position[side][inner[0]];
  span[1] = c->position[side][inner[1]] + 1;
}

/* The rule of a node that covers the two spans. */
static int32_t node_rule(lscfg_derivations *d, const linked_words *c, int32_t first_child, const int32_t span[2][2],
                         int32_t (*children)[3]) {
  int32_t arity = 0, n_src = 0;
  d->symbols_of_rule.size = 0;
  for (int side = SRC; side <= TGT; side++) {
    arity = 0;
    for (int32_t k = first_child; k >= 0; k = d->phrases[k].next_sibling, arity++) {
      sentence_span(c, &d->phrases[k], side, children[arity]);
      children[arity][2] = arity;
    }
    if (side == TGT) qsort(children, (size_t)arity, sizeof *children, by_begin);
    if (append_side(d, side, span[side][0], span[side][1], (const int32_t(*)[3])children, arity)) return LSCFG_ENOMEM;
    if (side == SRC) n_src = (int32_t)d->symbols_of_rule.size;
  }
  return intern_rule(d, d->symbols_of_rule.data, n_src, (int32_t)d->symbols_of_rule.size - n_src, arity);
}

static int32_t add_node(lscfg_derivations *d, int32_t rule, int32_t parent, int32_t slot, const int32_t span[2][2]) {
  if (d->node_rule.size == INT32_MAX || ARRAY_RESERVE(d->node_rule, 1) || ARRAY_RESERVE(d->node_parent, 1) ||
      ARRAY_RESERVE(d->node_slot, 1) || ARRAY_RESERVE(d->node_span, 4))
    return LSCFG_ENOMEM;
  d->node_parent.data[d->node_parent.size++] = parent;
  d->node_slot.data[d->node_slot.size++] = slot;
  memcpy(d->node_span.data + d->node_span.size, span, 4 * sizeof(int32_t));
  d->node_span.size += 4;
  d->node_rule.data[d->node_rule.size] = rule;
  return (int32_t)d->node_rule.size++;
}

/* Writes the nodes in preorder, children in source order. todo holds item, parent and slot of nodes to come. */
static int write_tree(lscfg_derivations *d, const linked_words *c, int32_t root, int32_t (*todo)[3], int32_t (*children)[3]) {
  int32_t height = 0, whole[2][2] = {{0, (int32_t)d->words[SRC].size}, {0, (int32_t)d->words[TGT].size}};
  todo[height][0] = root;
  todo[height][1] = -1;
  todo[height++][2] = 0;
  while (height) {
    int32_t item = todo[--height][0], parent = todo[height][1], slot = todo[height][2], span[2][2];
    memcpy(span, whole, sizeof span);
    if (parent >= 0)
      for (int side = SRC; side <= TGT; side++) sentence_span(c, &d->phrases[item], side, span[side]);
    int32_t first_child = item < 0 ? -1 : d->phrases[item].first_child, arity = 0;
    int32_t rule = node_rule(d, c, first_child, (const int32_t(*)[2])span, children);
    int32_t node = rule < 0 ? rule : add_node(d, rule, parent, slot, (const int32_t(*)[2])span);
    if (node < 0) return node;
    for (int32_t k = first_child; k >= 0; k = d->phrases[k].next_sibling) arity++;
    /* the last child deepest, so that the first is taken next */
    for (int32_t k = first_child, s = 0; k >= 0; k = d->phrases[k].next_sibling, s++) {
      int32_t *entry = todo[height + arity - 1 - s];
      entry[0] = k;
      entry[1] = node;
      entry[2] = s;
    }
    height += arity;
  }
  return LSCFG_OK;
}

int lscfg_derive(lscfg_derivations *d, const char *src, size_t n_src, const char *tgt, size_t n_tgt, const char *links,
                 size_t n_links, lscfg_error *error) {
  linked_words c;
  int code = read_words(d, SRC, src, n_src, error);
  if (!code) code = read_words(d, TGT, tgt, n_tgt, error);
  if (!code) code = read_links(d, links, n_links, error);
  if (code) return code;
  int64_t n = d->words[SRC].size;
  if (3 * n > d->phrase_capacity && array_grow((void **)&d->phrases, &d->phrase_capacity, 3 * n, sizeof(phrase)))
    return out_of_memory(error);
  int32_t *stack = malloc((size_t)n * sizeof *stack);
  int32_t(*todo)[3] = malloc((size_t)(3 * n) * sizeof *todo), (*children)[3] = malloc((size_t)n * sizeof *children);
  code = LSCFG_ENOMEM;
  if (stack && todo && children && !ARRAY_RESERVE(d->trees, 1) && !condense(d, &c) && !count_links(d, &c))
    code = write_tree(d, &c, decompose(d, &c, stack), todo, children);
  if (!code) d->trees.data[d->trees.size++] = d->node_rule.size;
  free(stack);
  free(todo);
  free(children);
  return code ? out_of_memory(error) : LSCFG_OK;
}

void lscfg_derivations_get(const lscfg_derivations *d, lscfg_derivations_view *view) {
  *view = (lscfg_derivations_view){
      d->trees.size - 1,   d->node_rule.size,   d->trees.data,        d->node_rule.data,    d->node_parent.data,
      d->node_slot.data,   d->node_span.data,   d->rules.size,        d->rule_count.data,   d->symbols.size,
      d->symbols.data,     &d->vocab,           d->pairs.size,         d->pairs.data,
  };
}

void lscfg_derivations_rules(const lscfg_derivations *d, int32_t *n_src, int32_t *n_tgt, int32_t *arity) {
  for (int64_t r = 0; r < d->rules.size; r++) {
    n_src[r] = d->rules.data[r].n_src;
    n_tgt[r] = d->rules.data[r].n_tgt;
    arity[r] = d->rules.data[r].arity;
  }
}
