/* Moses with one feature function more: registers it and hands over to Moses' own main function. */
#include <exception>
#include <iostream>
#include <string>

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

class LatentFactory : public Moses::FeatureFactory {
 public:
  void Create(const std::string &line) override {
    using namespace Moses;
    LatentSCFG *feature = new LatentSCFG(line);
    const std::string &name = feature->GetScoreProducerDescription();
    std::vector<float> weights = StaticData::InstanceNonConst().GetParameter()->GetWeights(name);
    if (weights.size() != feature->GetNumScoreComponents())
      throw lscfg::ConfigError(name + " has " + std::to_string(feature->GetNumScoreComponents()) + " features, but " +
                               std::to_string(weights.size()) + " weights; add a line '" + name + "= ...' to [weight]");
    FeatureFunction::Register(feature);
    StaticData::InstanceNonConst().SetWeights(feature, weights);
  }
};

} // namespace

int main(int argc, const char **argv) {
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
