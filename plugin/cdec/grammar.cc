#include "grammar.h"

#include <algorithm>
#include <cstring>

#include "fdict.h"
#include "tdict.h"

using std::string;
using std::vector;

namespace {

enum { kX = LSCFG_X, kS = LSCFG_S };

void Check(int code, const lscfg_error &error, const string &path) {
  if (code >= 0) return;
  throw ConfigError(path + (error.line ? ":" + std::to_string(error.line) : "") + (path.empty() ? "" : ": ") +
                    error.message);
}

/* After the next "|||" of a line that is no part of a word; the line's end if there is none. */
size_t EndOfField(const string &line, size_t from) {
  const auto is_border = [&line](size_t place) { return strchr(" \t\r", line[place]) != nullptr; };
  while ((from = line.find("|||", from)) != string::npos) {
    const size_t end = from + 3;
    if ((from == 0 || is_border(from - 1)) && (end == line.size() || is_border(end))) return end;
    ++from;
  }
  return line.size();
}

/* Without features and the fields after them: the kernel needs only the rules themselves, and lines keep their numbers.
 * A line that begins with a blank refines the rule above it; the first parse does not use it. */
string RulesOnly(const string &path) {
  ReadFile file = OpenText(path);
  string rules;
  for (string line; getline(*file, line); rules += '\n') {
    if (file->eof()) throw ConfigError(path + ": the last line has no newline: the file may be cut; create it again");
    if (line[0] == ' ' || line[0] == '\t') continue;
    size_t end = 0;
    for (int field = 0; field < 3; ++field) end = EndOfField(line, end);
    rules.append(line, 0, end);
  }
  return rules;
}

} // namespace

int32_t Words::Find(WordID word) const {
  if (static_cast<size_t>(word) >= found_.size()) found_.resize(word + 1, -1);
  if (found_[word] < 0) {
    const string &text = TD::Convert(word);
    found_[word] = lscfg_vocab_find(vocab.get(), text.data(), text.size());
  }
  return found_[word];
}

int32_t Words::Add(WordID word) {
  const string &text = TD::Convert(word);
  return lscfg_vocab_add(vocab.get(), text.data(), text.size());
}

BoundGrammar::BoundGrammar(const lscfg_model *model, const lscfg_binding_options &options, Words *words)
    : model_(model),
      options_(options),
      words_(words),
      grammar_(lscfg_grammar_new(words->vocab.get()), lscfg_grammar_free),
      binding_(nullptr, lscfg_binding_free),
      pass_through_feature_(FD::Convert("PassThrough")) {
  if (!grammar_) throw ConfigError("out of memory");
}

void BoundGrammar::Read(const string &path) {
  lscfg_error error;
  const string rules = RulesOnly(path);
  Check(lscfg_grammar_read(grammar_.get(), rules.data(), rules.size(), &error), error, path);
}

bool BoundGrammar::Encode(const TRule &rule, bool add) const {
  src_.clear();
  tgt_.clear();
  for (WordID symbol : rule.f_) {
    src_.push_back(symbol < 0 ? -1 - Category(symbol) : add ? words_->Add(symbol) : words_->Find(symbol));
    if (symbol > 0 && src_.back() < 0) return false;
  }
  for (WordID symbol : rule.e_) {
    tgt_.push_back(symbol <= 0 ? symbol - 1 : add ? words_->Add(symbol) : words_->Find(symbol));
    if (symbol > 0 && tgt_.back() < 0) return false;
  }
  return true;
}

void BoundGrammar::Add(const TRule &rule) {
  lscfg_error error;
  Encode(rule, true);
  Check(lscfg_grammar_add(grammar_.get(), Category(rule.lhs_), src_.data(), src_.size(), tgt_.data(), tgt_.size(),
                          &error),
        error, "");
}

void BoundGrammar::AddMatching(const BoundGrammar &other, const vector<char> &is_there) {
  const lscfg_grammar *from = other.grammar();
  size_t length;
  for (int32_t c = 0; c < lscfg_grammar_n_categories(from); ++c) { /* so that they have the same numbers */
    const char *name = lscfg_grammar_category_name(from, c, &length);
    lscfg_grammar_category(grammar_.get(), name, length);
  }
  for (int32_t r = 0; r < lscfg_grammar_size(from); ++r) {
    int32_t n_src, n_tgt;
    const int32_t *src = lscfg_grammar_src(from, r, &n_src);
    bool matches = true;
    for (int32_t k = 0; k < n_src && matches; ++k)
      matches = src[k] < 0 || (static_cast<size_t>(src[k]) < is_there.size() && is_there[src[k]]);
    if (!matches) continue;
    lscfg_error error;
    const int32_t *tgt = lscfg_grammar_tgt(from, r, &n_tgt);
    Check(lscfg_grammar_add(grammar_.get(), lscfg_grammar_lhs(from, r), src, n_src, tgt, n_tgt, &error), error, "");
  }
}

