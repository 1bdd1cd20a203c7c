#include "server/executor/device_limits.h"

#include <array>

#include "weft/executor/v1/executor.pb.h"

namespace weft::executor {
namespace {

std::array<uint32_t, 3> ToArray(const google::protobuf::RepeatedField<uint32_t>& values) {
  std::array<uint32_t, 3> result{};
  for (int i = 0; i < 3 && i < values.size(); ++i) result[i] = values[i];
  return result;
}

}  // namespace

v1::DeviceLimits ToDeviceLimits(const cuda::DeviceInfo& info) {
  v1::DeviceLimits limits;
  limits.set_ordinal(static_cast<uint32_t>(info.ordinal));
  limits.set_name(info.name);
  limits.set_uuid(cuda::UuidText(info));
  limits.set_is_cpu(info.is_cpu);
  limits.set_compute_capability_major(static_cast<uint32_t>(info.compute_major));
  limits.set_compute_capability_minor(static_cast<uint32_t>(info.compute_minor));
  limits.set_total_memory_bytes(info.total_memory_bytes);
  limits.set_multiprocessor_count(info.multiprocessor_count);
  limits.set_max_threads_per_block(info.max_threads_per_block);
  limits.mutable_max_grid()->Add(info.max_grid.begin(), info.max_grid.end());
  limits.mutable_max_block()->Add(info.max_block.begin(), info.max_block.end());
  limits.set_max_shared_bytes_per_block(info.shared_bytes_per_block);
  limits.set_max_shared_bytes_per_block_optin(info.shared_bytes_per_block_optin);
  limits.set_max_parameter_bytes(info.max_parameter_bytes);
  limits.set_warp_size(info.warp_size);
  limits.set_max_concurrent_kernels(info.max_concurrent_kernels);
  limits.set_async_engine_count(info.async_engine_count);
  limits.set_driver_version(static_cast<uint32_t>(info.driver_version));
  limits.set_allocation_granularity_bytes(info.allocation_granularity_bytes);
  limits.set_max_pitch_bytes(info.max_pitch_bytes);
  limits.set_concurrent_managed_access(info.concurrent_managed_access);
  return limits;
}

cuda::DeviceInfo FromDeviceLimits(const v1::DeviceLimits& limits) {
  cuda::DeviceInfo info;
  info.ordinal = static_cast<int>(limits.ordinal());
  info.name = limits.name();
  info.is_cpu = limits.is_cpu();
  info.compute_major = static_cast<int>(limits.compute_capability_major());
  info.compute_minor = static_cast<int>(limits.compute_capability_minor());
  info.total_memory_bytes = limits.total_memory_bytes();
  info.multiprocessor_count = limits.multiprocessor_count();
  info.max_threads_per_block = limits.max_threads_per_block();
  info.max_grid = ToArray(limits.max_grid());
  info.max_block = ToArray(limits.max_block());
  info.shared_bytes_per_block = limits.max_shared_bytes_per_block();
  info.shared_bytes_per_block_optin = limits.max_shared_bytes_per_block_optin();
  info.max_parameter_bytes = limits.max_parameter_bytes();
  info.warp_size = limits.warp_size();
  info.max_concurrent_kernels = limits.max_concurrent_kernels();
  info.async_engine_count = limits.async_engine_count();
  info.driver_version = static_cast<int>(limits.driver_version());
  info.allocation_granularity_bytes = limits.allocation_granularity_bytes();
  info.max_pitch_bytes = limits.max_pitch_bytes();
  info.concurrent_managed_access = limits.concurrent_managed_access();
  return info;
}

}  // namespace weft::executor
