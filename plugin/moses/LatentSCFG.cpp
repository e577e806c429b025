#include "LatentSCFG.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <locale>
#include <numeric>
#include <sstream>

#include "EdgeTable.h"
#include "moses/ChartCellLabel.h"
#include "moses/ChartHypothesis.h"
#include "moses/ChartManager.h"
#include "moses/IOWrapper.h"
#include "moses/InputPath.h"
#include "moses/InputType.h"
#include "moses/ScoreComponentCollection.h"
#include "moses/Sentence.h"
#include "moses/StackVec.h"
#include "moses/StaticData.h"
#include "moses/TargetPhrase.h"
#include "moses/TranslationTask.h"

/* Moses shows an application while the forest is being built, so the kernel parses each sentence first, with the
 * rules of the decoder's tables after pruning. Rules are found by the address of their target side. moses2 has no
 * adapter: its chart decoder never calls InitializeForInput and cannot list rules. */

using lscfg::Check;
using lscfg::ConfigError;
using lscfg::EdgeTable;
using std::string;
using std::vector;

namespace Moses {

namespace {

std::atomic<size_t> made(0);

string SentenceName(long id) { return "sentence " + std::to_string(id + 1); }

} // namespace

/* Spans of an application and of its tails, and the tails' categories. */
struct LatentSCFG::Place {
  uint32_t span, tails[2];
  int32_t categories[2];
  int n_tails;

  bool operator==(const Place &other) const {
    return span == other.span && tails[0] == other.tails[0] && tails[1] == other.tails[1] &&
           categories[0] == other.categories[0] && categories[1] == other.categories[1];
  }
  int32_t begin() const { return static_cast<int32_t>(span >> 16); }
  int32_t end() const { return static_cast<int32_t>(span & 0xffff); }
};

/* State of the sentence that a thread is decoding. */
struct LatentSCFG::Sentence {
  Sentence()
      : known(false),
        complete(false),
        matched(0),
        unmatched(0),
        id(0),
        forest(nullptr, lscfg_forest_free),
        view(),
        last(),
        found(-1) {}

