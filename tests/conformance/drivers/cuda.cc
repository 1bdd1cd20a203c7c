#include "tests/conformance/driver_profile.h"

namespace weft::conformance {

DriverProfile CudaProfile() {
  return {.name = "cuda",
          .kind = cuda::DriverKind::kCuda,
          .settings = "",
          .image_file = "conformance.fatbin",
          .unsupported = {},
          .expected_failures = {}};
}

}  // namespace weft::conformance
