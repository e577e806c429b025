#include "RuleTables.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <utility>

#include "moses/AlignmentInfo.h"
#include "moses/DecodeGraph.h"
#include "moses/Factor.h"
#include "moses/FactorCollection.h"
#include "moses/InputFileStream.h"
#include "moses/StaticData.h"
#include "moses/TargetPhrase.h"
#include "moses/TranslationModel/PhraseDictionaryMemory.h"

using std::string;
using std::vector;

namespace lscfg {

namespace {

/* Rules that begin and end the sentence in a glue grammar. */
enum { kStart = 1, kStop = 2 };

/* The inverse of Moses' escape-special-chars.perl, for the characters that lscfg escapes. */
string Unescape(const StringPiece &text) {
  static const char *const kEscapes[] = {"&#124;", "|", "&#91;", "[", "&#93;", "]"};
  string word(text.data(), text.size());
  for (int k = 0; k < 6; k += 2) {
    const size_t length = strlen(kEscapes[k]);
    for (size_t at = word.find(kEscapes[k]); at != string::npos; at = word.find(kEscapes[k], at + 1))
      word.replace(at, length, kEscapes[k + 1]);
  }
  return word;
}

StringPiece Surface(const Moses::Word &word) { return word[0] ? word[0]->GetString() : StringPiece(); }

bool IsSurface(const vector<Moses::FactorType> &factors) {
  return factors.empty() || (factors.size() == 1 && factors[0] == 0);
}

bool IsLabel(const string &token) { return token.size() > 2 && token[0] == '[' && token[token.size() - 1] == ']'; }

/* The target side's label of [NAME], or of a nonterminal [X][NAME]. */
string LabelOf(const string &token) {
  const size_t begin = token.rfind('[') + 1;
  return token.substr(begin, token.size() - begin - 1);
}

vector<string> Split(const string &text) {
  vector<string> tokens;
  for (size_t begin = 0; (begin = text.find_first_not_of(" \t\r", begin)) != string::npos;) {
    const size_t end = std::min(text.find_first_of(" \t\r", begin), text.size());
    tokens.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return tokens;
}

string NameOf(const lscfg_vocab *vocab, int32_t word) {
  size_t length;
  const char *text = lscfg_vocab_word(vocab, word, &length);
  return string(text, length);
}

} // namespace

void Check(int code, const lscfg_error &error, const string &where) {
  if (code < 0) throw ConfigError(where + (where.empty() ? "" : ": ") + error.message);
}

RuleTables::RuleTables(const vector<string> &files)
    : vocab_(lscfg_vocab_new(), lscfg_vocab_free),
      grammar_(lscfg_grammar_new(vocab_.get()), lscfg_grammar_free),
      pass_begin_(0),
      s_(Moses::FactorCollection::Instance().AddFactor("S", true)),
      begin_(AddWord("<s>")),
      end_(AddWord("</s>")),
      glue_(0),
      n_rules_(0),
      from_files_(!files.empty()),
      options_() {
  using namespace Moses;
  const vector<PhraseDictionary *> &tables = PhraseDictionary::GetColl();
  const vector<DecodeGraph *> &graphs = StaticData::Instance().GetDecodeGraphs();
  string limited; /* the table whose max-chart-span counts */
  size_t max_span = 0;
  for (size_t k = 0; k < tables.size(); ++k) {
    const string &name = tables[k]->GetScoreProducerDescription();
    const size_t before = n_rules_;
    const PhraseDictionaryMemory *memory = dynamic_cast<const PhraseDictionaryMemory *>(tables[k]);
    if (!memory && !from_files_)
      throw ConfigError("the rules of " + name +
                        " cannot be listed, only those of a PhraseDictionaryMemory can; add "
                        "path=FILE with the same rules as text");
    if (!IsSurface(tables[k]->GetInput()) || !IsSurface(tables[k]->GetOutput()))
      throw ConfigError(name + " has rules of other factors than 0, or of several; latent features support "
                               "input-factor=0 output-factor=0 alone");
    Symbols src;
    table_ = name + ": ";
    if (memory) AddNode(memory->GetRootNode(), &src, from_files_);
    if (memory && n_rules_ == before) continue;
    const size_t span = k < graphs.size() ? graphs[k]->GetMaxChartSpan() : 0;
    if (!limited.empty() && span != max_span)
      throw ConfigError(limited + " and " + name +
                        " have rules besides those of [S], but different values of max-chart-span; give "
                        "them the same");
    limited = name;
    max_span = span;
  }
  table_.clear(); /* messages of a file name its lines */
  for (size_t k = 0; k < files.size(); ++k) ReadFile(files[k]);
  if (lscfg_grammar_size(grammar_.get()) == 0)
    throw ConfigError("the rule tables have no rule of [X] or of another label than [S]");
  for (const auto &unknown : StaticData::Instance().options()->syntax.unknown_lhs)
    if (unknown.first != "X")
      throw ConfigError("unknown-lhs has the label " + unknown.first +
                        ", but here unknown words become an [X]; give other labels rules of such words, with lscfg "
                        "grammar --filter TEXT --oov");
  AddGlue();
  Finish();
  options_.max_span = max_span == 0 || max_span > INT32_MAX ? INT32_MAX : static_cast<int32_t>(max_span);
  options_.pass = StaticData::Instance().options()->unk.always_create_direct_transopt ? 1 : 2;
  options_.goal = kS;
  options_.most = LSCFG_MOST;
}

/* The glue rules of [X] are the kernel's, with Moses' <s> as the first [S]; those of other labels become rules. */
void RuleTables::AddGlue() {
  const bool glue = (glue_ & (kStart | kStop)) == (kStart | kStop) && !joined_.empty();
  if (!glue && whole_.empty())
    throw ConfigError(
        "the decoder's tables have neither Moses' glue rules nor a rule '<s> [X][X] </s> [X] ||| "
        "<s> [X][X] </s> [S]'; add a glue grammar");
  options_.glue = glue && joined_.count(kX);
  std::set<int32_t> tops = whole_;
  if (glue) tops.insert(joined_.begin(), joined_.end());
  if (options_.glue) tops.erase(kX);
  for (const int32_t category : tops) AddRule(kS, {-1 - category}, {-1});
  if (!glue) return;
  for (const int32_t category : joined_)
    if (category != kX) AddRule(kS, {-1 - kS, -1 - category}, {-1, -2});
}

void RuleTables::Finish() {
  lscfg_error error;
  Check(lscfg_grammar_finish(grammar_.get(), &error), error);
  if (from_files_) Check(lscfg_grammar_index_sides(grammar_.get(), &error), error); /* rules are found by their sides */
  pass_begin_ = lscfg_grammar_size(grammar_.get());
  phrases_.resize(pass_begin_);
  for (int32_t rule = 0; rule < pass_begin_; ++rule) {
    int32_t n, tails[2] = {0, 0}, found = 0;
    const int32_t *src = lscfg_grammar_src(grammar_.get(), rule, &n);
    for (int32_t k = 0; k < n; ++k)
      if (src[k] < 0 && found < 2) tails[found++] = -1 - src[k];
    categories_.push_back(KeyOf(lscfg_grammar_lhs(grammar_.get(), rule), tails[0], tails[1]));
  }
}

int32_t RuleTables::AddCategory(const string &name) {
  enum { kMost = 1024 }; /* so that three fit into a key */
  const int32_t category = lscfg_grammar_category(grammar_.get(), name.data(), name.size());
  if (category < 0 || category >= kMost)
    throw ConfigError("the rule tables have more than " + std::to_string(kMost) + " labels; use fewer");
  category_of_[Moses::FactorCollection::Instance().AddFactor(name, true)] = category;
  return category;
}

int32_t RuleTables::CategoryOf(const Moses::Word &label) const {
  const auto known = category_of_.find(label[0]);
  return known == category_of_.end() ? -1 : known->second;
}

int32_t RuleTables::AddRule(int32_t lhs, const Symbols &src, const Symbols &tgt) {
  lscfg_error error;
  const int32_t rule = lscfg_grammar_add(grammar_.get(), lhs, src.data(), src.size(), tgt.data(), tgt.size(), &error);
  Check(rule, error, "rule table");
  return rule;
}

/* ---- tables in the decoder's memory ---- */

/* Children by their words, so that rules have the same numbers in every run. */
void RuleTables::AddNode(const Moses::PhraseDictionaryNodeMemory &node, Symbols *src, bool glue_only) {
  using namespace Moses;
  TargetPhraseCollection::shared_ptr phrases = node.GetTargetPhraseCollection();
  if (phrases && !src->empty())
    for (TargetPhraseCollection::const_iterator p = phrases->begin(); p != phrases->end(); ++p)
      AddPhrase(**p, *src, glue_only);

  typedef std::pair<string, const PhraseDictionaryNodeMemory *> Child;
  vector<Child> children;
  for (auto &c : node.GetTerminalMap()) children.push_back(Child(Unescape(Surface(c.first)), &c.second));
  std::sort(children.begin(), children.end());
  for (const Child &child : children) {
    src->push_back(AddWord(child.first));
    AddNode(*child.second, src, glue_only);
    src->pop_back();
  }
  children.clear();
  for (auto &c : node.GetNonTerminalMap()) {
#if defined(UNLABELLED_SOURCE)
    const Word &label = c.first;
#else
    const Word &label = c.first.second;
#endif
    children.push_back(Child(Surface(label).as_string(), &c.second));
  }
  std::sort(children.begin(), children.end());
  for (const Child &child : children) {
    src->push_back(-1 - AddCategory(child.first));
    AddNode(*child.second, src, glue_only);
    src->pop_back();
  }
}

string RuleTables::SideOf(const Symbols &src) const {
  string side;
  for (const int32_t symbol : src) {
    if (!side.empty()) side += ' ';
    side += symbol >= 0 ? NameOf(vocab_.get(), symbol) : '[' + CategoryName(-1 - symbol) + ']';
  }
  return side;
}

void RuleTables::AddPhrase(const Moses::TargetPhrase &phrase, const Symbols &src, bool glue_only) {
  for (size_t k = 0; k < phrase.GetSize(); ++k)
    if (!phrase.GetWord(k).IsNonTerminal()) AddWord(Unescape(Surface(phrase.GetWord(k))));
  Symbols tgt;
  if (!Encode(phrase, &tgt))
    throw ConfigError(table_ + "a rule of '" + SideOf(src) + "' has a nonterminal without alignment");
  const Moses::Word &lhs = phrase.GetTargetLHS();
  if (IsGoal(lhs)) {
    TakeGlue(src, tgt);
    return;
  }
  if (std::count(src.begin(), src.end(), -1 - kS))
    throw ConfigError(table_ + "the source side '" + SideOf(src) + "' of [" + Surface(lhs).as_string() +
                      "] contains [S]; latent features need a glue grammar of [S] above all other rules");
  ++n_rules_;
  const int32_t category = AddCategory(Surface(lhs).as_string());
  if (glue_only) return;
  const int32_t rule = AddRule(category, src, tgt);
  rules_[&phrase] = rule;
  phrases_.resize(rule + 1);
  phrases_[rule] = &phrase;
}

void RuleTables::TakeGlue(const Symbols &src, const Symbols &tgt) {
  const Symbols start(1, begin_), stop_src = {-1 - kS, end_}, stop_tgt = {-1, end_}, empty = {begin_, end_};
  const bool two = src.size() == 2 && src[1] < 0 && src[1] != -1 - kS;
  const bool whole = src.size() == 3 && src[0] == begin_ && src[1] < 0 && src[1] != -1 - kS && src[2] == end_;
  if (src == start && tgt == start)
    glue_ |= kStart;
  else if (src == stop_src && tgt == stop_tgt)
    glue_ |= kStop;
  else if (two && src[0] == -1 - kS && tgt == Symbols({-1, -2}))
    joined_.insert(-1 - src[1]);
  else if (whole && tgt == Symbols({begin_, -1, end_}))
    whole_.insert(-1 - src[1]);
  else if (src != empty || tgt != empty)
    throw ConfigError(table_ + "the rule of [S] with the source side '" + SideOf(src) +
                      "' is not one of Moses' glue rules ('<s>', '[S] [X]', '[S] </s>', "
                      "'<s> [X] </s>' and '<s> </s>', or another label than X); latent features support no others");
}

/* ---- tables as text ---- */

void RuleTables::ReadFile(const string &path) {
  if (!std::ifstream(path.c_str()).good()) throw ConfigError("no rule table " + path);
  Moses::InputFileStream file(path);
  string line;
  for (long number = 1; std::getline(file, line); ++number) {
    try {
      AddLine(line);
    } catch (const std::exception &error) {
      throw ConfigError(path + ":" + std::to_string(number) + ": " + lscfg::Reason(error));
    }
  }
}

/* source [X] ||| target [LABEL] ||| scores ||| alignment ... */
void RuleTables::AddLine(const string &line) {
  vector<vector<string>> fields;
  for (size_t begin = 0; begin <= line.size() && fields.size() < 4;) {
    const size_t end = std::min(line.find("|||", begin), line.size());
    fields.push_back(Split(line.substr(begin, end - begin)));
    begin = end + 3;
  }
  if (fields.size() < 4) throw ConfigError("expected source ||| target ||| scores ||| alignment");
  vector<string> &from = fields[0], &to = fields[1];
  if (from.size() < 2 || to.size() < 1 || !IsLabel(from.back()) || !IsLabel(to.back()) || to.back() == "[S]")
    throw ConfigError("expected sides that end in a label, other than [S], such as [X]");
  const int32_t lhs = AddCategory(LabelOf(to.back()));
  from.pop_back();
  to.pop_back();
  Symbols src, tgt, gap_at(from.size(), -1);
  for (size_t k = 0, gaps = 0; k < from.size(); ++k) {
    if (IsLabel(from[k])) {
      if (from[k].find("][") == string::npos || LabelOf(from[k]) == "S")
        throw ConfigError("the nonterminal " + from[k] + " is not of the form [X][LABEL]");
      gap_at[k] = gaps++;
    }
    src.push_back(IsLabel(from[k]) ? -1 - AddCategory(LabelOf(from[k])) : AddWord(Unescape(from[k])));
  }
  for (size_t k = 0; k < to.size(); ++k) tgt.push_back(IsLabel(to[k]) ? INT32_MIN : AddWord(Unescape(to[k])));
  for (const string &link : fields[3]) {
    char *rest;
    const size_t s = strtoul(link.c_str(), &rest, 10);
    const size_t t = *rest == '-' ? strtoul(rest + 1, &rest, 10) : to.size();
    if (*rest || s >= from.size() || t >= to.size()) throw ConfigError("bad alignment " + link);
    if (gap_at[s] >= 0 && tgt[t] == INT32_MIN) tgt[t] = -1 - gap_at[s];
  }
  if (std::count(tgt.begin(), tgt.end(), INT32_MIN)) throw ConfigError("a nonterminal without alignment");
  AddRule(lhs, src, tgt);
}

/* ---- what the decoder shows of a rule ---- */

int32_t RuleTables::AddWord(const StringPiece &word) { return lscfg_vocab_add(vocab_.get(), word.data(), word.size()); }

int32_t RuleTables::FindWord(const Moses::Word &word) const {
  const StringPiece text = Surface(word);
  if (!memchr(text.data(), '&', text.size())) return lscfg_vocab_find(vocab_.get(), text.data(), text.size());
  const string unescaped = Unescape(text);
  return lscfg_vocab_find(vocab_.get(), unescaped.data(), unescaped.size());
}

bool RuleTables::IsGoal(const Moses::Word &label) const { return label[0] == s_; }

bool RuleTables::Encode(const Moses::TargetPhrase &phrase, Symbols *tgt) const {
  tgt->clear();
  for (size_t k = 0; k < phrase.GetSize(); ++k) {
    const Moses::Word &word = phrase.GetWord(k);
    if (word.IsNonTerminal()) {
      const Moses::AlignmentInfo::NonTermIndexMap &map = phrase.GetAlignNonTerm().GetNonTermIndexMap();
      if (k >= map.size()) return false;
      tgt->push_back(-1 - static_cast<int32_t>(map[k]));
    } else {
      tgt->push_back(FindWord(word));
      if (tgt->back() < 0) return false;
    }
  }
  return true;
}

int32_t RuleTables::FindRule(const Moses::TargetPhrase &phrase, const Symbols &src) const {
  Symbols tgt;
  if (!Encode(phrase, &tgt)) return -1;
  const int32_t lhs = CategoryOf(phrase.GetTargetLHS());
  return lhs < 0 ? -1 : lscfg_grammar_find(grammar_.get(), lhs, src.data(), src.size(), tgt.data(), tgt.size());
}

string RuleTables::CategoryName(int32_t category) const {
  size_t length;
  const char *name = lscfg_grammar_category_name(grammar_.get(), category, &length);
  return string(name, length);
}

string RuleTables::Text(int32_t rule, const string &word) const {
  const int32_t size = lscfg_grammar_size(grammar_.get());
  if (rule >= size) return "[X] ||| " + Unescape(word) + " ||| " + Unescape(word);
  int32_t n_src, n_tgt, gaps = 0;
  const int32_t *src = lscfg_grammar_src(grammar_.get(), rule, &n_src);
  const int32_t *tgt = lscfg_grammar_tgt(grammar_.get(), rule, &n_tgt);
  string text = "[" + CategoryName(lscfg_grammar_lhs(grammar_.get(), rule)) + "] |||";
  for (int32_t k = 0; k < n_src; ++k)
    text += " " + (src[k] < 0 ? "[" + CategoryName(-1 - src[k]) + "," + std::to_string(++gaps) + "]"
                              : NameOf(vocab_.get(), src[k]));
  text += " |||";
  for (int32_t k = 0; k < n_tgt; ++k)
    text += " " + (tgt[k] < 0 ? "[" + std::to_string(-tgt[k]) + "]" : NameOf(vocab_.get(), tgt[k]));
  return text;
}

} // namespace lscfg