  bool known;    /* if not, all features are 0 */
  bool complete; /* Moses has a derivation */
  int64_t matched, unmatched;
  long id;
  vector<int32_t> words;
  std::unique_ptr<lscfg_forest, void (*)(lscfg_forest *)> forest;
  lscfg_forest_view view;
  EdgeTable edges;
  Place last;           /* where the last application was found */
  int32_t found;        /* its number, -1: none */
  vector<double> exact; /* [applications][columns] */
  vector<float> values; /* for Moses: the same, or [applications] sums */
  string trace;
};

LatentSCFG::LatentSCFG(const string &line)
    : StatelessFeatureFunction(1, line),
      number_(made++),
      made_(false),
      pack_(true),
      columns_(latent_.Columns()),
      model_(nullptr, lscfg_model_close),
      binding_(nullptr, lscfg_binding_free),
      improper_(),
      sentences_(0),
      neutral_(0),
      matched_(0),
      unmatched_(0) {
  for (const vector<string> &pair : m_args)
    if (pair[0] != "tuneable-components") SetParameter(pair[0], pair[1]);
  m_numScoreComponents = m_numTuneableComponents = columns_.size();
  for (const vector<string> &pair : m_args)
    if (pair[0] == "tuneable-components") SetParameter(pair[0], pair[1]); /* Moses asks for the number of features */
  m_args.clear();
  if (!*latent_.model) throw ConfigError(GetScoreProducerDescription() + " names no model; add model=FILE");
  made_ = true;
}

LatentSCFG::~LatentSCFG() {
  const string improper = lscfg::ImproperText(improper_, latent_.features);
  if (!improper.empty()) Warn("improper", improper);
  if (!sentences_ || (StaticData::Instance().GetVerboseLevel() < 1 && !unmatched_)) return;
  std::cerr << "[lscfg] " << sentences_ << " sentences, " << matched_ << " rule applications with latent features, "
            << unmatched_ << " unmatched";
  if (neutral_) std::cerr << "; " << neutral_ << " sentences without latent features";
  std::cerr << std::endl;
}

bool LatentSCFG::Pack(const vector<float> &weights) {
  if (!pack_ || weights.size() != columns_.size() || m_numTuneableComponents != columns_.size()) return false;
  packed_.assign(weights.begin(), weights.end());
  m_numScoreComponents = m_numTuneableComponents = 1;
  return true;
}

void LatentSCFG::SetParameter(const string &key, const string &value) {
  if (latent_.Take(key, value)) {
    columns_ = latent_.Columns();
    if (made_ && columns_.size() != (packed_.empty() ? m_numScoreComponents : packed_.size()))
      throw ConfigError(key + "=" + value + ": -feature-overwrite cannot change the number of features");
    return;
  }
  if (key == "path")
    tables_ = lscfg::SplitNames(value);
  else if (key == "trace")
    trace_path_ = value;
  else if (key == "pack" && (value == "auto" || value == "none"))
    pack_ = value == "auto";
  else if (key == "tuneable" || key == "tuneable-components" || key == "verbosity" || key == "filterable" ||
           key == "require-sorting-after-source-context")
    StatelessFeatureFunction::SetParameter(key, value);
  else
    throw ConfigError("unknown option " + key + "=" + value + "; options are " + lscfg_options_usage() +
                      " path=FILE,FILE trace=FILE pack=auto|none");
}

void LatentSCFG::Load(AllOptions::ptr const &options) {
  m_options = options;
  if (options->search.algo != CYKPlus)
    throw ConfigError("latent features are for the chart decoder; set search-algorithm to 3");
  const string name = string("model ") + latent_.model;
  lscfg_model *model;
  lscfg_error error;
  Check(lscfg_model_open(latent_.model, &model, &error), error, name);
  model_.reset(model);
  Check(lscfg_model_check_features(model, &latent_.features, &error), error, name);
  if (trace_path_.empty()) return;
  trace_.open(trace_path_.c_str());
  if (!trace_) throw ConfigError("cannot write trace=" + trace_path_);
}

/* Moses loads its rule tables last, so they exist only with the first sentence. */
void LatentSCFG::Prepare() const {
  std::call_once(prepared_, [this] {
    std::unique_ptr<lscfg::RuleTables> rules(new lscfg::RuleTables(tables_));
    lscfg_binding *binding;
    lscfg_error error;
    Check(lscfg_binding_new(model_.get(), rules->grammar(), &latent_.unknown, &binding, &error), error);
    binding_.reset(binding);
    rules_ = std::move(rules);
    if (lscfg_model_size(model_.get()) && !lscfg_binding_known(binding))
      Warn("known", "model " + string(latent_.model) + " knows no rule of the rule tables");
  });
}

void LatentSCFG::Setup(TranslationTask const &) const { Prepare(); }

void LatentSCFG::Warn(const string &kind, const string &message) const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (warned_.insert(kind).second) std::cerr << "[lscfg] warning: " << message << std::endl;
}

LatentSCFG::Sentence &LatentSCFG::Here() const {
  static thread_local vector<std::unique_ptr<Sentence>> all;
  if (number_ >= all.size()) all.resize(number_ + 1);
  if (!all[number_]) all[number_].reset(new Sentence);
  return *all[number_];
}

void LatentSCFG::InitializeForInput(ttasksptr const &task) {
  const InputType &source = *task->GetSource();
  Sentence &sentence = Here();
  sentence.known = sentence.complete = false;
  sentence.id = source.GetTranslationId();
  sentence.matched = sentence.unmatched = 0;
  ++sentences_;
  try {
    Prepare();
    Infer(source, &sentence);
  } catch (const std::exception &error) {
    Warn("error", SentenceName(sentence.id) + " gets no latent features: " + lscfg::Reason(error));
  }
  if (!sentence.known) ++neutral_;
}

