/* Stand-ins for the classes of Moses that plugin/moses uses, written from what it calls: the adapter compiles and
 * runs without Moses. Only names and types are Moses'. */
#ifndef MOSES_STUB_H
#define MOSES_STUB_H

#include <cstddef>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

class StringPiece {
 public:
  StringPiece() {}
  StringPiece(const std::string &text) : text_(text) {} /* Moses' refers to the text; a copy is safe, too */
  StringPiece(const char *text) : text_(text) {}
  const char *data() const { return text_.data(); }
  size_t size() const { return text_.size(); }
  std::string as_string() const { return text_; }

 private:
  std::string text_;
};

namespace Moses {

class Hypothesis;
class Phrase;
class TranslationOptionList;
class FeatureFactory;
namespace Syntax {
struct SHyperedge;
}
typedef std::vector<bool> FactorMask;
enum SearchAlgorithm { Normal, CYKPlus };
enum InputTypeEnum { SentenceInput, ConfusionNetworkInput };

class Factor {
 public:
  explicit Factor(const std::string &text) : text_(text) {}
  StringPiece GetString() const { return text_; }

 private:
  const std::string text_;
};

class FactorCollection {
 public:
  static FactorCollection &Instance() {
    static FactorCollection all;
    return all;
  }
  const Factor *AddFactor(const StringPiece &text, bool is_nonterminal) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::unique_ptr<Factor> &factor = factors_[{text.as_string(), is_nonterminal}];
    if (!factor) factor.reset(new Factor(text.as_string()));
    return factor.get();
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, bool>, std::unique_ptr<Factor>> factors_;
};

class Word {
 public:
  Word() : factor_(nullptr), is_nonterminal_(false) {}
  Word(const std::string &text, bool is_nonterminal)
      : factor_(FactorCollection::Instance().AddFactor(text, is_nonterminal)), is_nonterminal_(is_nonterminal) {}
  const Factor *operator[](size_t) const { return factor_; }
  bool IsNonTerminal() const { return is_nonterminal_; }
  bool operator<(const Word &other) const { return factor_ < other.factor_; }

 private:
  const Factor *factor_;
  bool is_nonterminal_;
};

class AlignmentInfo {
 public:
  typedef std::vector<size_t> NonTermIndexMap; /* by target position, numbers of nonterminals on the source side */
  const NonTermIndexMap &GetNonTermIndexMap() const { return map; }
  NonTermIndexMap map;
};

class PhraseDictionary;

class TargetPhrase {
 public:
  const Word &GetTargetLHS() const { return lhs; }
  const PhraseDictionary *GetContainer() const { return container; }
  size_t GetSize() const { return words.size(); }
  const Word &GetWord(size_t k) const { return words.at(k); }
  const AlignmentInfo &GetAlignNonTerm() const { return alignment; }

  Word lhs;
  std::vector<Word> words;
  AlignmentInfo alignment;
  const PhraseDictionary *container = nullptr;
};

class TargetPhraseCollection {
 public:
  typedef std::shared_ptr<TargetPhraseCollection> shared_ptr;
  typedef std::vector<const TargetPhrase *>::const_iterator const_iterator;
  const_iterator begin() const { return phrases.begin(); }
  const_iterator end() const { return phrases.end(); }
  std::vector<const TargetPhrase *> phrases;
};

class PhraseDictionaryNodeMemory {
 public:
  typedef std::map<Word, PhraseDictionaryNodeMemory> TerminalMap;
  typedef std::map<std::pair<Word, Word>, PhraseDictionaryNodeMemory> NonTerminalMap;
  TargetPhraseCollection::shared_ptr GetTargetPhraseCollection() const { return phrases; }
  const TerminalMap &GetTerminalMap() const { return words; }
  const NonTerminalMap &GetNonTerminalMap() const { return labels; }
  TargetPhraseCollection::shared_ptr phrases;
  TerminalMap words;
  NonTerminalMap labels; /* by label of the source and of the target side */
};

struct AllOptions {
  typedef std::shared_ptr<AllOptions const> ptr;
  struct {
    SearchAlgorithm algo = CYKPlus;
  } search;
  struct {
    bool ReportHypoScore = false;
  } output;
  struct {
    bool always_create_direct_transopt = true;
  } unk;
  struct {
    std::vector<std::pair<std::string, float>> unknown_lhs = {{"X", 0.0f}};
  } syntax;
};

class Range {
 public:
  Range(size_t start, size_t end) : start_(start), end_(end) {}
  size_t GetStartPos() const { return start_; }
  size_t GetEndPos() const { return end_; } /* of the last word */
  size_t GetNumWordsCovered() const { return end_ - start_ + 1; }

