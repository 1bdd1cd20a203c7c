// A device of the CPU driver with some memory, a staging area and the kernels of test_image.cc.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "cuda/context.h"
#include "cuda/driver.h"
#include "cuda/managed_memory.h"
#include "cuda/memory.h"
#include "cuda/module.h"
#include "cuda/stream.h"
#include "graph/build/bindings.h"
#include "tests/unit/build/test_graph.h"

namespace weft::build {

class ModuleResolver final : public FunctionResolver {
 public:
  explicit ModuleResolver(cuda::Module module) : module_(std::move(module)) {}
  absl::StatusOr<cuda::Function> Resolve(const std::string& symbol) override {
    return module_.GetFunction(symbol);
  }
  // A library of one call, which is the kernel "affine" on one element.
  absl::StatusOr<std::shared_ptr<const cuda::LibraryCall>> ResolveLibrary(
      const LibraryRequest& request) override;
  // Calls resolved from now on put their kernel into the stream and then end so.
  void SetCallStatus(absl::Status status) { call_status_ = std::move(status); }
  // How many times calls were put into streams.
  int enqueued() const { return enqueued_; }
  // A module of a job is the same one.
  absl::StatusOr<cuda::Function> ResolveUser(uint32_t, const std::string& entry) override {
    return module_.GetFunction(entry);
  }
  absl::StatusOr<cuda::GlobalVariable> ResolveVariable(uint32_t,
                                                       const std::string& symbol) override {
    return module_.GetGlobal(symbol);
  }

 private:
  cuda::Module module_;
  absl::Status call_status_;
  int enqueued_ = 0;
};

class TestDevice {
 public:
  static absl::StatusOr<std::unique_ptr<TestDevice>> Create();

  const cuda::Context& context() const { return *context_; }
  cuda::StreamRef stream() const { return stream_->ref(); }
  ModuleResolver& resolver() { return *resolver_; }
  // For a test that puts a function of its own in place of one of the driver's.
  cuda::Driver& driver() { return *driver_; }

  // Memory for the shared buffers and the scratch area of `graph`. Each call gives new memory.
  Bindings Bind(TestGraph& graph);
  BuildInput Input(TestGraph& graph, const Bindings& bindings) {
    return BuildInput{*context_, graph.graph(), graph.plan(), bindings, *resolver_};
  }

  absl::Status Write(CUdeviceptr address, const std::vector<int32_t>& values) const;
  absl::StatusOr<std::vector<int32_t>> Read(CUdeviceptr address, size_t count) const;
  void* StagingAt(uint64_t offset) const { return static_cast<char*>(staging_.get()) + offset; }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  TestDevice() = default;
  absl::Status SetUp();
  CUdeviceptr Take(uint64_t size_bytes);

  // Destroyed from the last to the first.
  std::unique_ptr<cuda::Driver> driver_;
  std::optional<cuda::Context> context_;
  std::unique_ptr<ModuleResolver> resolver_;
  std::optional<cuda::AddressRange> range_;
  std::optional<cuda::Mapping> mapping_;
  uint64_t taken_bytes_ = 0;
  std::unique_ptr<void, Free> staging_;
  std::optional<cuda::PinnedHost> pinned_;
  std::optional<cuda::ManagedMemory> managed_;  // of the last Bind
  std::optional<cuda::Stream> stream_;
};

}  // namespace weft::build
