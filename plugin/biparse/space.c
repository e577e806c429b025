/* Source sides of a span, at most five symbols, two of them nonterminals; and fingerprints of rules. */
#include "biparse/space.h"

/* Adds all sides that begin like p, up to position at, and cover this number of words. */
static int extend(space *s, pattern *p, int32_t length) {
  int32_t at = p->at[p->n], n_tails = (p->tails & 1) + (p->tails >> 1 & 1) + (p->tails >> 2 & 1) +
                                      (p->tails >> 3 & 1) + (p->tails >> 4 & 1);
  if (at == length) {
    if ((p->n == 1 && p->tails) || (length > MOST_SPAN && n_tails < p->n)) return LSCFG_OK;
    if (ARRAY_RESERVE(s->patterns, 1)) return LSCFG_ENOMEM;
    s->patterns.data[s->patterns.size++] = *p;
    return LSCFG_OK;
  }
  if (p->n == MOST_SYMBOLS) return LSCFG_OK;
  pattern next = *p;
  next.n++;
  if (length <= MOST_SPAN) {
    next.at[next.n] = (uint8_t)(at + 1);
    if (extend(s, &next, length)) return LSCFG_ENOMEM;
  }
  if (n_tails == MOST_TAILS) return LSCFG_OK;
  next.tails |= (uint8_t)(1u << p->n);
  for (int32_t end = at + 1; end <= length; end++) {
    next.at[next.n] = (uint8_t)end;
    if (extend(s, &next, length)) return LSCFG_ENOMEM;
  }
  return LSCFG_OK;
}

int space_init(space *s) {
  memset(s, 0, sizeof *s);
  for (int32_t length = 1; length <= MOST_WORDS; length++) {
    s->first[length] = (int32_t)s->patterns.size;
    pattern none = {0};
    if (extend(s, &none, length)) return LSCFG_ENOMEM;
  }
  s->first[MOST_WORDS + 1] = (int32_t)s->patterns.size;
  return LSCFG_OK;
}

void space_release(space *s) { free(s->patterns.data); }

void rule_fingerprints(const int32_t *symbols, int32_t n_src, int32_t n_tgt, const int32_t *links, int32_t n_links,
                       int64_t fingerprint[3]) {
  uint64_t src = (uint64_t)n_src, tgt = 0;
  for (int32_t k = 0; k < n_src; k++) src = fingerprint_append(src, symbols[k]);
  for (int32_t k = n_src; k < n_src + n_tgt; k++) tgt = fingerprint_append(tgt, symbols[k]);
  uint64_t rule = fingerprint_join(src, tgt);
  fingerprint[0] = fingerprint_key(src);
  fingerprint[1] = fingerprint_key(rule);
  fingerprint[2] = fingerprint_key(rule ^ hash_ints(links, 2 * (int64_t)n_links, 1));
}
