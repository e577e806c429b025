/* The edges of one sentence's forest, to be looked up by their spans. */
#ifndef LSCFG_MOSES_EDGE_TABLE_H
#define LSCFG_MOSES_EDGE_TABLE_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lscfg {

/* (categories, span, spans of the two tails) -> a number. Within a sentence these identify the left-hand side and the
 * source side of a rule; a passed-through word has a separate edge. */
class EdgeTable {
 public:
  enum : uint32_t { kNoTail = 0xffffffff, kNode = 0xfffffffe, kPass = 0xfffffffd };
  enum : int32_t { kLongest = 0xfffe }; /* the last position of a span */

  static uint32_t Pack(int32_t i, int32_t j) { return static_cast<uint32_t>(i) << 16 | static_cast<uint32_t>(j); }

  void Clear(size_t n_edges) {
    size_t slots = 64;
    while (slots < 2 * n_edges) slots *= 2;
    const Slot empty = {0, 0, 0, 0, -1};
    slots_.assign(slots, empty);
  }
  void Add(uint32_t categories, uint32_t span, uint32_t left, uint32_t right, int32_t number) {
    const Slot added = {categories, span, left, right, number};
    slots_[At(categories, span, left, right)] = added;
  }
  /* -1 if there is none. */
  int32_t Find(uint32_t categories, uint32_t span, uint32_t left, uint32_t right) const {
    return slots_[At(categories, span, left, right)].number;
  }

 private:
  struct Slot {
    uint32_t categories, span, left, right;
    int32_t number; /* -1: empty */
  };

  size_t At(uint32_t categories, uint32_t span, uint32_t left, uint32_t right) const {
    uint64_t h = (static_cast<uint64_t>(left) << 32 | right) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 32 ^ (static_cast<uint64_t>(categories) << 32 | span)) * 0xd6e8feb86659fd93u;
    h ^= h >> 32;
    const size_t mask = slots_.size() - 1;
    for (size_t k = h & mask;; k = (k + 1) & mask) {
      const Slot &s = slots_[k];
      if (s.number < 0 || (s.categories == categories && s.span == span && s.left == left && s.right == right))
        return k;
    }
  }

  std::vector<Slot> slots_;
};

} // namespace lscfg

#endif
