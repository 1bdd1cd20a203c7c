#include "graph/build/operations.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "base/error_context.h"
#include "base/status_macros.h"
#include "graph/build/errors.h"
#include "graph/build/kernel_priorities.h"
#include "kernels/parameters.h"

namespace weft::build {
namespace {

// Dynamic shared memory that every function may use without asking (CUDA C++ Programming Guide,
// "Shared Memory" of each compute capability).
constexpr uint32_t kSharedBytesWithoutOptIn = 48 * 1024;

cuda::Dim3 ToCuda(const kernels::Dim3& dim) { return cuda::Dim3{dim.x, dim.y, dim.z}; }

class Resolver {
 public:
  explicit Resolver(const BuildInput& input) : input_(input) {}

  absl::StatusOr<OperationList> Run() {
    WEFT_ASSIGN_OR_RETURN(priorities_, KernelPriorities::Of(input_));
    if (!priorities_.empty()) list_.priorities = cuda::NodePriorities::kOwn;
    const size_t node_count = input_.graph.nodes.size();
    list_.operations.reserve(node_count);
    list_.first.reserve(node_count + 1);
    for (uint32_t i = 0; i < node_count; ++i) {
      const ir::Node& node = input_.graph.nodes[i];
      WEFT_RETURN_IF_ERROR(WithContext(AddNode(node, input_.plan.nodes[i]), {"", node.name, ""}));
      list_.first.push_back(static_cast<uint32_t>(list_.operations.size()));
    }
    return std::move(list_);
  }

 private:
  absl::Status AddNode(const ir::Node& node, const plan::PlannedNode& planned) {
    if (planned.is_no_op) {
      list_.operations.emplace_back(EmptyOperation{});
      return absl::OkStatus();
    }
    return std::visit([&](const auto& op) { return Add(op, planned); }, node.op);
  }

  absl::Status Add(const ir::EmptyOp&, const plan::PlannedNode&) {
    list_.operations.emplace_back(EmptyOperation{});
    return absl::OkStatus();
  }

  absl::Status Add(const ir::KernelOp& op, const plan::PlannedNode& planned) {
    const auto launches = input_.plan.LaunchesOf(planned);
    if (launches.empty()) return Add(ir::EmptyOp{}, planned);
    std::vector<uint64_t> addresses;
    for (const ir::View& view : input_.graph.ViewsOf(op)) {
      WEFT_ASSIGN_OR_RETURN(const CUdeviceptr address, AddressOf(view));
      addresses.push_back(address);
    }
    WEFT_ASSIGN_OR_RETURN(
        const kernels::ParameterPack pack,
        kernels::PackParameters(*op.schema, op.call, addresses,
                                input_.bindings.scratch + planned.workspace.offset));
    const ir::Slice parameters{static_cast<uint32_t>(list_.parameter_words.size()),
                               static_cast<uint32_t>(pack.words.size())};
    list_.parameter_words.insert(list_.parameter_words.end(), pack.words.begin(), pack.words.end());
    for (const kernels::PhaseLaunch& phase : launches) {
      WEFT_ASSIGN_OR_RETURN(const cuda::Function function, FunctionOf(phase));
      KernelOperation operation{function, ToCuda(phase.grid), ToCuda(phase.block),
                                phase.shared_bytes, parameters};
      operation.attributes.priority = priorities_.Find(0);
      list_.operations.emplace_back(operation);
    }
    return absl::OkStatus();
  }

  absl::Status Add(const ir::UserKernelOp& op, const plan::PlannedNode&) {
    WEFT_ASSIGN_OR_RETURN(const cuda::Function function,
                          input_.resolver.ResolveUser(op.module, op.entry));
    WEFT_RETURN_IF_ERROR(CheckUserKernel(op, function));
    const auto views = input_.graph.ViewsOf(op);
    const ir::Slice parameters{static_cast<uint32_t>(list_.parameter_words.size()),
                               static_cast<uint32_t>(op.parameters.size())};
    for (const auto& parameter : op.parameters) {
      if (const auto* scalar = std::get_if<ir::ScalarParameter>(&parameter)) {
        list_.parameter_words.push_back(scalar->bits);
        continue;
      }
      const auto& pointer = std::get<ir::PointerParameter>(parameter);
      WEFT_ASSIGN_OR_RETURN(const CUdeviceptr address, AddressOf(views[pointer.view]));
      list_.parameter_words.push_back(address);
    }
    const kernels::PhaseLaunch& launch = op.launch;
    KernelOperation operation{function, ToCuda(launch.grid), ToCuda(launch.block),
                              launch.shared_bytes, parameters};
    operation.attributes = {ToCuda(op.cluster), op.cooperative, priorities_.Find(op.priority)};
    list_.operations.emplace_back(operation);
    return absl::OkStatus();
  }

