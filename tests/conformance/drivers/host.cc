#include "tests/conformance/driver_profile.h"

namespace weft::conformance {

// Two devices for what goes from one to the other. Four workers on any machine, because the suite
// wants kernels that wait for each other; little memory, because one test asks for more than there
// is.
DriverProfile HostProfile() {
  return {.name = "host",
          .kind = cuda::DriverKind::kHost,
          .settings = "devices=2;workers=4;memory_mib=512",
          .image_file = "conformance.host.so",
          .unsupported = {},
          .expected_failures = {}};
}

}  // namespace weft::conformance
