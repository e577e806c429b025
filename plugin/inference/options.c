/* The options of a decoder's line: one parser for all decoders (docs/reference/features.md). */
#include "base/common.h"
#include "lscfg/inference.h"

#include <math.h>

enum { SHOWN = 80 }; /* of a value that an error quotes */

typedef struct {
  const char *text;
  size_t length;
} slice;

static int is(slice s, const char *name) { return strlen(name) == s.length && !memcmp(s.text, name, s.length); }

#define QUOTED(s) (int)((s).length < SHOWN ? (s).length : SHOWN), (s).text

static int refuse(lscfg_error *error, slice key, slice value, const char *expected) {
  return lscfg_fail(error, LSCFG_EINPUT, 0, "%.*s=%.*s: expected %s", QUOTED(key), QUOTED(value), expected);
}

static int no_feature(slice name, lscfg_error *error) {
  char text[sizeof error->message];
  lscfg_feature_unknown(name.text, name.length, text, sizeof text);
  return lscfg_fail(error, LSCFG_EINPUT, 0, "%s", text);
}

/* Names separated by commas; the last name may have a comma too. */
static int set_columns(lscfg_feature_options *o, slice list, lscfg_error *error) {
  const char *p = list.text, *end = list.text + list.length;
  uint64_t wanted = 0;
  o->n_columns = 0;
  while (p < end) {
    const char *comma = memchr(p, ',', (size_t)(end - p));
    slice name = {p, (size_t)((comma ? comma : end) - p)};
    uint64_t found = lscfg_feature_set(name.text, name.length);
    if (!found) return no_feature(name, error);
    if (found & wanted)
      return lscfg_fail(error, LSCFG_EINPUT, 0, "features=%.*s names a feature twice", QUOTED(list));
    for (int32_t k = 0; k < LSCFG_N_FEATURES; k++)
      if (found >> k & 1) o->columns[o->n_columns++] = k;
    wanted |= found;
    p = comma ? comma + 1 : end;
  }
  if (!o->n_columns) return lscfg_fail(error, LSCFG_EINPUT, 0, "features= names no feature");
  return LSCFG_OK;
}

static int set(lscfg_options *o, slice key, slice value, lscfg_error *error) {
  if (is(key, "model")) {
    if (value.length >= sizeof o->model || memchr(value.text, '\0', value.length))
      return lscfg_fail(error, LSCFG_EINPUT, 0, "model=%.*s... is not a path", QUOTED(value));
    memcpy(o->model, value.text, value.length);
    o->model[value.length] = '\0';
  } else if (is(key, "features")) {
    return set_columns(&o->features, value, error);
  } else if (is(key, "log")) {
    o->features.log = is(value, "true");
    if (!o->features.log && !is(value, "false")) return refuse(error, key, value, "true or false");
  } else if (is(key, "floor")) {
    double *floor = &o->features.floor;
    if (lscfg_parse_double(value.text, value.length, floor) || !(*floor > 0) || !isfinite(*floor))
      return refuse(error, key, value, "a number above 0");
  } else if (is(key, "negative")) {
    o->features.negative = is(value, "flip") ? LSCFG_NEGATIVE_FLIP : LSCFG_NEGATIVE_CLAMP;
    if (!is(value, "flip") && !is(value, "clamp")) return refuse(error, key, value, "flip or clamp");
  } else if (is(key, "improper")) {
    o->features.keep = is(value, "keep");
    if (!o->features.keep && !is(value, "zero")) return refuse(error, key, value, "zero or keep");
  } else if (is(key, "unknown")) {
    int oov = is(value, "oov"), compose = is(value, "compose") || oov;
    if (!compose && !is(value, "zero")) return refuse(error, key, value, "zero, compose or oov");
    o->unknown = (lscfg_binding_options){compose, oov, oov};
  } else if (is(key, "prune")) {
    if (lscfg_parse_double(value.text, value.length, &o->prune) || !(o->prune >= 0 && o->prune < 1))
      return refuse(error, key, value, "a number of at least 0 and below 1");
  } else {
    return LSCFG_OTHER_OPTION;
  }
  return LSCFG_OK;
}

const char *lscfg_default_features(void) { return "ratios,context"; }

void lscfg_options_init(lscfg_options *o) {
  memset(o, 0, sizeof *o);
  o->features.log = 1;
  o->features.negative = LSCFG_NEGATIVE_FLIP;
  o->features.floor = 1e-6;
  o->unknown.compose = 1;
  const char *features = lscfg_default_features();
  set_columns(&o->features, (slice){features, strlen(features)}, NULL);
}

int lscfg_options_set(lscfg_options *o, const char *key, size_t key_length, const char *value, size_t value_length,
                      lscfg_error *error) {
  lscfg_options changed = *o;
  int code = set(&changed, (slice){key, key_length}, (slice){value, value_length}, error);
  if (code == LSCFG_OK) *o = changed;
  return code;
}

const char *lscfg_options_usage(void) {
  return "model=FILE features=NAME,NAME log=true|false floor=X negative=flip|clamp improper=zero|keep "
         "unknown=compose|zero|oov prune=X";
}

static int is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

int lscfg_option_next(const char **line, const char *end, lscfg_option *option) {
  const char *p = *line;
  while (p < end && is_blank(*p)) p++;
  *option = (lscfg_option){p, 0, 0};
  while (p < end && !is_blank(*p)) p++;
  option->length = (size_t)(p - option->text);
  *line = p;
  if (!option->length) return 0;
  const char *equals = memchr(option->text, '=', option->length);
  if (equals && equals + 1 < p) option->key_length = (size_t)(equals - option->text);
  return 1;
}