  // What the module says of the kernel; the driver takes a launch on trust.
  static absl::Status CheckUserKernel(const ir::UserKernelOp& op, const cuda::Function& function) {
    WEFT_ASSIGN_OR_RETURN(const std::vector<cuda::ParamInfo> declared, function.Params());
    if (declared.size() != op.parameters.size()) {
      return ParameterCountError(op.entry, op.parameters.size(), declared.size());
    }
    for (size_t i = 0; i < declared.size(); ++i) {
      const auto* scalar = std::get_if<ir::ScalarParameter>(&op.parameters[i]);
      const size_t given = scalar != nullptr ? scalar->size_bytes : sizeof(CUdeviceptr);
      if (given != declared[i].size) {
        return ParameterSizeError(op.entry, i, given, declared[i].size);
      }
    }
    WEFT_ASSIGN_OR_RETURN(const cuda::FunctionAttributes attributes, function.Attributes());
    const kernels::Dim3& block = op.launch.block;
    const uint64_t threads = uint64_t{block.x} * block.y * block.z;
    if (threads > attributes.max_threads_per_block) {
      return BlockTooLargeError(op.entry, threads, attributes.max_threads_per_block,
                                attributes.registers_per_thread);
    }
    WEFT_RETURN_IF_ERROR(AllowShared(op, attributes, function));
    return op.cooperative ? CheckCooperative(op, function, threads) : absl::OkStatus();
  }

  static absl::Status CheckCooperative(const ir::UserKernelOp& op, const cuda::Function& function,
                                       uint64_t threads) {
    const kernels::Dim3& grid = op.launch.grid;
    WEFT_ASSIGN_OR_RETURN(
        const uint64_t limit,
        function.MaxActiveBlocks(static_cast<uint32_t>(threads), op.launch.shared_bytes));
    // Each extent has 31 bits at most, the last two 16.
    const uint64_t blocks = uint64_t{grid.x} * grid.y * grid.z;
    return blocks <= limit ? absl::OkStatus() : GridTooLargeError(op.entry, blocks, limit);
  }

  static absl::Status AllowShared(const ir::UserKernelOp& op,
                                  const cuda::FunctionAttributes& attributes,
                                  const cuda::Function& function) {
    const uint32_t bytes = op.launch.shared_bytes;
    if (bytes <= attributes.max_dynamic_shared_bytes) return absl::OkStatus();
    const absl::Status allowed = function.SetMaxDynamicSharedBytes(bytes);
    if (!absl::IsInvalidArgument(allowed)) return allowed;
    return SharedMemoryError(op.entry, attributes.static_shared_bytes, bytes);
  }

  absl::Status Add(const ir::CopyOp& op, const plan::PlannedNode&) {
    WEFT_ASSIGN_OR_RETURN(const CUdeviceptr destination, AddressOf(op.dst));
    WEFT_ASSIGN_OR_RETURN(const CUdeviceptr source, AddressOf(op.src));
    list_.operations.emplace_back(cuda::MemcpyNode{destination, source, op.src.range.size});
    return absl::OkStatus();
  }

  absl::Status Add(const ir::FillOp& op, const plan::PlannedNode&) {
    WEFT_ASSIGN_OR_RETURN(const CUdeviceptr destination, AddressOf(op.dst));
    cuda::MemsetNode fill;
    fill.destination = destination;
    fill.pattern = cuda::FillPattern{op.pattern, op.pattern_bytes};
    fill.width = op.dst.range.size / op.pattern_bytes;
    list_.operations.emplace_back(fill);
    return absl::OkStatus();
  }

  absl::Status Add(const ir::UploadOp& op, const plan::PlannedNode& planned) {
    WEFT_ASSIGN_OR_RETURN(const CUdeviceptr destination, AddressOf(op.dst));
    list_.operations.emplace_back(
        cuda::MemcpyNode{destination, StagingOf(planned), op.dst.range.size});
    return absl::OkStatus();
  }

  absl::Status Add(const ir::SymbolOp& op, const plan::PlannedNode& planned) {
    WEFT_ASSIGN_OR_RETURN(const cuda::GlobalVariable variable,
                          input_.resolver.ResolveVariable(op.module, op.symbol));
    if (op.size_bytes > variable.size || op.offset_bytes > variable.size - op.size_bytes) {
      return VariableTooSmallError(op.symbol, variable.size, op.offset_bytes, op.size_bytes);
    }
    CUdeviceptr source = 0;
    if (const auto* view = std::get_if<ir::View>(&op.source)) {
      WEFT_ASSIGN_OR_RETURN(source, AddressOf(*view));
    } else {
      source = StagingOf(planned);
    }
    list_.operations.emplace_back(
        cuda::MemcpyNode{variable.address + op.offset_bytes, source, op.size_bytes});
    return absl::OkStatus();
  }

