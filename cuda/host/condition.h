// The value that a conditional node of a graph goes by.
//
// Thread safety: all members may be used from any thread; as on a GPU, who sets it while another does
// or while the node looks at it gets one of the values.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "cuda/host/handle_table.h"

namespace weft::hostcuda {

class Condition;
// What a handle names. Weak: kernels may name it as long as the graph or an executable of it lives.
struct ConditionSlot {
  std::weak_ptr<Condition> condition;
};
using ConditionTable = HandleTable<ConditionSlot>;

class Condition {
 public:
  enum class AtLaunch {
    kKept,     // what the last launch left: undefined, as the API has it
    kDefault,  // CU_GRAPH_COND_ASSIGN_DEFAULT
  };
  // Its handle is in `table`, which outlives it, as long as it lives.
  static std::shared_ptr<Condition> Create(ConditionTable& table, AtLaunch at_launch,
                                           uint32_t default_value);
  // The condition that a handle names; null: none.
  static std::shared_ptr<Condition> Find(const ConditionTable& table, uint64_t handle);

  Condition(ConditionTable& table, AtLaunch at_launch, uint32_t default_value)
      : table_(table),
        at_launch_(at_launch),
        default_value_(default_value),
        value_(default_value) {}
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;
  ~Condition() { table_.Remove(handle_); }

  uint64_t handle() const { return handle_; }
  void BeginLaunch() {
    if (at_launch_ == AtLaunch::kDefault) Set(default_value_);
  }
  void Set(uint32_t value) { value_.store(value, std::memory_order_release); }
  uint32_t value() const { return value_.load(std::memory_order_acquire); }

  // True once: a condition is one node's.
  bool Claim() { return !claimed_.exchange(true, std::memory_order_relaxed); }
  bool claimed() const { return claimed_.load(std::memory_order_relaxed); }

 private:
  ConditionTable& table_;
  uint64_t handle_ = 0;  // set by Create, before anybody else sees it
  const AtLaunch at_launch_;
  const uint32_t default_value_;
  std::atomic<uint32_t> value_;
  std::atomic<bool> claimed_{false};
};

}  // namespace weft::hostcuda
