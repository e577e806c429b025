/* Characters of words. */
#ifndef LSCFG_TEXT_H
#define LSCFG_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* The code point of the character at p if no word may contain it, else 0: control characters, line separators, and
 * every space except the blank. Some programs end a word or a line there, or display two different words in the same
 * way. The joiners U+200C and U+200D are letters of some scripts and stay. The text is valid UTF-8 or at least not read
 * beyond end. */
static inline int32_t unwelcome(const char *p, const char *end) {
  const unsigned char *c = (const unsigned char *)p;
  if (*c < 0x20 || *c == 0x7f) return *c ? *c : -1;
  if (*c < 0xc2 || end - p < 2) return 0;
  if (*c == 0xc2) return c[1] <= 0xa0 ? c[1] : 0;
  if ((*c & 0xf0) != 0xe0 || end - p < 3) return 0;
  int32_t code = (*c & 0x0f) << 12 | (c[1] & 0x3f) << 6 | (c[2] & 0x3f);
  int refused = (code >= 0x2000 && code <= 0x200b) || code == 0x2028 || code == 0x2029 || code == 0x202f ||
                code == 0x205f || code == 0x2060 || code == 0x3000 || code == 0x1680 || code == 0x180e ||
                code == 0xfeff;
  return refused ? code : 0;
}

/* The number of bytes of the UTF-8 character at p, 0 if it is invalid: RFC 3629, section 4. */
static inline int character(const char *p, const char *end) {
  const unsigned char *c = (const unsigned char *)p;
  if (*c < 0x80) return 1;
  int length = *c < 0xc2 ? 0 : *c < 0xe0 ? 2 : *c < 0xf0 ? 3 : *c < 0xf5 ? 4 : 0;
  if (!length || end - p < length) return 0;
  /* overlong, half of a surrogate pair, or beyond the last code point */
  if ((*c == 0xe0 && c[1] < 0xa0) || (*c == 0xed && c[1] > 0x9f) || (*c == 0xf0 && c[1] < 0x90) ||
      (*c == 0xf4 && c[1] > 0x8f))
    return 0;
  for (int k = 1; k < length; k++)
    if ((c[k] & 0xc0) != 0x80) return 0;
  return length;
}

/* Tells if these bytes are one word: UTF-8, not empty, without blanks and forbidden characters. */
static inline int is_word(const char *p, size_t length) {
  const char *end = p + length;
  for (int n; p < end; p += n)
    if (*p == ' ' || !(n = character(p, end)) || unwelcome(p, end)) return 0;
  return length > 0;
}

#endif
