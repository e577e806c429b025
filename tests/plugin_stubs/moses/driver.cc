/* Moses' main function, for the stand-ins: moses_driver FILE N LINE [best] [threads].
 *
 * N: number of weights; LINE: the feature's line of a moses.ini; best: only translations are written; threads: four of
 * them share the sentences, as with Moses' -threads 4. FILE:
 *   rule LABEL SOURCE ||| TARGET    as in a rule table, "a [X][X] ||| [X][X] b ||| 1-0", rules numbered from 0
 *   join LABEL                      a glue rule of another label than X
 *   sentence WORD...
 *   RULE I J [I J]...               applications: spans of the rule and of its nonterminals; rule -1 passes a word on
 * Prints the scores of each application, and the lines that the feature writes for sentences without a derivation. */
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <exception>
#include <iostream>
#include <thread>

#include "moses/stub.h"

using std::string;
using std::vector;

namespace Moses {

/* As in plugin/moses/main.cpp. */
class FeatureFactory {
 public:
  virtual ~FeatureFactory() {}
  virtual void Create(const string &line) = 0;

 protected:
  FeatureFactory() {}
};

namespace {

vector<string> Tokens(const string &text) {
  std::istringstream stream(text);
  vector<string> tokens;
  for (string token; stream >> token;) tokens.push_back(token);
  return tokens;
}

/* "[X][S]" is a nonterminal with both labels. */
bool IsGap(const string &token) { return token.size() > 4 && token[0] == '[' && token.find("][") != string::npos; }

string Label(const string &token) { return token.substr(token.find("][") + 2, token.size() - token.find("][") - 3); }

std::deque<TargetPhrase> phrases; /* their addresses identify rules */
std::map<const TargetPhrase *, vector<string>> gaps; /* labels of their nonterminals */

/* Adds "SOURCE ||| TARGET ||| ALIGNMENT" whose left-hand side is the label. */
const TargetPhrase *AddRule(PhraseDictionaryMemory *table, const string &line, const string &lhs) {
  const size_t first = line.find("|||"), second = line.find("|||", first + 3);
  phrases.emplace_back();
  TargetPhrase &phrase = phrases.back();
  phrase.lhs = Word(lhs, true);
  phrase.container = table;
  PhraseDictionaryNodeMemory *node = &table->root;
  std::map<size_t, size_t> number; /* of a nonterminal, by source position */
  const vector<string> source = Tokens(line.substr(0, first));
  for (size_t k = 0; k < source.size(); ++k) {
    if (IsGap(source[k])) {
      const size_t next = number.size();
      number[k] = next;
      const Word label(Label(source[k]), true);
      gaps[&phrase].push_back(Label(source[k]));
      node = &node->labels[{Word("X", true), label}];
    } else
      node = &node->words[Word(source[k], false)];
  }
  const vector<string> target = Tokens(line.substr(first + 3, second - first - 3));
  std::map<size_t, size_t> partner; /* of a target position */
  for (const string &link : Tokens(second == string::npos ? "" : line.substr(second + 3)))
    partner[atoi(link.c_str() + link.find('-') + 1)] = atoi(link.c_str());
  for (size_t k = 0; k < target.size(); ++k) {
    phrase.words.push_back(IsGap(target[k]) ? Word(Label(target[k]), true) : Word(target[k], false));
    phrase.alignment.map.push_back(partner.count(k) && number.count(partner[k]) ? number[partner[k]] : 0);
  }
  if (!node->phrases) node->phrases = std::make_shared<TargetPhraseCollection>();
  node->phrases->phrases.push_back(&phrase);
  return &phrase;
}

/* Positions count <s>, and the last word belongs to a range. */
Range RangeOf(int i, int j) { return Range(i + 1, j); }

struct Input {
  string line;
  vector<vector<int>> applications; /* the numbers of each */
};

/* A thread that decodes sentences. */
class Run {
 public:
  Run(FeatureFunction *feature, std::shared_ptr<IOWrapper> io)
      : feature_(dynamic_cast<StatelessFeatureFunction *>(feature)), io_(io), applications_(0) {}

  /* The scores of the applications. */
  string Decode(const Input &input, long id, const vector<const TargetPhrase *> &rules) {
    out_.str("");
    Begin(input.line, id);
    for (const vector<int> &numbers : input.applications) Apply(numbers, rules);
    End();
    return out_.str();
  }

 private:
  void Begin(const string &line, long id) {
    out_.precision(9);
    task_ = std::make_shared<TranslationTask>();
    task_->io = io_;
    task_->source = std::make_shared<Moses::Sentence>();
    task_->source->id = id;
    task_->source->words.push_back(Word("<s>", false));
    for (const string &word : Tokens(line)) task_->source->words.push_back(Word(word, false));
    task_->source->words.push_back(Word("</s>", false));
    feature_->Setup(*task_);
    feature_->InitializeForInput(task_);
    applications_ = 0;
  }