 private:
  size_t start_, end_;
};

class InputPath {
 public:
  explicit InputPath(const Range &range) : range_(range) {}
  const Range &GetWordsRange() const { return range_; }

 private:
  Range range_;
};

class ChartCellLabel {
 public:
  ChartCellLabel(const Range &range, const std::string &label) : range_(range), label_(label, true) {}
  const Range &GetCoverage() const { return range_; }
  const Word &GetLabel() const { return label_; }

 private:
  Range range_;
  Word label_;
};
typedef std::vector<const ChartCellLabel *> StackVec;

class InputType {
 public:
  virtual ~InputType() {}
  size_t GetSize() const { return words.size(); }
  long GetTranslationId() const { return id; }
  InputTypeEnum GetType() const { return SentenceInput; }
  const Word &GetWord(size_t k) const { return words.at(k); }
  long id = 0;
  std::vector<Word> words; /* with <s> and </s> */
};

class Sentence : public InputType {
 public:
  bool XmlOverlap(size_t, size_t) const { return false; }
};

class OutputCollector {
 public:
  void Write(long id, const std::string &line) {
    const std::lock_guard<std::mutex> lock(mutex_);
    written[id] = line;
  }
  std::map<long, std::string> written;

 private:
  std::mutex mutex_;
};

class IOWrapper {
 public:
  OutputCollector *GetSingleBestOutputCollector() { return &collector; }
  OutputCollector collector;
};

class TranslationTask {
 public:
  std::shared_ptr<InputType const> GetSource() const { return source; }
  std::shared_ptr<IOWrapper const> GetIOWrapper() const { return io; }
  std::shared_ptr<InputType> source;
  std::shared_ptr<IOWrapper> io;
};
typedef std::shared_ptr<TranslationTask> ttasksptr;

class ChartManager {
 public:
  explicit ChartManager(const InputType &source) : source_(source) {}
  const InputType &GetSource() const { return source_; }

 private:
  const InputType &source_;
};

class ChartHypothesis {
 public:
  ChartHypothesis(const Range &range, const ChartManager &manager) : range_(range), manager_(manager) {}
  const Range &GetCurrSourceRange() const { return range_; }
  const ChartManager &GetManager() const { return manager_; }

 private:
  Range range_;
  const ChartManager &manager_;
};

class FeatureFunction;

class ScoreComponentCollection {
 public:
  void PlusEquals(const FeatureFunction *feature, const float *values);
  void PlusEquals(const FeatureFunction *, float value) { added.push_back(value); }
  std::vector<float> added;
};

class FeatureFunction {
 public:
  /* "Name key=value ..."; name=NAME renames it, as LatentSCFG0 is the first of its class. */
  FeatureFunction(size_t n, const std::string &line) : m_numScoreComponents(n), m_numTuneableComponents(n) {
    std::istringstream stream(line);
    stream >> name_;
    name_ += "0";
    for (std::string token; stream >> token;) {
      const size_t equals = token.find('=');
      const std::string key = token.substr(0, equals), value = token.substr(equals + 1);
      if (key == "name")
        name_ = value;
      else
        m_args.push_back({key, value});
    }
  }
  virtual ~FeatureFunction() {}
  static std::vector<std::unique_ptr<FeatureFunction>> &All() {
    static std::vector<std::unique_ptr<FeatureFunction>> all;
    return all;
  }
  static void Register(FeatureFunction *feature) { All().emplace_back(feature); }
  const std::string &GetScoreProducerDescription() const { return name_; }
  size_t GetNumScoreComponents() const { return m_numScoreComponents; }
  virtual void SetParameter(const std::string &, const std::string &) {}
  virtual void Load(AllOptions::ptr const &) {}
  virtual bool IsUseable(const FactorMask &) const = 0;
  virtual void Setup(TranslationTask const &) const {}
  virtual void InitializeForInput(ttasksptr const &) {}
  virtual void CleanUpAfterSentenceProcessing(ttasksptr const &) {}
  virtual void EvaluateInIsolation(const Phrase &, const TargetPhrase &, ScoreComponentCollection &,
                                   ScoreComponentCollection &) const = 0;
  virtual void EvaluateWithSourceContext(const InputType &, const InputPath &, const TargetPhrase &, const StackVec *,
                                         ScoreComponentCollection &, ScoreComponentCollection *) const = 0;
  virtual void EvaluateTranslationOptionListWithSourceContext(const InputType &,
                                                              const TranslationOptionList &) const = 0;

