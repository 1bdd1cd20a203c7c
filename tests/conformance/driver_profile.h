// What the suite must know about a driver: how to load it and what to expect of it.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "cuda/driver.h"

namespace weft::conformance {

// A test ("MemoryConformance.MapsAtAddress") that is treated specially, and why.
struct ListedTest {
  std::string name;
  std::string reason;
};

struct DriverProfile {
  std::string name;  // of WEFT_DRIVER and --driver
  cuda::DriverKind kind;
  std::string settings;                       // for ConfigureHostDriver; empty: none
  std::string image_file;                     // of share/weft/tests: the kernels of kernels/
  std::vector<ListedTest> unsupported;        // skipped
  std::vector<ListedTest> expected_failures;  // run; passing is a failure
};

// One in each file of drivers/.
DriverProfile CudaProfile();
DriverProfile HostProfile();

// Environment variable and flag that choose a driver; the flag wins, "host" is the default.
inline constexpr char kDriverVariable[] = "WEFT_DRIVER";

}  // namespace weft::conformance
