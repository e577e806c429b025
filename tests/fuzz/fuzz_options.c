/* A decoder's line. What is taken must be of use, and what is refused must leave everything as it was. */
#include "fuzz.h"

#include <math.h>

static void check_options(const lscfg_options *o) {
  uint32_t wanted = 0;
  CHECK(memchr(o->model, '\0', sizeof o->model));
  CHECK(o->features.n_columns >= 1 && o->features.n_columns <= LSCFG_N_FEATURES);
  for (int32_t k = 0; k < o->features.n_columns; k++) {
    int32_t feature = o->features.columns[k];
    CHECK(lscfg_feature_name(feature) && !(wanted >> feature & 1));
    wanted |= 1u << feature;
  }
  CHECK(o->features.floor > 0 && isfinite(o->features.floor));
  CHECK((o->features.log | 1) == 1 && (o->features.negative | 1) == 1);
  CHECK(o->prune >= 0 && o->prune < 1);
  CHECK(o->unknown.oov == o->unknown.oov_parts && o->unknown.oov <= o->unknown.compose);
}

/* A number as text is read back as it was. */
static void check_number(double value) {
  char text[40];
  double again;
  int length = lscfg_print_double(value, 17, text, sizeof text);
  CHECK(length > 0 && length < (int)sizeof text && !memchr(text, ',', (size_t)length));
  CHECK(!lscfg_parse_double(text, (size_t)length, &again) && again == value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  lscfg_options options, before;
  lscfg_option option;
  char *copy = malloc(size + !size); /* of its very size, so that no byte behind it can be read unseen */
  const char *rest = copy, *end = copy + size, *last = copy;
  CHECK(copy);
  if (size) memcpy(copy, data, size);
  lscfg_options_init(&options);
  check_options(&options);
  while (lscfg_option_next(&rest, end, &option)) {
    CHECK(option.text >= last && option.length > 0 && option.text + option.length == rest && rest <= end);
    last = rest;
    if (!option.key_length) continue;
    CHECK(option.key_length + 1 < option.length && option.text[option.key_length] == '=');
    lscfg_error error = {0};
    before = options;
    const char *value = option.text + option.key_length + 1;
    int code = lscfg_options_set(&options, option.text, option.key_length, value, (size_t)(rest - value), &error);
    CHECK(code == LSCFG_OK || code == LSCFG_OTHER_OPTION || (code == LSCFG_EINPUT && *error.message));
    if (code) CHECK(!memcmp(&before, &options, sizeof options));
    check_options(&options);
    check_number(options.features.floor);
  }
  CHECK(rest == end);
  free(copy);
  return 0;
}
