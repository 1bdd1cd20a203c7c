#include "tests/conformance/device_under_test.h"

#include <unistd.h>

#include <climits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/byte_range.h"
#include "cuda/driver_loader.h"

namespace weft::conformance {

absl::StatusOr<DeviceUnderTest> DeviceUnderTest::Open(const DriverProfile& profile) {
  WEFT_ASSIGN_OR_RETURN(std::unique_ptr<const cuda::Driver> driver,
                        cuda::LoadDriver({.kind = profile.kind, .library_path = ""}));
  if (!profile.settings.empty()) {
    WEFT_RETURN_IF_ERROR(cuda::ConfigureHostDriver(*driver, profile.settings));
  }
  WEFT_RETURN_IF_ERROR(cuda::InitializeDriver(*driver));
  WEFT_ASSIGN_OR_RETURN(cuda::Context context, cuda::Context::Create(*driver, 0));
  return DeviceUnderTest{std::move(driver), std::move(context)};
}

absl::StatusOr<DeviceBuffer> DeviceBuffer::Create(const cuda::Context& context, size_t size_bytes) {
  WEFT_ASSIGN_OR_RETURN(const size_t granularity, cuda::AllocationGranularity(context));
  const size_t size = AlignUp(size_bytes, granularity);
  WEFT_ASSIGN_OR_RETURN(const cuda::Allocation memory, cuda::Allocation::Create(context, size));
  WEFT_ASSIGN_OR_RETURN(cuda::AddressRange range, cuda::AddressRange::Reserve(context, size));
  WEFT_ASSIGN_OR_RETURN(cuda::Mapping mapping,
                        cuda::Mapping::Create(context, range.address(), memory));
  const std::vector<char> zeros(size);
  WEFT_RETURN_IF_ERROR(cuda::CopyToDevice(context, range.address(), zeros.data(), size));
  return DeviceBuffer(std::move(range), std::move(mapping));
}

std::string TestDataPath(const std::string& file) {
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  const std::string program(path, size > 0 ? static_cast<size_t>(size) : 0);
  // bin/tests/weft_conformance → share/weft/tests
  return absl::StrCat(program.substr(0, program.rfind('/')), "/../../share/weft/tests/", file);
}

}  // namespace weft::conformance
