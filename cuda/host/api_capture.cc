// Stream capture.
#include "cuda/host/api_call.h"
#include "cuda/host/capture.h"

namespace weft::hostcuda {
namespace {

// The captured nodes get handles, as those of cuGraphAdd… have.
CUgraph MakeCapturedGraph(Runtime& runtime, const Capture::Result& result) {
  auto recorded = std::make_shared<RecordedGraph>();
  recorded->graph = result.graph;
  {
    MutexLock lock(recorded->mu);
    for (uint32_t index = 0; index < result.node_count; ++index) {
      auto node = std::make_shared<GraphNode>();
      node->graph = result.graph;
      node->index = index;
      recorded->nodes.push_back(runtime.nodes.Insert(std::move(node)));
    }
  }
  return MakeHandle<CUgraph>(runtime.graphs.Insert(std::move(recorded)));
}

}  // namespace
}  // namespace weft::hostcuda

using namespace weft::hostcuda;  // NOLINT(google-build-using-namespace): the functions are global

extern "C" {

CUresult CUDAAPI cuStreamBeginCapture(CUstream handle, CUstreamCaptureMode mode) {
  return CallInContext(
      ApiFunction::k_cuStreamBeginCapture,
      [&](Runtime& runtime, const ContextPtr& context) -> CUresult {
        if (mode < CU_STREAM_CAPTURE_MODE_GLOBAL || mode > CU_STREAM_CAPTURE_MODE_RELAXED) {
          return CUDA_ERROR_INVALID_VALUE;
        }
        std::shared_ptr<Stream> stream;
        WEFT_CU_RETURN_IF_ERROR(FindStream(runtime, context, handle, &stream));
        if (stream->kind() == Stream::Kind::kLegacy) {
          return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
        return Capture::Begin(stream, mode);
      });
}

CUresult CUDAAPI cuStreamEndCapture(CUstream handle, CUgraph* graph) {
  return CallInContext(ApiFunction::k_cuStreamEndCapture,
                       [&](Runtime& runtime, const ContextPtr& context) -> CUresult {
                         if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
                         *graph = nullptr;
                         std::shared_ptr<Stream> stream;
                         WEFT_CU_RETURN_IF_ERROR(FindStream(runtime, context, handle, &stream));
                         const std::shared_ptr<Capture> capture = stream->capture();
                         if (capture == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
                         Capture::Result result;
                         WEFT_CU_RETURN_IF_ERROR(capture->End(*stream, &result));
                         *graph = MakeCapturedGraph(runtime, result);
                         return CUDA_SUCCESS;
                       });
}

}  // extern "C"
