#include "graph/ir/assumed_device.h"

namespace weft::ir {

cuda::DeviceInfo AssumedDevice() {
  cuda::DeviceInfo device;
  device.name = "assumed GPU of compute capability 8.0";
  device.driver_version = 12060;
  device.compute_major = 8;
  device.total_memory_bytes = uint64_t{24} << 30;
  device.allocation_granularity_bytes = uint64_t{2} << 20;
  device.max_pitch_bytes = 0x7fffffff;
  device.concurrent_managed_access = true;
  device.multiprocessor_count = 56;
  device.warp_size = 32;
  device.max_concurrent_kernels = 128;
  device.async_engine_count = 2;
  device.max_grid = {0x7fffffff, 65535, 65535};
  device.max_block = {1024, 1024, 64};
  device.max_threads_per_block = 1024;
  device.max_parameter_bytes = 4096;
  device.shared_bytes_per_block = 48 << 10;
  device.shared_bytes_per_block_optin = 163 << 10;
  return device;
}

}  // namespace weft::ir
