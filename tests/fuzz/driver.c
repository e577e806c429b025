/* Runs a harness without libFuzzer: driver MUTATIONS FILE ... takes each file as it is and then as many mutations of
 * it, the same in every run. Where it crashes, the file last-input is what did it. */
#include "fuzz.h"

enum { LARGEST = 1 << 16 };

static uint64_t state;

static uint32_t any(uint32_t n) { /* xorshift64* */
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return (uint32_t)((state * 2685821657736338717u) >> 32) % n;
}

/* One to four changes: a bit, a byte, a number, a part left out, a part said twice. */
static size_t mutate(uint8_t *bytes, size_t size) {
  static const uint8_t telling[] = {0, 1, 2, 0x7f, 0x80, 0xff, ' ', '|', '[', ']', '{', '}', '"', ',', '9', '\n'};
  for (uint32_t times = 1 + any(4); times && size; times--) {
    uint32_t at = any((uint32_t)size), length = 1 + any((uint32_t)(size - at < 16 ? size - at : 16));
    switch (any(5)) {
      case 0: bytes[at] ^= (uint8_t)(1 << any(8)); break;
      case 1: bytes[at] = (uint8_t)any(256); break;
      case 2: bytes[at] = telling[any(sizeof telling)]; break;
      case 3:
        memmove(bytes + at, bytes + at + length, size - at - length);
        size -= length;
        break;
      default:
        if (size + length > LARGEST) break;
        memmove(bytes + at + length, bytes + at, size - at);
        size += length;
    }
  }
  return size;
}

static void save(const uint8_t *bytes, size_t size) {
  FILE *file = fopen("last-input", "wb");
  CHECK(file && fwrite(bytes, 1, size, file) == size && !fclose(file));
}

int main(int argc, char **argv) {
  static uint8_t original[LARGEST], changed[LARGEST];
  CHECK(argc > 2);
  long mutations = strtol(argv[1], NULL, 10);
  for (int k = 2; k < argc; k++) {
    FILE *file = fopen(argv[k], "rb");
    CHECK(file);
    size_t size = fread(original, 1, sizeof original, file);
    fclose(file);
    state = 88172645463325252u;
    for (long n = 0; n <= mutations; n++) {
      memcpy(changed, original, size);
      size_t changed_size = n ? mutate(changed, size) : size;
      /* of its very size, so that no byte behind it can be read unseen */
      uint8_t *bytes = malloc(changed_size + !changed_size);
      CHECK(bytes);
      memcpy(bytes, changed, changed_size);
      save(bytes, changed_size);
      LLVMFuzzerTestOneInput(bytes, changed_size);
      free(bytes);
    }
  }
  return 0;
}
