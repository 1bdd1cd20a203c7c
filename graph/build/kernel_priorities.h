// The priorities that a job gives its kernels, as the device has them.
//
// A device has few levels (six on a GPU), for all jobs together. So a job takes no more of them than it
// needs to tell its own kernels apart, beginning with the least urgent: one that gives no priorities,
// or gives all its kernels the same, runs as every other job does.
//
// Thread safety: values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "absl/status/statusor.h"
#include "graph/build/bindings.h"

namespace weft::build {

class KernelPriorities {
 public:
  KernelPriorities() = default;
  // `job`: the whole job, whose graphs share its levels. Calls the driver only for a job that needs
  // more than one level.
  static absl::StatusOr<KernelPriorities> Of(const BuildInput& job);

  // True when no kernel has a priority of its own.
  bool empty() const { return levels_.empty(); }
  // The driver's priority of a kernel to which the job gives `priority`; nullopt: none of its own.
  std::optional<int> Find(int32_t priority) const;

 private:
  std::map<int32_t, int> levels_;
};

}  // namespace weft::build
