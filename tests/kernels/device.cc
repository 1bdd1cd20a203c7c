#include "tests/kernels/device.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/byte_range.h"
#include "base/error_context.h"
#include "base/status_macros.h"
#include "kernels/bind.h"
#include "kernels/image_store.h"
#include "kernels/parameters.h"

namespace weft::kernels::testing {
namespace {

constexpr uint64_t kMemoryBytes = uint64_t{64} << 20;
constexpr uint64_t kGuardBytes = 512;  // before, between and behind buffers
constexpr uint8_t kGuard = 0xa7;

// The same pointers for Bind as for the launch: one argument each, in the problem's order.
std::vector<GivenArgument> Given(const Problem& problem) {
  std::vector<GivenArgument> given;
  for (const ProblemBuffer& buffer : problem.buffers()) {
    given.push_back(
        {buffer.name, GivenBuffer{buffer.dtype, buffer.shape, buffer.bytes.size(), 0, {}}});
  }
  for (const auto& [name, number] : problem.scalars()) given.push_back({name, number});
  return given;
}

absl::StatusOr<Device*> MakeKept(cuda::DriverKind kind) {
  absl::StatusOr<std::unique_ptr<Device>> device = Device::Create(kind);
  if (!device.ok()) return device.status();
  return device->release();  // kept until the process ends: no driver call from a destructor there
}

cuda::DriverKind KindUnderTest() {
  const char* name = std::getenv("WEFT_DRIVER");
  const absl::StatusOr<cuda::DriverKind> kind =
      cuda::ParseDriverKind(name == nullptr ? "host" : name);
  return kind.value();
}

}  // namespace

// Byte ranges of one block of memory.
struct Device::Layout {
  std::vector<ByteRange> buffers;  // in the problem's order; two may be the same
  ByteRange workspace;
  uint64_t end = 0;

  Layout(const Problem& problem, uint64_t workspace_bytes, const Placement& placement);

  // The memory before the call: buffers with their content, guards everywhere else.
  std::vector<uint8_t> Fill(const Problem& problem) const;
  Outcome Read(const Problem& problem, const std::vector<uint8_t>& before,
               std::vector<uint8_t> after) const;

 private:
  const ByteRange* InPlace(const Problem& problem, size_t index) const;
};

Device::Layout::Layout(const Problem& problem, uint64_t workspace_bytes,
                       const Placement& placement) {
  uint64_t offset = kGuardBytes;
  for (size_t i = 0; i < problem.buffers().size(); ++i) {
    const ProblemBuffer& buffer = problem.buffers()[i];
    const ByteRange* shared = placement.in_place ? InPlace(problem, i) : nullptr;
    if (shared != nullptr) {
      buffers.push_back(*shared);
      continue;
    }
    const uint64_t shift = uint64_t{placement.shift_elements} * SizeOf(buffer.dtype);
    buffers.push_back({offset + shift, buffer.bytes.size()});
    offset = AlignUp(buffers.back().end() + kGuardBytes, kWorkspaceAlignment);
  }
  workspace = {offset, workspace_bytes};
  end = workspace.end() + kGuardBytes;
}

// The range of an earlier buffer that buffer `index` may lie on exactly; nullptr when there is none.
const ByteRange* Device::Layout::InPlace(const Problem& problem, size_t index) const {
  const ProblemBuffer& buffer = problem.buffers()[index];
  const KernelSchema& schema = problem.schema();
  const BufferSchema& rule = *schema.arguments[*schema.FindArgument(buffer.name)].buffer();
  for (size_t i = 0; i < buffers.size(); ++i) {
    const uint32_t argument = *schema.FindArgument(problem.buffers()[i].name);
    const bool listed = std::find(rule.in_place_with.begin(), rule.in_place_with.end(), argument) !=
                        rule.in_place_with.end();
    if (listed && problem.buffers()[i].bytes.size() == buffer.bytes.size()) return &buffers[i];
  }
  return nullptr;
}

std::vector<uint8_t> Device::Layout::Fill(const Problem& problem) const {
  std::vector<uint8_t> memory(end, kGuard);
  // Backwards, so that of two buffers on the same bytes the first, an input, gives the content.
  for (size_t i = buffers.size(); i-- > 0;) {
    const std::vector<uint8_t>& bytes = problem.buffers()[i].bytes;
    std::copy(bytes.begin(), bytes.end(), memory.begin() + static_cast<int64_t>(buffers[i].offset));
  }
  return memory;
}

Outcome Device::Layout::Read(const Problem& problem, const std::vector<uint8_t>& before,
                             std::vector<uint8_t> after) const {
  Outcome outcome;
  const auto restore = [&](const ByteRange& range) {
    if (!range.empty()) std::memcpy(&after[range.offset], &before[range.offset], range.size);
  };
  for (const ByteRange& range : buffers) {
    const auto first = after.begin() + static_cast<int64_t>(range.offset);
    outcome.buffers.emplace_back(first, first + static_cast<int64_t>(range.size));
  }
  // With everything that the kernel may write put back, the rest must be as it was.
  restore(workspace);
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (problem.buffers()[i].written) restore(buffers[i]);
  }
  if (before == after) return outcome;  // far quicker than counting
  for (uint64_t i = 0; i < end; ++i) outcome.stray_bytes += before[i] != after[i] ? 1 : 0;
  return outcome;
}

