/* As many features of every edge as its argument says, all 1: what entries cost in cdec, whoever makes them. */
#include <cstdlib>
#include <string>
#include <vector>

#include "fdict.h"
#include "ff.h"
#include "hg.h"

class Constants : public FeatureFunction {
 public:
  explicit Constants(int n) {
    for (int k = 0; k < n; ++k) ids_.push_back(FD::Convert("Constant" + std::to_string(k)));
  }

 protected:
  void TraversalFeaturesImpl(const SentenceMetadata&, const HG::Edge&, const std::vector<const void*>&,
                             SparseVector<double>* features, SparseVector<double>*, void*) const override {
    for (int id : ids_) features->set_value(id, 1.0);
  }

 private:
  std::vector<int> ids_;
};

extern "C" FeatureFunction* create_ff(const std::string& arguments) { return new Constants(atoi(arguments.c_str())); }