void LatentSCFG::Infer(const InputType &source, Sentence *sentence) const {
  const int32_t n = static_cast<int32_t>(source.GetSize()) - 2; /* without <s> and </s> */
  if (n <= 0) return;
  if (source.GetType() != SentenceInput) throw std::runtime_error("it is not a plain sentence");
  const Moses::Sentence *marked = dynamic_cast<const Moses::Sentence *>(&source);
  if (marked && marked->XmlOverlap(0, n + 1))
    Warn("xml", SentenceName(sentence->id) +
                    " has translations in XML; their latent features are 0, as are those of rules that only they "
                    "make possible");
  if (n > EdgeTable::kLongest)
    throw std::runtime_error("it is longer than " + std::to_string(EdgeTable::kLongest) + " words");
  vector<int32_t> &words = sentence->words;
  words.clear();
  for (int32_t k = 1; k <= n; ++k) words.push_back(rules_->FindWord(source.GetWord(k)));

  lscfg_forest *parsed;
  lscfg_error error;
  int code = lscfg_parse(rules_->grammar(), words.data(), n, &rules_->options(), &parsed, &error);
  if (code < 0) throw std::runtime_error(error.message);
  if (code == LSCFG_TOO_LARGE) throw std::runtime_error("it has too many rule applications");
  if (code == LSCFG_NO_PARSE) throw std::runtime_error("it has no derivation");
  sentence->forest.reset(parsed);
  lscfg_forest_view &f = sentence->view;
  lscfg_forest_get(parsed, &f);

  lscfg_inference inference;
  const bool needed = lscfg_needs_inference(&latent_.features);
  vector<double> apps(needed ? f.n_apps : 0), nodes(needed ? f.n_nodes : 0), &exact = sentence->exact;
  exact.resize(f.n_apps * columns_.size());
  if (needed) code = lscfg_infer(binding_.get(), parsed, apps.data(), nodes.data(), &inference, &error);
  if (code < 0) throw std::runtime_error(error.message);
  if (needed) {
    std::lock_guard<std::mutex> lock(mutex_);
    lscfg_improper_add(&improper_, &inference);
  }
  if (needed && inference.sign <= 0 && !(inference.sign && latent_.features.keep))
    Warn("zero", SentenceName(sentence->id) + " has no positive sum of derivations; its latent features are 0");
  code = lscfg_features(binding_.get(), parsed, &inference, apps.data(), nodes.data(), &latent_.features, exact.data(),
                        &error);
  if (code < 0) throw std::runtime_error(error.message);

  if (packed_.empty()) {
    sentence->values.assign(exact.begin(), exact.end());
  } else {
    sentence->values.resize(f.n_apps);
    for (int32_t a = 0; a < f.n_apps; ++a)
      sentence->values[a] = std::inner_product(packed_.begin(), packed_.end(), &exact[a * packed_.size()], 0.0);
  }
  for (const float value : sentence->values)
    if (!std::isfinite(value)) throw std::runtime_error("its features are not finite in Moses' single precision");
  AddEdges(sentence);
  sentence->known = true;
}

/* Where the applications of each edge are found. */
void LatentSCFG::AddEdges(Sentence *sentence) const {
  const lscfg_forest_view &f = sentence->view;
  const int32_t pass = rules_->pass();
  typedef lscfg::RuleTables Rules;
  sentence->found = -1;
  sentence->edges.Clear(static_cast<size_t>(f.n_edges) + f.n_nodes);
  for (int32_t e = 0; e < f.n_edges; ++e) {
    const int32_t head = f.edge_head[e];
    const int32_t second = f.edge_tail[2 * e + 1];
    if (f.node_cat[head] == Rules::kS || f.node_cat[head] == LSCFG_REST ||
        (second >= 0 && f.node_cat[second] == LSCFG_REST))
      continue;
    uint32_t tails[2] = {EdgeTable::kNoTail, EdgeTable::kNoTail};
    for (int k = 0; k < 2; ++k) {
      const int32_t tail = f.edge_tail[2 * e + k];
      if (tail >= 0) tails[k] = EdgeTable::Pack(f.node_span[2 * tail], f.node_span[2 * tail + 1]);
    }
    const int32_t rule = f.app_rule[f.edge_apps[e]];
    if (rule == pass) tails[0] = EdgeTable::kPass;
    const uint32_t span = EdgeTable::Pack(f.node_span[2 * head], f.node_span[2 * head + 1]);
    sentence->edges.Add(rules_->Categories(rule), span, tails[0], tails[1], e);
    sentence->edges.Add(Rules::KeyOf(f.node_cat[head]), span, EdgeTable::kNode, EdgeTable::kNode, head);
  }
}