absl::StatusOr<std::unique_ptr<Device>> Device::Create(cuda::DriverKind kind) {
  WEFT_ASSIGN_OR_RETURN(auto driver, cuda::LoadDriver({kind, ""}));
  WEFT_RETURN_IF_ERROR(cuda::InitializeDriver(*driver));
  WEFT_ASSIGN_OR_RETURN(auto context, cuda::Context::Create(*driver, 0));
  WEFT_ASSIGN_OR_RETURN(const size_t granularity, cuda::AllocationGranularity(context));
  WEFT_ASSIGN_OR_RETURN(auto allocation,
                        cuda::Allocation::Create(context, AlignUp(kMemoryBytes, granularity)));
  WEFT_ASSIGN_OR_RETURN(auto range, cuda::AddressRange::Reserve(context, allocation.size()));
  WEFT_ASSIGN_OR_RETURN(auto memory, cuda::Mapping::Create(context, range.address(), allocation));
  WEFT_ASSIGN_OR_RETURN(auto stream, cuda::Stream::Create(context, {}));
  WEFT_ASSIGN_OR_RETURN(
      const std::string image,
      LoadBuiltinImage(kind == cuda::DriverKind::kCuda ? ImageKind::kCuda : ImageKind::kHost));
  WEFT_ASSIGN_OR_RETURN(auto module, cuda::Module::Load(context, image));
  return std::unique_ptr<Device>(
      new Device(Parts{std::move(driver), std::move(context), std::move(range), std::move(memory),
                       std::move(stream), std::move(module)}));
}

absl::Status Device::Enqueue(const PhaseLaunch& launch, void* const* parameters) {
  WEFT_ASSIGN_OR_RETURN(const cuda::Function function, parts_.module.GetFunction(launch.symbol));
  return cuda::LaunchKernel(parts_.stream.ref(), {function,
                                                  {launch.grid.x, launch.grid.y, launch.grid.z},
                                                  {launch.block.x, launch.block.y, launch.block.z},
                                                  launch.shared_bytes,
                                                  parameters});
}

absl::StatusOr<std::vector<uint8_t>> Device::RunOver(std::vector<uint8_t> memory,
                                                     const PhaseLaunch& launch,
                                                     std::vector<uint64_t> words) {
  std::vector<void*> parameters;
  for (uint64_t& word : words) parameters.push_back(&word);
  WEFT_RETURN_IF_ERROR(cuda::CopyToDevice(parts_.context, base(), memory.data(), memory.size()));
  WEFT_RETURN_IF_ERROR(Enqueue(launch, parameters.data()));
  WEFT_RETURN_IF_ERROR(parts_.stream.ref().Synchronize());
  WEFT_RETURN_IF_ERROR(cuda::CopyToHost(parts_.context, memory.data(), base(), memory.size()));
  return memory;
}

absl::Status Device::Launch(const Problem& problem, const BoundCall& call, const Layout& layout,
                            const std::vector<PhaseLaunch>& phases) {
  const uint64_t base = parts_.memory.address();
  std::vector<uint64_t> addresses;
  for (const ArgumentSchema& argument : problem.schema().arguments) {
    for (size_t i = 0; i < problem.buffers().size(); ++i) {
      if (problem.buffers()[i].name != argument.name) continue;
      addresses.push_back(base + layout.buffers[i].offset);
    }
  }
  WEFT_ASSIGN_OR_RETURN(ParameterPack pack, PackParameters(problem.schema(), call, addresses,
                                                           base + layout.workspace.offset));
  const std::vector<void*> pointers = pack.Pointers();
  for (const PhaseLaunch& phase : phases) {
    WEFT_RETURN_IF_ERROR(Enqueue(phase, pointers.data()));
  }
  return parts_.stream.ref().Synchronize();
}

absl::StatusOr<Outcome> Device::Run(const Problem& problem, const Placement& placement) {
  BindResult bound = Bind(problem.schema(), Given(problem));
  if (!bound.ok()) return InvalidArgumentError(std::move(bound.violations));
  WEFT_ASSIGN_OR_RETURN(const LaunchPlan plan,
                        PlanLaunch(problem.schema(), bound.call, {}, placement.launch));
  const Layout layout(problem, plan.workspace_bytes, placement);
  if (layout.end > parts_.memory.size()) {
    return absl::ResourceExhaustedError(absl::StrCat("the problem needs ", layout.end, " bytes"));
  }
  const std::vector<uint8_t> before = layout.Fill(problem);
  const uint64_t base = parts_.memory.address();
  WEFT_RETURN_IF_ERROR(cuda::CopyToDevice(parts_.context, base, before.data(), before.size()));
  WEFT_RETURN_IF_ERROR(Launch(problem, bound.call, layout, plan.phases));
  std::vector<uint8_t> after(layout.end);
  WEFT_RETURN_IF_ERROR(cuda::CopyToHost(parts_.context, after.data(), base, after.size()));
  Outcome outcome = layout.Read(problem, before, std::move(after));
  outcome.phases = plan.phases.size();
  return outcome;
}

absl::StatusOr<Device*> DeviceUnderTest() {
  static const absl::StatusOr<Device*> device = MakeKept(KindUnderTest());
  return device;
}

absl::StatusOr<Device*> TwinDevice() {
  if (KindUnderTest() == cuda::DriverKind::kHost) {
    return absl::NotFoundError("the CPU driver is the device under test");
  }
  static const absl::StatusOr<Device*> device = MakeKept(cuda::DriverKind::kHost);
  return device;
}

}  // namespace weft::kernels::testing
