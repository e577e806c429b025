/* Moses' rules in the kernel's numbers. */
#ifndef LSCFG_MOSES_RULE_TABLES_H
#define LSCFG_MOSES_RULE_TABLES_H

#include <cstdint>
#include <memory>
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

/* The rules of [X] of a decoder, and what its glue grammar allows. Filled in once; to be shared by threads from then
 * on. */
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
  /* The rule of a table in memory, -1 if it is none of them. */
  int32_t FindRule(const Moses::TargetPhrase &phrase) const {
    const auto known = rules_.find(&phrase);
    return known == rules_.end() ? -1 : known->second;
  }
  /* The rule of a file with this source side; -1 if there is none. */
  int32_t FindRule(const Moses::TargetPhrase &phrase, const std::vector<int32_t> &src) const;
  bool from_files() const { return from_files_; }
  bool IsX(const Moses::Word &label) const;
  /* As a line of a grammar of cdec's, without features. word: what is passed through, escaped. */
  std::string Text(int32_t rule, const std::string &word) const;

 private:
  typedef std::vector<int32_t> Symbols;

  void AddNode(const Moses::PhraseDictionaryNodeMemory &node, Symbols *src, Symbols *labels, bool glue_only);
  void AddPhrase(const Moses::TargetPhrase &phrase, const Symbols &src, const Symbols &labels, bool glue_only);
  void ReadFile(const std::string &path);
  void AddLine(const std::string &line);
  void TakeGlue(const Symbols &src, const Symbols &tgt, const Symbols &labels);
  int32_t AddWord(const StringPiece &word);
  /* Target side; false if a word is unknown. */
  bool Encode(const Moses::TargetPhrase &phrase, Symbols *tgt) const;

  std::unique_ptr<lscfg_vocab, void (*)(lscfg_vocab *)> vocab_;
  std::unique_ptr<lscfg_grammar, void (*)(lscfg_grammar *)> grammar_;
  std::unordered_map<const Moses::TargetPhrase *, int32_t> rules_;
  const Moses::Factor *x_, *s_;
  int32_t begin_, end_; /* <s> and </s> */
  unsigned glue_;       /* the rules of the glue grammar that were seen */
  size_t n_x_;          /* rules of [X] in the decoder's memory */
  bool from_files_;
  lscfg_parse_options options_;
};

} // namespace lscfg

#endif
