#include "tests/unit/executor/test_device.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cuda/driver_loader.h"
#include "cuda/memory.h"

namespace weft::executor {
namespace {

constexpr char kSettings[] =
    "devices=2;workers=4;memory_mib=256;fault=kernel:crash:ILLEGAL_ADDRESS";

[[noreturn]] void Fail(const absl::Status& status) {
  std::fprintf(stderr, "test device: %s\n", status.ToString().c_str());
  std::exit(1);
}

const cuda::Driver* LoadOnce() {
  absl::StatusOr<std::unique_ptr<const cuda::Driver>> driver =
      cuda::LoadDriver({.kind = cuda::DriverKind::kHost, .library_path = ""});
  if (!driver.ok()) Fail(driver.status());
  absl::Status status = cuda::ConfigureHostDriver(**driver, kSettings);
  if (status.ok()) status = cuda::InitializeDriver(**driver);
  if (!status.ok()) Fail(status);
  return driver->release();  // threads of the driver live as long as the program
}

}  // namespace

const cuda::Driver& TestDriver() {
  static const cuda::Driver* const driver = LoadOnce();
  return *driver;
}

cuda::Context MakeContext(int device) {
  absl::StatusOr<cuda::Context> context = cuda::Context::Create(TestDriver(), device);
  if (!context.ok()) Fail(context.status());
  return *std::move(context);
}

// Without a context of that device, which a test may have lost.
UniqueFd MemoryOfOtherDevice(const cuda::Context& context, uint64_t& size_bytes) {
  const cuda::ScopedContext current(context);
  const cuda::Driver& driver = context.driver();
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = kDoomedDevice;
  size_bytes = *cuda::AllocationGranularity(context);
  CUmemGenericAllocationHandle handle = 0;
  int fd = -1;
  const bool made = driver.cuMemCreate(&handle, size_bytes, &properties, 0) == CUDA_SUCCESS &&
                    driver.cuMemExportToShareableHandle(
                        &fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0) == CUDA_SUCCESS &&
                    driver.cuMemRelease(handle) == CUDA_SUCCESS;
  if (!made) Fail(absl::InternalError("no memory of the other device"));
  return UniqueFd(fd);
}

const char* TestImagePath() { return WEFT_TEST_IMAGE; }

}  // namespace weft::executor
