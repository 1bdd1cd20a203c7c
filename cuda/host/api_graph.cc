// Graphs.
#include "cuda/host/api_call.h"
#include "cuda/host/capture.h"
#include "cuda/host/graph_recording.h"
#include "cuda/host/graph_run.h"
#include "cuda/host/kernel_launch.h"
#include "cuda/host/memory_actions.h"

namespace weft::hostcuda {
namespace {

// Copies and fills name the context to run in; null means the current one.
CUresult CheckContext(Runtime& runtime, CUcontext context) {
  ContextPtr found;
  if (context == nullptr) return CurrentContext(runtime, &found);
  return runtime.contexts.Find(HandleNumber(context)) == nullptr ? CUDA_ERROR_INVALID_CONTEXT
                                                                 : CUDA_SUCCESS;
}

weft_host_launch ShapeOf(const CUDA_KERNEL_NODE_PARAMS& params) {
  return {params.gridDimX,  params.gridDimY,  params.gridDimZ,      params.blockDimX,
          params.blockDimY, params.blockDimZ, params.sharedMemBytes};
}

CUresult MakeKernelAction(Runtime& runtime, const CUDA_KERNEL_NODE_PARAMS* params,
                          ActionPtr* action) {
  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (params->func == nullptr && params->kern != nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const std::shared_ptr<Function> function = runtime.functions.Find(HandleNumber(params->func));
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const LaunchRequest request{ShapeOf(*params), params->kernelParams, params->extra};
  return MakeKernelLaunch(function, request, action);
}

CUresult MakeCopyAction(Runtime& runtime, const CUDA_MEMCPY3D* params, CUcontext context,
                        ActionPtr* action) {
  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  WEFT_CU_RETURN_IF_ERROR(CheckContext(runtime, context));
  return MakeCopy3D(runtime.regions, *params, action);
}

CUresult MakeFillAction(Runtime& runtime, const CUDA_MEMSET_NODE_PARAMS* params, CUcontext context,
                        ActionPtr* action) {
  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  // A call may fill nothing, a node may not.
  if (params->width == 0 || params->height == 0) return CUDA_ERROR_INVALID_VALUE;
  WEFT_CU_RETURN_IF_ERROR(CheckContext(runtime, context));
  return MakeFill(runtime.regions, *params, action);
}

CUresult AddEventNode(Runtime& runtime, const NodePlace& place, CUgraphNodeType type,
                      CUevent handle) {
  NodeSpec spec;
  spec.type = type;
  spec.event = runtime.events.Find(HandleNumber(handle));
  if (spec.event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return AddNode(runtime, place, std::move(spec));
}

CUresult AddChildNode(Runtime& runtime, const NodePlace& place, CUgraph handle) {
  const std::shared_ptr<RecordedGraph> child = runtime.graphs.Find(HandleNumber(handle));
  if (child == nullptr || handle == place.graph) return CUDA_ERROR_INVALID_VALUE;
  if (child->graph->has_conditional()) return CUDA_ERROR_INVALID_VALUE;  // as the API says
  NodeSpec spec;
  spec.type = CU_GRAPH_NODE_TYPE_GRAPH;
  spec.child = std::make_shared<const GraphBody>(child->graph->Snapshot());
  return AddNode(runtime, place, std::move(spec));
}

CUresult SetNodeAction(Runtime& runtime, CUgraphExec exec_handle, CUgraphNode node_handle,
                       CUgraphNodeType type, ActionPtr action) {
  const std::shared_ptr<GraphExec> exec = runtime.execs.Find(HandleNumber(exec_handle));
  const std::shared_ptr<GraphNode> node = runtime.nodes.Find(HandleNumber(node_handle));
  if (exec == nullptr || node == nullptr || node->graph.get() != &exec->graph()) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return exec->SetAction(node->index, type, std::move(action));
}

CUresult CheckInstantiateFlags(unsigned long long flags) {
  constexpr unsigned long long kKnown =
      CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
      CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  if ((flags & ~kKnown) != 0) return CUDA_ERROR_INVALID_VALUE;
  const unsigned long long here = CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  return (flags & ~here) == 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult UpdateExec(Runtime& runtime, CUgraphExec exec_handle, CUgraph graph_handle,
                    CUgraphExecUpdateResultInfo* info) {
  info->result = CU_GRAPH_EXEC_UPDATE_ERROR;
  info->errorNode = nullptr;
  info->errorFromNode = nullptr;
  const std::shared_ptr<GraphExec> exec = runtime.execs.Find(HandleNumber(exec_handle));
  const std::shared_ptr<RecordedGraph> graph = runtime.graphs.Find(HandleNumber(graph_handle));
  if (exec == nullptr || graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  GraphExec::UpdateFailure failure;
  const CUresult updated = exec->Update(*graph->graph, &failure);
  info->result = failure.reason;
  if (failure.node != GraphExec::UpdateFailure::kNoNode) {
    MutexLock lock(graph->mu);
    info->errorNode = MakeHandle<CUgraphNode>(graph->nodes[failure.node]);
  }
  return updated;
}

}  // namespace
}  // namespace weft::hostcuda

using namespace weft::hostcuda;  // NOLINT(google-build-using-namespace): the functions are global

extern "C" {

CUresult CUDAAPI cuGraphCreate(CUgraph* graph, unsigned int flags) {
  return Call(ApiFunction::k_cuGraphCreate, [&](Runtime& runtime) -> CUresult {
    if (graph == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    *graph = MakeHandle<CUgraph>(runtime.graphs.Insert(std::make_shared<RecordedGraph>()));
    return CUDA_SUCCESS;
  });
}

// What was instantiated from it stays.
CUresult CUDAAPI cuGraphDestroy(CUgraph handle) {
  return CallToEnd(ApiFunction::k_cuGraphDestroy, [&](Runtime& runtime) -> CUresult {
    const std::shared_ptr<RecordedGraph> graph = runtime.graphs.Find(HandleNumber(handle));
    // The body of a conditional node is that node's.
    if (graph == nullptr || graph->graph->is_body()) return CUDA_ERROR_INVALID_VALUE;
    ForgetGraph(runtime, HandleNumber(handle));
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph,
                                      const CUgraphNode* dependencies, size_t count,
                                      const CUDA_KERNEL_NODE_PARAMS* params) {
  return CallOnDevice(ApiFunction::k_cuGraphAddKernelNode, [&](Runtime& runtime) -> CUresult {
    NodeSpec spec;
    spec.type = CU_GRAPH_NODE_TYPE_KERNEL;
    WEFT_CU_RETURN_IF_ERROR(MakeKernelAction(runtime, params, &spec.action));
    spec.shape = ShapeOf(*params);
    return AddNode(runtime, {node, graph, dependencies, count}, std::move(spec));
  });
}

CUresult CUDAAPI cuGraphKernelNodeSetAttribute(CUgraphNode handle, CUkernelNodeAttrID id,
                                               const CUkernelNodeAttrValue* value) {
  return CallOnDevice(
      ApiFunction::k_cuGraphKernelNodeSetAttribute, [&](Runtime& runtime) -> CUresult {
        if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
        const std::shared_ptr<GraphNode> node = runtime.nodes.Find(HandleNumber(handle));
        if (node == nullptr) return CUDA_ERROR_INVALID_VALUE;
        return node->graph->SetAttribute(node->index, id, *value);
      });
}

CUresult CUDAAPI cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph,
                                      const CUgraphNode* dependencies, size_t count,
                                      const CUDA_MEMCPY3D* params, CUcontext context) {
  return CallOnDevice(ApiFunction::k_cuGraphAddMemcpyNode, [&](Runtime& runtime) -> CUresult {
    NodeSpec spec;
    spec.type = CU_GRAPH_NODE_TYPE_MEMCPY;
    WEFT_CU_RETURN_IF_ERROR(MakeCopyAction(runtime, params, context, &spec.action));
    return AddNode(runtime, {node, graph, dependencies, count}, std::move(spec));
  });
}

CUresult CUDAAPI cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph,
                                      const CUgraphNode* dependencies, size_t count,
                                      const CUDA_MEMSET_NODE_PARAMS* params, CUcontext context) {
  return CallOnDevice(ApiFunction::k_cuGraphAddMemsetNode, [&](Runtime& runtime) -> CUresult {
    NodeSpec spec;
    spec.type = CU_GRAPH_NODE_TYPE_MEMSET;
    WEFT_CU_RETURN_IF_ERROR(MakeFillAction(runtime, params, context, &spec.action));
    return AddNode(runtime, {node, graph, dependencies, count}, std::move(spec));
  });
}

CUresult CUDAAPI cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph,
                                     const CUgraphNode* dependencies, size_t count) {
  return CallOnDevice(ApiFunction::k_cuGraphAddEmptyNode, [&](Runtime& runtime) {
    return AddNode(runtime, {node, graph, dependencies, count}, NodeSpec{});
  });
}

CUresult CUDAAPI cuGraphAddHostNode(CUgraphNode* node, CUgraph graph,
                                    const CUgraphNode* dependencies, size_t count,
                                    const CUDA_HOST_NODE_PARAMS* params) {
  return CallOnDevice(ApiFunction::k_cuGraphAddHostNode, [&](Runtime& runtime) -> CUresult {
    if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
    NodeSpec spec;
    spec.type = CU_GRAPH_NODE_TYPE_HOST;
    WEFT_CU_RETURN_IF_ERROR(MakeHostCall(params->fn, params->userData, &spec.action));
    return AddNode(runtime, {node, graph, dependencies, count}, std::move(spec));
  });
}

CUresult CUDAAPI cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph,
                                          const CUgraphNode* dependencies, size_t count,
                                          CUgraph child) {
  return CallOnDevice(ApiFunction::k_cuGraphAddChildGraphNode, [&](Runtime& runtime) {
    return AddChildNode(runtime, {node, graph, dependencies, count}, child);
  });
}

CUresult CUDAAPI cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph,
                                           const CUgraphNode* dependencies, size_t count,
                                           CUevent event) {
  return CallOnDevice(ApiFunction::k_cuGraphAddEventRecordNode, [&](Runtime& runtime) {
    return AddEventNode(runtime, {node, graph, dependencies, count},
                        CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
  });
}

CUresult CUDAAPI cuGraphAddEventWaitNode(CUgraphNode* node, CUgraph graph,
                                         const CUgraphNode* dependencies, size_t count,
                                         CUevent event) {
  return CallOnDevice(ApiFunction::k_cuGraphAddEventWaitNode, [&](Runtime& runtime) {
    return AddEventNode(runtime, {node, graph, dependencies, count}, CU_GRAPH_NODE_TYPE_WAIT_EVENT,
                        event);
  });
}

CUresult CUDAAPI cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph handle,
                                             unsigned long long flags) {
  return CallOnDevice(
      ApiFunction::k_cuGraphInstantiateWithFlags, [&](Runtime& runtime) -> CUresult {
        if (exec == nullptr) return CUDA_ERROR_INVALID_VALUE;
        WEFT_CU_RETURN_IF_ERROR(CheckInstantiateFlags(flags));
        const std::shared_ptr<RecordedGraph> graph = runtime.graphs.Find(HandleNumber(handle));
        if (graph == nullptr || graph->graph->is_body()) return CUDA_ERROR_INVALID_VALUE;
        if (HasUnusedCondition(*graph)) return CUDA_ERROR_INVALID_VALUE;
        std::shared_ptr<GraphExec> made = GraphExec::Instantiate(graph->graph, flags);
        if (made == nullptr) return CUDA_ERROR_NOT_SUPPORTED;  // the one it may have is there
        *exec = MakeHandle<CUgraphExec>(runtime.execs.Insert(std::move(made)));
        return CUDA_SUCCESS;
      });
}

// Makes what the next launch needs ahead of it. There is no other memory to bring it to.
CUresult CUDAAPI cuGraphUpload(CUgraphExec exec_handle, CUstream handle) {
  return CallInContext(
      ApiFunction::k_cuGraphUpload, [&](Runtime& runtime, const ContextPtr& context) -> CUresult {
        std::shared_ptr<Stream> stream;
        WEFT_CU_RETURN_IF_ERROR(FindStream(runtime, context, handle, &stream));
        const std::shared_ptr<GraphExec> exec = runtime.execs.Find(HandleNumber(exec_handle));
        if (exec == nullptr) return CUDA_ERROR_INVALID_VALUE;
        exec->Upload();
        return CUDA_SUCCESS;
      });
}

CUresult CUDAAPI cuGraphLaunch(CUgraphExec exec_handle, CUstream handle) {
  return CallInContext(
      ApiFunction::k_cuGraphLaunch, [&](Runtime& runtime, const ContextPtr& context) -> CUresult {
        std::shared_ptr<Stream> stream;
        WEFT_CU_RETURN_IF_ERROR(FindStream(runtime, context, handle, &stream));
        const std::shared_ptr<GraphExec> exec = runtime.execs.Find(HandleNumber(exec_handle));
        if (exec == nullptr) return CUDA_ERROR_INVALID_VALUE;
        WEFT_CU_RETURN_IF_ERROR(RefuseCapture(*stream));
        return LaunchGraph(*exec, stream);
      });
}

// Launches that are queued or running go on.
CUresult CUDAAPI cuGraphExecDestroy(CUgraphExec exec) {
  return CallToEnd(ApiFunction::k_cuGraphExecDestroy, [&](Runtime& runtime) -> CUresult {
    return runtime.execs.Remove(HandleNumber(exec)) == nullptr ? CUDA_ERROR_INVALID_VALUE
                                                               : CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                const CUDA_KERNEL_NODE_PARAMS* params) {
  return CallOnDevice(
      ApiFunction::k_cuGraphExecKernelNodeSetParams, [&](Runtime& runtime) -> CUresult {
        ActionPtr action;
        WEFT_CU_RETURN_IF_ERROR(MakeKernelAction(runtime, params, &action));
        return SetNodeAction(runtime, exec, node, CU_GRAPH_NODE_TYPE_KERNEL, std::move(action));
      });
}

CUresult CUDAAPI cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                const CUDA_MEMCPY3D* params, CUcontext context) {
  return CallOnDevice(
      ApiFunction::k_cuGraphExecMemcpyNodeSetParams, [&](Runtime& runtime) -> CUresult {
        ActionPtr action;
        WEFT_CU_RETURN_IF_ERROR(MakeCopyAction(runtime, params, context, &action));
        // One dimension only, as the API says; a node of more fails by its exchange rule.
        if (!action->exchange_rule().flat) return CUDA_ERROR_INVALID_VALUE;
        return SetNodeAction(runtime, exec, node, CU_GRAPH_NODE_TYPE_MEMCPY, std::move(action));
      });
}

CUresult CUDAAPI cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                const CUDA_MEMSET_NODE_PARAMS* params,
                                                CUcontext context) {
  return CallOnDevice(
      ApiFunction::k_cuGraphExecMemsetNodeSetParams, [&](Runtime& runtime) -> CUresult {
        ActionPtr action;
        WEFT_CU_RETURN_IF_ERROR(MakeFillAction(runtime, params, context, &action));
        return SetNodeAction(runtime, exec, node, CU_GRAPH_NODE_TYPE_MEMSET, std::move(action));
      });
}

CUresult CUDAAPI cuGraphExecUpdate(CUgraphExec exec, CUgraph graph,
                                   CUgraphExecUpdateResultInfo* info) {
  return CallOnDevice(ApiFunction::k_cuGraphExecUpdate, [&](Runtime& runtime) -> CUresult {
    if (info == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return UpdateExec(runtime, exec, graph, info);
  });
}

}  // extern "C"
