/* Shows a forest to feature functions as cdec's passes do: cdec_driver FOREST LINE [LINE...] [options of cdec].
 *
 * Each LINE is what follows the library's name on a feature_function line; a LINE of "-" begins the next pass. FOREST:
 *   sentence WORD...
 *   HEAD I J TAIL... ||| LHS ||| SOURCE ||| TARGET ||| NAME=VALUE...    for each edge, nodes from below
 * The last edge is the goal's. Prints the features of each edge after the last pass. */
#include <cstdlib>
#include <iostream>
#include <sstream>

#include "cdec_stub.h"

using std::string;
using std::vector;

extern "C" FeatureFunction *create_ff(const string &arguments);

namespace {

vector<string> Words(const string &text) {
  std::istringstream stream(text);
  vector<string> words;
  for (string word; stream >> word;) words.push_back(word);
  return words;
}

HG::Edge ParseEdge(const string &line) {
  vector<string> fields;
  for (size_t begin = 0, end; begin != string::npos; begin = end == string::npos ? end : end + 3)
    fields.push_back(line.substr(begin, (end = line.find("|||", begin)) == string::npos ? end : end - begin));
  HG::Edge edge;
  const vector<string> numbers = Words(fields.at(0));
  edge.head_node_ = atoi(numbers.at(0).c_str());
  edge.i_ = atoi(numbers.at(1).c_str());
  edge.j_ = atoi(numbers.at(2).c_str());
  for (size_t k = 3; k < numbers.size(); ++k) edge.tail_nodes_.push_back(atoi(numbers[k].c_str()));
  edge.rule_.reset(new TRule);
  edge.rule_->lhs_ = -TD::Convert(Words(fields.at(1)).at(0));
  for (const string &symbol : Words(fields.at(2))) {
    const size_t comma = symbol.find(',');
    const bool word = symbol[0] != '[' || comma == string::npos;
    edge.rule_->f_.push_back(word ? TD::Convert(symbol) : -TD::Convert(symbol.substr(1, comma - 1)));
  }
  for (const string &symbol : Words(fields.at(3)))
    edge.rule_->e_.push_back(symbol[0] == '[' ? 1 - atoi(symbol.c_str() + 1) : TD::Convert(symbol));
  for (const string &feature : Words(fields.at(4))) {
    const size_t equals = feature.find('=');
    edge.rule_->scores_.set_value(FD::Convert(feature.substr(0, equals)), atof(feature.c_str() + equals + 1));
  }
  edge.feature_values_ = edge.rule_->scores_;
  return edge;
}

typedef vector<std::unique_ptr<FeatureFunction>> Pass;

/* The output of a pass: the same edges, numbered, with more features. An edge gets its head after it was shown. */
vector<HG::Edge> Run(const Pass &pass, const SentenceMetadata &sentence, const vector<HG::Edge> &input) {
  vector<HG::Edge> output;
  output.reserve(input.size() + 1); /* edges are found by address */
  vector<vector<vector<char>>> states(pass.size(), vector<vector<char>>(input.size() + 1));
  for (const HG::Edge &edge : input) {
    output.push_back(edge);
    HG::Edge &shown = output.back();
    shown.id_ = static_cast<int>(output.size()) - 1;
    shown.head_node_ = -1;
    for (size_t f = 0; f < pass.size(); ++f) {
      vector<const void *> tails;
      for (int tail : edge.tail_nodes_) tails.push_back(states[f].at(tail).data());
      vector<char> state(pass[f]->StateSize());
      SparseVector<double> estimates;
      pass[f]->TraversalFeatures(sentence, &shown, tails, &estimates, state.data());
      vector<char> &of_node = states[f].at(edge.head_node_);
      if (of_node.empty()) of_node = state;
      if (of_node != state) {
        std::cerr << "edges of node " << edge.head_node_ << " have several states" << std::endl;
        exit(3);
      }
    }
    shown.head_node_ = edge.head_node_;
  }
  HG::Edge goal;
  goal.tail_nodes_.assign(1, input.back().head_node_);
  output.push_back(goal);
  output.back().id_ = static_cast<int>(input.size());
  for (size_t f = 0; f < pass.size(); ++f)
    pass[f]->FinalTraversalFeatures(states[f].at(input.back().head_node_).data(), &output.back().feature_values_);
  output.pop_back();
  return output;
}

} // namespace

int main(int argc, char **argv) {
  std::ifstream file(argc > 1 ? argv[1] : "");
  vector<SentenceMetadata> sentences;
  vector<vector<HG::Edge>> forests;
  for (string line; getline(file, line);) {
    if (line.compare(0, 9, "sentence ") == 0) {
      sentences.push_back(SentenceMetadata(static_cast<int>(sentences.size()), Words(line.substr(9))));
      forests.emplace_back();
    } else
      forests.back().push_back(ParseEdge(line));
  }
  vector<Pass> passes(1);
  try {
    for (int k = 2; k < argc && string(argv[k]) != "-c"; ++k) {
      if (string(argv[k]) == "-")
        passes.emplace_back();
      else
        passes.back().emplace_back(create_ff(argv[k]));
    }
  } catch (const std::exception &error) {
    return 1; /* the message is printed */
  }
  std::cout.precision(17);
  for (size_t n = 0; n < sentences.size(); ++n) {
    vector<HG::Edge> edges = forests[n];
    for (const Pass &pass : passes) {
      for (const auto &function : pass) function->PrepareForInput(sentences[n]);
      edges = Run(pass, sentences[n], edges);
    }
    for (const HG::Edge &edge : edges) {
      std::cout << n << ' ' << edge.id_;
      std::map<string, double> named;
      for (const auto &feature : edge.feature_values_) named[FD::Convert(feature.first)] = feature.second;
      for (const auto &feature : named) std::cout << ' ' << feature.first << '=' << feature.second;
      std::cout << '\n';
    }
  }
  for (auto pass = passes.rbegin(); pass != passes.rend(); ++pass) pass->clear();
  return 0;
}
