// What the device can do: one immutable object a kernel launch, copy, fill, host function or value
// write, made (and checked) when the call is made and run by a worker when its turn comes. Streams
// and graphs run the same actions.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "cuda/host/cuda_api.h"
#include "cuda/host/fault_plan.h"
#include "cuda/host/region_map.h"

namespace weft::hostcuda {

// What an action may use while it runs. All of it outlives every run.
struct ActionEnvironment {
  const RegionMap& regions;
  FaultPlan& faults;
};

// What may not change when one action takes another's place in an instantiated graph: two actions of
// one kind are exchangeable when their rules are equal.
struct ExchangeRule {
  bool flat = true;  // false: more than one dimension
  std::array<uint64_t, 6> fixed = {};
  friend bool operator==(const ExchangeRule&, const ExchangeRule&) = default;
};

// Thread safety: immutable; may run on several threads at the same time.
class Action {
 public:
  virtual ~Action() = default;
  // Carries it out on this thread. An error is the context's from then on.
  virtual Outcome Run(const ActionEnvironment& environment) const = 0;
  virtual ExchangeRule exchange_rule() const { return {}; }
};

using ActionPtr = std::shared_ptr<const Action>;

}  // namespace weft::hostcuda
