/* Rules of single sentences on demand, from suffix arrays over word-aligned text. See lscfg.h for general
 * conventions. */
#ifndef LSCFG_DEMAND_API_H
#define LSCFG_DEMAND_API_H

#include "lscfg/extract.h"

#ifdef __cplusplus
extern "C" {
#endif

/* [declarations] */

/* ---- word-aligned text ---- */

typedef struct lscfg_aligned lscfg_aligned;

enum {
  LSCFG_ALIGNED_WORDS = 65535, /* maximum number of words of a sentence */
  LSCFG_SUFFIX_WORDS = 8       /* words by which suffixes are ordered */
};

/* By side, 0 source, 1 target: words [n_words], with -1 - pair after each sentence; starts [n_pairs + 1]: where each
 * sentence begins. links [n_links][2]: positions in both sentences; link_starts [n_pairs + 1]. The lexicon is that of
 * lscfg_tables. */
typedef struct {
  int64_t n_pairs, n_words[2], n_links;
  const int32_t *words[2];
  const int64_t *starts[2];
  const int64_t *link_starts;
  const uint16_t *links;
  lscfg_tables tables; /* without rules */
} lscfg_aligned_view;

lscfg_aligned *lscfg_aligned_new(void);
void lscfg_aligned_free(lscfg_aligned *);
/* Adds a sentence pair; arguments and errors as in lscfg_derive. */
int lscfg_aligned_add(lscfg_aligned *, const char *src, size_t src_length, const char *tgt, size_t tgt_length,
                      const char *links, size_t links_length, int32_t *stream, lscfg_error *);
/* Valid until the next addition. */
void lscfg_aligned_get(const lscfg_aligned *, lscfg_aligned_view *);
/* The suffix array of the words of a side: positions of words in the order of the LSCFG_SUFFIX_WORDS words from there
 * on, then of position. n_types: number of words of the vocabulary. order has room for the words without the ends of
 * sentences. */
int lscfg_suffixes(const int32_t *words, int64_t n_words, int32_t n_types, int32_t *order, lscfg_error *);

/* ---- the index ---- */

typedef struct lscfg_index lscfg_index;

/* Rules of a sentence; as in lscfg_hiero_view, and lexicon_total. All are estimates if places were sampled. */
typedef struct {
  int64_t n_places[2];            /* places examined for source and target sides */
  const double *count;            /* [rules] */
  const int64_t *tokens;          /* [rules] */
  int64_t n_targets;
  const double *target_count;     /* [n_targets], numbered as by lscfg_rules_number; 0 for other sides */
  const int64_t *lexicon_total;   /* [words + 1][2]: links of each word as source and as target word, first of none */
  lscfg_tables tables;
  /* the vocabulary of the file, and lexicon_total of its words; unchecked */
  int64_t n_all_words, n_all_bytes;
  const char *all_bytes;
  const int64_t *all_offsets, *all_total; /* [n_all_words + 1], [n_all_words + 1][2] */
} lscfg_index_view;

/* Maps the file of an index and compares it with its checksum; its arrays are also checked where they are followed:
 *
 *   src.words, src.starts, tgt.words, tgt.starts, links, links.starts: as in lscfg_aligned_view
 *   src.suffixes, tgt.suffixes: as from lscfg_suffixes
 *   vocab.bytes, vocab.offsets: uint8, int64 [words + 1], concatenated words; vocab.order: int32, words by their bytes
 *   lexicon.rows, lexicon.target, lexicon.count: int64 [words + 2], where the links of each source word begin, first of
 *     none; int32, int64 [links], target words in ascending order, -1 for none, and their counts
 *   lexicon.total: int64 [words + 1][2], as lexicon_total
 */
int lscfg_index_open(const char *path, const lscfg_hiero_options *, lscfg_index **, lscfg_error *);
void lscfg_index_free(lscfg_index *);
/* Adds a sentence pair to the text that is kept in memory, after that of the file. */
int lscfg_index_teach(lscfg_index *, const char *src, size_t src_length, const char *tgt, size_t tgt_length,
                      const char *links, size_t links_length, int32_t *stream, lscfg_error *);
/* Forgets the pairs that were added. */
int lscfg_index_forget(lscfg_index *, lscfg_error *);
/* Finds the rules that can translate a part of a sentence.
 *
 * max_span: leaves out rules that must cover more words than this; 0: no limit. samples: maximum number of places of a
 * source side in the file whose rules are extracted; 0: all. The text in memory is never sampled. */
int lscfg_index_look_up(lscfg_index *, const char *line, size_t length, int32_t max_span, int32_t samples,
                        lscfg_error *);
/* Counts the target sides of some rules of the last look-up in the whole text, from at most `samples` places of each;
 * 0: all. */
int lscfg_index_count_targets(lscfg_index *, int64_t n, const int64_t *rules, int32_t samples, lscfg_error *);
/* Valid until the next call. */
void lscfg_index_get(const lscfg_index *, lscfg_index_view *);

/* [end of declarations] */

#ifdef __cplusplus
}
#endif
#endif