/* cdec omits rules whose source side is the goal alone, and its glue rules apply at any S, while the kernel's begin at
 * the first word. */
void BoundGrammar::CheckGoal() const {
  const int32_t goal = -1 - goal_, s = -1 - kS;
  for (int32_t r = 0; r < lscfg_grammar_size(grammar_.get()); ++r) {
    int32_t n;
    const int32_t *src = lscfg_grammar_src(grammar_.get(), r, &n);
    const char *cure = "; use mode=record in this pass and mode=forest in the next one";
    if (n == 1 && src[0] == goal)
      throw ConfigError(string("a rule has the goal alone on its source side, and cdec leaves it out") + cure);
    const bool is_glue = lscfg_grammar_lhs(grammar_.get(), r) == kS && !std::count(src + 1, src + n, s);
    if (glue_ && !is_glue && std::count(src, src + n, s))
      throw ConfigError(string("a rule has S within it, which cdec's glue rules make anywhere") + cure);
  }
}

void BoundGrammar::Finish(const DecoderSettings &decoder, bool parses) {
  lscfg_error error;
  lscfg_binding *binding;
  goal_ = lscfg_grammar_category(grammar_.get(), decoder.goal.data(), decoder.goal.size());
  glue_ = decoder.glue;
  pass_through_ = decoder.pass_through;
  if (parses) CheckGoal();
  Check(lscfg_grammar_finish(grammar_.get(), &error), error, "");
  Check(lscfg_grammar_index_sides(grammar_.get(), &error), error, "");
  Check(lscfg_binding_new(model_, grammar_.get(), &options_, &binding, &error), error, "");
  binding_.reset(binding);
  has_rule_.assign(lscfg_vocab_size(words_->vocab.get()), 0);
  for (int32_t r = 0; r < lscfg_grammar_size(grammar_.get()); ++r) {
    int32_t n_src;
    const int32_t *src = lscfg_grammar_src(grammar_.get(), r, &n_src);
    if (n_src == 1 && src[0] >= 0 && lscfg_grammar_lhs(grammar_.get(), r) == kX) has_rule_[src[0]] = 1;
  }
}

bool BoundGrammar::HasRuleOfWord(WordID word) const {
  const int32_t id = words_->Find(word);
  return id >= 0 && static_cast<size_t>(id) < has_rule_.size() && has_rule_[id];
}

int32_t BoundGrammar::Category(WordID nonterminal) const {
  const string &name = TD::Convert(-nonterminal);
  return lscfg_grammar_category(grammar_.get(), name.data(), name.size());
}

int32_t BoundGrammar::Find(const TRule &rule) const {
  const int32_t size = lscfg_grammar_size(grammar_.get()), lhs = Category(rule.lhs_);
  const vector<WordID> &f = rule.f_, &e = rule.e_;
  /* cdec's pass-through rule may equal a rule of the grammar, but does not count as one. */
  if (pass_through_ && lhs == kX && f.size() == 1 && f[0] > 0 && e == f &&
      rule.scores_.value(pass_through_feature_) != 0)
    return size + LSCFG_RULE_PASS;
  if (!Encode(rule, false)) return -1; /* a word that no rule has; glue has no words */
  const int32_t found = lscfg_grammar_find(grammar_.get(), lhs, src_.data(), src_.size(), tgt_.data(), tgt_.size());
  if (found >= 0) return found;
  const vector<int32_t> x = {-1 - kX}, s_x = {-1 - kS, -1 - kX}, first = {-1}, in_order = {-1, -2};
  if (glue_ && lhs == kS && src_ == x && tgt_ == first) return size + LSCFG_RULE_GLUE_TOP;
  if (glue_ && lhs == kS && src_ == s_x && tgt_ == in_order) return size + LSCFG_RULE_GLUE;
  return -1;
}
