#include "server/executor/executor_service.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "cuda/memory.h"
#include "cuda/status.h"
#include "server/executor/errors.h"
#include "server/executor/graph_preparer.h"
#include "server/executor/graph_store.h"
#include "server/executor/launch_loop.h"
#include "server/executor/memory_map.h"
#include "server/executor/prepared_graph.h"
#include "server/executor/transfer_area.h"
#include "server/executor/weftd_channel.h"
#include "transport/executor_messages.h"

namespace weft::executor {
namespace {

// weftd sends the descriptor before the call, over a socket of the same machine.
constexpr absl::Duration kImportTimeout = absl::Seconds(10);

void FillTimeline(const LaunchReport& report, const GraphFacts& facts,
                  v1::GetLaunchReportResponse& response) {
  for (const build::NodeSpan& span : report.timeline) {
    ::weft::v1::NodeTiming* timing = response.add_timeline();
    if (span.node.value() < facts.node_names.size()) {
      timing->set_node(facts.node_names[span.node.value()]);
      timing->set_kind(facts.node_kinds[span.node.value()]);
    }
    timing->set_lane(span.lane.value());
    timing->set_start_ns(span.start_ns);
    timing->set_end_ns(span.end_ns);
    timing->set_occupancy(static_cast<float>(span.occupancy));
  }
}

}  // namespace

grpc::Status ExecutorServiceImpl::Answer(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  if (cuda::IsContextFatal(status)) {
    parts_.loop.ReportContextLost(status);
    // Whoever called has nothing to do with the fault: the call may be made again elsewhere.
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, std::string(status.message()),
                        transport::kContextLostDetail);
  }
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), std::string(status.message()));
}

absl::Status ExecutorServiceImpl::DoAllocate(const v1::AllocateRequest& request,
                                             v1::AllocateResponse& response) {
  WEFT_ASSIGN_OR_RETURN(const AllocatedMemory memory,
                        parts_.memory.Allocate(request.tag(), request.size_bytes()));
  absl::Status sent = parts_.channel.SendFd(transport::ExecutorMessage::kAllocation, request.tag(),
                                            memory.fd.get());
  if (!sent.ok()) {
    const absl::Status freed = parts_.memory.Free(request.tag());
    if (!freed.ok()) log::Warning("free after a failed send", {{"error", freed.ToString()}});
    return sent;
  }
  response.set_address(memory.address);
  response.set_allocated_bytes(memory.size_bytes);
  return absl::OkStatus();
}

absl::Status ExecutorServiceImpl::DoImport(const v1::ImportRequest& request) {
  WEFT_ASSIGN_OR_RETURN(const UniqueFd fd,
                        parts_.channel.TakeImport(request.tag(), kImportTimeout));
  return parts_.memory.Import(
      request.tag(),
      {.fd = fd.get(), .size_bytes = request.allocated_bytes(), .address = request.address()});
}

absl::Status ExecutorServiceImpl::DoMapPeer(const v1::MapPeerRequest& request) {
  WEFT_ASSIGN_OR_RETURN(const UniqueFd fd,
                        parts_.channel.TakeImport(request.tag(), kImportTimeout));
  return parts_.memory.MapPeer(request.tag(), {.fd = fd.get(),
                                               .size_bytes = request.allocated_bytes(),
                                               .device = static_cast<int>(request.device())});
}

absl::Status ExecutorServiceImpl::DoFree(const v1::FreeRequest& request) {
  WEFT_ASSIGN_OR_RETURN(const ByteRange range, parts_.memory.RangeOf(request.tag()));
  WEFT_RETURN_IF_ERROR(parts_.graphs.RetireUsersOf(range));
  return parts_.memory.Free(request.tag());
}

absl::Status ExecutorServiceImpl::DoPrepare(const v1::PrepareRequest& request,
                                            v1::PrepareResponse& response) {
  WEFT_ASSIGN_OR_RETURN(std::shared_ptr<PreparedGraph> graph,
                        parts_.preparer.Prepare(request, parts_.memory));
  response.set_staging_bytes(graph->staging().size());
  response.set_scratch_bytes(graph->scratch_bytes());
  WEFT_RETURN_IF_ERROR(parts_.graphs.Add(graph));
  if (graph->staging().empty()) return absl::OkStatus();
  absl::Status sent = parts_.channel.SendFd(transport::ExecutorMessage::kStaging,
                                            request.graph_id(), graph->staging().fd());
  if (!sent.ok()) parts_.graphs.Remove(graph->id()).IgnoreError();
  return sent;
}

