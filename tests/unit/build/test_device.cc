#include "tests/unit/build/test_device.h"

#include <utility>

#include "base/byte_range.h"
#include "base/status_macros.h"
#include "cuda/driver_loader.h"
#include "tests/testing/temp_dir.h"

namespace weft::build {
namespace {

class AffineCall final : public cuda::LibraryCall {
 public:
  AffineCall(cuda::Function function, const LibraryRequest& request, const absl::Status& ends,
             int& enqueued)
      : function_(function),
        ends_(ends),
        address_(request.addresses[0]),
        factor_(static_cast<int32_t>(request.call.arguments[1].scalar.bits)),
        addend_(static_cast<int32_t>(request.call.arguments[2].scalar.bits)),
        enqueued_(enqueued) {}

  absl::Status Enqueue(const cuda::StreamRef& stream) const override {
    ++enqueued_;
    CUdeviceptr address = address_;
    int32_t factor = factor_;
    int32_t addend = addend_;
    void* parameters[] = {&address, &factor, &addend};
    cuda::KernelLaunch launch;
    launch.function = function_;
    launch.params = parameters;
    WEFT_RETURN_IF_ERROR(cuda::LaunchKernel(stream, launch));
    return ends_;
  }

 private:
  const cuda::Function function_;
  const absl::Status ends_;
  const CUdeviceptr address_;
  const int32_t factor_;
  const int32_t addend_;
  int& enqueued_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const cuda::LibraryCall>> ModuleResolver::ResolveLibrary(
    const LibraryRequest& request) {
  WEFT_ASSIGN_OR_RETURN(const cuda::Function function, Resolve("affine"));
  return std::make_shared<const AffineCall>(function, request, call_status_, enqueued_);
}

namespace {

constexpr uint64_t kStagingBytes = 64 * 1024;

}  // namespace

absl::StatusOr<std::unique_ptr<TestDevice>> TestDevice::Create() {
  std::unique_ptr<TestDevice> device(new TestDevice);
  WEFT_RETURN_IF_ERROR(device->SetUp());
  return device;
}

absl::Status TestDevice::SetUp() {
  WEFT_ASSIGN_OR_RETURN(std::unique_ptr<const cuda::Driver> driver,
                        cuda::LoadDriver({.kind = cuda::DriverKind::kHost, .library_path = ""}));
  // The table is made without const, and is this device's alone.
  driver_.reset(const_cast<cuda::Driver*>(driver.release()));
  WEFT_RETURN_IF_ERROR(cuda::InitializeDriver(*driver_));
  WEFT_ASSIGN_OR_RETURN(context_, cuda::Context::Create(*driver_, 0));
  WEFT_ASSIGN_OR_RETURN(cuda::Module module,
                        cuda::Module::Load(*context_, testing::ReadFile(WEFT_TEST_IMAGE)));
  resolver_ = std::make_unique<ModuleResolver>(std::move(module));
  WEFT_ASSIGN_OR_RETURN(const size_t granularity, cuda::AllocationGranularity(*context_));
  WEFT_ASSIGN_OR_RETURN(const auto memory, cuda::Allocation::Create(*context_, granularity));
  WEFT_ASSIGN_OR_RETURN(range_, cuda::AddressRange::Reserve(*context_, granularity));
  WEFT_ASSIGN_OR_RETURN(mapping_, cuda::Mapping::Create(*context_, range_->address(), memory));
  staging_.reset(std::aligned_alloc(4096, kStagingBytes));
  WEFT_ASSIGN_OR_RETURN(pinned_,
                        cuda::PinnedHost::Register(*context_, staging_.get(), kStagingBytes));
  WEFT_ASSIGN_OR_RETURN(stream_, cuda::Stream::Create(*context_, {}));
  return absl::OkStatus();
}

CUdeviceptr TestDevice::Take(uint64_t size_bytes) {
  const CUdeviceptr address = mapping_->address() + taken_bytes_;
  taken_bytes_ += AlignUp(size_bytes, plan::kAreaAlignment);
  return address;
}

Bindings TestDevice::Bind(TestGraph& graph) {
  Bindings bindings;
  for (const ir::Buffer& buffer : graph.graph().buffers) {
    bindings.buffers.push_back(buffer.shared.has_value() ? Take(buffer.size_bytes) : 0);
  }
  bindings.scratch = Take(graph.plan().scratch.size_bytes);
  // Behind what the staging area of any test takes.
  bindings.pinned = pinned_->device_address() + pinned_->size() / 2;
  if (graph.plan().managed_bytes > 0) {
    managed_ = cuda::ManagedMemory::Create(*context_, graph.plan().managed_bytes).value();
    bindings.managed = managed_->address();
  }
  bindings.staging = pinned_->device_address();
  return bindings;
}

absl::Status TestDevice::Write(CUdeviceptr address, const std::vector<int32_t>& values) const {
  return cuda::CopyToDevice(*context_, address, values.data(), values.size() * sizeof(int32_t));
}

absl::StatusOr<std::vector<int32_t>> TestDevice::Read(CUdeviceptr address, size_t count) const {
  std::vector<int32_t> values(count);
  WEFT_RETURN_IF_ERROR(
      cuda::CopyToHost(*context_, values.data(), address, count * sizeof(int32_t)));
  return values;
}

}  // namespace weft::build
