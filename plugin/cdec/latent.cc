#include "latent.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>
#include <numeric>

#include "fdict.h"
#include "filelib.h"
#include "hg.h"
#include "tdict.h"
#include "verbose.h"

/* A feature function in cdec sees single edges, never the forest, so the library parses the sentence itself or
 * uses the forest of a recorder in an earlier pass. A state of four bytes identifies the node of each tail; all
 * edges into a node share it, so it splits no node. Rules are found by text, once per address and sentence,
 * because cdec reuses addresses. Nothing of cdec is linked in: a second copy of its dictionaries would be filled
 * instead of the program's. */

using std::string;
using std::vector;

namespace {

typedef std::unique_ptr<lscfg_forest, void (*)(lscfg_forest *)> ForestPtr;

typedef std::unique_ptr<lscfg_model, void (*)(lscfg_model *)> ModelPtr;

ModelPtr OpenModel(const lscfg::LatentOptions &latent) {
  lscfg_model *opened = nullptr;
  lscfg_error error;
  int code = lscfg_model_open(latent.model, &opened, &error);
  ModelPtr model(opened, lscfg_model_close);
  if (code >= 0) code = lscfg_model_check_features(model.get(), &latent.features, &error);
  if (code < 0) throw ConfigError("model " + string(latent.model) + ": " + error.message);
  return model;
}

/* Counted from 1, as a person does; cdec's ids begin with 0. */
string SentenceName(int id) { return "sentence " + std::to_string(id + 1); }

/* The features of all lines: of two lines with the same feature, cdec would keep one value without a word. */
std::set<std::pair<Mode, int>> claimed;

} // namespace

LatentFeatures::LatentFeatures(const Settings &settings)
    : FeatureFunction(sizeof(uint32_t)),
      settings_(settings),
      columns_(settings.latent.Columns()),
      recorder_(Recorder::Last()),
      model_(OpenModel(settings.latent)),
      words_(new Words),
      grammar_(new BoundGrammar(model_.get(), settings_.latent.unknown, words_.get())) {
  for (int column : columns_)
    if (!claimed.insert({settings_.mode, column}).second)
      throw ConfigError(string(lscfg_feature_name(column)) + " occurs in two lines; give each separate features=");
  if (settings_.mode == Mode::kParse)
    CheckDecoder();
  else if (!recorder_)
    throw ConfigError("mode=forest needs a line with mode=record in an earlier pass");
  ReadGrammars();
  const bool rules = lscfg_model_size(model_.get()); /* others have only weights of the words at borders of spans */
  if (rules && !settings_.decoder.grammars.empty() && !lscfg_binding_known(grammar_->binding()))
    Warn("grammar",
         "the model knows no rule of the grammar " + settings_.decoder.grammars[0] + "; all latent features are 0");
  for (int column : columns_) feature_ids_.push_back(FD::Convert(lscfg_feature_name(column)));
  packing_ = Packing::Make(settings_.pack, settings_.decoder, feature_ids_);
}

/* Recorded forests may come from files of another formalism; they bring their rules with them. */
void LatentFeatures::ReadGrammars() {
  try {
    for (const string &path : settings_.decoder.grammars) grammar_->Read(path);
  } catch (const ConfigError &error) {
    const string &formalism = settings_.decoder.formalism;
    if (settings_.mode == Mode::kParse || formalism.empty() || formalism == "scfg") throw;
    grammar_.reset(new BoundGrammar(model_.get(), settings_.latent.unknown, words_.get()));
    Warn("grammar", lscfg::Reason(error) + "; the rules of each forest are used instead");
  }
  grammar_->Finish(settings_.decoder, settings_.mode == Mode::kParse);
}

/* Refuses what the parser of the kernel does otherwise than cdec's. */
void LatentFeatures::CheckDecoder() const {
  const DecoderSettings &d = settings_.decoder;
  const string cure = "; use mode=record in this pass and mode=forest in the next one";
  if (!d.found) throw ConfigError("found no configuration of cdec; name the grammar with grammar=FILE");
  if (!d.formalism.empty() && d.formalism != "scfg")
    throw ConfigError("the formalism is " + d.formalism + ", not scfg" + cure);
  if (!d.extra_glue.empty()) throw ConfigError("scfg_extra_glue_grammar is not supported" + cure);
  if (d.coarse_to_fine) throw ConfigError("coarse-to-fine pruning is not supported" + cure);
  if (d.default_nt != "X" && (d.glue || d.pass_through))
    throw ConfigError("scfg_default_nt is " + d.default_nt + ", but glue and pass-through rules are of X here" + cure);
  if (d.goal != "S" && d.glue) throw ConfigError("the goal is " + d.goal + ", but glue rules are of S here" + cure);
}

