#include "LatentSCFG.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <sstream>

#include "EdgeTable.h"
#include "moses/ChartCellLabel.h"
#include "moses/InputPath.h"
#include "moses/InputType.h"
#include "moses/ScoreComponentCollection.h"
#include "moses/StackVec.h"
#include "moses/StaticData.h"
#include "moses/TargetPhrase.h"
#include "moses/TranslationTask.h"

using std::string;
using std::vector;
using Lscfg::Check;
using Lscfg::ConfigError;
using Lscfg::EdgeTable;

namespace Moses
{

namespace
{

const int32_t kNode = INT32_MAX; /* instead of a rule: an [X] over the span */

std::atomic<size_t> made(0);

struct ForestPointer {
  ForestPointer() : forest(nullptr) {}
  ~ForestPointer() { lscfg_forest_free(forest); }
  lscfg_forest *forest;
};

bool ToBool(const string &key, const string &value)
{
  if (value == "true") return true;
  if (value == "false") return false;
  throw ConfigError(key + "=" + value + ": expected true or false");
}

double ToFloor(const string &value)
{
  char *rest;
  const double number = strtod(value.c_str(), &rest);
  if (value.empty() || *rest || !(number > 0) || !std::isfinite(number))
    throw ConfigError("floor=" + value + ": expected a number above 0");
  return number;
}

vector<string> Names(const string &list)
{
  vector<string> names;
  std::istringstream stream(list);
  for (string name; std::getline(stream, name, ',');) names.push_back(name);
  return names;
}

vector<int> ToColumns(const string &value)
{
  vector<int> columns;
  for (const string &name : Names(value)) {
    string known;
    int column = -1;
    for (int k = 0; k < LSCFG_N_FEATURES; ++k) {
      known += string(k ? ", " : "") + lscfg_feature_name(k);
      if (name == lscfg_feature_name(k)) column = k;
    }
    if (column < 0) throw ConfigError("features=" + value + ": there is no feature '" + name + "'; there are " + known);
    if (std::count(columns.begin(), columns.end(), column))
      throw ConfigError("features=" + value + ": " + name + " is there twice");
    columns.push_back(column);
  }
  if (columns.empty()) throw ConfigError("features= names no feature");
  return columns;
}

string SentenceName(long id)
{
  return "sentence " + std::to_string(id + 1);
}

}  // namespace

/* What a thread knows of the sentence that it is decoding. */
struct LatentSCFG::Sentence {
  Sentence() : known(false), matched(0), unmatched(0), id(0) {}

