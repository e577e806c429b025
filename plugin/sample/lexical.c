#include <math.h>

#include "sample/lexical.h"

int lexical_init(lexical_weights *w, const link_counts *links, int32_t n_words) {
  *w = (lexical_weights){.links = links};
  for (int side = SRC; side <= TGT; side++)
    if (!(w->links_of[side] = calloc((size_t)n_words + 1, sizeof(double)))) {
      lexical_release(w);
      return LSCFG_ENOMEM;
    }
  for (int64_t k = 0; k < links->pairs.size; k++) {
    const lscfg_word_pair *p = &links->pairs.data[k];
    w->links_of[SRC][1 + p->src] += (double)p->count;
    w->links_of[TGT][1 + p->tgt] += (double)p->count;
    w->n_links += (double)p->count;
  }
  return LSCFG_OK;
}

void lexical_release(lexical_weights *w) {
  free(w->links_of[SRC]);
  free(w->links_of[TGT]);
  *w = (lexical_weights){0};
}

/* P(word | other word), -1 for none. */
static double translation(const lexical_weights *w, int side, int32_t word, int32_t other) {
  double all = w->links_of[!side][1 + other];
  int64_t count = side == TGT ? link_counts_find(w->links, other, word) : link_counts_find(w->links, word, other);
  return all > 0 ? (double)count / all : 0;
}

double lexical_log_weight(const lexical_weights *w, const int32_t *symbols, int32_t n_src, int32_t n) {
  const int32_t *begin[2] = {symbols, symbols + n_src}, *end[2] = {symbols + n_src, symbols + n};
  double sum = 0;
  for (int side = SRC; side <= TGT; side++)
    for (const int32_t *word = begin[side]; word < end[side]; word++) {
      if (*word < 0) continue;
      double all = translation(w, side, *word, -1);
      int32_t n_others = 1;
      for (const int32_t *other = begin[!side]; other < end[!side]; other++) {
        if (*other < 0) continue;
        all += translation(w, side, *word, *other);
        n_others++;
      }
      sum += log(w->links_of[side][1 + *word] / w->n_links) + log(all / n_others);
    }
  return sum / 2;
}
