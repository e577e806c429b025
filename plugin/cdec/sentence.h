/* The features of all rule applications of one sentence, to be looked up edge by edge. */
#ifndef LSCFG_CDEC_SENTENCE_H
#define LSCFG_CDEC_SENTENCE_H

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

  void Clear(size_t n_edges) {
    size_t slots = 64;
    while (slots < 2 * n_edges) slots *= 2;
    slots_.assign(slots, Edge{-1, 0, 0, 0, -1, 0});
  }
  /* Of equal edges the first stays: they have the same features. */
  void Add(const Edge &edge) {
    Edge *slot = Slot(edge.rule, edge.span, edge.left, edge.right);
    if (slot->rule < 0) *slot = edge;
  }
  const Edge *Find(int32_t rule, uint32_t span, uint32_t left, uint32_t right) const {
    const Edge *slot = const_cast<EdgeTable *>(this)->Slot(rule, span, left, right);
    return slot->rule < 0 ? nullptr : slot;
  }

 private:
  Edge *Slot(int32_t rule, uint32_t span, uint32_t left, uint32_t right) {
    uint64_t h = (static_cast<uint64_t>(static_cast<uint32_t>(rule)) << 32 | span) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 32 ^ (static_cast<uint64_t>(left) << 32 | right)) * 0xd6e8feb86659fd93u;
    h ^= h >> 32;
    const size_t mask = slots_.size() - 1;
    for (size_t k = h & mask;; k = (k + 1) & mask) {
      Edge &e = slots_[k];
      if (e.rule < 0 || (e.rule == rule && e.span == span && e.left == left && e.right == right)) return &e;
    }
  }

  std::vector<Edge> slots_;
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
