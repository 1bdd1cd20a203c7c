#include "kernels/compile/occupancy.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"

namespace weft::kernels {
namespace {

constexpr uint32_t kKiB = 1024;
constexpr std::array kArchitectures = {
    MultiprocessorLimits{75, 1024, 16, 64 * kKiB, 64 * kKiB, 0, 256},
    MultiprocessorLimits{80, 2048, 32, 164 * kKiB, 163 * kKiB, kKiB, 128},
    MultiprocessorLimits{86, 1536, 16, 100 * kKiB, 99 * kKiB, kKiB, 128},
    MultiprocessorLimits{87, 1536, 16, 164 * kKiB, 163 * kKiB, kKiB, 128},
    MultiprocessorLimits{89, 1536, 24, 100 * kKiB, 99 * kKiB, kKiB, 128},
    MultiprocessorLimits{90, 2048, 32, 228 * kKiB, 227 * kKiB, kKiB, 128},
    MultiprocessorLimits{100, 2048, 32, 228 * kKiB, 227 * kKiB, kKiB, 128},
    MultiprocessorLimits{103, 2048, 32, 228 * kKiB, 227 * kKiB, kKiB, 128},
    MultiprocessorLimits{110, 1536, 24, 228 * kKiB, 227 * kKiB, kKiB, 128},
    MultiprocessorLimits{120, 1536, 24, 100 * kKiB, 99 * kKiB, kKiB, 128},
    MultiprocessorLimits{121, 1536, 24, 100 * kKiB, 99 * kKiB, kKiB, 128},
};

// The same on all of them.
constexpr uint32_t kThreadsOfWarp = 32;
constexpr uint32_t kThreadsOfBlock = 1024;
constexpr uint32_t kRegistersInAll = 64 * kKiB;  // of a multiprocessor, and of a block
constexpr uint32_t kRegisterGranularity = 256;   // of a warp
constexpr uint32_t kSubPartitions = 4;  // of a multiprocessor: a warp's registers lie in one

constexpr uint64_t RoundUp(uint64_t value, uint64_t step) {
  return (value + step - 1) / step * step;
}

uint32_t BlocksByRegisters(uint32_t registers, uint32_t warps) {
  if (registers == 0) return UINT32_MAX;
  const uint64_t of_warp = RoundUp(uint64_t{registers} * kThreadsOfWarp, kRegisterGranularity);
  if (of_warp * RoundUp(warps, kSubPartitions) > kRegistersInAll) return 0;
  const uint64_t resident = kRegistersInAll / kSubPartitions / of_warp * kSubPartitions;
  return static_cast<uint32_t>(resident / warps);
}

uint32_t BlocksByShared(const MultiprocessorLimits& limits, uint64_t bytes) {
  const uint64_t of_block =
      RoundUp(bytes + limits.reserved_shared_bytes, limits.shared_granularity);
  if (of_block > limits.shared_bytes_per_block + limits.reserved_shared_bytes) return 0;
  return of_block == 0 ? UINT32_MAX : static_cast<uint32_t>(limits.shared_bytes / of_block);
}

// Threads that a block may have by the kernel's own limit.
uint64_t MaxThreads(const KernelInfo& kernel) {
  const uint64_t own = uint64_t{kernel.max_block[0]} * kernel.max_block[1] * kernel.max_block[2];
  return own == 0 ? kThreadsOfBlock : std::min<uint64_t>(own, kThreadsOfBlock);
}

}  // namespace

std::optional<MultiprocessorLimits> LimitsOf(uint32_t architecture) {
  for (const MultiprocessorLimits& row : kArchitectures) {
    if (row.architecture == architecture) return row;
  }
  return std::nullopt;
}

std::optional<uint32_t> ParseArchitecture(absl::string_view text) {
  if (!absl::ConsumePrefix(&text, "sm_")) absl::ConsumePrefix(&text, "compute_");
  if (!absl::ConsumeSuffix(&text, "a")) absl::ConsumeSuffix(&text, "f");
  uint32_t number = 0;
  if (!absl::SimpleAtoi(absl::StrReplaceAll(text, {{".", ""}}), &number)) return std::nullopt;
  return number;
}

std::string KnownArchitectures() {
  std::string text;
  for (const MultiprocessorLimits& row : kArchitectures) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", "sm_", row.architecture);
  }
  return text;
}

Occupancy ComputeOccupancy(const MultiprocessorLimits& limits, const KernelInfo& kernel,
                           uint32_t block_threads, uint32_t dynamic_shared_bytes) {
  Occupancy occupancy;
  if (block_threads == 0 || block_threads > MaxThreads(kernel)) return occupancy;
  const KernelResources resources = kernel.resources.value_or(KernelResources());
  const uint32_t warps = (block_threads + kThreadsOfWarp - 1) / kThreadsOfWarp;
  const uint32_t resident_warps = limits.threads / kThreadsOfWarp;
  const std::pair<uint32_t, Occupancy::Limit> candidates[] = {
      {resident_warps / warps, Occupancy::Limit::kThreads},
      {limits.blocks, Occupancy::Limit::kBlocks},
      {BlocksByRegisters(resources.registers, warps), Occupancy::Limit::kRegisters},
      {BlocksByShared(limits, uint64_t{resources.static_shared_bytes} + dynamic_shared_bytes),
       Occupancy::Limit::kShared},
  };
  const auto least =
      std::min_element(std::begin(candidates), std::end(candidates),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
  occupancy.blocks = least->first;
  occupancy.limit = least->second;
  occupancy.fraction = static_cast<double>(occupancy.blocks) * warps / resident_warps;
  return occupancy;
}

uint32_t BestBlockThreads(const MultiprocessorLimits& limits, const KernelInfo& kernel,
                          uint32_t dynamic_shared_bytes) {
  uint32_t best = 0;
  double greatest = 0;
  for (uint32_t threads = kThreadsOfBlock; threads > 0; threads -= kThreadsOfWarp) {
    const double fraction =
        ComputeOccupancy(limits, kernel, threads, dynamic_shared_bytes).fraction;
    if (fraction <= greatest) continue;
    greatest = fraction;
    best = threads;
  }
  return best;
}

absl::string_view NameOf(Occupancy::Limit limit) {
  switch (limit) {
    case Occupancy::Limit::kThreads:
      return "threads";
    case Occupancy::Limit::kBlocks:
      return "blocks";
    case Occupancy::Limit::kRegisters:
      return "registers";
    case Occupancy::Limit::kShared:
      break;
  }
  return "shared memory";
}

}  // namespace weft::kernels
