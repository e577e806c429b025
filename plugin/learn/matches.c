/* Matching n-grams of all pairs of some sequences, which minimum Bayes risk decoding compares. A column is an n-gram
 * and the number of its occurrence in a sequence, so that the smaller of two counts is the number of columns that both
 * sequences are in. */
#include "base/int_map.h"
#include "lscfg/learn.h"

typedef struct {
  int64_t n;
  const int64_t *first; /* [n + 1] */
  const int32_t *items;
  int64_t *grams;   /* [items] number of the n-gram that begins here, -1: none */
  int64_t *columns; /* [items] column of the n-gram that begins here */
  int64_t *seen;    /* [items] occurrences of an n-gram in the sequence in hand */
  int64_t *begin;   /* [items + 2] of a column in rows */
  int32_t *rows;    /* [items] sequences by column, ascending */
  uint8_t *is_in;   /* [n] of the column in hand */
  int_map known;
} counter;

/* Continues the n-grams of one item less to n-grams of that length, and returns their number, negative: no memory. */
static int64_t number_grams(counter *c, int32_t length) {
  int_map_clear(&c->known);
  for (int64_t s = 0; s < c->n; s++)
    for (int64_t at = c->first[s]; at < c->first[s + 1]; at++) {
      if (at + length > c->first[s + 1]) {
        c->grams[at] = -1;
        continue;
      }
      int64_t before = length == 1 ? 0 : c->grams[at];
      int64_t *number = int_map_at(&c->known, before << 32 | (uint32_t)c->items[at + length - 1]);
      if (!number) return LSCFG_ENOMEM;
      if (!*number) *number = c->known.size;
      c->grams[at] = *number - 1;
    }
  return c->known.size;
}

/* Numbers the columns, those of first occurrences first, and returns how many there are, negative: no memory. */
static int64_t number_columns(counter *c, int64_t n_grams) {
  int64_t next = n_grams;
  int_map_clear(&c->known);
  memset(c->seen, 0, (size_t)n_grams * sizeof *c->seen);
  for (int64_t s = 0; s < c->n; s++) {
    for (int64_t at = c->first[s]; at < c->first[s + 1]; at++) {
      int64_t gram = c->grams[at], times = gram < 0 ? 0 : c->seen[gram]++;
      c->columns[at] = gram;
      if (!times) continue;
      int64_t *column = int_map_at(&c->known, gram << 32 | times);
      if (!column) return LSCFG_ENOMEM;
      if (!*column) *column = next++;
      c->columns[at] = *column;
    }
    for (int64_t at = c->first[s]; at < c->first[s + 1]; at++)
      if (c->grams[at] >= 0) c->seen[c->grams[at]] = 0;
  }
  return next;
}

/* Lists the sequences of each column. */
static void list_rows(counter *c, int64_t n_columns) {
  int64_t *end = c->begin + 1; /* after the pass below: of a column, the begin of the next */
  memset(c->begin, 0, (size_t)(n_columns + 2) * sizeof *c->begin);
  for (int64_t at = 0; at < c->first[c->n]; at++)
    if (c->columns[at] >= 0) c->begin[c->columns[at] + 2]++;
  for (int64_t k = 2; k < n_columns + 2; k++) c->begin[k] += c->begin[k - 1];
  for (int64_t s = 0; s < c->n; s++)
    for (int64_t at = c->first[s]; at < c->first[s + 1]; at++)
      if (c->columns[at] >= 0) c->rows[end[c->columns[at]]++] = (int32_t)s;
}

/* Adds 1 for each pair of sequences of a column. Where many have it, all pairs of a sequence are faster. */
static void add_column(counter *c, const int32_t *rows, int64_t size, int32_t *matches) {
  int dense = 8 * size > c->n;
  if (dense)
    for (int64_t k = 0; k < size; k++) c->is_in[rows[k]] = 1;
  for (int64_t k = 0; k < size; k++) {
    int32_t *sums = matches + rows[k] * c->n;
    if (dense)
      for (int64_t other = 0; other < c->n; other++) sums[other] += c->is_in[other];
    else
      for (int64_t other = 0; other < size; other++) sums[rows[other]]++;
  }
  if (dense)
    for (int64_t k = 0; k < size; k++) c->is_in[rows[k]] = 0;
}

static int count(counter *c, int32_t orders, int32_t *matches) {
  memset(matches, 0, (size_t)orders * (size_t)(c->n * c->n) * sizeof *matches);
  for (int32_t length = 1; length <= orders; length++, matches += c->n * c->n) {
    int64_t size = number_grams(c, length);
    if (size >= 0) size = number_columns(c, size);
    if (size < 0) return LSCFG_ENOMEM;
    list_rows(c, size);
    for (int64_t k = 0; k < size; k++) add_column(c, c->rows + c->begin[k], c->begin[k + 1] - c->begin[k], matches);
  }
  return LSCFG_OK;
}

int lscfg_count_matches(int64_t n, const int64_t *first, const int32_t *items, int32_t orders, int32_t *matches,
                        lscfg_error *error) {
  if (n >= INT32_MAX || first[n] >= INT32_MAX)
    return lscfg_fail(error, LSCFG_EINPUT, 0, "too many sequences or items");
  size_t room = (size_t)first[n] + 1;
  counter c = {.n = n, .first = first, .items = items};
  c.grams = malloc(room * sizeof *c.grams);
  c.columns = malloc(room * sizeof *c.columns);
  c.seen = malloc(room * sizeof *c.seen);
  c.begin = malloc((room + 1) * sizeof *c.begin);
  c.rows = malloc(room * sizeof *c.rows);
  c.is_in = calloc((size_t)n + 1, 1);
  int code = c.grams && c.columns && c.seen && c.begin && c.rows && c.is_in ? count(&c, orders, matches) : LSCFG_ENOMEM;
  free(c.grams);
  free(c.columns);
  free(c.seen);
  free(c.begin);
  free(c.rows);
  free(c.is_in);
  free(c.known.entries);
  return code ? out_of_memory(error) : LSCFG_OK;
}