  absl::Status Add(const ir::DownloadOp& op, const plan::PlannedNode& planned) {
    WEFT_ASSIGN_OR_RETURN(const CUdeviceptr source, AddressOf(op.src));
    list_.operations.emplace_back(cuda::MemcpyNode{StagingOf(planned), source, op.src.range.size});
    return absl::OkStatus();
  }

  CUdeviceptr StagingOf(const plan::PlannedNode& planned) const {
    return input_.bindings.staging + planned.staging.offset;
  }

  absl::StatusOr<CUdeviceptr> AddressOf(const ir::View& view) const {
    const uint32_t index = view.buffer.value();
    if (!input_.graph.buffers[index].shared.has_value()) {
      // A buffer of which no byte is used has no place; its address is passed but never followed.
      const uint64_t offset = input_.plan.scratch.buffer_offsets[index].value_or(0);
      return input_.bindings.scratch + offset + view.range.offset;
    }
    if (index >= input_.bindings.buffers.size()) {
      return WEFT_BUG("a shared buffer of the job has no address");
    }
    return input_.bindings.buffers[index] + view.range.offset;
  }

  struct Known {
    cuda::Function function;
    uint32_t shared_bytes = kSharedBytesWithoutOptIn;  // it may use so much
  };

  absl::StatusOr<cuda::Function> FunctionOf(const kernels::PhaseLaunch& phase) {
    auto [entry, is_new] = functions_.try_emplace(phase.symbol);
    Known& known = entry->second;
    if (is_new) {
      WEFT_ASSIGN_OR_RETURN(known.function, input_.resolver.Resolve(phase.symbol));
    }
    if (phase.shared_bytes > known.shared_bytes) WEFT_RETURN_IF_ERROR(OptIn(known, phase));
    return known.function;
  }

  // Not reached today: graph/ir holds jobs to what a block has without opting in. The attribute is
  // the function's, for all graphs that launch it, so it only ever grows.
  static absl::Status OptIn(Known& known, const kernels::PhaseLaunch& phase) {
    WEFT_ASSIGN_OR_RETURN(const cuda::FunctionAttributes now, known.function.Attributes());
    if (phase.shared_bytes > now.max_dynamic_shared_bytes) {
      WEFT_RETURN_IF_ERROR(known.function.SetMaxDynamicSharedBytes(phase.shared_bytes));
    }
    known.shared_bytes = std::max(phase.shared_bytes, now.max_dynamic_shared_bytes);
    return absl::OkStatus();
  }

  const BuildInput& input_;
  OperationList list_;
  KernelPriorities priorities_;
  absl::flat_hash_map<std::string, Known> functions_;
};

absl::Span<const uint64_t> WordsOf(const OperationList& list, const KernelOperation& operation) {
  return absl::MakeConstSpan(list.parameter_words)
      .subspan(operation.parameters.begin, operation.parameters.count);
}

// Whether two operations of one kind are the same.
struct Same {
  const OperationList& a;
  const OperationList& b;

  bool operator()(const EmptyOperation&, const EmptyOperation&) const { return true; }
  bool operator()(const KernelOperation& x, const KernelOperation& y) const {
    return x.function.handle() == y.function.handle() && x.grid == y.grid && x.block == y.block &&
           x.dynamic_shared_bytes == y.dynamic_shared_bytes && x.attributes == y.attributes &&
           WordsOf(a, x) == WordsOf(b, y);
  }
  bool operator()(const cuda::MemcpyNode& x, const cuda::MemcpyNode& y) const {
    return x.destination == y.destination && x.source == y.source && x.size_bytes == y.size_bytes;
  }
  bool operator()(const cuda::MemsetNode& x, const cuda::MemsetNode& y) const {
    return x.destination == y.destination && x.pattern.value == y.pattern.value &&
           x.pattern.element_size == y.pattern.element_size && x.width == y.width &&
           x.height == y.height && x.pitch_bytes == y.pitch_bytes;
  }
  template <typename X, typename Y>
  bool operator()(const X&, const Y&) const {
    return false;  // of different kinds
  }
};

}  // namespace

absl::StatusOr<OperationList> ResolveOperations(const BuildInput& input) {
  return Resolver(input).Run();
}

LaunchOf::LaunchOf(const OperationList& list, const KernelOperation& operation) {
  for (const uint64_t& word : WordsOf(list, operation)) {
    // The driver's signature is not const, but it only reads.
    params_.push_back(const_cast<uint64_t*>(&word));
  }
  launch_.function = operation.function;
  launch_.grid = operation.grid;
  launch_.block = operation.block;
  launch_.dynamic_shared_bytes = operation.dynamic_shared_bytes;
  launch_.params = params_.data();
  launch_.attributes = operation.attributes;
}

bool SameOperation(const OperationList& a, const Operation& x, const OperationList& b,
                   const Operation& y) {
  return std::visit(Same{a, b}, x, y);
}

}  // namespace weft::build
