#include "client/cli/plan_device.h"

#include <algorithm>
#include <array>

#include "graph/ir/assumed_device.h"

namespace weft::cli {
namespace {

template <typename Repeated>
void CopyThree(const Repeated& from, std::array<uint32_t, 3>& to) {
  if (from.size() == 3) std::copy(from.begin(), from.end(), to.begin());
}

}  // namespace

cuda::DeviceInfo FromProto(const v1::DeviceInfo& device) {
  cuda::DeviceInfo info = ir::AssumedDevice();
  info.name = device.name();
  info.ordinal = static_cast<int>(device.ordinal());
  info.driver_version = static_cast<int>(device.driver_version());
  info.compute_major = static_cast<int>(device.compute_capability_major());
  info.compute_minor = static_cast<int>(device.compute_capability_minor());
  info.is_cpu = device.is_cpu();
  info.total_memory_bytes = device.total_memory_bytes();
  info.multiprocessor_count = device.multiprocessor_count();
  // The server's max_lanes is what the planner makes of this figure there; here it must be the same.
  info.max_concurrent_kernels = device.max_lanes();
  info.max_threads_per_block = device.max_threads_per_block();
  CopyThree(device.max_grid(), info.max_grid);
  CopyThree(device.max_block(), info.max_block);
  info.shared_bytes_per_block = device.max_shared_bytes_per_block();
  info.max_parameter_bytes = device.max_parameter_bytes();
  return info;
}

}  // namespace weft::cli