 protected:
  std::vector<std::vector<std::string>> m_args;
  size_t m_numScoreComponents, m_numTuneableComponents;
  AllOptions::ptr m_options;

 private:
  std::string name_;
};

inline void ScoreComponentCollection::PlusEquals(const FeatureFunction *feature, const float *values) {
  added.insert(added.end(), values, values + feature->GetNumScoreComponents());
}

class StatelessFeatureFunction : public FeatureFunction {
 public:
  using FeatureFunction::FeatureFunction;
  virtual void EvaluateWhenApplied(const Hypothesis &, ScoreComponentCollection *) const = 0;
  virtual void EvaluateWhenApplied(const ChartHypothesis &, ScoreComponentCollection *) const = 0;
  virtual void EvaluateWhenApplied(const Syntax::SHyperedge &, ScoreComponentCollection *) const = 0;
};

typedef size_t FactorType;

class PhraseDictionary {
 public:
  explicit PhraseDictionary(const std::string &name) : name_(name) { Coll().push_back(this); }
  virtual ~PhraseDictionary() {}
  static const std::vector<PhraseDictionary *> &GetColl() { return Coll(); }
  const std::string &GetScoreProducerDescription() const { return name_; }
  const std::vector<FactorType> &GetInput() const { return factors_; }
  const std::vector<FactorType> &GetOutput() const { return factors_; }

 private:
  static std::vector<PhraseDictionary *> &Coll() {
    static std::vector<PhraseDictionary *> all;
    return all;
  }
  const std::string name_;
  const std::vector<FactorType> factors_ = {0};
};

class PhraseDictionaryMemory : public PhraseDictionary {
 public:
  using PhraseDictionary::PhraseDictionary;
  const PhraseDictionaryNodeMemory &GetRootNode() const { return root; }
  PhraseDictionaryNodeMemory root;
};

class DecodeGraph {
 public:
  explicit DecodeGraph(size_t span) : span_(span) {}
  size_t GetMaxChartSpan() const { return span_; }

 private:
  const size_t span_;
};

class Parameter {
 public:
  std::vector<float> GetWeights(const std::string &) const { return std::vector<float>(n_weights, 0.5f); }
  bool isParamSpecified(const std::string &name) const { return lists && name == "n-best-list"; }
  size_t n_weights = 0;
  bool lists = true; /* lists of hypotheses show single features */
};

class FeatureRegistry {
 public:
  std::map<std::string, FeatureFactory *> factories;

 private:
  void Add(const std::string &name, FeatureFactory *factory) { factories[name] = factory; }
};

class StaticData {
 public:
  static const StaticData &Instance() { return InstanceNonConst(); }
  static StaticData &InstanceNonConst() {
    static StaticData only;
    return only;
  }
  size_t GetVerboseLevel() const { return 1; }
  AllOptions::ptr options() const { return options_; }
  const std::vector<DecodeGraph *> &GetDecodeGraphs() const { return graphs; }
  Parameter *GetParameter() { return &parameter; }
  void SetWeights(const FeatureFunction *, const std::vector<float> &) {}
  FeatureFactory *Factory(const std::string &name) { return m_registry.factories.at(name); }

  Parameter parameter;
  std::vector<DecodeGraph *> graphs;

 private:
  AllOptions::ptr options_ = std::make_shared<AllOptions>();
  FeatureRegistry m_registry;
};

class InputFileStream : public std::ifstream {
 public:
  explicit InputFileStream(const std::string &path) : std::ifstream(path) {}
};

} // namespace Moses

int decoder_main(int argc, const char **argv);

#endif
