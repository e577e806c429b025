#include "base/common.h"

int lscfg_fail(lscfg_error *error, int code, int64_t line, const char *format, ...) {
  if (error) {
    va_list arguments;
    error->code = code;
    error->line = line;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
  }
  return code;
}

int lscfg_cure(int code, lscfg_error *error, const char *cure) {
  if (code == LSCFG_EINPUT && error && !strchr(error->message, ';')) {
    size_t length = strlen(error->message);
    snprintf(error->message + length, sizeof error->message - length, "; %s", cure);
  }
  return code;
}
