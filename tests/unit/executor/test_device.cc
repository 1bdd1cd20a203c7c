#include "tests/unit/executor/test_device.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cuda/driver_loader.h"

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

const char* TestImagePath() { return WEFT_TEST_IMAGE; }

}  // namespace weft::executor
