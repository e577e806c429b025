/* The sentence pair that was read last: its linked words and the rules of its spans. */
#ifndef LSCFG_EXTRACT_PAIR_H
#define LSCFG_EXTRACT_PAIR_H

#include "extract/derivations.h"

/* The linked words of both sides, renumbered without the others. */
typedef struct {
  int32_t n[2];
  int32_t *position[2]; /* [n] renumbered -> position in the sentence */
  int32_t *low, *high;  /* [n[SRC]] hull of each source word's links */
  int32_t *links_to[2]; /* [n + 1] links of the words in front of each */
  int32_t *last;        /* [n[TGT]] last source word that each target word is linked to */
} linked_words;

/* Renumbers its linked words; LSCFG_OK or LSCFG_ENOMEM. */
int pair_condense(lscfg_derivations *, linked_words *);
/* Half-open span, in words of the sentence, of the linked words first .. last of a side. */
static inline void pair_span(const linked_words *c, int side, int32_t first, int32_t last, int32_t *span) {
  span[0] = c->position[side][first];
  span[1] = c->position[side][last] + 1;
}
/* True if the target words first .. last are linked only to the source words begin .. end. */
static inline int pair_closed(const linked_words *c, int32_t begin, int32_t end, const int32_t tgt[2]) {
  return c->links_to[TGT][tgt[1] + 1] - c->links_to[TGT][tgt[0]] == c->links_to[SRC][end + 1] - c->links_to[SRC][begin];
}
/* Writes the symbols of the rule that rewrites a node of these spans into its children (in source order) and the words
 * between them to out, which has room for the number of words; returns their number. child_at: of each target word, all
 * 0 before and after. */
int32_t pair_spell(const int32_t *const words[2], const span_pair span, const span_pair *children, int32_t arity,
                   int32_t *child_at, int32_t *out, int32_t *n_src);
/* The number of the rule that rewrites a node of these spans into its children (in source order) and the words between
 * them; a negative code when memory is out. */
int32_t pair_rule(lscfg_derivations *, const span_pair span, const span_pair *children, int32_t arity);
/* Room for the spans of n children. */
int pair_reserve_children(lscfg_derivations *, int64_t n);

#endif
