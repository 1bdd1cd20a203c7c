// A device on which calls of libraries are made, by the executor's own way of finding them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/bind.h"
#include "server/executor/device_environment.h"

namespace weft::testing {

// A buffer argument, its elements as doubles.
struct Operand {
  std::string name;
  kernels::DType dtype = kernels::DType::kF32;
  std::vector<uint64_t> shape;
  std::vector<double> values;
  // Where it starts in memory: so many elements behind a multiple of 256 bytes.
  uint64_t shift_elements = 0;
};

struct LibraryProblem {
  std::string call;
  std::vector<Operand> operands;
  std::vector<std::pair<std::string, std::variant<kernels::Number, std::string>>> rest;
};

enum class Way {
  kStream,
  kCaptured,  // into a graph
};

// `values` rounded to the dtype.
std::vector<double> Rounded(kernels::DType dtype, const std::vector<double>& values);
// `count` values from -1 to 1, rounded to the dtype; the same for the same seed.
std::vector<double> RandomValues(kernels::DType dtype, uint64_t count, uint32_t seed);

// Thread safety: one thread at a time.
class LibraryDevice {
 public:
  // Of the driver that WEFT_DRIVER names ("host" when it is not set); made at the first call and kept
  // until the process ends.
  static absl::StatusOr<LibraryDevice*> UnderTest();

  // The elements of `output` after the call. Errors: INVALID_ARGUMENT with the violations of the
  // binding; those of DeviceFunctions.
  absl::StatusOr<std::vector<double>> Run(const LibraryProblem& problem, const std::string& output,
                                          Way way);

  // The elements of every operand after the call, in the order of the problem.
  absl::StatusOr<std::vector<std::vector<double>>> RunAll(const LibraryProblem& problem, Way way);

  // Whether the call may be captured on this device.
  bool CanCapture(const std::string& call) const;
  bool is_cpu() const { return environment_->info().is_cpu; }

 private:
  struct Placed;
  explicit LibraryDevice(std::unique_ptr<executor::DeviceEnvironment> environment)
      : environment_(std::move(environment)) {}
  absl::Status Make(const Placed& placed, Way way);
  absl::Status Enqueue(const Placed& placed, const cuda::LibraryCall* call,
                       const cuda::StreamRef& stream);

  std::unique_ptr<executor::DeviceEnvironment> environment_;
};

// Of a test with a case, which has a name, and a way.
template <typename Case>
std::string NameOfTest(const ::testing::TestParamInfo<std::tuple<Case, Way>>& test) {
  const auto& [problem, way] = test.param;
  return problem.name + (way == Way::kStream ? "_stream" : "_captured");
}

}  // namespace weft::testing
