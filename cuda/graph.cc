#include "cuda/graph.h"

#include <optional>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "cuda/status.h"

namespace weft::cuda {
namespace {

// The dependencies as the driver takes them. Few nodes have more than 8.
class DependencyArray {
 public:
  explicit DependencyArray(Dependencies dependencies) {
    handles_.reserve(dependencies.size());
    for (const NodeRef& node : dependencies) handles_.push_back(node.handle);
  }
  const CUgraphNode* data() const { return handles_.empty() ? nullptr : handles_.data(); }
  size_t size() const { return handles_.size(); }

 private:
  absl::InlinedVector<CUgraphNode, 8> handles_;
};

CUDA_KERNEL_NODE_PARAMS KernelParams(const KernelLaunch& launch) {
  CUDA_KERNEL_NODE_PARAMS params = {};
  params.func = launch.function.handle();
  params.gridDimX = launch.grid.x;
  params.gridDimY = launch.grid.y;
  params.gridDimZ = launch.grid.z;
  params.blockDimX = launch.block.x;
  params.blockDimY = launch.block.y;
  params.blockDimZ = launch.block.z;
  params.sharedMemBytes = launch.dynamic_shared_bytes;
  // The driver only reads the array of pointers; its signature lacks the const.
  params.kernelParams = const_cast<void**>(launch.params);
  return params;
}

// One row of a 3D copy. CU_MEMORYTYPE_UNIFIED lets the driver tell by the addresses which side is
// the host's, as cuMemcpyAsync does.
CUDA_MEMCPY3D MemcpyParams(const MemcpyNode& copy) {
  CUDA_MEMCPY3D params = {};
  params.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  params.srcDevice = copy.source;
  params.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  params.dstDevice = copy.destination;
  params.WidthInBytes = copy.size_bytes;
  params.Height = 1;
  params.Depth = 1;
  return params;
}

CUDA_MEMSET_NODE_PARAMS MemsetParams(const MemsetNode& fill) {
  CUDA_MEMSET_NODE_PARAMS params = {};
  params.dst = fill.destination;
  params.pitch = fill.height > 1 ? fill.pitch_bytes : 0;
  params.value = fill.pattern.value;
  params.elementSize = fill.pattern.element_size;
  params.width = fill.width;
  params.height = fill.height;
  return params;
}

// Why cuGraphExecUpdate refused.
absl::string_view UpdateRefusal(CUgraphExecUpdateResult result) {
  switch (result) {
    case CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED:
      return "the nodes or edges are not those of the instantiated graph";
    case CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED:
      return "a node is of another kind";
    case CU_GRAPH_EXEC_UPDATE_ERROR_FUNCTION_CHANGED:
    case CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE:
      return "a kernel node calls another function in a way that cannot be updated";
    case CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED:
      return "parameters of a node changed in a way that cannot be updated";
    case CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED:
      return "a node of this kind cannot be updated";
    case CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED:
      return "attributes of a node changed";
    default:
      return "";
  }
}

}  // namespace

namespace internal {

void DestroyGraph(const ContextRef& context, CUgraph graph) {
  const Driver& driver = *context.driver;
  ReportReleaseError(driver, driver.cuGraphDestroy(graph), "cuGraphDestroy");
}

void DestroyGraphExec(const ContextRef& context, CUgraphExec exec) {
  const ScopedContext current(context);
  ReportReleaseError(*context.driver, context.driver->cuGraphExecDestroy(exec),
                     "cuGraphExecDestroy");
}

}  // namespace internal

absl::StatusOr<Graph> Graph::Create(const Context& context) {
  CUgraph handle = nullptr;
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(context.driver(), cuGraphCreate, &handle, /*flags=*/0));
  return Graph(Owned(context.ref(), handle));
}

