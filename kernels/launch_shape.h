// From a bound call to the launches that carry it out: symbols, grids, blocks and shared memory,
// within the limits of a device.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/error_context.h"
#include "kernels/bind.h"
#include "kernels/schema.h"

namespace weft::kernels {

// What a device allows; the defaults are those of every GPU since compute capability 3.0.
struct LaunchLimits {
  uint32_t max_grid[3] = {0x7fffffff, 65535, 65535};
  uint32_t max_block[3] = {1024, 1024, 64};
  uint32_t max_threads_per_block = 1024;
  uint32_t max_shared_bytes_per_block = 48 * 1024;
  uint32_t max_shared_bytes_per_block_optin = 48 * 1024;  // for kernels that ask for more
  uint32_t max_cluster_blocks = 0;                        // 0: the device has no clusters
  bool cooperative = true;                                // all blocks of a launch can run at once
  uint32_t max_parameter_bytes = 4096;
};

struct Dim3 {
  uint32_t x = 1;
  uint32_t y = 1;
  uint32_t z = 1;
  friend bool operator==(const Dim3&, const Dim3&) = default;
};

// A shape that the job chooses itself. Only kernels of one phase take one; `block` only those whose
// block rule is kAny.
struct LaunchOverride {
  std::optional<Dim3> grid;
  std::optional<Dim3> block;
};

struct PhaseLaunch {
  std::string symbol;
  Dim3 grid;
  Dim3 block;
  uint32_t shared_bytes = 0;  // dynamic
  friend bool operator==(const PhaseLaunch&, const PhaseLaunch&) = default;
};

// `phases` in the order in which they run. Phases with nothing to do are left out: a call on zero
// elements has none, unless the kernel defines a result for them (a sum of nothing is 0).
struct LaunchPlan {
  std::vector<PhaseLaunch> phases;
  uint64_t workspace_bytes = 0;
};

// REQUIRES: `call` is what Bind returned for `schema`, without violations.
// Errors: INVALID_ARGUMENT with violations of the fields "grid", "block", "shared_bytes" or
// "parameters" (an explicit zero, above the device's limits, or an override that the kernel does
// not take).
absl::StatusOr<LaunchPlan> PlanLaunch(const KernelSchema& schema, const BoundCall& call,
                                      const LaunchLimits& limits,
                                      const LaunchOverride& chosen = {});

// What is wrong with a launch on a device of these limits: fields as above. Empty: nothing.
std::vector<FieldViolation> CheckLaunch(const PhaseLaunch& launch, const LaunchLimits& limits);

// The name of the kernel's entry point for one phase.
std::string SymbolOf(const KernelSchema& schema, const PhaseSchema& phase,
                     absl::Span<const BoundArgument> arguments);

// Every symbol that the schema may ever launch, over all dtypes that it allows; sorted, unique.
std::vector<std::string> AllSymbols(const KernelSchema& schema);

}  // namespace weft::kernels