  bool known; /* if not, all features are 0 */
  EdgeTable edges;
  vector<float> values; /* [applications][features wanted] */
  vector<double> exact; /* the same for the trace, else empty */
  vector<int32_t> words;
  int64_t matched, unmatched;
  long id;
  string trace;
};

LatentSCFG::LatentSCFG(const string &line)
  : StatelessFeatureFunction(1, line),
    number_(made++),
    model_(nullptr, lscfg_model_close),
    binding_(nullptr, lscfg_binding_free),
    sentences_(0),
    neutral_(0),
    matched_(0),
    unmatched_(0)
{
  /* Rules of one source side are sorted by score before cube pruning; the features change the order. */
  m_requireSortingAfterSourceContext = true;
  feature_options_.log = 1;
  feature_options_.negative = LSCFG_NEGATIVE_FLIP;
  feature_options_.floor = 1e-6;
  columns_ = {LSCFG_MARGINAL, LSCFG_E_GIVEN_F, LSCFG_F_GIVEN_E};
  vector<vector<string>> after; /* they check the number of features */
  for (const vector<string> &pair : m_args) {
    if (pair[0] == "tuneable-components") after.push_back(pair);
    else SetParameter(pair[0], pair[1]);
  }
  m_args.clear();
  m_numScoreComponents = m_numTuneableComponents = columns_.size();
  for (const vector<string> &pair : after) SetParameter(pair[0], pair[1]);
  if (path_.empty()) throw ConfigError(GetScoreProducerDescription() + " names no model; add model=FILE");
}

LatentSCFG::~LatentSCFG()
{
  if (!sentences_ || (StaticData::Instance().GetVerboseLevel() < 1 && !unmatched_)) return;
  std::cerr << "[lscfg] " << sentences_ << " sentences, " << matched_ << " rule applications with latent features, "
            << unmatched_ << " unmatched";
  if (neutral_) std::cerr << "; " << neutral_ << " sentences without latent features";
  std::cerr << std::endl;
}

void LatentSCFG::SetParameter(const string &key, const string &value)
{
  if (key == "model") path_ = value;
  else if (key == "features") columns_ = ToColumns(value);
  else if (key == "log") feature_options_.log = ToBool(key, value);
  else if (key == "floor") feature_options_.floor = ToFloor(value);
  else if (key == "negative" && value == "flip") feature_options_.negative = LSCFG_NEGATIVE_FLIP;
  else if (key == "negative" && value == "clamp") feature_options_.negative = LSCFG_NEGATIVE_CLAMP;
  else if (key == "path") tables_ = Names(value);
  else if (key == "trace") trace_path_ = value;
  else if (key == "tuneable" || key == "tuneable-components" || key == "verbosity" || key == "filterable")
    StatelessFeatureFunction::SetParameter(key, value);
  else
    throw ConfigError(key + "=" + value + " is not understood; options are model=FILE features=NAME,NAME "
                      "log=true|false floor=X negative=flip|clamp path=FILE,FILE trace=FILE");
}

void LatentSCFG::Load(AllOptions::ptr const &options)
{
  m_options = options;
  if (options->search.algo != CYKPlus)
    throw ConfigError("latent features are for the chart decoder; set search-algorithm to 3");
  lscfg_model *model;
  lscfg_error error;
  Check(lscfg_model_open(path_.c_str(), &model, &error), error, "model " + path_);
  model_.reset(model);
  if (trace_path_.empty()) return;
  trace_.open(trace_path_.c_str());
  trace_.precision(17);
  if (!trace_) throw ConfigError("cannot write trace=" + trace_path_);
}

/* Moses loads its rule tables last, so that they are there with the first sentence only. */
void LatentSCFG::Prepare() const
{
  std::call_once(prepared_, [this] {
    std::unique_ptr<Lscfg::RuleTables> rules(new Lscfg::RuleTables(tables_));
    lscfg_binding *binding;
    lscfg_error error;
    Check(lscfg_binding_new(model_.get(), rules->grammar(), nullptr, &binding, &error), error);
    binding_.reset(binding);
    rules_ = std::move(rules);
  });
  if (!lscfg_binding_known(binding_.get()))
    Warn("known", "model " + path_ + " knows no rule of the rule tables; all latent features are at their floor");
}

void LatentSCFG::Setup(TranslationTask const &) const
{
  Prepare();
}

void LatentSCFG::Warn(const string &kind, const string &message) const
{
  std::lock_guard<std::mutex> lock(mutex_);
  if (warned_.insert(kind).second) std::cerr << "[lscfg] warning: " << message << std::endl;
}

LatentSCFG::Sentence &LatentSCFG::Here() const
{
  static thread_local vector<std::unique_ptr<Sentence>> all;
  if (number_ >= all.size()) all.resize(number_ + 1);
  if (!all[number_]) all[number_].reset(new Sentence);
  return *all[number_];
}

void LatentSCFG::InitializeForInput(ttasksptr const &task)
{
  const InputType &source = *task->GetSource();
  Sentence &sentence = Here();
  sentence.known = false;
  sentence.id = source.GetTranslationId();
  sentence.matched = sentence.unmatched = 0;
  ++sentences_;
  try {
    Prepare();
    Infer(source, &sentence);
  } catch (const std::exception &error) {
    Warn("error", SentenceName(sentence.id) + " gets no latent features: " + error.what());
  }
  if (!sentence.known) ++neutral_;
}

void LatentSCFG::Infer(const InputType &source, Sentence *sentence) const
{
  const int32_t n = static_cast<int32_t>(source.GetSize()) - 2; /* without <s> and </s> */
  if (n <= 0) return;
  if (source.GetType() != SentenceInput) throw std::runtime_error("it is no plain sentence");
  if (n > EdgeTable::kLongest) throw std::runtime_error("it is longer than " + std::to_string(EdgeTable::kLongest) + " words");
  vector<int32_t> &words = sentence->words;
  words.clear();
  for (int32_t k = 1; k <= n; ++k) words.push_back(rules_->FindWord(source.GetWord(k)));

  ForestPointer parsed;
  lscfg_error error;
  int code = lscfg_parse(rules_->grammar(), words.data(), n, &rules_->options(), &parsed.forest, &error);
  if (code < 0) throw std::runtime_error(error.message);
  if (code == LSCFG_NO_PARSE) throw std::runtime_error("it has no derivation");
  lscfg_forest_view f;
  lscfg_forest_get(parsed.forest, &f);

  lscfg_inference inference;
  vector<double> apps(f.n_apps), nodes(f.n_nodes), all(static_cast<size_t>(f.n_apps) * LSCFG_N_FEATURES);
  code = lscfg_infer(binding_.get(), parsed.forest, apps.data(), nodes.data(), &inference, &error);
  if (code < 0) throw std::runtime_error(error.message);
  if (inference.sign <= 0)
    throw std::runtime_error(inference.sign ? "the sum over all derivations is negative"
                                            : "no derivation has a probability");
  code = lscfg_features(binding_.get(), parsed.forest, &inference, apps.data(), nodes.data(), &feature_options_,
                        all.data(), &error);
  if (code < 0) throw std::runtime_error(error.message);
  for (double value : all)
    if (!std::isfinite(value)) throw std::runtime_error("its features are not finite");

  const size_t wanted = columns_.size();
  sentence->values.resize(f.n_apps * wanted);
  sentence->exact.resize(trace_.is_open() ? f.n_apps * wanted : 0);
  sentence->edges.Clear(static_cast<size_t>(f.n_apps) + f.n_nodes);
  for (int32_t a = 0; a < f.n_apps; ++a) {
    const int32_t e = f.app_edge[a], head = f.edge_head[e];
    if (f.node_cat[head] != 0) continue;
    uint32_t tails[2] = {EdgeTable::kNone, EdgeTable::kNone};
    for (int k = 0; k < 2; ++k) {
      const int32_t tail = f.edge_tail[2 * e + k];
      if (tail >= 0) tails[k] = EdgeTable::Pack(f.node_span[2 * tail], f.node_span[2 * tail + 1]);
    }
    const uint32_t span = EdgeTable::Pack(f.node_span[2 * head], f.node_span[2 * head + 1]);
    sentence->edges.Add(f.app_rule[a], span, tails[0], tails[1], a);
    sentence->edges.Add(kNode, span, EdgeTable::kNone, EdgeTable::kNone, 0);
    for (size_t k = 0; k < wanted; ++k) {
      const double value = all[static_cast<size_t>(a) * LSCFG_N_FEATURES + columns_[k]];
      sentence->values[a * wanted + k] = static_cast<float>(value);
      if (!sentence->exact.empty()) sentence->exact[a * wanted + k] = value;
    }
  }
  sentence->known = true;
}

void LatentSCFG::EvaluateWithSourceContext(const InputType &input, const InputPath &path, const TargetPhrase &phrase,
    const StackVec *tails, ScoreComponentCollection &scores, ScoreComponentCollection *) const
{
  Sentence &sentence = Here();
  if (!sentence.known || !rules_->IsX(phrase.GetTargetLHS())) return;
  const Range &range = path.GetWordsRange();
  const int32_t i = static_cast<int32_t>(range.GetStartPos()) - 1, j = static_cast<int32_t>(range.GetEndPos());
  const int32_t n = static_cast<int32_t>(sentence.words.size());
  const size_t n_tails = tails ? tails->size() : 0;
  if (i < 0 || j > n || n_tails > 2) { /* over <s> or </s>: nothing that the glue grammar could use */
    ++sentence.unmatched;
    return;
  }
  uint32_t spans[2] = {EdgeTable::kNone, EdgeTable::kNone};
  vector<int32_t> src;
  int32_t at = i;
  for (size_t k = 0; k < n_tails; ++k) {
    const Range &tail = (*tails)[k]->GetCoverage();
    const int32_t begin = static_cast<int32_t>(tail.GetStartPos()) - 1, end = static_cast<int32_t>(tail.GetEndPos());
    spans[k] = EdgeTable::Pack(begin, end);
    for (; at < begin; ++at) src.push_back(sentence.words[at]);
    src.push_back(-1);
    at = end;
  }
  for (; at < j; ++at) src.push_back(sentence.words[at]);

  int32_t rule = rules_->FindRule(phrase, src);
  if (rule < 0 && n_tails == 0 && j - i == 1) rule = lscfg_grammar_size(rules_->grammar()) + LSCFG_RULE_PASS;
  const uint32_t span = EdgeTable::Pack(i, j);
  const int32_t application = sentence.edges.Application(rule, span, spans[0], spans[1]);
  if (application < 0) {
    /* Without the node it is of no derivation of the sentence: Moses goes from words to the root only. */
    if (rule >= 0 && sentence.edges.Application(kNode, span, EdgeTable::kNone, EdgeTable::kNone) < 0) return;
    ++sentence.unmatched;
    Warn("unmatched", SentenceName(sentence.id) + ": Moses applies a rule over words " + std::to_string(i + 1) + " to " +
                          std::to_string(j) + " that is not in the rule tables; its latent features are 0");
    return;
  }
  ++sentence.matched;
  const size_t wanted = columns_.size();
  scores.PlusEquals(this, &sentence.values[application * wanted]);
  if (sentence.exact.empty()) return;
  std::ostringstream line;
  line.precision(17);
  line << sentence.id << ' ' << i << ' ' << j;
  for (size_t k = 0; k < n_tails; ++k) line << ' ' << (spans[k] >> 16) << ' ' << (spans[k] & 0xffff);
  line << " ||| " << rules_->Text(rule, rule >= 0 ? input.GetWord(i + 1)[0]->GetString().as_string() : "") << " |||";
  for (size_t k = 0; k < wanted; ++k)
    line << ' ' << lscfg_feature_name(columns_[k]) << '=' << sentence.exact[application * wanted + k];
  sentence.trace += line.str() + "\n";
}

void LatentSCFG::CleanUpAfterSentenceProcessing(ttasksptr const &)
{
  Sentence &sentence = Here();
  sentence.known = false;
  matched_ += sentence.matched;
  unmatched_ += sentence.unmatched;
  if (sentence.trace.empty()) return;
  std::lock_guard<std::mutex> lock(mutex_);
  trace_ << sentence.trace << std::flush;
  sentence.trace.clear();
}

}
