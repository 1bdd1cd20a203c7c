#include "graph/build/operations.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "base/error_context.h"
#include "base/status_macros.h"
#include "graph/build/errors.h"
#include "graph/build/kernel_priorities.h"
#include "graph/build/textures.h"
#include "kernels/parameters.h"

namespace weft::build {
namespace {

// Dynamic shared memory that every function may use without asking (CUDA C++ Programming Guide,
// "Shared Memory" of each compute capability).
constexpr uint32_t kSharedBytesWithoutOptIn = 48 * 1024;

cuda::Dim3 ToCuda(const kernels::Dim3& dim) { return cuda::Dim3{dim.x, dim.y, dim.z}; }

class Resolver {
 public:
  // Of a graph of `job`, which may be `input` itself. `priorities`: the job's.
  Resolver(const BuildInput& input, const BuildInput& job, const KernelPriorities& priorities)
      : input_(input), job_(job), priorities_(priorities) {}

  absl::StatusOr<OperationList> Run() {
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
    WEFT_ASSIGN_OR_RETURN(const ir::Slice parameters, AddParameters(op, planned));
    return AddLaunches(launches, parameters);
  }

  // Either the library's or, where it has none, the launches of its twin.
  absl::Status Add(const ir::LibraryOp& op, const plan::PlannedNode& planned) {
    WEFT_ASSIGN_OR_RETURN(const ir::Slice parameters, AddParameters(op, planned));
    std::vector<uint64_t> addresses(op.schema->arguments.size(), 0);
    for (size_t i = 0; i < addresses.size(); ++i) {
      const bool is_buffer = op.schema->arguments[i].buffer() != nullptr;
      if (is_buffer) addresses[i] = list_.parameter_words[parameters.begin + i];
    }
    const LibraryRequest request{*op.schema, op.call, addresses,
                                 input_.bindings.scratch + planned.workspace.offset,
                                 planned.workspace.size};
    WEFT_ASSIGN_OR_RETURN(std::shared_ptr<const cuda::LibraryCall> call,
                          input_.resolver.ResolveLibrary(request));
    if (call == nullptr) {
      const auto launches = input_.plan.LaunchesOf(planned);
      if (launches.empty()) return WEFT_BUG("a call has neither a library nor a kernel");
      return AddLaunches(launches, parameters);
    }
    list_.operations.emplace_back(LibraryOperation{std::move(call), op.schema, parameters});
    return absl::OkStatus();
  }

  absl::StatusOr<ir::Slice> AddParameters(const ir::KernelOp& op,
                                          const plan::PlannedNode& planned) {
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
    return parameters;
  }

  absl::Status AddLaunches(absl::Span<const kernels::PhaseLaunch> launches, ir::Slice parameters) {
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
    for (const ir::KernelParameter& parameter : op.parameters) {
      WEFT_ASSIGN_OR_RETURN(const uint64_t word, WordOf(parameter, views));
      list_.parameter_words.push_back(word);
    }
    const kernels::PhaseLaunch& launch = op.launch;
    KernelOperation operation{function, ToCuda(launch.grid), ToCuda(launch.block),
                              launch.shared_bytes, parameters};
    operation.attributes = {ToCuda(op.cluster), op.cooperative, priorities_.Find(op.priority)};
    list_.operations.emplace_back(operation);
    return absl::OkStatus();
  }

  absl::StatusOr<uint64_t> WordOf(const ir::KernelParameter& parameter,
                                  absl::Span<const ir::View> views) {
    if (const auto* scalar = std::get_if<ir::ScalarParameter>(&parameter)) return scalar->bits;
    if (const auto* pointer = std::get_if<ir::PointerParameter>(&parameter)) {
      WEFT_ASSIGN_OR_RETURN(const CUdeviceptr address, AddressOf(views[pointer->view]));
      return address;
    }
    const auto& [view, description] = std::get<ir::TextureParameter>(parameter);
    WEFT_ASSIGN_OR_RETURN(cuda::Texture texture, MakeTexture(input_, views[view], description));
    list_.textures.push_back(std::move(texture));
    return list_.textures.back().handle();
  }

