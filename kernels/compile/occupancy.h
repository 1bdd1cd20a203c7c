// How many blocks of a kernel one multiprocessor holds at once, computed from what the compiled
// kernel takes: no device is needed.
//
// The figures of the architectures are those of the CUDA C++ Programming Guide 13.0 (table "Technical
// Specifications per Compute Capability"), the steps in which registers and shared memory are given
// out those of cuda_occupancy.h of the same toolkit, whose answers the tests compare.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kernels/compile/kernel_info.h"

namespace weft::kernels {

// Of one multiprocessor, and of a block.
struct MultiprocessorLimits {
  uint32_t architecture = 0;  // 10 × major + minor
  uint32_t threads = 0;
  uint32_t blocks = 0;
  uint32_t shared_bytes = 0;
  uint32_t shared_bytes_per_block = 0;  // after opting in
  uint32_t reserved_shared_bytes = 0;   // of every block, by the system
  uint32_t shared_granularity = 0;      // bytes
};

// Nothing for an architecture that is not in the table.
std::optional<MultiprocessorLimits> LimitsOf(uint32_t architecture);
// "sm_90", "90", "sm_90a" or "9.0"; nothing when it is none.
std::optional<uint32_t> ParseArchitecture(absl::string_view text);
// "sm_75, sm_80, …": those of the table.
std::string KnownArchitectures();

struct Occupancy {
  enum class Limit : uint8_t { kThreads, kBlocks, kRegisters, kShared };
  uint32_t blocks = 0;            // of a multiprocessor; 0: the kernel cannot run with such blocks
  double fraction = 0;            // of the multiprocessor's warps
  Limit limit = Limit::kThreads;  // what allows no more
};

// `block_threads`: 1 to 1024; more gives 0 blocks, as does more than the kernel's own limit.
Occupancy ComputeOccupancy(const MultiprocessorLimits& limits, const KernelInfo& kernel,
                           uint32_t block_threads, uint32_t dynamic_shared_bytes);

// The largest of the block sizes (whole warps) with the greatest occupancy; 0 when none fits.
// REQUIRES: the kernel has resources.
uint32_t BestBlockThreads(const MultiprocessorLimits& limits, const KernelInfo& kernel,
                          uint32_t dynamic_shared_bytes);

// "threads", "blocks", "registers", "shared memory".
absl::string_view NameOf(Occupancy::Limit limit);

}  // namespace weft::kernels
