/* Moses' rules in the kernel's numbers. */
#ifndef LSCFG_MOSES_RULE_TABLES_H
#define LSCFG_MOSES_RULE_TABLES_H

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "options.h"
#include "util/string_piece.hh"

namespace Moses {
class Factor;
class PhraseDictionaryNodeMemory;
class TargetPhrase;
class Word;
} // namespace Moses

namespace lscfg {

/* Throws ConfigError where a function of the kernel failed. */
void Check(int code, const lscfg_error &error, const std::string &where = "");

/* The rules of a decoder, except those of its goal [S], and what its glue grammar allows. Filled in once; to be shared
 * by threads from then on. */
class RuleTables {
 public:
  /* From the decoder's tables, which must be loaded. Tables in memory have the rules that table-limit has left; other
   * tables are read from their files. Throws ConfigError. */
  explicit RuleTables(const std::vector<std::string> &files);

  const lscfg_grammar *grammar() const { return grammar_.get(); }
  const lscfg_parse_options &options() const { return options_; }
  /* The rule of a word that is passed through. */
  int32_t pass() const { return lscfg_grammar_size(grammar_.get()) + LSCFG_RULE_PASS; }

  /* The vocabulary's number of a word, -1 if no rule has it. */
  int32_t FindWord(const Moses::Word &word) const;
  /* The target side of a rule of a table in memory. */
  const Moses::TargetPhrase *PhraseOf(int32_t rule) const {
    return static_cast<size_t>(rule) < phrases_.size() ? phrases_[rule] : nullptr;
  }
  /* The categories of a rule's left-hand side and tails, as a key; of a node alone, that of its category. */
  uint32_t Categories(int32_t rule) const { return rule < pass_begin_ ? categories_[rule] : KeyOf(kX); }
  static uint32_t KeyOf(int32_t head, int32_t left = 0, int32_t right = 0) { return head | left << 10 | right << 20; }
  static uint32_t HeadOf(uint32_t categories) { return categories & 0x3ff; }
  enum { kX = LSCFG_X, kS = LSCFG_S };
  /* The rule of a table in memory, -1 if it is none of them. */
  int32_t FindRule(const Moses::TargetPhrase &phrase) const {
    const auto known = rules_.find(&phrase);
    return known == rules_.end() ? -1 : known->second;
  }
  /* The rule of a file with this source side; -1 if there is none. */
  int32_t FindRule(const Moses::TargetPhrase &phrase, const std::vector<int32_t> &src) const;
  bool from_files() const { return from_files_; }
  /* True if rules have other labels than X. */
  bool has_labels() const { return lscfg_grammar_n_categories(grammar_.get()) > kS + 1; }
  bool IsGoal(const Moses::Word &label) const;
  /* The number of a label's category, -1: none of the grammar. */
  int32_t CategoryOf(const Moses::Word &label) const;
  /* As a line of a grammar of cdec's, without features. word: what is passed through, escaped. */
  std::string Text(int32_t rule, const std::string &word) const;

 private:
  typedef std::vector<int32_t> Symbols;

  void AddNode(const Moses::PhraseDictionaryNodeMemory &node, Symbols *src, bool glue_only);
  std::string SideOf(const Symbols &src) const; /* for messages */
  void AddPhrase(const Moses::TargetPhrase &phrase, const Symbols &src, bool glue_only);
  void ReadFile(const std::string &path);
  void AddLine(const std::string &line);
  int32_t AddRule(int32_t lhs, const Symbols &src, const Symbols &tgt);
  void TakeGlue(const Symbols &src, const Symbols &tgt);
  void AddGlue();
  void Finish();
  int32_t AddCategory(const std::string &name);
  std::string CategoryName(int32_t category) const;
  int32_t AddWord(const StringPiece &word);
  /* Target side; false if a word is unknown. */
  bool Encode(const Moses::TargetPhrase &phrase, Symbols *tgt) const;

  std::unique_ptr<lscfg_vocab, void (*)(lscfg_vocab *)> vocab_;
  std::unique_ptr<lscfg_grammar, void (*)(lscfg_grammar *)> grammar_;
  std::unordered_map<const Moses::TargetPhrase *, int32_t> rules_;
  std::vector<const Moses::TargetPhrase *> phrases_; /* by rule; NULL: not of a table in memory */
  std::vector<uint32_t> categories_; /* by rule */
  std::unordered_map<const Moses::Factor *, int32_t> category_of_;
  int32_t pass_begin_; /* the number of rules */
  const Moses::Factor *s_;
  int32_t begin_, end_; /* <s> and </s> */
  unsigned glue_;       /* the rules of the glue grammar that were seen */
  std::set<int32_t> joined_, whole_; /* categories that glue joins; that are a whole sentence */
  std::string table_;   /* the table that is read, for messages */
  size_t n_rules_;      /* rules of other categories than the goal in the decoder's memory */
  bool from_files_;
  lscfg_parse_options options_;
};

} // namespace lscfg

#endif
