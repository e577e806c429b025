#include "forest_file.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
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

string Quoted(const string &text) {
  string quoted = "\"";
  char code[8];
  for (const char c : text) {
    if (c == '"' || c == '\\')
      (quoted += '\\') += c;
    else if (static_cast<unsigned char>(c) >= 0x20)
      quoted += c;
    else
      quoted.append(code, snprintf(code, sizeof code, "\\u%04x", c));
  }
  return quoted + '"';
}

/* The shortest of the texts that are read back as the same value. */
string Number(double value) {
  char text[32] = "0";
  if (!std::isfinite(value)) throw std::runtime_error("a feature is not finite");
  for (int digits = 15; value != 0 && digits <= 17; ++digits) {
    double again;
    const int length = lscfg_print_double(value, digits, text, sizeof text);
    if (lscfg_parse_double(text, length, &again) == LSCFG_OK && again == value) break;
  }
  return text;
}

/* Elements with commas between them. */
template <class List, class Text>
string Joined(const List &list, const Text &text) {
  string joined;
  for (const auto &element : list) (joined += joined.empty() ? "" : ",") += text(element);
  return "[" + joined + "]";
}

string Category(WordID nonterminal) { return TD::Convert(-nonterminal); }

/* Names the nonterminals of the source side, or takes their names on the target side. */
string Side(const vector<WordID> &symbols, bool is_source, vector<string> *names) {
  string side;
  for (const WordID symbol : symbols) {
    if (is_source && symbol < 0)
      names->push_back("[" + Category(symbol) + "," + std::to_string(names->size() + 1) + "]");
    if (!side.empty()) side += ' ';
    side += symbol > 0 ? TD::Convert(symbol) : is_source ? names->back() : names->at(-symbol);
  }
  return Quoted(side);
}

/* True if cdec has made the rule by itself, of a word that no grammar has to translate. */
bool IsPassThrough(const TRule &rule) {
  static const WordID kX = -TD::Convert("X");
  static const int kPassThrough = FD::Convert("PassThrough");
  return rule.lhs_ == kX && rule.f_.size() == 1 && rule.f_[0] > 0 && rule.e_ == rule.f_ &&
         rule.scores_.value(kPassThrough) != 0;
}

/* An application; those with the same head, tails and source side are an edge of the file. */
struct Application {
  explicit Application(const Edge &of) : edge(&of), pass(IsPassThrough(*of.rule)) {
    vector<string> names;
    source = Side(of.rule->f_, true, &names);
    target = Side(of.rule->e_, false, &names);
  }
  std::tuple<int, const vector<int> &, const string &, bool> Key() const {
    return std::tuple<int, const vector<int> &, const string &, bool>(edge->head, edge->tails, source, pass);
  }

  const Edge *edge;
  bool pass;
  string source, target;
};

} // namespace

string ForestJson(const Recorder &recorder, int id, const vector<WordID> *words) {
  vector<Application> applications(recorder.edges().begin(), recorder.edges().end());
  /* by texts, since numbers of words depend on the sentences before */
  std::stable_sort(applications.begin(), applications.end(), [](const Application &a, const Application &b) {
    return std::make_pair(a.Key(), std::cref(a.target)) < std::make_pair(b.Key(), std::cref(b.target));
  });
  std::map<string, int> columns; /* features by name */
  for (const Edge &edge : recorder.edges())
    for (const auto &feature : edge.features) columns[FD::Convert(feature.first)] = feature.first;
  bool goal_features = false;
  for (const Recorder::Root &root : recorder.roots())
    for (const auto &feature : root.features) {
      columns[FD::Convert(feature.first)] = feature.first;
      goal_features = goal_features || feature.second != 0;
    }

  std::map<int, int> number; /* of cdec's node */
  std::map<int, string> category;
  string nodes, edges;
  const auto add_node = [&](const string &name, int i, int j) {
    (nodes += nodes.empty() ? "[" : ",[") += Quoted(name) + "," + std::to_string(i) + "," + std::to_string(j) + "]";
  };
  const auto add_edge = [&](int node, const string &tails, const string &source, bool pass, const string &targets) {
    (edges += edges.empty() ? "" : ",") += "{\"node\":" + std::to_string(node) + ",\"tails\":" + tails +
                                           ",\"source\":" + source + (pass ? ",\"pass\":true" : "") + ",\"targets\":[" +
                                           targets + "]}";
  };
  const auto number_of = [&](int node) { return std::to_string(number.at(node)); };
  int last = 0;
  for (auto a = applications.begin(); a != applications.end();) {
    const Edge &edge = *a->edge;
    if (!number.count(edge.head)) {
      const int next = number.size();
      number[edge.head] = next;
      category[edge.head] = Category(edge.rule->lhs_);
      add_node(category[edge.head], edge.i, edge.j);
      last = std::max(last, edge.j);
    }
    const Application &first = *a;
    string targets;
    for (; a != applications.end() && a->Key() == first.Key(); ++a) {
      (targets += targets.empty() ? "[" : ",[") += a->target;
      for (const auto &column : columns) targets += "," + Number(a->edge->features.value(column.second));
      targets += "]";
    }
    add_edge(number[edge.head], Joined(edge.tails, number_of), first.source, first.pass, targets);
  }
  const vector<Recorder::Root> &roots = recorder.roots();
  if (goal_features || roots.size() > 1 || number.at(roots[0].node) + 1u != number.size()) {
    add_node("Goal", 0, last);
    for (const Recorder::Root &root : roots) {
      const string side = Quoted("[" + category[root.node] + ",1]");
      string targets = "[" + side;
      for (const auto &column : columns) targets += "," + Number(root.features.value(column.second));
      add_edge(number.size(), "[" + number_of(root.node) + "]", side, false, targets + "]");
    }
  }
  const string text = words ? Joined(*words, [](WordID word) { return Quoted(TD::Convert(word)); }) : "null";
  const string names = Joined(columns, [](const std::pair<const string, int> &c) { return Quoted(c.first); });
  return "{\"id\":" + std::to_string(id) + ",\"words\":" + text + ",\"parsed\":true,\"features\":" + names +
         ",\"nodes\":[" + nodes + "],\"edges\":[" + edges + "]}\n";
}

void WriteCompressed(const string &path, const string &text) {
  const size_t name = path.rfind('/') + 1;
  const string temporary = path.substr(0, name) + "." + path.substr(name) + ".tmp";
  ogzstream file(temporary.c_str());
  file << text;
  file.close();
  if (file && !rename(temporary.c_str(), path.c_str())) return;
  remove(temporary.c_str());
  throw ConfigError("cannot write " + path);
}
