/* Stand-ins for the classes of cdec that plugin/cdec uses, written from what it calls, so that the adapter compiles and
 * runs without cdec. Only names and types are cdec's. */
#ifndef CDEC_STUB_H
#define CDEC_STUB_H

#include <sys/stat.h>

#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

typedef int WordID;

/* Numbers of texts, from 1. */
class StubNames {
 public:
  int Number(const std::string &text) {
    const int next = static_cast<int>(texts_.size());
    const auto known = numbers_.insert({text, next});
    if (known.second) texts_.push_back(text);
    return known.first->second;
  }
  const std::string &Text(int number) const { return texts_.at(number); }

 private:
  std::map<std::string, int> numbers_;
  std::vector<std::string> texts_ = std::vector<std::string>(1);
};

template <int Kind>
struct StubDictionary {
  static StubNames &All() {
    static StubNames names;
    return names;
  }
  static int Convert(const std::string &text) { return All().Number(text); }
  static const std::string &Convert(int number) { return All().Text(number); }
};

typedef StubDictionary<0> TD; /* words and categories */
typedef StubDictionary<1> FD; /* features */

template <class T>
class SparseVector {
 public:
  typedef std::vector<std::pair<int, T>> Entries;
  T value(int feature) const {
    for (const auto &entry : entries_)
      if (entry.first == feature) return entry.second;
    return T();
  }
  void set_value(int feature, T value) {
    for (auto &entry : entries_)
      if (entry.first == feature) {
        entry.second = value;
        return;
      }
    entries_.push_back({feature, value});
  }
  void erase(int feature) {
    for (size_t k = 0; k < entries_.size(); ++k)
      if (entries_[k].first == feature) entries_.erase(entries_.begin() + k--);
  }
  void clear() { entries_.clear(); }
  T dot(const std::vector<T> &weights) const {
    T sum = T();
    for (const auto &entry : entries_)
      if (static_cast<size_t>(entry.first) < weights.size()) sum += entry.second * weights[entry.first];
    return sum;
  }
  SparseVector operator+(const SparseVector &other) const {
    SparseVector sum = *this;
    for (const auto &entry : other.entries_) sum.set_value(entry.first, sum.value(entry.first) + entry.second);
    return sum;
  }
  typename Entries::const_iterator begin() const { return entries_.begin(); }
  typename Entries::const_iterator end() const { return entries_.end(); }

 private:
  Entries entries_;
};

/* Source symbols are words or minus the number of a category; target symbols words, or 0, -1, ... for nonterminals. */
struct TRule {
  WordID lhs_;
  std::vector<WordID> f_, e_;
  SparseVector<double> scores_;
};
typedef std::shared_ptr<TRule> TRulePtr;

struct HG {
  struct Edge {
    int head_node_ = -1;
    std::vector<int> tail_nodes_;
    TRulePtr rule_;
    SparseVector<double> feature_values_;
    int i_ = 0, j_ = 0, id_ = -1;
  };
};

struct LatticeArc {
  WordID label;
  int dist2next;
};

class SentenceMetadata {
 public:
  SentenceMetadata(int id, const std::vector<std::string> &words) : id_(id) {
    for (const std::string &word : words) lattice_.push_back({{TD::Convert(word), 1}});
  }
  int GetSentenceId() const { return id_; }
  const std::vector<std::vector<LatticeArc>> &GetSourceLattice() const { return lattice_; }
  std::string GetSGMLValue(const std::string &) const { return ""; }

 private:
  const int id_;
  std::vector<std::vector<LatticeArc>> lattice_;
};

class FeatureFunction {
 public:
  explicit FeatureFunction(int state_size = 0) : state_size_(state_size) {}
  virtual ~FeatureFunction() {}
  int StateSize() const { return state_size_; }
  virtual void PrepareForInput(const SentenceMetadata &) {}
  virtual void FinalTraversalFeatures(const void *, SparseVector<double> *) const {}
  void TraversalFeatures(const SentenceMetadata &sentence, HG::Edge *edge, const std::vector<const void *> &tails,
                         SparseVector<double> *estimates, void *state) const {
    TraversalFeaturesImpl(sentence, *edge, tails, &edge->feature_values_, estimates, state);
  }

 protected:
  virtual void TraversalFeaturesImpl(const SentenceMetadata &, const HG::Edge &, const std::vector<const void *> &,
                                     SparseVector<double> *, SparseVector<double> *, void *) const = 0;

 private:
  const int state_size_;
};

inline bool DirectoryExists(const std::string &path) {
  struct stat found;
  return !stat(path.c_str(), &found) && S_ISDIR(found.st_mode);
}

inline bool FileExists(const std::string &path) {
  struct stat found;
  return !stat(path.c_str(), &found);
}

/* A file to read; not compressed. */
class ReadFile {
 public:
  ReadFile() {}
  explicit ReadFile(const std::string &path) : file_(new std::ifstream(path)) {}
  std::istream &operator*() const { return *file_; }
  std::istream *operator->() const { return file_.get(); }

 private:
  std::shared_ptr<std::istream> file_;
};

/* A file to write; not compressed. */
typedef std::ofstream ogzstream;

#define SILENT true

#endif
