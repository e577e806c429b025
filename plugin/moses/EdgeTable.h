/* The features of all rule applications of one sentence, to be looked up one by one. */
#ifndef LSCFG_MOSES_EDGE_TABLE_H
#define LSCFG_MOSES_EDGE_TABLE_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace Lscfg
{

/* (rule, span, spans of the two tails) -> application */
class EdgeTable
{
public:
  static const uint32_t kNone = 0xffffffff; /* no tail */
  static const int32_t kLongest = 0xfffe;   /* the last place that a span may have */

  static uint32_t Pack(int32_t i, int32_t j) { return static_cast<uint32_t>(i) << 16 | static_cast<uint32_t>(j); }

  void Clear(size_t n_edges) {
    size_t slots = 64;
    while (slots < 2 * n_edges) slots *= 2;
    const Slot empty = {-1, 0, 0, 0, -1};
    slots_.assign(slots, empty);
  }
  /* Of equal edges the first stays: they have the same features. */
  void Add(int32_t rule, uint32_t span, uint32_t left, uint32_t right, int32_t application) {
    Slot &slot = slots_[Find(rule, span, left, right)];
    if (slot.rule >= 0) return;
    const Slot added = {rule, span, left, right, application};
    slot = added;
  }
  /* -1 if there is none. */
  int32_t Application(int32_t rule, uint32_t span, uint32_t left, uint32_t right) const {
    return slots_.empty() ? -1 : slots_[Find(rule, span, left, right)].application;
  }

private:
  struct Slot {
    int32_t rule; /* -1: empty */
    uint32_t span, left, right;
    int32_t application;
  };

  size_t Find(int32_t rule, uint32_t span, uint32_t left, uint32_t right) const {
    uint64_t h = (static_cast<uint64_t>(static_cast<uint32_t>(rule)) << 32 | span) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 32 ^ (static_cast<uint64_t>(left) << 32 | right)) * 0xd6e8feb86659fd93u;
    h ^= h >> 32;
    const size_t mask = slots_.size() - 1;
    for (size_t k = h & mask;; k = (k + 1) & mask) {
      const Slot &s = slots_[k];
      if (s.rule < 0 || (s.rule == rule && s.span == span && s.left == left && s.right == right)) return k;
    }
  }

  std::vector<Slot> slots_;
};

}

#endif
