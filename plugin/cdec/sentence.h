/* The features of all rule applications of one sentence, to be looked up edge by edge. */
#ifndef LSCFG_CDEC_SENTENCE_H
#define LSCFG_CDEC_SENTENCE_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lscfg/inference.h"

/* (rule, span, labels of the two tails) -> application. A label identifies a node in a feature's state. */
class EdgeTable {
 public:
  struct Edge {
    int32_t rule; /* -1: an empty slot */
    uint32_t span, left, right;
    int32_t row;    /* its features, -1: none */
    uint32_t label; /* of its head */
  };

  static constexpr uint32_t kNoTail = 0xffffffff;
  static uint32_t Pack(int i, int j) { return static_cast<uint32_t>(i) << 16 | (static_cast<uint32_t>(j) & 0xffff); }

  void Clear() {
    edges_.clear();
    spans_.assign(256, Range{kNoTail, 0, 0});
    n_spans_ = 0;
  }
  void Add(const Edge &edge) { edges_.push_back(edge); }
  /* Edges of a span get slots next to each other, since a decoder asks for span after span. Of equal edges the first
   * stays: they have the same features. */
  void Finish() {
    for (const Edge &edge : edges_) ++RangeOf(edge.span).size;
    size_t begin = 0;
    for (Range &range : spans_) {
      size_t slots = 4;
      while (range.size && slots < 2 * range.size) slots *= 2;
      range.begin = begin;
      begin += range.size ? slots : 0;
      range.size = slots;
    }
    slots_.assign(begin, Edge{-1, 0, 0, 0, -1, 0});
    for (const Edge &edge : edges_) {
      Edge *slot = Slot(RangeOf(edge.span), edge.rule, edge.left, edge.right);
      if (slot->rule < 0) *slot = edge;
    }
  }
  const Edge *Find(int32_t rule, uint32_t span, uint32_t left, uint32_t right) const {
    const Range &range = spans_[PlaceOf(span)];
    if (range.span == kNoTail) return nullptr;
    const Edge *slot = const_cast<EdgeTable *>(this)->Slot(range, rule, left, right);
    return slot->rule < 0 ? nullptr : slot;
  }

 private:
  struct Range {
    uint32_t span; /* kNoTail: an empty place */
    size_t begin, size; /* in slots_; a power of two */
  };

  size_t PlaceOf(uint32_t span) const {
    const size_t mask = spans_.size() - 1;
    size_t k = (span * 0x9e3779b97f4a7c15u >> 32) & mask;
    while (spans_[k].span != kNoTail && spans_[k].span != span) k = (k + 1) & mask;
    return k;
  }
  Range &RangeOf(uint32_t span) {
    Range &found = spans_[PlaceOf(span)];
    if (found.span == span) return found;
    if (2 * ++n_spans_ > spans_.size()) {
      std::vector<Range> old(2 * spans_.size(), Range{kNoTail, 0, 0});
      old.swap(spans_);
      for (const Range &range : old)
        if (range.span != kNoTail) spans_[PlaceOf(range.span)] = range;
    }
    Range &made = spans_[PlaceOf(span)];
    made.span = span;
    return made;
  }
  Edge *Slot(const Range &range, int32_t rule, uint32_t left, uint32_t right) {
    uint64_t h = (static_cast<uint64_t>(left) << 32 | right) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 32 ^ static_cast<uint32_t>(rule)) * 0xd6e8feb86659fd93u;
    h ^= h >> 32;
    for (size_t k = h;; ++k) {
      Edge &e = slots_[range.begin + (k & (range.size - 1))];
      if (e.rule < 0 || (e.rule == rule && e.left == left && e.right == right)) return &e;
    }
  }

  std::vector<Edge> edges_, slots_;
  std::vector<Range> spans_;
  size_t n_spans_ = 0;
};

/* Numbers by pointer, for one sentence: cdec may reuse the address of a rule that is gone. */
class PointerMap {
 public:
  static constexpr int32_t kNew = INT32_MIN;

  PointerMap() { Clear(); }
  void Clear() {
    slots_.assign(256, Slot{nullptr, kNew});
    size_ = 0;
  }
  /* The pointer's number, kNew if it has none yet; the reference is valid until the next call. */
  int32_t &operator[](const void *pointer) {
    if (2 * size_ >= slots_.size()) Grow();
    Slot &slot = Find(pointer);
    if (!slot.pointer) {
      slot.pointer = pointer;
      ++size_;
    }
    return slot.number;
  }

 private:
  struct Slot {
    const void *pointer;
    int32_t number;
  };

  Slot &Find(const void *pointer) {
    const uint64_t h = reinterpret_cast<uint64_t>(pointer) * 0x9e3779b97f4a7c15u;
    const size_t mask = slots_.size() - 1;
    size_t k = (h >> 32) & mask;
    while (slots_[k].pointer && slots_[k].pointer != pointer) k = (k + 1) & mask;
    return slots_[k];
  }
  void Grow() {
    std::vector<Slot> old(slots_.size() * 2, Slot{nullptr, kNew});
    old.swap(slots_);
    for (const Slot &slot : old)
      if (slot.pointer) Find(slot.pointer) = slot;
  }

  std::vector<Slot> slots_;
  size_t size_;
};

#endif
