#ifndef LSCFG_GRAMMAR_H
#define LSCFG_GRAMMAR_H

#include "lscfg/forest.h"
#include "base/index.h"
#include "base/trie.h"
#include "base/vocab.h"

enum { CATEGORY_X = LSCFG_X, CATEGORY_S = LSCFG_S, MAX_ARITY = 9 };

typedef struct {
  int32_t lhs;
  int32_t arity;
  int64_t src, tgt; /* where the sides begin in symbols */
  int32_t n_src, n_tgt;
} grammar_rule;

/* All rules of one source side and one left-hand side. */
typedef struct {
  int32_t lhs;
  int32_t rules_begin, rules_end; /* in by_source */
  int32_t next;                   /* next group of the same trie node, -1 at the end */
} grammar_group;

struct lscfg_grammar {
  lscfg_vocab *vocab;
  const lscfg_grammar *base; /* of a layer; else NULL */
  lscfg_vocab categories;
  lscfg_vocab feature_names;
  ARRAY(grammar_rule) rules;
  ARRAY(int32_t) symbols;
  ARRAY(int64_t) feature_rows; /* rule -> first feature; one more than there are rules */
  ARRAY(int32_t) feature_ids;
  ARRAY(double) feature_values;
  ARRAY(int32_t) feature_last; /* feature -> the last rule that names it, -1 for none */
  ARRAY(int32_t) links;        /* pairs of places on the source and the target side */
  ARRAY(int64_t) link_rows;    /* rule -> first of links; ends with the last rule that has some */
  /* made by lscfg_grammar_finish */
  int finished;
  int cyclic;         /* unary rules lead from a category back to itself: 1 + the category */
  int32_t *by_source; /* rule ids, those of one group together, in order of addition */
  ARRAY(grammar_group) groups;
  int32_t *rule_group;       /* rule -> group */
  ARRAY(int32_t) node_group; /* trie node -> first group that ends there, -1 if none; node 0 is the root */
  trie sources;              /* the rules' source sides */
  int32_t *unary_groups;     /* groups with a source side of one nonterminal, by left-hand side */
  int32_t *unary_begin;      /* [categories + 1] the first of each left-hand side in unary_groups */
  int32_t n_ordered;
  /* categories known when the grammar was finished; a unary rule's child before its left-hand side, X before S */
  int32_t *categories_in_order;
  /* made by lscfg_grammar_index_sides */
  int indexed;
  index_table rule_index; /* first rules with their sides */
};

/* The first group of a finished grammar's rules that translate the word alone, -1 if there is none. */
static inline int32_t grammar_word_group(const lscfg_grammar *g, int32_t word) {
  int32_t node = word < 0 ? -1 : trie_child(&g->sources, 0, word);
  return node < 0 ? -1 : g->node_group.data[node];
}

/* True if a rule of a finished grammar translates the word alone into an X. */
static inline int grammar_has_word_rule(const lscfg_grammar *g, int32_t word) {
  for (int32_t group = grammar_word_group(g, word); group >= 0; group = g->groups.data[group].next)
    if (g->groups.data[group].lhs == CATEGORY_X) return 1;
  return 0;
}

/* Numbers of a layer's rules begin here: those of the base and its extra rules come before. */
static inline int32_t layer_begin(const lscfg_grammar *base) {
  return (int32_t)base->rules.size + LSCFG_EXTRA_RULES;
}

/* True if the rule's source side is exactly two nonterminals; false for the extra rules. */
/* Refuses a layer, whose rules have other numbers than a grammar's. */
static inline int refuse_layer(const lscfg_grammar *g, lscfg_error *error) {
  return g->base ? lscfg_fail(error, LSCFG_EINPUT, 0, "the grammar is a layer of rules; give its base") : LSCFG_OK;
}

static inline int grammar_is_bare(const lscfg_grammar *g, int32_t rule) {
  return rule < g->rules.size && g->rules.data[rule].arity == 2 && g->rules.data[rule].n_src == 2;
}

static inline int32_t category_symbol(int32_t category) { return -1 - category; }

/* Adds a rule of `line` in its file: its number among the grammar's own rules, or a negative code. */
int32_t grammar_add_rule(lscfg_grammar *, int32_t lhs, const int32_t *src, int64_t n_src, const int32_t *tgt,
                         int64_t n_tgt, int64_t line, lscfg_error *);
/* Adds a feature of the last rule, which the rule may name once. id: of g->feature_names; line: for the message. */
int grammar_add_feature(lscfg_grammar *, int32_t id, double value, int64_t line, lscfg_error *);
/* Adds a link of words of the last rule. */
int grammar_add_link(lscfg_grammar *, const int32_t pair[2], lscfg_error *);

#endif
