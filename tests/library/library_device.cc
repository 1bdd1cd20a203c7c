#include "tests/library/library_device.h"

#include <cstdlib>
#include <cstring>
#include <random>

#include "base/byte_range.h"
#include "base/error_context.h"
#include "base/status_macros.h"
#include "cuda/driver_loader.h"
#include "cuda/graph.h"
#include "cuda/memory.h"
#include "kernels/launch_shape.h"
#include "kernels/parameters.h"
#include "kernels/registry.h"
#include "kernels/scalar.h"
#include "server/executor/device_region.h"

namespace weft::testing {
namespace {

using kernels::DType;

uint64_t BitsOf(DType dtype, double value) {
  return kernels::ConvertNumber(kernels::Number(value), dtype)
      .value_or(kernels::ScalarValue{})
      .bits;
}

double ValueOf(DType dtype, uint64_t bits) { return kernels::ScalarValue{dtype, bits}.AsDouble(); }

std::string Encode(const Operand& operand) {
  const uint32_t size = kernels::SizeOf(operand.dtype);
  std::string bytes(operand.values.size() * size, '\0');
  for (size_t i = 0; i < operand.values.size(); ++i) {
    const uint64_t bits = BitsOf(operand.dtype, operand.values[i]);
    std::memcpy(&bytes[i * size], &bits, size);
  }
  return bytes;
}

std::vector<double> Decode(DType dtype, const std::string& bytes) {
  const uint32_t size = kernels::SizeOf(dtype);
  std::vector<double> values;
  for (size_t at = 0; at < bytes.size(); at += size) {
    uint64_t bits = 0;
    std::memcpy(&bits, &bytes[at], size);
    values.push_back(ValueOf(dtype, bits));
  }
  return values;
}

std::vector<kernels::GivenArgument> GivenOf(const LibraryProblem& problem) {
  std::vector<kernels::GivenArgument> given;
  for (const Operand& operand : problem.operands) {
    const uint64_t size = kernels::SizeOf(operand.dtype);
    given.push_back({operand.name, kernels::GivenBuffer{operand.dtype,
                                                        operand.shape,
                                                        operand.values.size() * size,
                                                        operand.shift_elements * size,
                                                        {}}});
  }
  for (const auto& [name, value] : problem.rest) {
    if (const auto* number = std::get_if<kernels::Number>(&value)) {
      given.push_back({name, *number});
    } else {
      given.push_back({name, absl::string_view(std::get<std::string>(value))});
    }
  }
  return given;
}

}  // namespace

std::vector<double> Rounded(DType dtype, const std::vector<double>& values) {
  std::vector<double> rounded;
  for (const double value : values) rounded.push_back(ValueOf(dtype, BitsOf(dtype, value)));
  return rounded;
}

std::vector<double> RandomValues(DType dtype, uint64_t count, uint32_t seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> between(-1, 1);
  std::vector<double> values(count);
  for (double& value : values) value = between(engine);
  return Rounded(dtype, values);
}

// A bound call whose buffers lie in memory.
struct LibraryDevice::Placed {
  const kernels::KernelSchema& schema;
  const kernels::BoundCall& call;
  std::vector<uint64_t> addresses;  // by argument
  CUdeviceptr workspace = 0;
};

absl::StatusOr<LibraryDevice*> LibraryDevice::UnderTest() {
  static LibraryDevice* kept = nullptr;  // no driver call from a destructor at the end
  if (kept != nullptr) return kept;
  const char* name = std::getenv("WEFT_DRIVER");
  executor::DeviceOptions options;
  WEFT_ASSIGN_OR_RETURN(options.driver, cuda::ParseDriverKind(name == nullptr ? "host" : name));
  WEFT_ASSIGN_OR_RETURN(auto environment, executor::DeviceEnvironment::Create(options));
  kept = std::unique_ptr<LibraryDevice>(new LibraryDevice(std::move(environment))).release();
  return kept;
}

absl::Status LibraryDevice::Enqueue(const Placed& placed, const cuda::LibraryCall* call,
                                    const cuda::StreamRef& stream) {
  if (call != nullptr) return call->Enqueue(stream);
  std::vector<uint64_t> buffers;  // those given
  for (size_t i = 0; i < placed.addresses.size(); ++i) {
    if (placed.schema.arguments[i].buffer() == nullptr) continue;
    if (placed.call.IsGiven(static_cast<uint32_t>(i))) buffers.push_back(placed.addresses[i]);
  }
  WEFT_ASSIGN_OR_RETURN(
      kernels::ParameterPack pack,
      kernels::PackParameters(placed.schema, placed.call, buffers, placed.workspace));
  WEFT_ASSIGN_OR_RETURN(const kernels::LaunchPlan plan,
                        kernels::PlanLaunch(placed.schema, placed.call, {}));
  std::vector<void*> parameters = pack.Pointers();
  for (const kernels::PhaseLaunch& phase : plan.phases) {
    cuda::KernelLaunch launch;
    WEFT_ASSIGN_OR_RETURN(launch.function, environment_->functions().Resolve(phase.symbol));
    launch.grid = {phase.grid.x, phase.grid.y, phase.grid.z};
    launch.block = {phase.block.x, phase.block.y, phase.block.z};
    launch.params = parameters.data();
    WEFT_RETURN_IF_ERROR(cuda::LaunchKernel(stream, launch));
  }
  return absl::OkStatus();
}

absl::Status LibraryDevice::Make(const Placed& placed, Way way) {
  const build::LibraryRequest request{placed.schema, placed.call, placed.addresses,
                                      placed.workspace, placed.call.workspace_bytes};
  WEFT_ASSIGN_OR_RETURN(const std::shared_ptr<const cuda::LibraryCall> call,
                        environment_->functions().ResolveLibrary(request));
  WEFT_ASSIGN_OR_RETURN(const cuda::Stream stream,
                        cuda::Stream::Create(environment_->context(), {}));
  const auto enqueue = [&](const cuda::StreamRef& into) {
    return Enqueue(placed, call.get(), into);
  };
  if (way == Way::kStream) {
    WEFT_RETURN_IF_ERROR(enqueue(stream.ref()));
    return stream.ref().Synchronize();
  }
  WEFT_ASSIGN_OR_RETURN(const cuda::Graph recorded, cuda::Graph::Capture(stream.ref(), enqueue));
  WEFT_ASSIGN_OR_RETURN(cuda::Graph graph, cuda::Graph::Create(environment_->context()));
  WEFT_RETURN_IF_ERROR(graph.AddChild(recorded, {}).status());
  WEFT_ASSIGN_OR_RETURN(cuda::GraphExec exec, graph.Instantiate());
  WEFT_RETURN_IF_ERROR(exec.Launch(stream.ref()));
  return stream.ref().Synchronize();
}

bool LibraryDevice::CanCapture(const std::string& call) const {
  const kernels::KernelSchema* schema = kernels::Registry::Library().Find(call);
  return is_cpu() || schema == nullptr ||
         schema->library->recording == kernels::LibraryTraits::Recording::kCaptured;
}

absl::StatusOr<std::vector<double>> LibraryDevice::Run(const LibraryProblem& problem,
                                                       const std::string& output, Way way) {
  WEFT_ASSIGN_OR_RETURN(const std::vector<std::vector<double>> all, RunAll(problem, way));
  for (size_t i = 0; i < problem.operands.size(); ++i) {
    if (problem.operands[i].name == output) return all[i];
  }
  return absl::NotFoundError(output);
}

absl::StatusOr<std::vector<std::vector<double>>> LibraryDevice::RunAll(
    const LibraryProblem& problem, Way way) {
  const kernels::KernelSchema* schema = kernels::Registry::Library().Find(problem.call);
  if (schema == nullptr) return absl::NotFoundError(problem.call);
  const std::vector<kernels::GivenArgument> given = GivenOf(problem);
  kernels::BindResult bound = kernels::Bind(*schema, given);
  if (!bound.ok()) return InvalidArgumentError(std::move(bound.violations));

  uint64_t end = AlignUp(bound.call.workspace_bytes, kernels::kWorkspaceAlignment);
  std::vector<uint64_t> offsets;
  for (const Operand& operand : problem.operands) {
    const uint64_t size = kernels::SizeOf(operand.dtype);
    offsets.push_back(end + operand.shift_elements * size);
    end = AlignUp(offsets.back() + operand.values.size() * size, kernels::kWorkspaceAlignment);
  }
  const cuda::Context& context = environment_->context();
  WEFT_ASSIGN_OR_RETURN(const executor::DeviceRegion memory,
                        executor::DeviceRegion::Create(context, end));
  Placed placed{*schema, bound.call, std::vector<uint64_t>(schema->arguments.size(), 0),
                memory.address()};
  for (size_t i = 0; i < problem.operands.size(); ++i) {
    const std::string bytes = Encode(problem.operands[i]);
    const CUdeviceptr address = memory.address() + offsets[i];
    placed.addresses[*schema->FindArgument(problem.operands[i].name)] = address;
    WEFT_RETURN_IF_ERROR(cuda::CopyToDevice(context, address, bytes.data(), bytes.size()));
  }
  WEFT_RETURN_IF_ERROR(Make(placed, way));
  std::vector<std::vector<double>> all;
  for (size_t i = 0; i < problem.operands.size(); ++i) {
    const Operand& operand = problem.operands[i];
    std::string bytes(operand.values.size() * kernels::SizeOf(operand.dtype), '\0');
    WEFT_RETURN_IF_ERROR(
        cuda::CopyToHost(context, bytes.data(), memory.address() + offsets[i], bytes.size()));
    all.push_back(Decode(operand.dtype, bytes));
  }
  return all;
}

}  // namespace weft::testing
