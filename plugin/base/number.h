/* Numbers as text, independent of the locale, which may write a comma instead of a point. */
#ifndef LSCFG_NUMBER_H
#define LSCFG_NUMBER_H

#include "base/common.h"

/* snprintf in the C locale. */
int print_plain(char *text, size_t size, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

#endif
