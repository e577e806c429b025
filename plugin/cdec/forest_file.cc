#include "forest_file.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <stdexcept>
#include <tuple>

#include "fdict.h"
#include "filelib.h"
#include "settings.h"
#include "tdict.h"

using std::string;
using std::vector;

namespace {

typedef Recorder::Edge Edge;

string Quoted(const string& text) {
  string quoted = "\"";
  char code[8];
  for (const char c : text) {
    if (c == '"' || c == '\\') (quoted += '\\') += c;
    else if (static_cast<unsigned char>(c) >= 0x20) quoted += c;
    else quoted.append(code, snprintf(code, sizeof code, "\\u%04x", c));
  }
  return quoted + '"';
}

/* The shortest of the texts that are read back as the same value. */
string Number(double value) {
  char text[32] = "0";
  for (int digits = 15; value != 0 && digits <= 17; ++digits) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (strtod(text, nullptr) == value) break;
  }
  return text;
}

/* Elements with commas between them. */
template <class List, class Text>
string Joined(const List& list, const Text& text) {
  string joined;
  for (const auto& element : list) (joined += joined.empty() ? "" : ",") += text(element);
  return "[" + joined + "]";
}

string Category(WordID nonterminal) { return TD::Convert(-nonterminal); }

string Side(const vector<WordID>& symbols, const vector<string>* nonterminals, vector<string>* found) {
  string side;
  for (const WordID symbol : symbols) {
    if (!side.empty()) side += ' ';
    if (symbol > 0) {
      side += TD::Convert(symbol);
    } else if (found) {
      found->push_back("[" + Category(symbol) + "," + std::to_string(found->size() + 1) + "]");
      side += found->back();
    } else {
      side += nonterminals->at(-symbol);
    }
  }
  return side;
}

/* Whether cdec has made the rule by itself, of a word that no grammar has to translate. */
bool IsPassThrough(const TRule& rule) {
  static const WordID kX = -TD::Convert("X");
  static const int kPassThrough = FD::Convert("PassThrough");
  return rule.lhs_ == kX && rule.f_.size() == 1 && rule.f_[0] > 0 && rule.e_ == rule.f_ &&
         rule.scores_.value(kPassThrough) != 0;
}

/* An edge of the file is a run of edges with the same head, tails and source side. */
auto Key(const Edge& edge) {
  return std::make_tuple(edge.head, IsPassThrough(*edge.rule), std::cref(edge.tails), std::cref(edge.rule->f_));
}

}  // namespace

string ForestJson(const Recorder& recorder, int id, const vector<WordID>* words) {
  vector<const Edge*> edges;
  for (const Edge& edge : recorder.edges()) edges.push_back(&edge);
  std::stable_sort(edges.begin(), edges.end(), [](const Edge* a, const Edge* b) { return Key(*a) < Key(*b); });

  std::map<string, int> columns; /* features by name, so that equal forests are equal files */
  for (const Edge* edge : edges)
    for (const auto& feature : edge->features) columns[FD::Convert(feature.first)] = feature.first;
  const auto application = [&](const Edge* edge, const vector<string>& nonterminals) {
    string values = Quoted(Side(edge->rule->e_, &nonterminals, nullptr));
    for (const auto& column : columns) values += "," + Number(edge->features.value(column.second));
    return "[" + values + "]";
  };

  std::map<int, int> number; /* of cdec's node */
  string nodes, json_edges;
  const auto add_node = [&](const string& category, int i, int j) {
    (nodes += nodes.empty() ? "[" : ",[") += Quoted(category) + "," + std::to_string(i) + "," + std::to_string(j) + "]";
  };
  const auto add_edge = [&](int node, const string& tails, const string& source, bool pass, const string& targets) {
    (json_edges += json_edges.empty() ? "" : ",") += "{\"node\":" + std::to_string(node) + ",\"tails\":" + tails +
                                                     ",\"source\":" + source + (pass ? ",\"pass\":true" : "") +
                                                     ",\"targets\":[" + targets + "]}";
  };
  const auto number_of = [&](int node) {
    const auto found = number.find(node);
    if (found == number.end()) throw std::runtime_error("a node of the recorded forest has no edges");
    return std::to_string(found->second);
  };
  int last = 0;
  for (size_t begin = 0, end; begin < edges.size(); begin = end) {
    const Edge& edge = *edges[begin];
    if (!number.count(edge.head)) {
      const int next = number.size();
      number[edge.head] = next;
      add_node(Category(edge.rule->lhs_), edge.i, edge.j);
      last = std::max(last, edge.j);
    }
    vector<string> nonterminals;
    const string source = Quoted(Side(edge.rule->f_, nullptr, &nonterminals));
    string targets;
    for (end = begin; end < edges.size() && Key(*edges[end]) == Key(edge); ++end)
      (targets += targets.empty() ? "" : ",") += application(edges[end], nonterminals);
    add_edge(number[edge.head], Joined(edge.tails, number_of), source, IsPassThrough(*edge.rule), targets);
  }
  if (recorder.roots().size() > 1 || number_of(recorder.roots()[0]) != std::to_string(number.size() - 1)) {
    std::map<int, WordID> category;
    for (const Edge* edge : edges) category[edge->head] = edge->rule->lhs_;
    add_node("Goal", 0, last);
    for (const int root : recorder.roots()) {
      const string side = Quoted("[" + Category(category[root]) + ",1]");
      string zeros;
      for (size_t k = 0; k < columns.size(); ++k) zeros += ",0";
      add_edge(number.size(), "[" + number_of(root) + "]", side, false, "[" + side + zeros + "]");
    }
  }
  const string text = words ? Joined(*words, [](WordID word) { return Quoted(TD::Convert(word)); }) : "null";
  const string names = Joined(columns, [](const std::pair<const string, int>& c) { return Quoted(c.first); });
  return "{\"id\":" + std::to_string(id) + ",\"words\":" + text + ",\"parsed\":true,\"features\":" + names +
         ",\"nodes\":[" + nodes + "],\"edges\":[" + json_edges + "]}\n";
}

void WriteCompressed(const string& path, const string& text) {
  const size_t name = path.rfind('/') + 1;
  const string temporary = path.substr(0, name) + "." + path.substr(name) + ".tmp";
  ogzstream file(temporary.c_str());
  file << text;
  file.close();
  if (file && !rename(temporary.c_str(), path.c_str())) return;
  remove(temporary.c_str());
  throw ConfigError("cannot write " + path);
}
