#include "bench/bare_graph.h"

#include <utility>

#include "base/status_macros.h"
#include "bench/one_node_job.h"
#include "cuda/driver_loader.h"
#include "kernels/image_store.h"

namespace weft::bench {
namespace {

// The kernel of OneNodeJob on its elements, by the rules of its schema.
constexpr char kSymbol[] = "weft_fill_f32";
constexpr uint32_t kBlockThreads = 256;

absl::StatusOr<std::unique_ptr<const cuda::Driver>> Load(cuda::DriverKind kind) {
  WEFT_ASSIGN_OR_RETURN(auto driver, cuda::LoadDriver({.kind = kind, .library_path = ""}));
  WEFT_RETURN_IF_ERROR(cuda::InitializeDriver(*driver));
  return driver;
}

}  // namespace

absl::StatusOr<std::unique_ptr<const cuda::Driver>> LoadDriverByName(const std::string& name) {
  if (name == "cuda") return Load(cuda::DriverKind::kCuda);
  if (name == "cpu") return Load(cuda::DriverKind::kHost);
  auto driver = Load(cuda::DriverKind::kCuda);
  return driver.ok() ? std::move(driver) : Load(cuda::DriverKind::kHost);
}

absl::StatusOr<std::unique_ptr<BareGraph>> BareGraph::Create(const std::string& driver) {
  std::unique_ptr<BareGraph> bare(new BareGraph);
  WEFT_ASSIGN_OR_RETURN(bare->driver_, LoadDriverByName(driver));
  WEFT_ASSIGN_OR_RETURN(bare->context_, cuda::Context::Create(*bare->driver_, 0));
  WEFT_RETURN_IF_ERROR(bare->Record());
  return bare;
}

absl::Status BareGraph::Record() {
  const bool is_cuda = driver_->kind == cuda::DriverKind::kCuda;
  WEFT_ASSIGN_OR_RETURN(
      const std::string image,
      kernels::LoadBuiltinImage(is_cuda ? kernels::ImageKind::kCuda : kernels::ImageKind::kHost));
  WEFT_ASSIGN_OR_RETURN(module_, cuda::Module::Load(*context_, image));
  WEFT_ASSIGN_OR_RETURN(const size_t granularity, cuda::AllocationGranularity(*context_));
  WEFT_ASSIGN_OR_RETURN(memory_, cuda::Allocation::Create(*context_, granularity));
  WEFT_ASSIGN_OR_RETURN(range_, cuda::AddressRange::Reserve(*context_, granularity));
  WEFT_ASSIGN_OR_RETURN(mapping_, cuda::Mapping::Create(*context_, range_->address(), *memory_));
  WEFT_ASSIGN_OR_RETURN(stream_, cuda::Stream::Create(*context_, {}));

  uint64_t destination = mapping_->address();
  float value = 1;
  int64_t count = kElements;
  void* params[] = {&destination, &value, &count};
  cuda::KernelLaunch launch;
  WEFT_ASSIGN_OR_RETURN(launch.function, module_->GetFunction(kSymbol));
  launch.grid.x = (kElements + kBlockThreads - 1) / kBlockThreads;
  launch.block.x = kBlockThreads;
  launch.params = params;
  WEFT_ASSIGN_OR_RETURN(graph_, cuda::Graph::Create(*context_));
  WEFT_RETURN_IF_ERROR(graph_->AddKernel(launch, {}).status());
  WEFT_ASSIGN_OR_RETURN(exec_, graph_->Instantiate());
  return exec_->Upload(stream_->ref());
}

absl::Status BareGraph::LaunchAndWait() {
  WEFT_RETURN_IF_ERROR(exec_->Launch(stream_->ref()));
  return stream_->ref().Synchronize();
}

}  // namespace weft::bench
