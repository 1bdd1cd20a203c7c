#include "server/daemon/device_limits.h"

#include <algorithm>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "weft/executor/v1/executor.pb.h"

namespace weft::daemon {
namespace {

// The inverse of cuda::UuidText: "GPU-01234567-89ab-…" → 16 bytes; zeros for anything else.
std::array<uint8_t, 16> UuidFrom(const std::string& text) {
  std::array<uint8_t, 16> uuid = {};
  const size_t dash = text.find('-');
  if (dash == std::string::npos) return uuid;
  const std::string digits = absl::StrReplaceAll(text.substr(dash + 1), {{"-", ""}});
  const std::string bytes = digits.size() == 32 ? absl::HexStringToBytes(digits) : "";
  std::copy_n(bytes.begin(), std::min<size_t>(bytes.size(), uuid.size()), uuid.begin());
  return uuid;
}

}  // namespace

absl::StatusOr<cuda::DeviceInfo> DeviceInfoFrom(const executor::v1::DeviceLimits& limits) {
  if (limits.max_grid_size() != 3 || limits.max_block_size() != 3 ||
      limits.total_memory_bytes() == 0 || limits.allocation_granularity_bytes() == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the executor describes no usable device: ", limits.ShortDebugString()));
  }
  cuda::DeviceInfo info;
  info.name = limits.name();
  info.uuid = UuidFrom(limits.uuid());
  info.ordinal = static_cast<int>(limits.ordinal());
  info.driver_version = static_cast<int>(limits.driver_version());
  info.compute_major = static_cast<int>(limits.compute_capability_major());
  info.compute_minor = static_cast<int>(limits.compute_capability_minor());
  info.is_cpu = limits.is_cpu();
  info.total_memory_bytes = limits.total_memory_bytes();
  info.allocation_granularity_bytes = limits.allocation_granularity_bytes();
  info.max_pitch_bytes = limits.max_pitch_bytes();
  info.concurrent_managed_access = limits.concurrent_managed_access();
  info.multiprocessor_count = limits.multiprocessor_count();
  info.warp_size = limits.warp_size();
  info.max_concurrent_kernels = limits.max_concurrent_kernels();
  info.async_engine_count = limits.async_engine_count();
  for (int i = 0; i < 3; ++i) {
    info.max_grid[i] = limits.max_grid(i);
    info.max_block[i] = limits.max_block(i);
  }
  info.max_threads_per_block = limits.max_threads_per_block();
  info.max_parameter_bytes = limits.max_parameter_bytes();
  info.shared_bytes_per_block = limits.max_shared_bytes_per_block();
  info.shared_bytes_per_block_optin = limits.max_shared_bytes_per_block_optin();
  return info;
}

}  // namespace weft::daemon