LatentFeatures::~LatentFeatures() {
  for (int column : columns_) claimed.erase({settings_.mode, column});
  const string improper = lscfg::ImproperText(improper_, settings_.latent.features);
  if (!improper.empty()) Warn("improper", improper);
  if (SILENT && !unmatched_ && !neutral_sentences_) return;
  std::cerr << "[lscfg] " << sentences_ << " sentences, " << matched_ << " edges with latent features, " << unmatched_
            << " unmatched";
  if (neutral_sentences_) std::cerr << "; " << neutral_sentences_ << " sentences without latent features";
  std::cerr << std::endl;
}

void LatentFeatures::Warn(const string &kind, const string &message) const {
  if (warned_.insert(kind).second) std::cerr << "[lscfg] warning: " << message << std::endl;
}

void LatentFeatures::PrepareForInput(const SentenceMetadata &sentence) {
  ++sentences_;
  sentence_id_ = sentence.GetSentenceId();
  neutral_ = true;
  rules_.Clear();
  unmatched_edges_.clear();
  if (packing_) packing_->Clear();
  try {
    if (settings_.mode == Mode::kParse)
      Parse(sentence);
    else
      UseRecorded(sentence);
  } catch (const std::exception &error) {
    neutral_ = true;
    Warn("error", SentenceName(sentence_id_) + " gets no latent features: " + lscfg::Reason(error));
  }
  neutral_sentences_ += neutral_;
}

/* ---- the forest of a parse of our own ---- */

const BoundGrammar *LatentFeatures::GrammarOf(const SentenceMetadata &sentence, const vector<int32_t> &words) {
  vector<string> paths;
  for (int k = 0;; ++k) {
    const string path = sentence.GetSGMLValue(k ? "grammar" + std::to_string(k) : "grammar");
    if (path.empty()) break;
    paths.push_back(path);
  }
  if (paths.empty()) return grammar_.get();
  vector<char> is_there(lscfg_vocab_size(words_->vocab.get()));
  for (int32_t word : words)
    if (word >= 0) is_there[word] = 1;
  sentence_grammar_.reset(new BoundGrammar(model_.get(), settings_.latent.unknown, words_.get()));
  sentence_grammar_->AddMatching(*grammar_, is_there);
  for (const string &path : paths) sentence_grammar_->Read(path);
  sentence_grammar_->Finish(settings_.decoder, true);
  return sentence_grammar_.get();
}

void LatentFeatures::Parse(const SentenceMetadata &sentence) {
  if (!IsPlain(sentence)) {
    Warn("lattice", SentenceName(sentence_id_) +
                        " is a lattice or forest and gets no latent features; use mode=record and mode=forest");
    return;
  }
  vector<int32_t> words;
  for (const auto &arcs : sentence.GetSourceLattice()) words.push_back(words_->Find(arcs[0].label));
  current_ = GrammarOf(sentence, words);
  if (current_ == sentence_grammar_.get()) /* its words were not all known before */
    for (size_t k = 0; k < words.size(); ++k) words[k] = words_->Find(sentence.GetSourceLattice()[k][0].label);

  const DecoderSettings &d = settings_.decoder;
  const lscfg_parse_options options = {d.max_span, d.glue, d.pass_through, current_->goal(), LSCFG_MOST, 0, nullptr};
  lscfg_forest *parsed;
  lscfg_error error;
  const int code = lscfg_parse(current_->grammar(), words.data(), words.size(), &options, &parsed, &error);
  if (code < 0) throw std::runtime_error(error.message);
  if (code == LSCFG_TOO_LARGE) {
    Warn("large",
         SentenceName(sentence_id_) + " has too many rule applications and gets no latent features");
    return;
  }
  ForestPtr forest(parsed, lscfg_forest_free);
  if (code == LSCFG_NO_PARSE) {
    Warn("parse", SentenceName(sentence_id_) +
                      " gets no latent features: cdec can parse it, lscfg cannot; are grammar, max_span, glue, "
                      "pass_through and goal those of cdec?");
    return;
  }
  Infer(*current_, forest.get());
  lscfg_forest_view f;
  lscfg_forest_get(forest.get(), &f);
  edges_.Clear();
  for (int32_t a = 0; a < f.n_apps; ++a) {
    const int32_t e = f.app_edge[a], head = f.edge_head[e];
    const int32_t second = f.edge_tail[2 * e + 1];
    if (f.node_cat[head] == LSCFG_REST || (second >= 0 && f.node_cat[second] == LSCFG_REST)) continue; /* no features */
    uint32_t tails[2];
    for (int k = 0; k < 2; ++k) {
      const int32_t tail = f.edge_tail[2 * e + k];
      tails[k] = tail < 0 ? EdgeTable::kNoTail : EdgeTable::Pack(f.node_span[2 * tail], f.node_span[2 * tail + 1]);
    }
    const uint32_t span = EdgeTable::Pack(f.node_span[2 * head], f.node_span[2 * head + 1]);
    edges_.Add({f.app_rule[a], span, tails[0], tails[1], a, span});
  }
  edges_.Finish();
  neutral_ = false;
}