// Relaxed mode: libraries load code when it is first used, which the other modes forbid. The stream is
// the capture's alone, so nothing of anybody else can get into it.
absl::StatusOr<Graph> Graph::Capture(const StreamRef& stream,
                                     absl::FunctionRef<absl::Status(const StreamRef&)> record) {
  WEFT_MAKE_CURRENT(stream.context());
  const Driver& driver = stream.driver();
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(driver, cuStreamBeginCapture, stream.handle(),
                                        CU_STREAM_CAPTURE_MODE_RELAXED));
  const absl::Status recorded = record(stream);
  CUgraph handle = nullptr;
  const absl::Status ended = WEFT_DRIVER_CALL(driver, cuStreamEndCapture, stream.handle(), &handle);
  std::optional<Graph> graph;
  if (handle != nullptr) graph = Graph(Owned(stream.context(), handle));
  WEFT_RETURN_IF_ERROR(recorded);
  WEFT_RETURN_IF_ERROR(ended);
  return *std::move(graph);
}

absl::StatusOr<NodeRef> Graph::AddKernel(const KernelLaunch& launch, Dependencies dependencies) {
  WEFT_MAKE_CURRENT(owned_.context());
  const DependencyArray after(dependencies);
  const CUDA_KERNEL_NODE_PARAMS params = KernelParams(launch);
  NodeRef node;
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(owned_.driver(), cuGraphAddKernelNode, &node.handle,
                                        owned_.get(), after.data(), after.size(), &params));
  LaunchAttributeList attributes(launch.attributes);
  for (unsigned int i = 0; i < attributes.size(); ++i) {
    const CUlaunchAttribute& attribute = attributes.data()[i];
    WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(owned_.driver(), cuGraphKernelNodeSetAttribute,
                                          node.handle, attribute.id, &attribute.value));
  }
  return node;
}

absl::StatusOr<NodeRef> Graph::AddMemcpy(const MemcpyNode& copy, Dependencies dependencies) {
  WEFT_MAKE_CURRENT(owned_.context());
  const DependencyArray after(dependencies);
  const CUDA_MEMCPY3D params = MemcpyParams(copy);
  NodeRef node;
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(owned_.driver(), cuGraphAddMemcpyNode, &node.handle,
                                        owned_.get(), after.data(), after.size(), &params,
                                        owned_.context().handle));
  return node;
}

absl::StatusOr<NodeRef> Graph::AddBoxCopy(const BoxCopy& copy, Dependencies dependencies) {
  WEFT_MAKE_CURRENT(owned_.context());
  const DependencyArray after(dependencies);
  const CUDA_MEMCPY3D params = ToMemcpy3D(copy);
  NodeRef node;
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(owned_.driver(), cuGraphAddMemcpyNode, &node.handle,
                                        owned_.get(), after.data(), after.size(), &params,
                                        owned_.context().handle));
  return node;
}

absl::StatusOr<NodeRef> Graph::AddMemset(const MemsetNode& fill, Dependencies dependencies) {
  WEFT_MAKE_CURRENT(owned_.context());
  const DependencyArray after(dependencies);
  const CUDA_MEMSET_NODE_PARAMS params = MemsetParams(fill);
  NodeRef node;
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(owned_.driver(), cuGraphAddMemsetNode, &node.handle,
                                        owned_.get(), after.data(), after.size(), &params,
                                        owned_.context().handle));
  return node;
}

absl::StatusOr<NodeRef> Graph::AddEmpty(Dependencies dependencies) {
  const DependencyArray after(dependencies);
  NodeRef node;
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(owned_.driver(), cuGraphAddEmptyNode, &node.handle,
                                        owned_.get(), after.data(), after.size()));
  return node;
}

absl::StatusOr<NodeRef> Graph::AddHost(const HostNode& host, Dependencies dependencies) {
  const DependencyArray after(dependencies);
  CUDA_HOST_NODE_PARAMS params = {};
  params.fn = host.function;
  params.userData = host.user_data;
  NodeRef node;
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(owned_.driver(), cuGraphAddHostNode, &node.handle,
                                        owned_.get(), after.data(), after.size(), &params));
  return node;
}

