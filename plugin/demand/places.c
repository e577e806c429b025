/* The places of a pattern in a text. A sequence is a range of the suffix array. Several sequences are found from the
 * rarest one, whose places are followed to both sides in the text: a phrase pair is short, so this is less work than to
 * merge the places of two sequences by sentence (Lopez 2007), which takes as long as the more frequent one. */
#include "demand/places.h"

enum {
  EXAMINED = 4, /* places of the rarest sequence to examine for each sample of a pattern of several */
  AHEAD = 12    /* places that are requested from memory before they are examined */
};

/* The word after some words of a suffix, -1 for the end of a sentence. */
static int32_t key_of(const text_view *t, int side, int64_t suffix, int32_t depth) {
  int64_t at = (int64_t)t->suffixes[side][suffix] + depth;
  return at >= 0 && at < t->n_words[side] && t->words[side][at] >= 0 ? t->words[side][at] : -1;
}

/* The first suffix of a range whose word at this depth is at least the given one. */
static int64_t lower(const text_view *t, int side, int64_t low, int64_t high, int32_t depth, int64_t word) {
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (key_of(t, side, middle, depth) < word) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* The number of a sequence among the parts, with its ranges in both texts; LSCFG_ENOMEM. */
static int32_t find_part(lscfg_index *x, int side, const int32_t *words, int32_t n) {
  pattern_table *table = &x->patterns[side];
  if (n > LSCFG_SUFFIX_WORDS) n = LSCFG_SUFFIX_WORDS; /* no more words decide the order */
  int32_t part = rule_table_find(&table->parts, words, n, n);
  if (part >= 0) return part;
  int32_t shorter = n > 1 ? find_part(x, side, words, n - 1) : 0;
  if (shorter < 0) return shorter;
  part = rule_table_intern(&table->parts, words, n, n, 0);
  if (part < 0) return LSCFG_ENOMEM;
  for (int which = MAPPED; which < N_TEXTS; which++) {
    const text_view *t = &x->text[which];
    suffix_range r = n > 1 ? table->ranges[which].data[shorter] : (suffix_range){0, t->n_suffixes[side]};
    r.begin = lower(t, side, r.begin, r.end, n - 1, words[n - 1]);
    r.end = lower(t, side, r.begin, r.end, n - 1, (int64_t)words[n - 1] + 1);
    if (ARRAY_RESERVE(table->ranges[which], 1)) return LSCFG_ENOMEM;
    table->ranges[which].data[table->ranges[which].size++] = r;
  }
  return part;
}

/* ---- several sequences ---- */

typedef struct {
  const text_view *text;
  int side;
  const word_parts *parts;
  int32_t anchor;
  int64_t hole, widest; /* minimum words between two sequences, maximum of all */
  int32_t pattern;
  place found;
  pattern_table *table;
  int which; /* text */
} search;

static int stands_at(const search *s, int32_t part, int64_t at) {
  const word_parts *p = s->parts;
  if (at < 0 || at > s->text->n_words[s->side] - p->length[part]) return 0;
  const int32_t *words = s->text->words[s->side] + at;
  for (int32_t k = 0; k < p->length[part]; k++)
    if (words[k] != p->words[part][k]) return 0;
  return 1;
}

static int keep(search *s) {
  if (ARRAY_RESERVE(s->table->places[s->which], 1)) return LSCFG_ENOMEM;
  s->table->places[s->which].data[s->table->places[s->which].size++] = s->found;
  return LSCFG_OK;
}

/* The places of the sequences before the anchor, from right to left. */
static int to_the_left(search *s, int32_t part) {
  if (part < 0) return keep(s);
  int32_t last = s->parts->n - 1;
  const int32_t *words = s->text->words[s->side];
  int64_t end = s->found.at[last] + s->parts->length[last], next = s->found.at[part + 1];
  for (int64_t at = next - 1; at >= 0 && end - at <= s->widest && words[at] >= 0; at--) {
    if (at + s->parts->length[part] + s->hole > next || !stands_at(s, part, at)) continue;
    s->found.at[part] = at;
    if (to_the_left(s, part - 1)) return LSCFG_ENOMEM;
  }
  return LSCFG_OK;
}

/* The places of the sequences after the anchor, then of those before it. */
static int to_the_right(search *s, int32_t part) {
  if (part == s->parts->n) return to_the_left(s, s->anchor - 1);
  const int32_t *words = s->text->words[s->side];
  int64_t begin = s->found.at[s->anchor], before = s->found.at[part - 1] + s->parts->length[part - 1];
  for (int64_t at = before; at < s->text->n_words[s->side] && words[at] >= 0; at++) {
    if (at + s->parts->length[part] - begin > s->widest) break;
    if (at < before + s->hole || !stands_at(s, part, at)) continue;
    s->found.at[part] = at;
    if (to_the_right(s, part + 1)) return LSCFG_ENOMEM;
  }
  return LSCFG_OK;
}

/* ---- patterns ---- */

/* Keeps every step-th of the places from first on. */
static void thin(pattern_table *t, int which, int64_t first, int64_t step) {
  int64_t n = first;
  for (int64_t k = first; k < t->places[which].size; k += step) t->places[which].data[n++] = t->places[which].data[k];
  t->places[which].size = n;
}

/* Finds the places of a pattern in a text; *scale: places for each one kept. */
static int find_places(lscfg_index *x, int which, int side, int32_t pattern, const word_parts *p, int64_t samples,
                       double *scale) {
  const text_view *t = &x->text[which];
  pattern_table *table = &x->patterns[side];
  suffix_range best = {0, 0};
  int64_t first = table->places[which].size;
  int32_t limit = side == SRC ? x->options.max_phrase : x->options.max_target_phrase;
  search s = {.text = t, .side = side, .parts = p, .hole = side == SRC ? x->options.min_hole : 1,
              .widest = limit > 0 ? limit : INT32_MAX, .table = table, .which = which, .found.pattern = pattern};
  *scale = 1;
  for (int32_t k = 0; k < p->n; k++) {
    int32_t part = find_part(x, side, p->words[k], p->length[k]);
    if (part < 0) return LSCFG_ENOMEM;
    suffix_range r = table->ranges[which].data[part];
    if (r.begin == r.end) return LSCFG_OK;
    if (!k || r.end - r.begin < best.end - best.begin) best = r, s.anchor = k;
  }
  int64_t n = best.end - best.begin, most = p->n > 1 ? EXAMINED * samples : samples;
  int64_t step = samples && n > most ? (n + most - 1) / most : 1, examined = (n + step - 1) / step;
  for (int64_t k = best.begin; k < best.end; k += step) {
    if (k + AHEAD * step < best.end) { /* places are all over the text, and memory answers late */
      int64_t later = t->suffixes[side][k + AHEAD * step];
      if (later >= 0 && later < t->n_words[side]) __builtin_prefetch(t->words[side] + later);
    }
    s.found.at[s.anchor] = t->suffixes[side][k];
    if (stands_at(&s, s.anchor, s.found.at[s.anchor]) && to_the_right(&s, s.anchor + 1)) return LSCFG_ENOMEM;
  }
  if (step > 1) *scale = (double)n / (double)examined;
  int64_t found = table->places[which].size - first;
  if (samples && found > samples) {
    thin(table, which, first, (found + samples - 1) / samples);
    *scale *= (double)found / (double)(table->places[which].size - first);
  }
  return LSCFG_OK;
}

/* True if some links of a sentence pair join the words of a source span with each other side only, so that the span is
 * a side of an initial phrase pair. */
static int is_phrase(const text_view *t, int64_t first, int64_t last, int64_t begin, int64_t end, int loose) {
  int32_t low = INT32_MAX, high = -1;
  int begins = loose, ends = loose;
  for (int64_t k = first; k < last; k++) {
    int32_t src = t->links[2 * k], tgt = t->links[2 * k + 1];
    if (src < begin || src >= end) continue;
    if (tgt < low) low = tgt;
    if (tgt > high) high = tgt;
    begins |= src == begin;
    ends |= src == end - 1;
  }
  if (high < 0 || !begins || !ends) return 0;
  for (int64_t k = first; k < last; k++) {
    int32_t src = t->links[2 * k], tgt = t->links[2 * k + 1];
    if (tgt >= low && tgt <= high && (src < begin || src >= end)) return 0;
  }
  return 1;
}

/* Numbers the pair of each place from the mark after its sentence. Drops places of a source side without rules, since
 * some words between two sequences are no phrase: these are most places. */
static int find_pairs(lscfg_index *x, int which, int side, int64_t first, const word_parts *parts,
                      lscfg_error *error) {
  const text_view *t = &x->text[which];
  pattern_table *table = &x->patterns[side];
  int64_t kept = first;
  for (int64_t k = first; k < table->places[which].size; k++) {
    place *p = &table->places[which].data[k];
    int64_t at = p->at[0];
    while (at < t->n_words[side] && t->words[side][at] >= 0) at++;
    if (at == t->n_words[side]) return damaged_index(error);
    p->pair = -1 - (int64_t)t->words[side][at];
    if (p->pair >= t->n_pairs) return damaged_index(error);
    int64_t begin = t->starts[side][p->pair], links[2] = {t->link_starts[p->pair], t->link_starts[p->pair + 1]};
    if (begin < 0 || begin > p->at[0] || t->starts[side][p->pair + 1] != at + 1) return damaged_index(error);
    if (links[0] < 0 || links[1] < links[0] || links[1] > t->n_links) return damaged_index(error);
    int good = 1;
    for (int32_t gap = 1; gap < parts->n && side == SRC && good; gap++)
      good = is_phrase(t, links[0], links[1], p->at[gap - 1] + parts->length[gap - 1] - begin, p->at[gap] - begin,
                       x->options.loose);
    if (good) table->places[which].data[kept++] = *p;
  }
  table->places[which].size = kept;
  return LSCFG_OK;
}

/* Looks a new pattern up in both texts. */
static int add_pattern(lscfg_index *x, int side, int32_t pattern, const word_parts *p, lscfg_error *error) {
  pattern_table *table = &x->patterns[side];
  pattern_facts facts = {.scale = 1};
  for (int which = MAPPED; which <= TAUGHT; which++) {
    double scale;
    int64_t first = facts.first[which] = table->places[which].size;
    if (find_places(x, which, side, pattern, p, which == MAPPED ? table->samples : 0, &scale))
      return out_of_memory(error);
    if (which == MAPPED) facts.scale = scale;
    int64_t found = table->places[which].size - first;
    int code = find_pairs(x, which, side, first, p, error);
    if (code) return code;
    facts.end[which] = table->places[which].size;
    /* a longer pattern occurs at further places, unless this one was found at all its places */
    facts.n_places += scale > 1 ? found : facts.end[which] - first;
  }
  if (ARRAY_RESERVE(table->facts, 1)) return out_of_memory(error);
  table->facts.data[table->facts.size++] = facts;
  return LSCFG_OK;
}

int32_t find_pattern(lscfg_index *x, int side, const int32_t *symbols, int32_t n, lscfg_error *error) {
  pattern_table *table = &x->patterns[side];
  int32_t pattern = rule_table_intern(&table->names, symbols, n, n, 0);
  if (pattern < 0) return out_of_memory(error);
  word_parts p = parts_of(symbols, n);
  int code = pattern < table->facts.size ? LSCFG_OK : add_pattern(x, side, pattern, &p, error);
  if (code) return code;
  pattern_facts *facts = &table->facts.data[pattern];
  if (facts->used == table->look_up) return pattern;
  facts->used = table->look_up;
  facts->ends = 0;
  if (ARRAY_RESERVE(table->used, 1)) return out_of_memory(error);
  table->used.data[table->used.size++] = pattern;
  return pattern;
}
