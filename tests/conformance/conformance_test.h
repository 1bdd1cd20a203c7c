// Fixtures of the suites, and what they share: buffers, launches, a gate that holds a stream back.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cuda/context.h"
#include "cuda/driver.h"
#include "cuda/graph.h"
#include "cuda/memory.h"
#include "cuda/module.h"
#include "cuda/stream.h"
#include "tests/conformance/device_under_test.h"
#include "tests/conformance/driver_profile.h"
#include "tests/testing/status_matchers.h"

namespace weft::conformance {

// Longest time that a kernel waits for another one. Passed only when they do not run side by side.
inline constexpr uint64_t kMeetTimeoutNs = 5'000'000'000;

// The driver, its context and its kernels, made once for all tests of the program.
class ConformanceEnvironment : public ::testing::Environment {
 public:
  // REQUIRES: called once, before the tests run. GoogleTest owns the result.
  static ConformanceEnvironment* Install(DriverProfile profile);
  static ConformanceEnvironment& Get();

  // Opens the device and loads the kernels, and says on standard output what is tested.
  // REQUIRES: OK before the tests run.
  absl::Status Open();
  void TearDown() override;

  const DriverProfile& profile() const { return profile_; }
  const DeviceUnderTest& device() const { return *device_; }
  // Null when the program was built without this driver's kernels.
  const cuda::Module* module() const { return module_.has_value() ? &*module_ : nullptr; }

 private:
  explicit ConformanceEnvironment(DriverProfile profile) : profile_(std::move(profile)) {}

  DriverProfile profile_;
  std::optional<DeviceUnderTest> device_;
  std::optional<cuda::Module> module_;
};

// Skips tests that the driver does not support, and checks after each that the context still works
// and that no handle failed to be released.
class ConformanceTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  const cuda::Driver& driver() const { return *ConformanceEnvironment::Get().device().driver; }
  const cuda::Context& context() const { return ConformanceEnvironment::Get().device().context; }
  size_t granularity() const { return cuda::AllocationGranularity(context()).value(); }

  cuda::Stream MakeStream() const { return cuda::Stream::Create(context(), {}).value(); }
  DeviceBuffer MakeBuffer(size_t size_bytes = 1) const {
    return DeviceBuffer::Create(context(), size_bytes).value();
  }

  template <typename T>
  absl::Status Write(CUdeviceptr address, const std::vector<T>& values) const {
    return cuda::CopyToDevice(context(), address, values.data(), values.size() * sizeof(T));
  }
  template <typename T>
  std::vector<T> Read(CUdeviceptr address, size_t count) const {
    std::vector<T> values(count);
    EXPECT_OK(cuda::CopyToHost(context(), values.data(), address, count * sizeof(T)));
    return values;
  }
  template <typename T>
  T ReadOne(CUdeviceptr address) const {
    return Read<T>(address, 1)[0];
  }

 private:
  uint64_t release_errors_before_ = 0;
};

// The values of a kernel's arguments and the launch that points to them. Not movable.
template <typename... Args>
class KernelCall {
 public:
  KernelCall(cuda::Function function, cuda::Dim3 grid, cuda::Dim3 block, Args... args)
      : values_(args...) {
    pointers_ = std::apply(
        [](auto&... value) { return std::array<void*, sizeof...(Args)>{&value...}; }, values_);
    launch_ = {.function = function,
               .grid = grid,
               .block = block,
               .dynamic_shared_bytes = 0,
               .params = pointers_.data()};
  }
  KernelCall(const KernelCall&) = delete;
  KernelCall& operator=(const KernelCall&) = delete;

  cuda::KernelLaunch& launch() { return launch_; }

 private:
  std::tuple<Args...> values_;
  std::array<void*, sizeof...(Args)> pointers_;
  cuda::KernelLaunch launch_;
};

// Tests that need the kernels of kernels/; skipped with a message where they were not built.
class KernelTest : public ConformanceTest {
 protected:
  void SetUp() override;

  cuda::Function Kernel(const std::string& name) const {
    return ConformanceEnvironment::Get().module()->GetFunction(name).value();
  }
  // Launches of one thread.
  template <typename... Args>
  absl::Status Run(const cuda::StreamRef& stream, const std::string& name, Args... args) const {
    KernelCall<Args...> call(Kernel(name), {}, {}, args...);
    return cuda::LaunchKernel(stream, call.launch());
  }
  template <typename... Args>
  absl::StatusOr<cuda::NodeRef> AddRun(cuda::Graph& graph, cuda::Dependencies dependencies,
                                       const std::string& name, Args... args) const {
    KernelCall<Args...> call(Kernel(name), {}, {}, args...);
    return graph.AddKernel(call.launch(), dependencies);
  }
  // What the kernel "append" wrote into the log at `address`, in order.
  std::vector<uint32_t> ReadLog(CUdeviceptr address) const;
};

// A graph to record into, with a stream and memory for its runs.
class OneGraphTest : public KernelTest {
 protected:
  void SetUp() override {
    KernelTest::SetUp();
    if (IsSkipped()) return;
    graph_.emplace(cuda::Graph::Create(context()).value());
    stream_.emplace(MakeStream());
    memory_.emplace(MakeBuffer());
  }
  void TearDown() override {
    memory_.reset();
    stream_.reset();
    graph_.reset();
    KernelTest::TearDown();
  }

  // Instantiates graph_ and runs it once to its end.
  absl::Status RunOnce() const {
    WEFT_ASSIGN_OR_RETURN(cuda::GraphExec exec, graph_->Instantiate());
    WEFT_RETURN_IF_ERROR(exec.Launch(stream_->ref()));
    return stream_->ref().Synchronize();
  }

  std::optional<cuda::Graph> graph_;
  std::optional<cuda::Stream> stream_;
  std::optional<DeviceBuffer> memory_;
};

// Host memory of one page that the device can reach, as the daemon's staging memory is made: a
// memory file, mapped and registered.
class PinnedPage {
 public:
  static constexpr size_t kSize = 4096;

  explicit PinnedPage(const cuda::Context& context);
  ~PinnedPage();
  PinnedPage(const PinnedPage&) = delete;
  PinnedPage& operator=(const PinnedPage&) = delete;

  uint64_t* words() { return static_cast<uint64_t*>(memory_); }
  CUdeviceptr address() const { return pinned_->device_address(); }

 private:
  UniqueFd file_;
  void* memory_ = nullptr;
  std::optional<cuda::PinnedHost> pinned_;
};

// Holds streams back until the test opens it. Opens by itself at the end, so that a failed
// assertion never leaves the device waiting.
class Gate {
 public:
  explicit Gate(const cuda::Context& context) : context_(context), page_(context) {}
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // Work added to `stream` from now on starts after Open.
  absl::Status Hold(const cuda::StreamRef& stream);
  void Open();

 private:
  const cuda::Context& context_;
  PinnedPage page_;
};

}  // namespace weft::conformance
