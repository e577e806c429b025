/* Characters of words. */
#ifndef LSCFG_TEXT_H
#define LSCFG_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* True if a character is a space other than the blank, or separates lines. */
static inline int is_space(int32_t code) {
  return code == 0xa0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x2028 || code == 0x2029 ||
         code == 0x202f || code == 0x205f || code == 0x3000;
}

/* True if a character has no width and is no letter: soft hyphens, marks of direction, zero-width spaces, annotations.
 * The joiners U+200C and U+200D are letters of some scripts. */
static inline int is_invisible(int32_t code) {
  return code == 0xad || code == 0x61c || code == 0x180e || code == 0x200b || code == 0x200e || code == 0x200f ||
         (code >= 0x202a && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) || code == 0xfeff ||
         (code >= 0xfff9 && code <= 0xfffb);
}

/* True if no word may contain a character: control characters, spaces, invisible characters. Some programs end a word
 * or a line there, or display two different words in the same way. All readers of text, and lscfg prepare, share this
 * list. */
static inline int is_refused(int32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || is_space(code) || is_invisible(code);
}

/* The code point of the character at p if no word may contain it, -1 for NUL, else 0. The text is valid UTF-8 or at
 * least not read beyond end. */
static inline int32_t unwelcome(const char *p, const char *end) {
  const unsigned char *c = (const unsigned char *)p;
  if (*c < 0x20 || *c == 0x7f) return *c ? *c : -1;
  if (*c < 0xc2 || *c > 0xef || end - p < 2) return 0;
  int32_t code = (*c & 0x1f) << 6 | (c[1] & 0x3f);
  if (*c >= 0xe0) {
    if (end - p < 3) return 0;
    code = (*c & 0x0f) << 12 | (c[1] & 0x3f) << 6 | (c[2] & 0x3f);
  }
  return is_refused(code) ? code : 0;
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

/* True if these bytes are one word: UTF-8, not empty, without blanks and forbidden characters. */
static inline int is_word(const char *p, size_t length) {
  const char *end = p + length;
  for (int n; p < end; p += n)
    if (*p == ' ' || !(n = character(p, end)) || unwelcome(p, end)) return 0;
  return length > 0;
}

#endif
