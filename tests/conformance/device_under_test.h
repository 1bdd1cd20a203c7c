// The driver, loaded and initialised, with a context: for the tests' process and for its children.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "cuda/context.h"
#include "cuda/driver.h"
#include "cuda/memory.h"
#include "tests/conformance/driver_profile.h"

namespace weft::conformance {

struct DeviceUnderTest {
  std::unique_ptr<const cuda::Driver> driver;
  cuda::Context context;  // of device 0

  static absl::StatusOr<DeviceUnderTest> Open(const DriverProfile& profile);
};

// Device memory with an address range of its own.
class DeviceBuffer {
 public:
  // At least `size_bytes` bytes, rounded up to the granularity, filled with zeros.
  static absl::StatusOr<DeviceBuffer> Create(const cuda::Context& context, size_t size_bytes);

  CUdeviceptr address(size_t offset_bytes = 0) const { return mapping_.address() + offset_bytes; }
  size_t size() const { return mapping_.size(); }

  DeviceBuffer(DeviceBuffer&&) = default;
  // Would free the old range before what is mapped in it.
  DeviceBuffer& operator=(DeviceBuffer&&) = delete;

 private:
  DeviceBuffer(cuda::AddressRange range, cuda::Mapping mapping)
      : range_(std::move(range)), mapping_(std::move(mapping)) {}
  cuda::AddressRange range_;
  cuda::Mapping mapping_;
};

// Path of `file` in share/weft/tests, of the build or the installed tree that runs.
std::string TestDataPath(const std::string& file);

}  // namespace weft::conformance
