/* Grammars in the kernel's numbers; cdec's rules are found in them by their text. */
#ifndef LSCFG_CDEC_GRAMMAR_H
#define LSCFG_CDEC_GRAMMAR_H

#include <memory>
#include <string>
#include <vector>

#include "lscfg/inference.h"
#include "settings.h"
#include "trule.h"

/* The words of all grammars, and which of them cdec's words are. */
class Words {
 public:
  Words() : vocab(lscfg_vocab_new(), lscfg_vocab_free) {}
  int32_t Find(WordID word) const; /* -1 if no grammar has the word */
  int32_t Add(WordID word);

  std::unique_ptr<lscfg_vocab, void (*)(lscfg_vocab *)> vocab;

 private:
  mutable std::vector<int32_t> found_; /* by cdec's id, -1 where not found yet */
};

/* A grammar and its rules' tensors. */
class BoundGrammar {
 public:
  BoundGrammar(const lscfg_model *model, const lscfg_binding_options &options, Words *words);

  /* Each throws ConfigError; Finish also for rules that the kernel parses differently from cdec, if asked to check. */
  void Read(const std::string &path);
  void Add(const TRule &rule);
  /* The other grammar's rules whose source words are all marked: is_there[word]. */
  void AddMatching(const BoundGrammar &other, const std::vector<char> &is_there);
  void Finish(const DecoderSettings &decoder, bool parses);

  /* Number of the rule, of an extra one if the grammar lacks it; -1 for an unknown rule. */
  int32_t Find(const TRule &rule) const;
  int32_t Category(WordID nonterminal) const;
  /* True if a rule translates the word alone into an X. */
  bool HasRuleOfWord(WordID word) const;

  const lscfg_grammar *grammar() const { return grammar_.get(); }
  const lscfg_binding *binding() const { return binding_.get(); }
  int32_t goal() const { return goal_; }

 private:
  bool Encode(const TRule &rule, bool add) const;
  void CheckGoal() const; /* throws ConfigError */

  const lscfg_model *model_;
  const lscfg_binding_options options_;
  Words *words_;
  std::unique_ptr<lscfg_grammar, void (*)(lscfg_grammar *)> grammar_;
  std::unique_ptr<lscfg_binding, void (*)(lscfg_binding *)> binding_;
  int32_t goal_ = 1;
  bool glue_ = false, pass_through_ = false;
  int pass_through_feature_;
  std::vector<char> has_rule_;             /* by word */
  mutable std::vector<int32_t> src_, tgt_; /* of the rule at hand */
};

#endif