/* Fills values_; those of marginals are 0 if the sum over all derivations is not positive, unless they are kept. */
void LatentFeatures::Infer(const BoundGrammar &grammar, const lscfg_forest *forest) {
  lscfg_forest_view f;
  lscfg_inference inference;
  lscfg_error error;
  lscfg_forest_get(forest, &f);
  const bool needed = lscfg_needs_inference(&settings_.latent.features);
  vector<double> marginals(needed ? f.n_apps : 0), spans(needed ? f.n_nodes : 0);
  values_.assign(f.n_apps * columns_.size(), 0.0);
  seen_.assign(f.n_apps, false);
  if (needed && lscfg_infer(grammar.binding(), forest, marginals.data(), spans.data(), &inference, &error) < 0)
    throw std::runtime_error(error.message);
  if (needed) lscfg_improper_add(&improper_, &inference);
  if (needed && inference.sign <= 0 && !(inference.sign && settings_.latent.features.keep))
    Warn("zero",
         SentenceName(sentence_id_) + " has no positive sum of derivations; its latent features are 0");
  if (lscfg_features(grammar.binding(), forest, &inference, marginals.data(), spans.data(), &settings_.latent.features,
                     values_.data(), &error) < 0)
    throw std::runtime_error(error.message);
  for (double &value : values_) {
    if (std::isfinite(value)) continue;
    value = 0;
    Warn("finite", SentenceName(sentence_id_) + " has features that are not finite; they are 0");
  }
}

/* ---- the forest that an earlier pass built ---- */

/* The current grammar if it has all rules, else one of the forest's rules. */
const BoundGrammar *LatentFeatures::GrammarOfRecorded(const vector<Recorder::Edge> &edges) {
  vector<const TRule *> listed; /* those that are no extra rules */
  bool all_known = true;
  rules_.Clear();
  for (const Recorder::Edge &edge : edges) {
    int32_t &number = rules_[edge.rule.get()];
    if (number != PointerMap::kNew) continue;
    number = grammar_->Find(*edge.rule);
    if (number < lscfg_grammar_size(grammar_->grammar())) listed.push_back(edge.rule.get());
    all_known = all_known && number >= 0;
  }
  if (all_known) return grammar_.get();
  rules_.Clear();
  sentence_grammar_.reset(new BoundGrammar(model_.get(), settings_.latent.unknown, words_.get()));
  for (const TRule *rule : listed) sentence_grammar_->Add(*rule);
  sentence_grammar_->Finish(settings_.decoder, false);
  return sentence_grammar_.get();
}