/* The source side is what the tails leave of the span. */
int32_t LatentSCFG::FindRule(const Sentence &sentence, const TargetPhrase &phrase, const Place &place) const {
  int32_t rule = rules_->FindRule(phrase);
  const bool one_word = place.n_tails == 0 && place.end() - place.begin() == 1;
  /* A rule of a table names its table; a passed-through word may look like one. */
  if (rule < 0 && one_word && !phrase.GetContainer()) return rules_->pass();
  if (rule < 0 && rules_->from_files()) {
    vector<int32_t> src;
    int32_t at = place.begin();
    for (int k = 0; k < place.n_tails; ++k) {
      for (; at < static_cast<int32_t>(place.tails[k] >> 16); ++at) src.push_back(sentence.words[at]);
      src.push_back(-1 - place.categories[k]);
      at = place.tails[k] & 0xffff;
    }
    for (; at < place.end(); ++at) src.push_back(sentence.words[at]);
    rule = rules_->FindRule(phrase, src);
  }
  return rule < 0 && one_word ? rules_->pass() : rule;
}

/* -1 if there is none. dead: in no derivation, since Moses builds from below what the root never reaches. */
int32_t LatentSCFG::FindApplication(Sentence *sentence, const TargetPhrase &phrase, const Place &place,
                                    bool *dead) const {
  const lscfg_forest_view &f = sentence->view;
  /* Moses shows all rules of an edge in the order of their numbers, one after the other. */
  const int32_t next = sentence->found + 1;
  if (next > 0 && next < f.edge_apps[f.app_edge[next - 1] + 1] && place == sentence->last &&
      rules_->PhraseOf(f.app_rule[next]) == &phrase)
    return sentence->found = next;

  const int32_t rule = FindRule(*sentence, phrase, place);
  if (rule < 0) return -1;
  const uint32_t categories = rules_->Categories(rule);
  const uint32_t first = rule == rules_->pass() ? static_cast<uint32_t>(EdgeTable::kPass) : place.tails[0];
  const int32_t e = sentence->edges.Find(categories, place.span, first, place.tails[1]);
  if (e < 0) {
    const uint32_t head = lscfg::RuleTables::HeadOf(categories);
    *dead = sentence->edges.Find(head, place.span, EdgeTable::kNode, EdgeTable::kNode) < 0;
    return -1;
  }
  /* The rules of one source side have consecutive numbers, unless they come from several tables. */
  const int32_t begin = f.edge_apps[e], end = f.edge_apps[e + 1];
  int32_t a = begin + (rule - f.app_rule[begin]);
  if (a < begin || a >= end || f.app_rule[a] != rule)
    a = static_cast<int32_t>(std::find(f.app_rule + begin, f.app_rule + end, rule) - f.app_rule);
  if (a == end) return -1;
  sentence->last = place;
  return sentence->found = a;
}

