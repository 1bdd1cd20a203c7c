#include "graph/build/bindings.h"

#include <variant>

#include "base/error_context.h"
#include "base/status_macros.h"
#include "cuda/managed_memory.h"

namespace weft::build {

absl::StatusOr<cuda::Function> FunctionResolver::ResolveUser(uint32_t /*module*/,
                                                             const std::string& /*entry*/) {
  return WEFT_BUG("this resolver knows no modules of jobs");
}

absl::StatusOr<cuda::GlobalVariable> FunctionResolver::ResolveVariable(
    uint32_t /*module*/, const std::string& /*symbol*/) {
  return WEFT_BUG("a job with variables of its own was given a resolver of built-in kernels");
}

absl::StatusOr<std::shared_ptr<const cuda::LibraryCall>> FunctionResolver::ResolveLibrary(
    const LibraryRequest& /*request*/) {
  return nullptr;
}

namespace {

cuda::Advice AdviceOf(ir::Advice advice) {
  switch (advice) {
    case ir::Advice::kReadMostly:
      return cuda::Advice::kReadMostly;
    case ir::Advice::kNotReadMostly:
      return cuda::Advice::kNotReadMostly;
    case ir::Advice::kPreferredLocation:
      return cuda::Advice::kPreferredLocation;
    case ir::Advice::kNoPreferredLocation:
      return cuda::Advice::kNoPreferredLocation;
    case ir::Advice::kAccessedBy:
      return cuda::Advice::kAccessedBy;
    case ir::Advice::kNotAccessedBy:
      return cuda::Advice::kNotAccessedBy;
  }
  return cuda::Advice::kReadMostly;
}

CUdeviceptr AreaOf(const Bindings& bindings, ir::MemoryKind memory) {
  if (memory == ir::MemoryKind::kPinned) return bindings.pinned;
  if (memory == ir::MemoryKind::kManaged) return bindings.managed;
  return bindings.scratch;
}

absl::Status GiveOne(const BuildInput& input, const ir::AdviseOp& op) {
  const uint32_t index = op.view.buffer.value();
  if (!input.plan.scratch.buffer_offsets[index].has_value()) return absl::OkStatus();
  WEFT_ASSIGN_OR_RETURN(const CUdeviceptr address, AddressOf(input, op.view));
  const bool on_device = op.location == ir::Location::kDevice;
  return cuda::AdviseNow(input.context,
                         {.address = address,
                          .size_bytes = op.view.range.size,
                          .advice = AdviceOf(op.advice),
                          .place = on_device ? cuda::Place::kDevice : cuda::Place::kHost});
}

}  // namespace

absl::StatusOr<CUdeviceptr> AddressOf(const BuildInput& input, const ir::View& view) {
  const uint32_t index = view.buffer.value();
  const ir::Buffer& buffer = input.graph.buffers[index];
  if (!buffer.shared.has_value() && !buffer.is_parameter) {
    const uint64_t offset = input.plan.scratch.buffer_offsets[index].value_or(0);
    return AreaOf(input.bindings, buffer.memory) + offset + view.range.offset;
  }
  if (index >= input.bindings.buffers.size()) {
    return WEFT_BUG("a shared buffer of the job has no address");
  }
  return input.bindings.buffers[index] + view.range.offset;
}

absl::Status GiveAdvice(const BuildInput& input) {
  for (const ir::Node& node : input.graph.nodes) {
    const auto* const op = std::get_if<ir::AdviseOp>(&node.op);
    if (op == nullptr) continue;
    WEFT_RETURN_IF_ERROR(WithContext(GiveOne(input, *op), {"", node.name, ""}));
  }
  return absl::OkStatus();
}

}  // namespace weft::build