absl::Status ExecutorServiceImpl::DoRelease(const v1::ReleaseRequest& request) {
  WEFT_ASSIGN_OR_RETURN(const std::shared_ptr<PreparedGraph> graph,
                        parts_.graphs.Remove(GraphId(request.graph_id())));
  parts_.preparer.Recycle(*graph);
  return absl::OkStatus();
}

absl::Status ExecutorServiceImpl::DoTransfer(const v1::TransferRequest& request) {
  const TransferRange range{.address = request.address(),
                            .offset_bytes = request.offset_bytes(),
                            .size_bytes = request.size_bytes()};
  switch (request.direction()) {
    case v1::TransferRequest::DIRECTION_TO_DEVICE:
      return parts_.transfers.ToDevice(range);
    case v1::TransferRequest::DIRECTION_FROM_DEVICE:
      return parts_.transfers.FromDevice(range);
    default:
      return absl::InvalidArgumentError("transfer without a direction");
  }
}

absl::Status ExecutorServiceImpl::DoGetLaunchReport(const v1::GetLaunchReportRequest& request,
                                                    v1::GetLaunchReportResponse& response) {
  const std::shared_ptr<PreparedGraph> graph = parts_.graphs.Find(GraphId(request.graph_id()));
  if (graph == nullptr) return UnknownGraphError(GraphId(request.graph_id()));
  WEFT_ASSIGN_OR_RETURN(const LaunchReport report, graph->Report());
  response.set_error_code(static_cast<int32_t>(report.status.code()));
  response.set_error_message(std::string(report.status.message()));
  response.set_error_node(report.node);
  FillTimeline(report, graph->facts(), response);
  return absl::OkStatus();
}

absl::Status ExecutorServiceImpl::DoGetMemory(v1::GetMemoryResponse& response) {
  WEFT_ASSIGN_OR_RETURN(const cuda::MemoryInfo info, cuda::QueryMemory(parts_.context));
  response.set_free_bytes(info.free_bytes);
  response.set_total_bytes(info.total_bytes);
  return absl::OkStatus();
}

grpc::Status ExecutorServiceImpl::Allocate(grpc::ServerContext*, const v1::AllocateRequest* request,
                                           v1::AllocateResponse* response) {
  return Answer(DoAllocate(*request, *response));
}

grpc::Status ExecutorServiceImpl::Import(grpc::ServerContext*, const v1::ImportRequest* request,
                                         v1::ImportResponse*) {
  return Answer(DoImport(*request));
}

grpc::Status ExecutorServiceImpl::MapPeer(grpc::ServerContext*, const v1::MapPeerRequest* request,
                                          v1::MapPeerResponse*) {
  return Answer(DoMapPeer(*request));
}

grpc::Status ExecutorServiceImpl::Free(grpc::ServerContext*, const v1::FreeRequest* request,
                                       v1::FreeResponse*) {
  return Answer(DoFree(*request));
}

grpc::Status ExecutorServiceImpl::Prepare(grpc::ServerContext*, const v1::PrepareRequest* request,
                                          v1::PrepareResponse* response) {
  return Answer(DoPrepare(*request, *response));
}

grpc::Status ExecutorServiceImpl::Release(grpc::ServerContext*, const v1::ReleaseRequest* request,
                                          v1::ReleaseResponse*) {
  return Answer(DoRelease(*request));
}

grpc::Status ExecutorServiceImpl::Transfer(grpc::ServerContext*, const v1::TransferRequest* request,
                                           v1::TransferResponse*) {
  return Answer(DoTransfer(*request));
}

grpc::Status ExecutorServiceImpl::GetLaunchReport(grpc::ServerContext*,
                                                  const v1::GetLaunchReportRequest* request,
                                                  v1::GetLaunchReportResponse* response) {
  return Answer(DoGetLaunchReport(*request, *response));
}

grpc::Status ExecutorServiceImpl::GetMemory(grpc::ServerContext*, const v1::GetMemoryRequest*,
                                            v1::GetMemoryResponse* response) {
  return Answer(DoGetMemory(*response));
}

grpc::Status ExecutorServiceImpl::Shutdown(grpc::ServerContext*, const v1::ShutdownRequest*,
                                           v1::ShutdownResponse*) {
  parts_.loop.Stop();
  return grpc::Status::OK;
}

}  // namespace weft::executor
