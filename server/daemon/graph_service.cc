#include "server/daemon/graph_service.h"

#include <grpcpp/grpcpp.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/error_context.h"
#include "base/status_macros.h"
#include "server/daemon/errors.h"
#include "server/daemon/request_context.h"
#include "server/daemon/to_proto.h"
#include "server/daemon/waiting_call.h"

namespace weft::daemon {
namespace {

constexpr size_t kMaxViolations = 64;  // of one launch, listed

std::vector<UploadBytes> Shared(std::vector<std::string> uploads) {
  std::vector<UploadBytes> shared;
  shared.reserve(uploads.size());
  for (std::string& bytes : uploads) {
    shared.push_back(std::make_shared<const std::string>(std::move(bytes)));
  }
  return shared;
}

// The graph's uploads with those of `request` in their place; takes the bytes out of it.
absl::StatusOr<std::vector<UploadBytes>> UploadsOf(const ClientGraph& graph,
                                                   v1::LaunchRequest& request) {
  std::vector<UploadBytes> uploads = graph.uploads;
  std::vector<FieldViolation> violations;
  const CompiledJob& compiled = *graph.compiled;
  for (int i = 0; i < request.uploads_size() && violations.size() < kMaxViolations; ++i) {
    v1::UploadData& given = *request.mutable_uploads(i);
    const auto known = compiled.upload_by_node.find(given.node());
    const std::string field = absl::StrCat("uploads[", i, "]");
    if (known == compiled.upload_by_node.end()) {
      violations.push_back(
          {field + ".node", absl::StrCat("the graph has no upload node \"", given.node(), "\".")});
      continue;
    }
    const uint64_t wanted = compiled.uploads[known->second].staging.size;
    if (given.data().size() != wanted) {
      violations.push_back(
          {field + ".data", absl::StrCat("has ", given.data().size(), " bytes; node \"",
                                         given.node(), "\" takes ", wanted, ".")});
      continue;
    }
    uploads[known->second] = std::make_shared<const std::string>(std::move(*given.mutable_data()));
  }
  if (!violations.empty()) return InvalidArgumentError(std::move(violations));
  return uploads;
}

}  // namespace

// A Prepare on its way.
struct GraphService::PrepareCall {
  grpc::ServerUnaryReactor* reactor = nullptr;
  v1::PrepareResponse* response = nullptr;
  Caller caller;
  ClientGraph graph;
};

GraphService::GraphService(const Parts& parts) : p_(parts) {
  SetMessageAllocatorFor_Prepare(&prepare_messages_);
  SetMessageAllocatorFor_Launch(&launch_messages_);
}

grpc::ServerUnaryReactor* GraphService::Prepare(grpc::CallbackServerContext* context,
                                                const v1::PrepareRequest*,
                                                v1::PrepareResponse* response) {
  const absl::StatusOr<Caller> caller = CallerOf(*context, p_.sessions);
  if (!caller.ok()) return Answer(*context, caller.status());
  if (p_.state.draining) return Answer(*context, DrainingError());
  auto call = std::make_unique<PrepareCall>();
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  call->reactor = reactor;
  call->response = response;
  call->caller = *caller;
  v1::PrepareRequest& owned = prepare_messages_.RequestOf(*context);
  p_.manager.Compile(
      *caller, std::move(*owned.mutable_job()),
      [this, call = std::move(call)](absl::StatusOr<std::shared_ptr<const CompiledJob>> compiled,
                                     ReceivedJob received) mutable {
        if (!compiled.ok()) return call->reactor->Finish(ToGrpc(compiled.status()));
        call->graph.compiled = *std::move(compiled);
        call->graph.options = JobCompiler::OptionsOf(received);
        call->graph.uploads = Shared(std::move(received.uploads));
        OnCompiled(std::move(call));
      });
  return reactor;
}

// Pins it, and makes sure of an instance: what cannot be built is told now and not at the launch.
void GraphService::OnCompiled(std::unique_ptr<PrepareCall> call) {
  const std::shared_ptr<const CompiledJob> compiled = call->graph.compiled;
  absl::StatusOr<std::shared_ptr<ExecutorClient>> client = p_.executors.Find(compiled->device);
  if (!client.ok()) return call->reactor->Finish(ToGrpc(client.status()));
  if (const absl::Status pinned = p_.cache.Pin(compiled); !pinned.ok()) {
    return call->reactor->Finish(ToGrpc(pinned));
  }
  p_.cache.Acquire(compiled, *std::move(client),
                   [this, call = std::move(call)](absl::StatusOr<GraphLease> lease) mutable {
                     const absl::Status status = lease.status();
                     if (lease.ok()) lease->Return();
                     // Printing the plan takes its time.
                     p_.workers.Post([this, status, call = std::move(call)]() mutable {
                       OnInstance(std::move(call), status);
                     });
                   });
}

void GraphService::OnInstance(std::unique_ptr<PrepareCall> call, const absl::Status& status) {
  const std::shared_ptr<const CompiledJob> compiled = call->graph.compiled;
  const absl::StatusOr<std::string> text =
      status.ok() ? p_.compiler.PlanText(*compiled, call->graph.options.name)
                  : absl::StatusOr<std::string>(status);
  if (!text.ok()) {
    p_.cache.Unpin(*compiled);
    return call->reactor->Finish(ToGrpc(text.status()));
  }
  call->response->set_plan_text(*text);
  call->response->set_scratch_bytes(compiled->scratch_bytes);
  const SessionId session = call->caller.session;
  const PreparedGraphs::Id id = p_.graphs.Add(session, std::move(call->graph));
  call->response->set_graph_id(FormatGraphId(id));
  // The session may have ended meanwhile, with nobody left to release the graph.
  if (!p_.sessions.IsOpen(session)) p_.graphs.EndSession(session);
  call->reactor->Finish(grpc::Status::OK);
}

absl::StatusOr<JobId> GraphService::AcceptLaunch(const Caller& caller, const ClientGraph& graph,
                                                 v1::LaunchRequest& request) {
  WEFT_ASSIGN_OR_RETURN(std::vector<UploadBytes> uploads, UploadsOf(graph, request));
  return p_.manager.Accept({.caller = caller,
                            .request_id = std::move(*request.mutable_request_id()),
                            .options = graph.options,
                            .compiled = graph.compiled,
                            .uploads = std::move(uploads)});
}

grpc::ServerUnaryReactor* GraphService::Launch(grpc::CallbackServerContext* context,
                                               const v1::LaunchRequest* request,
                                               v1::LaunchResponse* response) {
  const absl::StatusOr<Caller> caller = CallerOf(*context, p_.sessions);
  if (!caller.ok()) return Answer(*context, caller.status());
  if (const absl::Status valid = CheckRequestId(request->request_id()); !valid.ok()) {
    return Answer(*context, valid);
  }
  const absl::StatusOr<PreparedGraphs::Id> id = ParseGraphId(request->graph_id());
  if (!id.ok()) return Answer(*context, id.status());
  const auto graph = p_.graphs.BeginLaunch(caller->session, *id);
  if (!graph.ok()) return Answer(*context, graph.status());
  v1::LaunchRequest& owned = launch_messages_.RequestOf(*context);
  const absl::StatusOr<JobId> job = AcceptLaunch(*caller, **graph, owned);
  if (!job.ok()) {
    p_.graphs.EndLaunch(*id);
    return Answer(*context, job.status());
  }
  auto call = WaitingCall::Create(p_.table, p_.timers, [response](const JobSnapshot& snapshot) {
    response->set_job_id(FormatJobId(snapshot.id));
    ToProto(snapshot, *response->mutable_result());
  });
  // Before the call waits: when the caller sees the end, the launch does not count any more.
  const absl::StatusOr<uint64_t> counted = p_.table.Wait(
      *caller, *job, [this, id = *id](const JobSnapshot&) { p_.graphs.EndLaunch(id); });
  if (!counted.ok()) p_.graphs.EndLaunch(*id);
  if (owned.wait()) {
    call->AnswerAtEnd(*caller, *job, 0);
  } else {
    call->AnswerNow(*caller, *job);
  }
  return call.get();
}

grpc::ServerUnaryReactor* GraphService::Release(grpc::CallbackServerContext* context,
                                                const v1::ReleaseRequest* request,
                                                v1::ReleaseResponse*) {
  const absl::StatusOr<Caller> caller = CallerOf(*context, p_.sessions);
  if (!caller.ok()) return Answer(*context, caller.status());
  const absl::StatusOr<PreparedGraphs::Id> id = ParseGraphId(request->graph_id());
  if (!id.ok()) return Answer(*context, id.status());
  return Answer(*context, p_.graphs.Release(caller->session, *id));
}

}  // namespace weft::daemon
