#include "tests/conformance/driver_profile.h"

namespace weft::conformance {

DriverProfile CudaProfile() {
  return {
      .name = "cuda",
      .kind = cuda::DriverKind::kCuda,
      .settings = "",
      .image_file = "conformance.fatbin",
      .unsupported =
          {{"IpcConformance.AnotherProcessMapsAtTheSameAddress",
            "driver 580 takes an address for a hint that it rarely follows: it places reservations "
            "where Linux put its own memory in this process"}},
      .expected_failures = {}};
}

}  // namespace weft::conformance
