// A device on which problems are run: a driver, a stream, the built-in kernels' image, and one
// block of memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cuda/driver_loader.h"
#include "cuda/memory.h"
#include "cuda/module.h"
#include "cuda/stream.h"
#include "kernels/launch_shape.h"
#include "tests/kernels/problem.h"

namespace weft::kernels::testing {

// Where the buffers of a problem lie.
struct Placement {
  // Every buffer starts this many elements past a multiple of 256 bytes.
  uint32_t shift_elements = 0;
  // Written buffers lie on the buffer that the schema lets them share, where the dtypes allow it.
  bool in_place = false;
  // A shape of the launch other than the kernel's own.
  LaunchOverride launch;
};

struct Outcome {
  std::vector<std::vector<uint8_t>> buffers;  // content afterwards, in the problem's order
  uint64_t stray_bytes = 0;  // bytes written outside of written buffers and the workspace
  size_t phases = 0;         // launches made
};

// Thread safety: one thread at a time.
class Device {
 public:
  static absl::StatusOr<std::unique_ptr<Device>> Create(cuda::DriverKind kind);

  // Binds, plans, launches and waits. Errors: INVALID_ARGUMENT with the violations of the binding.
  absl::StatusOr<Outcome> Run(const Problem& problem, const Placement& placement);

  // One launch over `memory`, which lies at base() meanwhile: its bytes afterwards. words: the
  // parameters, each of 8 bytes.
  absl::StatusOr<std::vector<uint8_t>> RunOver(std::vector<uint8_t> memory,
                                               const PhaseLaunch& launch,
                                               std::vector<uint64_t> words);
  uint64_t base() const { return parts_.memory.address(); }

  const cuda::Module& module() const { return parts_.module; }

 private:
  // In order of destruction, from the last: the context outlives the handles made with it.
  struct Parts {
    std::unique_ptr<const cuda::Driver> driver;
    cuda::Context context;
    cuda::AddressRange range;
    cuda::Mapping memory;
    cuda::Stream stream;
    cuda::Module module;
  };
  struct Layout;

  explicit Device(Parts parts) : parts_(std::move(parts)) {}
  absl::Status Enqueue(const PhaseLaunch& launch, void* const* parameters);
  absl::Status Launch(const Problem& problem, const BoundCall& call, const Layout& layout,
                      const std::vector<PhaseLaunch>& phases);

  Parts parts_;
};

// The device that WEFT_DRIVER names ("host" when it is not set), made at the first call and kept.
absl::StatusOr<Device*> DeviceUnderTest();
// The CPU driver beside a GPU under test, to compare with; NOT_FOUND when the CPU driver itself is
// under test.
absl::StatusOr<Device*> TwinDevice();

}  // namespace weft::kernels::testing
