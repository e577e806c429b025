/* Rules and applications as JSON, for tools that want all of a forest. */
#include "forest/forest.h"
#include "forest/grammar.h"

#include <inttypes.h>

_Static_assert(LSCFG_EDGE_SIZE >= 64 + (MAX_ARITY + 1) * 12, "an edge has a number for itself and for each child");

/* ---- sides of rules ---- */

/* Text that is written, or only measured if there is no buffer. */
typedef struct {
  char *text;
  int64_t length;
} writer;

static void put(writer *w, const char *bytes, size_t n) {
  if (w->text) memcpy(w->text + w->length, bytes, n);
  w->length += (int64_t)n;
}

static void put_escaped(writer *w, const char *bytes, size_t n) {
  static const char special[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
  for (size_t i = 0; i < n; i++) {
    const char *found = bytes[i] ? strchr(special, bytes[i]) : NULL;
    char code[8];
    if (found)
      put(w, (char[]){'\\', letter[found - special]}, 2);
    else if ((unsigned char)bytes[i] < ' ')
      put(w, code, (size_t)snprintf(code, sizeof code, "\\u%04x", (unsigned)bytes[i]));
    else
      put(w, bytes + i, 1);
  }
}

/* The k-th nonterminal of a source side, as in [X,1]. */
static void put_nonterminal(writer *w, const lscfg_grammar *g, int32_t symbol, int32_t k) {
  size_t length;
  const char *name = lscfg_vocab_word(&g->categories, -1 - symbol, &length);
  char number[16];
  put(w, "[", 1);
  put_escaped(w, name, length);
  put(w, number, (size_t)snprintf(number, sizeof number, ",%d]", (int)k + 1));
}

static void put_side(writer *w, const lscfg_grammar *g, const grammar_rule *rule, int target) {
  const int32_t *src = g->symbols.data + rule->src, *tgt = g->symbols.data + rule->tgt;
  int32_t nonterminal[MAX_ARITY], k = 0;
  for (int32_t i = 0; i < rule->n_src; i++)
    if (src[i] < 0) nonterminal[k++] = src[i];
  k = 0;
  put(w, "\"", 1);
  for (int32_t i = 0; i < (target ? rule->n_tgt : rule->n_src); i++) {
    int32_t symbol = target ? tgt[i] : src[i];
    if (i) put(w, " ", 1);
    if (symbol < 0) {
      int32_t which = target ? -1 - symbol : k++;
      put_nonterminal(w, g, nonterminal[which], which);
    } else {
      size_t length;
      const char *word = lscfg_vocab_word(g->vocab, symbol, &length);
      put_escaped(w, word, length);
    }
  }
  put(w, "\"", 1);
}

int64_t lscfg_grammar_quote(const lscfg_grammar *g, int32_t target, char *text, int64_t *begin) {
  writer w = {text, 0};
  for (int64_t rule = 0; rule < g->rules.size; rule++) {
    begin[rule] = w.length;
    put_side(&w, g, g->rules.data + rule, target);
  }
  return begin[g->rules.size] = w.length;
}

/* ---- applications ---- */

static int64_t length_of(const lscfg_strings *strings, int64_t k) { return strings->begin[k + 1] - strings->begin[k]; }

static char *copy(char *text, const lscfg_strings *strings, int64_t k) {
  size_t length = (size_t)length_of(strings, k);
  memcpy(text, strings->bytes + strings->begin[k], length);
  return text + length;
}

static char *copy_text(char *text, const char *string) {
  size_t length = strlen(string);
  memcpy(text, string, length);
  return text + length;
}

/* The beginning of an edge, up to its first target side. */
static char *begin_edge(char *p, const lscfg_forest_view *f, const int32_t *number, int32_t edge,
                        const lscfg_strings *source, int64_t side) {
  const int32_t *tail = f->edge_tail + 2 * (int64_t)edge;
  p += sprintf(p, "{\"node\":%" PRId32 ",\"tails\":[", number[f->edge_head[edge]]);
  if (tail[0] >= 0) p += sprintf(p, "%" PRId32, number[tail[0]]);
  for (int32_t rest = tail[1]; rest >= 0;) { /* see lscfg_forest_view */
    int32_t below = f->node_cat[rest] == LSCFG_REST ? f->node_edges[rest] : -1;
    int32_t next = below < 0 ? rest : f->edge_tail[2 * (int64_t)below];
    p += sprintf(p, ",%" PRId32, number[next]);
    rest = below < 0 ? -1 : f->edge_tail[2 * (int64_t)below + 1];
  }
  p = copy(copy_text(p, "],\"source\":"), source, side);
  return copy_text(p, ",\"targets\":[");
}

int64_t lscfg_print_applications(const lscfg_forest_view *f, const lscfg_shown *shown, int64_t n, const int32_t *apps,
                                 int32_t before, char *text, int64_t room) {
  int64_t most = (int64_t)(1 + shown->n_features) * (LSCFG_NUMBER_SIZE + 1) + LSCFG_EDGE_SIZE, other = 0;
  char *p = text;
  for (int64_t k = 0; k < n; k++) {
    int32_t app = apps[k], edge = f->app_edge[app];
    int known = f->app_rule[app] < shown->n_rules;
    const lscfg_strings *sides = known ? shown->sides : shown->others;
    int64_t side = known ? f->app_rule[app] : other++;
    if (room - (p - text) < length_of(sides, side) + length_of(sides + 1, side) + most) return -1;
    if (edge != before) {
      if (before >= 0) p = copy_text(p, "]},");
      p = begin_edge(p, f, shown->number, edge, sides, side);
    } else {
      *p++ = ',';
    }
    *p++ = '[';
    p = copy(p, sides + 1, side);
    *p++ = ',';
    p += lscfg_print_double(shown->marginals[app], shown->digits, p, LSCFG_NUMBER_SIZE);
    for (int32_t j = 0; j < shown->n_features; j++) {
      *p++ = ',';
      double value = shown->features[(int64_t)app * shown->n_features + j];
      p += lscfg_print_double(value, shown->digits, p, LSCFG_NUMBER_SIZE);
    }
    *p++ = ']';
    before = edge;
  }
  return p - text;
}