absl::StatusOr<NodeRef> Graph::AddChild(const Graph& child, Dependencies dependencies) {
  const DependencyArray after(dependencies);
  NodeRef node;
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(owned_.driver(), cuGraphAddChildGraphNode, &node.handle,
                                        owned_.get(), after.data(), after.size(), child.handle()));
  return node;
}

absl::StatusOr<NodeRef> Graph::AddEventRecord(const EventRef& event, Dependencies dependencies) {
  const DependencyArray after(dependencies);
  NodeRef node;
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(owned_.driver(), cuGraphAddEventRecordNode, &node.handle,
                                        owned_.get(), after.data(), after.size(), event.handle()));
  return node;
}

absl::StatusOr<NodeRef> Graph::AddEventWait(const EventRef& event, Dependencies dependencies) {
  const DependencyArray after(dependencies);
  NodeRef node;
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(owned_.driver(), cuGraphAddEventWaitNode, &node.handle,
                                        owned_.get(), after.data(), after.size(), event.handle()));
  return node;
}

absl::StatusOr<GraphExec> Graph::Instantiate(NodePriorities priorities) const {
  WEFT_MAKE_CURRENT(owned_.context());
  CUgraphExec handle = nullptr;
  const unsigned long long flags =
      priorities == NodePriorities::kOwn ? CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY : 0;
  WEFT_RETURN_IF_ERROR(
      WEFT_DRIVER_CALL(owned_.driver(), cuGraphInstantiateWithFlags, &handle, owned_.get(), flags));
  return GraphExec(GraphExec::Owned(owned_.context(), handle));
}

absl::Status GraphExec::UpdateKernel(NodeRef node, const KernelLaunch& launch) {
  WEFT_MAKE_CURRENT(owned_.context());
  const CUDA_KERNEL_NODE_PARAMS params = KernelParams(launch);
  return WEFT_DRIVER_CALL(owned_.driver(), cuGraphExecKernelNodeSetParams, owned_.get(),
                          node.handle, &params);
}

absl::Status GraphExec::UpdateMemcpy(NodeRef node, const MemcpyNode& copy) {
  WEFT_MAKE_CURRENT(owned_.context());
  const CUDA_MEMCPY3D params = MemcpyParams(copy);
  return WEFT_DRIVER_CALL(owned_.driver(), cuGraphExecMemcpyNodeSetParams, owned_.get(),
                          node.handle, &params, owned_.context().handle);
}

absl::Status GraphExec::UpdateMemset(NodeRef node, const MemsetNode& fill) {
  WEFT_MAKE_CURRENT(owned_.context());
  const CUDA_MEMSET_NODE_PARAMS params = MemsetParams(fill);
  return WEFT_DRIVER_CALL(owned_.driver(), cuGraphExecMemsetNodeSetParams, owned_.get(),
                          node.handle, &params, owned_.context().handle);
}

absl::Status GraphExec::Update(const Graph& graph) {
  WEFT_MAKE_CURRENT(owned_.context());
  CUgraphExecUpdateResultInfo info = {};
  const CUresult result = owned_.driver().cuGraphExecUpdate(owned_.get(), graph.handle(), &info);
  if (result != CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE) {
    return ResultToStatus(owned_.driver(), result, "cuGraphExecUpdate");
  }
  const absl::string_view reason = UpdateRefusal(info.result);
  return ResultToStatus(
      owned_.driver(), result,
      reason.empty() ? "cuGraphExecUpdate" : absl::StrCat("cuGraphExecUpdate (", reason, ")"));
}

absl::Status GraphExec::Upload(const StreamRef& stream) {
  WEFT_MAKE_CURRENT(owned_.context());
  return WEFT_DRIVER_CALL(owned_.driver(), cuGraphUpload, owned_.get(), stream.handle());
}

absl::Status GraphExec::Launch(const StreamRef& stream) {
  WEFT_MAKE_CURRENT(owned_.context());
  return WEFT_DRIVER_CALL(owned_.driver(), cuGraphLaunch, owned_.get(), stream.handle());
}

}  // namespace weft::cuda
