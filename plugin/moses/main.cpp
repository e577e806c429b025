/* Moses with one feature function more: registers it and hands over to Moses' own main function. */
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <unistd.h>

#include "LatentSCFG.h"
#include "moses/ExportInterface.h"
#include "moses/FF/Factory.h"
#include "moses/StaticData.h"

namespace Moses {

/* As Moses' FF/Factory.cpp declares it, for itself only. */
class FeatureFactory {
 public:
  virtual ~FeatureFactory() {}
  virtual void Create(const std::string &line) = 0;

 protected:
  FeatureFactory() {}
};

} // namespace Moses

namespace {

/* Private members have no other way in: only an explicit instantiation may name them. */
template <typename Tag, typename Tag::type Member>
struct Expose {
  friend typename Tag::type Get(Tag) { return Member; }
};
struct Registry {
  typedef Moses::FeatureRegistry Moses::StaticData::*type;
  friend type Get(Registry);
};
template struct Expose<Registry, &Moses::StaticData::m_registry>;
struct Add {
  typedef void (Moses::FeatureRegistry::*type)(const std::string &, Moses::FeatureFactory *);
  friend type Get(Add);
};
template struct Expose<Add, &Moses::FeatureRegistry::Add>;

/* True if an output may show single features, or if weights change. */
bool ShowsFeatures(const Moses::Parameter &settings) {
  static const char *const kOptions[] = {
      "n-best-list",           "n-best-list-file",     "lattice-samples",         "translation-details",
      "translation-all-details", "output-search-graph", "output-search-graph-extended", "output-search-graph-slf",
      "output-search-graph-pb", "output-search-graph-hypergraph", "output-word-graph", "tree-translation-details",
      "alternate-weight-setting", "show-weights",       "feature-overwrite",       "mira",
      "server",                "weight-file",          "minimum-bayes-risk",      "lminimum-bayes-risk"};
  for (const char *option : kOptions)
    if (settings.isParamSpecified(option)) return true;
  return Moses::StaticData::Instance().GetVerboseLevel() > 1; /* prints each hypothesis */
}

class LatentFactory : public Moses::FeatureFactory {
 public:
  void Create(const std::string &line) override {
    using namespace Moses;
    LatentSCFG *feature = new LatentSCFG(line);
    const std::string &name = feature->GetScoreProducerDescription();
    Parameter *settings = StaticData::InstanceNonConst().GetParameter();
    std::vector<float> weights = settings->GetWeights(name);
    if (weights.size() != feature->GetNumScoreComponents())
      throw lscfg::ConfigError(name + " has " + std::to_string(feature->GetNumScoreComponents()) + " features, but " +
                               std::to_string(weights.size()) + " weights; add a line '" + name + "= ...' to [weight]");
    if (!ShowsFeatures(*settings) && feature->Pack(weights)) weights.assign(1, 1.0f);
    FeatureFunction::Register(feature);
    StaticData::InstanceNonConst().SetWeights(feature, weights);
  }
};

} // namespace

namespace {

/* Moses allocates many small objects for each hypothesis; lists of freed ones without a limit save a tenth of its time.
 * glibc reads the limit from the environment, when a program starts. A user's own value stays. */
void AllocateFromLists(const char **argv) {
#if defined(__GLIBC__)
  if (setenv("GLIBC_TUNABLES",
             "glibc.malloc.tcache_count=60000:glibc.malloc.trim_threshold=268435456:"
             "glibc.malloc.mmap_threshold=33554432:glibc.malloc.top_pad=16777216",
             0) == 0)
    execv("/proc/self/exe", const_cast<char **>(argv)); /* returns only after an error: goes on without */
#endif
}

} // namespace

int main(int argc, const char **argv) {
  if (!getenv("GLIBC_TUNABLES")) AllocateFromLists(argv);
  try {
    Moses::FeatureRegistry &registry = Moses::StaticData::InstanceNonConst().*Get(Registry());
    (registry.*Get(Add()))("LatentSCFG", new LatentFactory);
    return decoder_main(argc, argv);
  } catch (const std::exception &error) {
    std::cerr << error.what() << std::endl;
  } catch (const char *error) {
    std::cerr << error << std::endl;
  }
  return 1;
}
