/* Errors and words. See lscfg.h for general conventions. */
#ifndef LSCFG_BASE_API_H
#define LSCFG_BASE_API_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* [declarations] */

enum {
  LSCFG_OK = 0,
  LSCFG_NO_PARSE = 1,     /* not an error: the sentence has no derivation */
  LSCFG_OTHER_OPTION = 2, /* not an error: the kernel has no such option */
  LSCFG_TOO_LARGE = 3,    /* not an error: the forest would exceed the caller's limit */
  LSCFG_OTHER_SOURCE = 4, /* not an error: a compiled file was made from another file */
  LSCFG_EINPUT = -1,      /* malformed input; line and message locate and explain it */
  LSCFG_ENOMEM = -2,
  LSCFG_EIO = -3,      /* a file could not be opened or mapped */
  LSCFG_ECALLBACK = -4 /* the caller's language-model callback failed */
};

typedef struct {
  int32_t code;
  int64_t line; /* 1-based line of the offending input, 0 if unknown */
  char message[752];
} lscfg_error;

/* ---- numbers as text: the C locale's, whatever the locale of the program ---- */

/* Reads the whole text, a decimal number, as strtod does. LSCFG_EINPUT for any other text, or for more than 1200
 * characters. */
int lscfg_parse_double(const char *text, size_t length, double *value);
enum { LSCFG_NUMBER_SIZE = 32 }; /* maximum number of characters of a number with 17 significant digits, and a NUL */
/* Writes up to this number of significant digits, as printf's %.*g. Returns the length, as snprintf does. */
int lscfg_print_double(double value, int32_t digits, char *text, size_t size);

/* ---- rows of text ---- */

typedef struct {
  const char *bytes;
  const int64_t *begin; /* [strings + 1] */
} lscfg_strings;

/* For each of n rows, writes the string which[0][row] of first, the string which[1][row] of second, for each column its
 * label and values[row][column] with this number of digits, and the last label. Returns the length, or -1 if the text
 * has less room. */
int64_t lscfg_print_rows(int64_t n, const lscfg_strings *first, const lscfg_strings *second,
                         const int32_t *const which[2], const lscfg_strings *labels, int32_t columns,
                         const double *values, int32_t digits, char *text, int64_t room);

/* ---- vocabulary: interned words; adding is not thread-safe, looking up is ---- */

typedef struct lscfg_vocab lscfg_vocab;

lscfg_vocab *lscfg_vocab_new(void);
void lscfg_vocab_free(lscfg_vocab *);
/* The id of the word, added if it is new; -1 when memory is out. */
int32_t lscfg_vocab_add(lscfg_vocab *, const char *word, size_t length);
/* The id of the word, -1 if it is unknown. */
int32_t lscfg_vocab_find(const lscfg_vocab *, const char *word, size_t length);
int32_t lscfg_vocab_size(const lscfg_vocab *);
/* The word's bytes, not NUL-terminated, valid until the next addition. */
const char *lscfg_vocab_word(const lscfg_vocab *, int32_t id, size_t *length);
/* Splits a line at blanks and adds its words; returns their number, or -1 if it exceeds capacity. */
int64_t lscfg_vocab_line(lscfg_vocab *, const char *line, size_t length, int32_t *ids, int64_t capacity);

/* ---- tables of rules ---- */

/* Rules as arrays, source side then target side of each; the caller has checked that offsets and symbols are in
 * range. */
typedef struct {
  int64_t n;
  const int32_t *symbols;
  const int64_t *offsets;    /* [n + 1] */
  const int32_t *src_length; /* [n] */
  const char *words;         /* the vocabulary's words, concatenated */
  const int64_t *word_offsets; /* by word id, one more than the number of words */
  int64_t n_words;
} lscfg_rules;

/* [end of declarations] */

#ifdef __cplusplus
}
#endif
#endif