  // What the module says of the kernel; the driver takes a launch on trust.
  static absl::Status CheckUserKernel(const ir::UserKernelOp& op, const cuda::Function& function) {
    WEFT_ASSIGN_OR_RETURN(const std::vector<cuda::ParamInfo> declared, function.Params());
    if (declared.size() != op.parameters.size()) {
      return ParameterCountError(op.entry, op.parameters.size(), declared.size());
    }
    for (size_t i = 0; i < declared.size(); ++i) {
      const auto* scalar = std::get_if<ir::ScalarParameter>(&op.parameters[i]);
      const size_t given = scalar != nullptr ? scalar->size_bytes
                                             : sizeof(uint64_t);  // an address, a texture object
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
    absl::Status allowed = function.SetMaxDynamicSharedBytes(bytes);
    if (!absl::IsInvalidArgument(allowed)) return allowed;
    return SharedMemoryError(op.entry, attributes.static_shared_bytes, bytes);
  }

  absl::Status Add(const ir::CopyOp& op, const plan::PlannedNode& planned) {
    WEFT_ASSIGN_OR_RETURN(const CUdeviceptr destination, AddressOf(op.dst));
    WEFT_ASSIGN_OR_RETURN(const CUdeviceptr source, AddressOf(op.src));
    if (planned.launches.count > 0) {
      return AddLaunches(input_.plan.LaunchesOf(planned),
                         AddWords({destination, source, op.src.range.size}));
    }
    if (!op.box.has_value()) {
      list_.operations.emplace_back(cuda::MemcpyNode{destination, source, op.src.range.size});
      return absl::OkStatus();
    }
    const ir::CopyBox& box = *op.box;
    list_.operations.emplace_back(
        cuda::BoxCopy{.destination = {destination, box.dst_pitch_bytes, box.dst_slice_rows},
                      .source = {source, box.src_pitch_bytes, box.src_slice_rows},
                      .width_bytes = box.width_bytes,
                      .rows = box.rows,
                      .slices = box.slices});
    return absl::OkStatus();
  }

  absl::Status Add(const ir::FillOp& op, const plan::PlannedNode&) {
    WEFT_ASSIGN_OR_RETURN(const CUdeviceptr destination, AddressOf(op.dst));
    cuda::MemsetNode fill;
    fill.destination = destination;
    fill.pattern = cuda::FillPattern{op.pattern, op.pattern_bytes};
    fill.width = op.dst.range.size / op.pattern_bytes;
    if (op.rows.has_value()) {
      fill.width = op.rows->width_bytes / op.pattern_bytes;
      fill.height = op.rows->rows;
      fill.pitch_bytes = op.rows->pitch_bytes;
    }
    list_.operations.emplace_back(fill);
    return absl::OkStatus();
  }

  absl::Status Add(const ir::PrefetchOp& op, const plan::PlannedNode&) {
    WEFT_ASSIGN_OR_RETURN(const CUdeviceptr address, AddressOf(op.view));
    const bool to_device = op.to == ir::Location::kDevice;
    list_.operations.emplace_back(cuda::Prefetch{
        address, op.view.range.size, to_device ? cuda::Place::kDevice : cuda::Place::kHost});
    return absl::OkStatus();
  }

  // Given when the graph was prepared.
  absl::Status Add(const ir::AdviseOp&, const plan::PlannedNode& planned) {
    return Add(ir::EmptyOp{}, planned);
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
    if (!op.src.range.empty()) {
      list_.operations.emplace_back(
          cuda::MemcpyNode{StagingOf(planned), source, op.src.range.size});
    }
    if (op.delivery == ir::Delivery::kWhenReady) {
      if (op.output >= input_.bindings.output_ready.size()) {
        return WEFT_BUG("nobody is to be told that an output is ready");
      }
      list_.operations.emplace_back(input_.bindings.output_ready[op.output]);
    }
    return absl::OkStatus();
  }

  absl::Status Add(const ir::GraphOp& op, const plan::PlannedNode& planned) {
    return AddRun(GraphRun(), input_.graph.CallsOf(op), planned);
  }

  absl::Status Add(const ir::ConditionalOp& op, const plan::PlannedNode& planned) {
    WEFT_ASSIGN_OR_RETURN(const CUdeviceptr value, AddressOf(op.value));
    GraphRun run;
    run.conditional = KindOf(op.kind);
    // The handle is not known before the graph is built.
    WEFT_ASSIGN_OR_RETURN(run.set_condition, OneThread("weft_set_condition", {0, value}));
    return AddRun(std::move(run), input_.graph.CallsOf(op), planned);
  }

  // The host's to see to (segment_table.h): the device waits for no value.
  absl::Status Add(const ir::SemaphoreWaitOp&, const plan::PlannedNode& planned) {
    return Add(ir::EmptyOp{}, planned);
  }

  absl::Status Add(const ir::SemaphoreSignalOp& op, const plan::PlannedNode&) {
    WEFT_ASSIGN_OR_RETURN(const CUdeviceptr address, AddressOf(op.semaphore));
    WEFT_ASSIGN_OR_RETURN(const KernelOperation signal,
                          OneThread("weft_signal_u64", {address, op.value}));
    list_.operations.emplace_back(signal);
    return absl::OkStatus();
  }

  static cuda::ConditionalKind KindOf(ir::ConditionalOp::Kind kind) {
    switch (kind) {
      case ir::ConditionalOp::Kind::kIf:
        return cuda::ConditionalKind::kIf;
      case ir::ConditionalOp::Kind::kWhile:
        return cuda::ConditionalKind::kWhile;
      case ir::ConditionalOp::Kind::kSwitch:
        return cuda::ConditionalKind::kSwitch;
    }
    return cuda::ConditionalKind::kIf;
  }

  // A launch of one thread of a kernel that is no kernel of jobs (kernels/builtin/flow.cu).
  absl::StatusOr<KernelOperation> OneThread(const char* symbol,
                                            std::initializer_list<uint64_t> words) {
    KernelOperation operation;
    WEFT_ASSIGN_OR_RETURN(operation.function, FunctionOf({symbol, {1, 1, 1}, {1, 1, 1}, 0}));
    operation.grid = {1, 1, 1};
    operation.block = {1, 1, 1};
    operation.parameters = AddWords(words);
    return operation;
  }

  ir::Slice AddWords(std::initializer_list<uint64_t> words) {
    const ir::Slice added{static_cast<uint32_t>(list_.parameter_words.size()),
                          static_cast<uint32_t>(words.size())};
    list_.parameter_words.insert(list_.parameter_words.end(), words);
    return added;
  }

  absl::Status AddRun(GraphRun run, absl::Span<const ir::GraphCall> calls,
                      const plan::PlannedNode& planned) {
    for (const ir::GraphCall& call : calls) {
      const ir::Graph& graph = job_.graph.graphs[call.graph];
      Bindings bindings;
      bindings.scratch = input_.bindings.scratch + planned.workspace.offset;
      bindings.buffers.resize(graph.buffers.size());
      const absl::Span<const ir::View> bound = input_.graph.BindingsOf(call);
      for (size_t p = 0; p < bound.size(); ++p) {
        WEFT_ASSIGN_OR_RETURN(bindings.buffers[graph.parameters[p].value()], AddressOf(bound[p]));
      }
      const BuildInput body{input_.context, graph, job_.plan.graphs[call.graph], bindings,
                            input_.resolver};
      // NOLINTNEXTLINE(misc-no-recursion): at most ir::kMaxGraphDepth levels
      WEFT_ASSIGN_OR_RETURN(OperationList operations, Resolver(body, job_, priorities_).Run());
      run.bodies.push_back({call.graph, std::move(operations)});
    }
    list_.operations.emplace_back(RunOperation{static_cast<uint32_t>(list_.runs.size())});
    list_.runs.push_back(std::move(run));
    return absl::OkStatus();
  }

  CUdeviceptr StagingOf(const plan::PlannedNode& planned) const {
    return input_.bindings.staging + planned.staging.offset;
  }

  absl::StatusOr<CUdeviceptr> AddressOf(const ir::View& view) const {
    return build::AddressOf(input_, view);
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
  const BuildInput& job_;
  const KernelPriorities& priorities_;
  OperationList list_;
  absl::flat_hash_map<std::string, Known> functions_;
};

template <typename WithParameters>
absl::Span<const uint64_t> WordsOf(const OperationList& list, const WithParameters& operation) {
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
  bool operator()(const LibraryOperation& x, const LibraryOperation& y) const {
    return x.schema == y.schema && WordsOf(a, x) == WordsOf(b, y);
  }
  bool operator()(const cuda::MemcpyNode& x, const cuda::MemcpyNode& y) const {
    return x.destination == y.destination && x.source == y.source && x.size_bytes == y.size_bytes;
  }
  bool operator()(const cuda::BoxCopy& x, const cuda::BoxCopy& y) const { return x == y; }
  bool operator()(const cuda::Prefetch& x, const cuda::Prefetch& y) const { return x == y; }
  bool operator()(const cuda::HostNode& x, const cuda::HostNode& y) const {
    return x.function == y.function && x.user_data == y.user_data;
  }
  bool operator()(const cuda::MemsetNode& x, const cuda::MemsetNode& y) const {
    return x.destination == y.destination && x.pattern.value == y.pattern.value &&
           x.pattern.element_size == y.pattern.element_size && x.width == y.width &&
           x.height == y.height && x.pitch_bytes == y.pitch_bytes;
  }
  template <typename X, typename Y>
  bool operator()(const X&, const Y&) const {
    return false;  // of different kinds, or runs of graphs, which are never compared
  }
};

}  // namespace

absl::StatusOr<OperationList> ResolveOperations(const BuildInput& input) {
  WEFT_ASSIGN_OR_RETURN(const KernelPriorities priorities, KernelPriorities::Of(input));
  return Resolver(input, input, priorities).Run();
}

LaunchOf::LaunchOf(const OperationList& list, const KernelOperation& operation,
                   const cuda::ConditionalHandle& handle)
    : LaunchOf(list, operation) {
  params_[0] = const_cast<CUgraphConditionalHandle*>(&handle.value);
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