void LatentFeatures::UseRecorded(const SentenceMetadata &sentence) {
  if (!recorder_->Finish()) {
    Warn("record", SentenceName(sentence_id_) +
                       " gets no latent features: the pass with mode=record must have no feature function with a "
                       "state (a language model, for one) or intersection_strategy=full");
    return;
  }
  const vector<Recorder::Edge> &edges = recorder_->edges();
  int n_words = 1, n_nodes = 0;
  for (const Recorder::Edge &edge : edges) {
    n_words = std::max(n_words, edge.j);
    n_nodes = std::max(n_nodes, edge.head + 1);
    if (edge.tails.size() > 2) {
      Warn("arity", SentenceName(sentence_id_) +
                        " gets no latent features: it has a rule of more than two nonterminals");
      return;
    }
  }
  current_ = GrammarOfRecorded(edges);
  const int32_t size = lscfg_grammar_size(current_->grammar()), unknown = size + LSCFG_RULE_UNKNOWN;
  vector<int32_t> words(n_words, -1); /* the arcs of a lattice are no words of the forest */
  if (IsPlain(sentence))
    for (int k = 0; k < n_words; ++k) words[k] = words_->Find(sentence.GetSourceLattice()[k][0].label);
  else
    words.push_back(-1); /* beyond the root: a lattice */
  lscfg_error error;
  ForestPtr forest(lscfg_forest_new(words.data(), words.size()), lscfg_forest_free);
  if (!forest) throw std::runtime_error("out of memory");

  const auto check = [&error](int32_t code) {
    if (code < 0) throw std::runtime_error(error.message);
    return code;
  };
  vector<int> order(edges.size()); /* edges by node; full intersection with states mixes those of nodes of one span */
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return edges[a].head < edges[b].head; });
  vector<int32_t> node_of(n_nodes, -1); /* cdec's node -> the kernel's */
  int node = -1;
  for (int k : order) {
    const Recorder::Edge &edge = edges[k];
    if (edge.head != node) {
      node = edge.head;
      node_of[node] =
          check(lscfg_forest_add_node(forest.get(), current_->Category(edge.rule->lhs_), edge.i, edge.j, &error));
    }
    int32_t &rule = rules_[edge.rule.get()];
    if (rule == PointerMap::kNew) rule = current_->Find(*edge.rule);
    /* The forest cannot see it: not of a lattice, nor where that rule was pruned. */
    if (rule == size + LSCFG_RULE_PASS &&
        (current_->HasRuleOfWord(edge.rule->f_[0]) || grammar_->HasRuleOfWord(edge.rule->f_[0])))
      rule = size + LSCFG_RULE_PASS_KNOWN;
    int32_t tails[2] = {-1, -1};
    for (size_t t = 0; t < edge.tails.size(); ++t) tails[t] = node_of.at(edge.tails[t]);
    if (rule < 0) rule = unknown;
    check(lscfg_forest_add_application(forest.get(), rule, tails[0], tails[1], &error));
  }
  if (recorder_->roots().size() > 1) { /* an alternative of equals, as in cdec's goal node */
    check(lscfg_forest_add_node(forest.get(), current_->Category(-TD::Convert("S")), 0, n_words, &error));
    for (const Recorder::Root &root : recorder_->roots())
      check(lscfg_forest_add_application(forest.get(), unknown, node_of.at(root.node), -1, &error));
  }
  vector<int32_t> app_of(edges.size() + recorder_->roots().size());
  const int code = lscfg_forest_finish(forest.get(), current_->grammar(), app_of.data(), &error);
  if (check(code) == LSCFG_NO_PARSE) throw std::runtime_error("the recorded forest has no derivation");
  Infer(*current_, forest.get());

  /* Rules by their address from here on, since only it may distinguish equal rules. */
  rules_.Clear();
  edges_.Clear();
  int32_t n_rules = 0;
  for (size_t k = 0; k < order.size(); ++k) {
    const Recorder::Edge &edge = edges[order[k]];
    int32_t &rule = rules_[edge.rule.get()];
    if (rule == PointerMap::kNew) rule = n_rules++;
    const uint32_t left = edge.tails.size() > 0 ? edge.tails[0] : EdgeTable::kNoTail;
    const uint32_t right = edge.tails.size() > 1 ? edge.tails[1] : EdgeTable::kNoTail;
    edges_.Add({rule, EdgeTable::Pack(edge.i, edge.j), left, right, app_of[k], static_cast<uint32_t>(edge.head)});
  }
  edges_.Finish();
  neutral_ = false;
}

/* ---- edge by edge ---- */

const EdgeTable::Edge *LatentFeatures::Find(const HG::Edge &edge, uint32_t left, uint32_t right) const {
  int32_t &rule = rules_[edge.rule_.get()];
  if (rule == PointerMap::kNew) rule = settings_.mode == Mode::kParse ? current_->Find(*edge.rule_) : -1;
  if (rule < 0) return nullptr;
  return edges_.Find(rule, EdgeTable::Pack(edge.i_, edge.j_), left, right);
}

/* The values of the edge, NULL if it has none. */
const double *LatentFeatures::ValuesOf(const HG::Edge &edge, const vector<const void *> &tails, uint32_t *label) const {
  uint32_t labels[2] = {EdgeTable::kNoTail, EdgeTable::kNoTail};
  *label = EdgeTable::Pack(edge.i_, edge.j_);
  if (neutral_ || IsGoal(*edge.rule_) || tails.size() > 2) return nullptr;
  for (size_t k = 0; k < tails.size(); ++k) memcpy(&labels[k], tails[k], sizeof labels[k]);
  const EdgeTable::Edge *found = Find(edge, labels[0], labels[1]);
  if (!found) {
    unmatched_ +=
        unmatched_edges_.insert(std::make_tuple(edge.rule_.get(), edge.i_, edge.j_, labels[0], labels[1])).second;
    return nullptr;
  }
  *label = found->label;
  if (found->row < 0) return nullptr;
  matched_ += !seen_[found->row];
  seen_[found->row] = true;
  return &values_[found->row * columns_.size()];
}

void LatentFeatures::TraversalFeaturesImpl(const SentenceMetadata &, const HG::Edge &edge,
                                           const vector<const void *> &tails, SparseVector<double> *features,
                                           SparseVector<double> *, void *state) const {
  uint32_t label;
  const double *values = ValuesOf(edge, tails, &label);
  memcpy(state, &label, sizeof label);
  if (packing_) {
    packing_->Write(values, features);
    return;
  }
  /* an earlier pass, or the file that the forest is from, may have given the edge other values */
  for (const int feature : feature_ids_)
    if (features->value(feature) != 0) features->set_value(feature, 0);
  for (size_t k = 0; values && k < feature_ids_.size(); ++k) {
    if (values[k] != 0) features->set_value(feature_ids_[k], values[k]);
  }
}
