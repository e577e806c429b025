/* The warning about sums that are not probabilities. */
#include "base/number.h"
#include "lscfg/inference.h"

/* A sentence with g <= 0 has latent features of 0, because dividing by g would be meaningless. Zero is neutral:
 * every derivation has it. */

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

int lscfg_improper_text(const lscfg_improper *counts, int32_t negative, char *text, size_t size) {
  long long none = counts->below + counts->zero, some = counts->negative;
  char without[160] = "", with[200] = "";
  if (!none && !some) return print_plain(text, size, "%s", "");
  if (none)
    print_plain(without, sizeof without,
                "%lld have no positive sum of derivations (g < 0: %lld, g = 0: %lld) and all latent features 0", none,
                (long long)counts->below, (long long)counts->zero);
  if (some)
    print_plain(with, sizeof with,
                "%lld have negative marginals, %.1f%% of the absolute mass on average, which count as %s", some,
                100 * (counts->negative_mass / (double)some),
                negative == LSCFG_NEGATIVE_FLIP ? "their absolute value" : "0");
  return print_plain(text, size, "of %lld sentences %s%s%s", (long long)counts->sentences, without,
                     none && some ? "; " : "", with);
}
