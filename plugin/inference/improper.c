/* The warning about sums that are not probabilities. */
#include "base/number.h"
#include "lscfg/inference.h"

/* A sentence with g <= 0 has latent features of 0, because a share of a sum that is no probability means nothing. Zero
 * is neutral: every derivation has it. Where g < 0 features may be kept, as by the program of Saluja et al. (2014). */

void lscfg_improper_add(lscfg_improper *counts, const lscfg_inference *inference) {
  counts->sentences++;
  if (inference->sign < 0)
    counts->below++;
  else if (!inference->sign)
    counts->zero++;
  else if (inference->negative) {
    counts->negative++;
    counts->negative_mass += inference->negative_mass;
  }
}

int lscfg_improper_text(const lscfg_improper *counts, const lscfg_feature_options *how, char *text, size_t size) {
  long long none = counts->below + counts->zero, some = counts->negative;
  char without[160] = "", with[200] = "";
  if (!none && !some) return print_plain(text, size, "%s", "");
  if (none)
    print_plain(without, sizeof without, "%lld have no positive sum of derivations (g < 0: %lld, g = 0: %lld) and %s",
                none, (long long)counts->below, (long long)counts->zero,
                how->keep ? "keep their latent features where g < 0" : "all latent features 0");
  if (some)
    print_plain(with, sizeof with,
                "%lld have negative marginals, %.1f%% of the absolute mass on average, which count as %s", some,
                100 * (counts->negative_mass / (double)some),
                how->negative == LSCFG_NEGATIVE_FLIP ? "their absolute value" : "0");
  return print_plain(text, size, "of %lld sentences %s%s%s", (long long)counts->sentences, without,
                     none && some ? "; " : "", with);
}