  void Apply(const vector<int> &numbers, const vector<const TargetPhrase *> &rules) {
    const InputType &source = *task_->source;
    TargetPhrase passed;
    passed.lhs = Word("X", true);
    const TargetPhrase *phrase = &passed;
    if (numbers[0] >= 0)
      phrase = rules.at(numbers[0]);
    else
      passed.words.push_back(source.GetWord(numbers[1] + 1));
    std::deque<ChartCellLabel> labels;
    StackVec tails;
    for (size_t k = 3; k + 1 < numbers.size(); k += 2) {
      labels.emplace_back(RangeOf(numbers[k], numbers[k + 1]), gaps.at(phrase).at(labels.size()));
      tails.push_back(&labels.back());
    }
    const InputPath path(RangeOf(numbers[1], numbers[2]));
    ScoreComponentCollection scores;
    feature_->EvaluateWithSourceContext(source, path, *phrase, tails.empty() ? nullptr : &tails, scores, nullptr);
    const ChartManager manager(source);
    feature_->EvaluateWhenApplied(ChartHypothesis(path.GetWordsRange(), manager), nullptr);
    out_ << source.id;
    for (const float value : scores.added) out_ << ' ' << value;
    out_ << '\n';
    ++applications_;
  }

  /* A sentence with applications has a derivation, whose last hypothesis covers <s> and </s>. */
  void End() {
    const ChartManager manager(*task_->source);
    const Range whole(0, task_->source->GetSize() - 1);
    if (applications_) feature_->EvaluateWhenApplied(ChartHypothesis(whole, manager), nullptr);
    feature_->CleanUpAfterSentenceProcessing(task_);
    task_.reset();
  }

  StatelessFeatureFunction *const feature_;
  std::shared_ptr<IOWrapper> io_;
  std::ostringstream out_;
  ttasksptr task_;
  int applications_;
};

/* Decodes all sentences; the first free thread takes the next one. */
vector<string> DecodeAll(FeatureFunction *feature, std::shared_ptr<IOWrapper> io, const vector<Input> &inputs,
                         const vector<const TargetPhrase *> &rules, int n_threads) {
  vector<string> scores(inputs.size());
  std::atomic<size_t> next(0);
  const auto work = [&] {
    Run run(feature, io);
    for (size_t k; (k = next++) < inputs.size();) scores[k] = run.Decode(inputs[k], static_cast<long>(k), rules);
  };
  vector<std::thread> threads;
  for (int k = 1; k < n_threads; ++k) threads.emplace_back(work);
  work();
  for (std::thread &thread : threads) thread.join();
  return scores;
}

} // namespace
} // namespace Moses

int decoder_main(int argc, const char **argv) {
  using namespace Moses;
  if (argc < 4) return 2;
  StaticData &data = StaticData::InstanceNonConst();
  data.parameter.n_weights = atoi(argv[2]);
  const vector<string> options(argv + 4, argv + argc);
  data.parameter.lists = std::count(options.begin(), options.end(), "best") == 0;
  data.Factory("LatentSCFG")->Create(argv[3]);
  FeatureFunction *feature = FeatureFunction::All().back().get();
  feature->Load(data.options());
  PhraseDictionaryMemory table("TranslationModel0"), glue("TranslationModel1");
  DecodeGraph wide(0), one(0);
  data.graphs = {&one, &wide};
  AddRule(&glue, "<s> ||| <s>", "S");
  AddRule(&glue, "[X][S] </s> ||| [X][S] </s> ||| 0-0", "S");
  AddRule(&glue, "[X][S] [X][X] ||| [X][S] [X][X] ||| 0-0 1-1", "S");
  vector<const TargetPhrase *> rules;
  std::ifstream file(argv[1]);
  vector<Input> inputs;
  for (string line; std::getline(file, line);) {
    if (line.compare(0, 5, "join ") == 0)
      AddRule(&glue, "[X][S] [X][" + line.substr(5) + "] ||| [X][S] [X][" + line.substr(5) + "] ||| 0-0 1-1", "S");
    else if (line.compare(0, 5, "rule ") == 0)
      rules.push_back(AddRule(&table, line.substr(line.find(' ', 5)), line.substr(5, line.find(' ', 5) - 5)));
    else if (line.compare(0, 8, "sentence") == 0)
      inputs.push_back({line.substr(8), {}});
    else {
      inputs.back().applications.emplace_back();
      for (const string &token : Tokens(line)) inputs.back().applications.back().push_back(atoi(token.c_str()));
    }
  }
  const int n_threads = std::count(options.begin(), options.end(), "threads") ? 4 : 1;
  const auto io = std::make_shared<IOWrapper>();
  for (const string &scores : DecodeAll(feature, io, inputs, rules, n_threads)) std::cout << scores;
  for (const auto &line : io->collector.written) std::cout << "empty " << line.first << '\n';
  FeatureFunction::All().clear();
  return 0;
}