void LatentSCFG::EvaluateWithSourceContext(const InputType &input, const InputPath &path, const TargetPhrase &phrase,
                                           const StackVec *tails, ScoreComponentCollection &scores,
                                           ScoreComponentCollection *) const {
  Sentence &sentence = Here();
  if (!sentence.known || rules_->IsGoal(phrase.GetTargetLHS())) return;
  const Range &range = path.GetWordsRange();
  /* <s> is Moses' word 0, and its ranges include the last word. */
  const int32_t i = static_cast<int32_t>(range.GetStartPos()) - 1, j = static_cast<int32_t>(range.GetEndPos());
  const int n_tails = tails ? static_cast<int>(tails->size()) : 0;
  if (n_tails > 2) return; /* no features */
  int32_t application = -1;
  bool dead = false;
  if (i >= 0 && j <= static_cast<int32_t>(sentence.words.size())) {
    Place place = {EdgeTable::Pack(i, j), {EdgeTable::kNoTail, EdgeTable::kNoTail}, {0, 0}, n_tails};
    for (int k = 0; k < n_tails; ++k) {
      const ChartCellLabel &tail = *(*tails)[k];
      const Range &covered = tail.GetCoverage();
      place.tails[k] =
          EdgeTable::Pack(static_cast<int32_t>(covered.GetStartPos()) - 1, static_cast<int32_t>(covered.GetEndPos()));
      if (rules_->has_labels()) place.categories[k] = rules_->CategoryOf(tail.GetLabel());
    }
    application = FindApplication(&sentence, phrase, place, &dead);
  }
  if (dead) return;
  if (application < 0) {
    ++sentence.unmatched;
    Warn("unmatched", SentenceName(sentence.id) + ": Moses applies a rule to words " + std::to_string(i + 1) + " to " +
                          std::to_string(j) + " that is in no rule table; its latent features are 0");
    return;
  }
  ++sentence.matched;
  if (packed_.empty())
    scores.PlusEquals(this, &sentence.values[application * columns_.size()]);
  else
    scores.PlusEquals(this, sentence.values[application]);
  if (trace_.is_open()) Trace(&sentence, application, input);
}

/* Only hypotheses with <s>, Moses' word 0, are of the glue grammar. */
void LatentSCFG::EvaluateWhenApplied(const ChartHypothesis &hypothesis, ScoreComponentCollection *) const {
  const Range &range = hypothesis.GetCurrSourceRange();
  if (range.GetStartPos() == 0 && range.GetNumWordsCovered() == hypothesis.GetManager().GetSource().GetSize())
    Here().complete = true;
}

/* sentence span [span of a tail]... ||| rule ||| features */
void LatentSCFG::Trace(Sentence *sentence, int32_t application, const InputType &input) const {
  const lscfg_forest_view &f = sentence->view;
  const int32_t e = f.app_edge[application];
  std::ostringstream line;
  line.imbue(std::locale::classic());
  line.precision(17);
  line << sentence->id;
  const int32_t nodes[] = {f.edge_head[e], f.edge_tail[2 * e], f.edge_tail[2 * e + 1]};
  for (int32_t node : nodes)
    if (node >= 0) line << ' ' << f.node_span[2 * node] << ' ' << f.node_span[2 * node + 1];
  const Word &first = input.GetWord(f.node_span[2 * nodes[0]] + 1);
  line << " ||| " << rules_->Text(f.app_rule[application], first[0]->GetString().as_string()) << " |||";
  for (size_t k = 0; k < columns_.size(); ++k)
    line << ' ' << lscfg_feature_name(columns_[k]) << '=' << sentence->exact[application * columns_.size() + k];
  sentence->trace += line.str() + "\n";
}

void LatentSCFG::CleanUpAfterSentenceProcessing(ttasksptr const &task) {
  Sentence &sentence = Here();
  const auto io = task ? task->GetIOWrapper() : nullptr;
  OutputCollector *output = io ? const_cast<IOWrapper &>(*io).GetSingleBestOutputCollector() : nullptr;
  if (output && !sentence.complete) output->Write(sentence.id, m_options->output.ReportHypoScore ? "0 \n" : "\n");
  sentence.known = false;
  sentence.forest.reset();
  matched_ += sentence.matched;
  unmatched_ += sentence.unmatched;
  if (sentence.trace.empty()) return;
  std::lock_guard<std::mutex> lock(mutex_);
  trace_ << sentence.trace << std::flush;
  sentence.trace.clear();
}

} // namespace Moses
