#include "server/daemon/job_service.h"

#include <grpcpp/grpcpp.h>

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "server/daemon/errors.h"
#include "server/daemon/id_text.h"
#include "server/daemon/request_context.h"
#include "server/daemon/to_proto.h"
#include "server/daemon/waiting_call.h"
#include "server/daemon/watch_call.h"

namespace weft::daemon {

JobService::JobService(const Parts& parts) : p_(parts) {
  SetMessageAllocatorFor_Submit(&submit_messages_);
}

grpc::ServerUnaryReactor* JobService::Submit(grpc::CallbackServerContext* context,
                                             const v1::SubmitRequest* request,
                                             v1::SubmitResponse* response) {
  const absl::StatusOr<Caller> caller = CallerOf(*context, p_.sessions);
  if (!caller.ok()) return Answer(*context, caller.status());
  if (const absl::Status valid = CheckRequestId(request->request_id()); !valid.ok()) {
    return Answer(*context, valid);
  }
  auto call = WaitingCall::Create(p_.table, p_.timers, [response](const JobSnapshot& job) {
    response->set_job_id(FormatJobId(job.id));
    ToProto(job, *response->mutable_result());
  });
  v1::SubmitRequest& owned = submit_messages_.RequestOf(*context);
  p_.manager.Submit(*caller, std::move(*owned.mutable_job()),
                    std::move(*owned.mutable_request_id()),
                    [call, caller = *caller, wait = owned.wait()](absl::StatusOr<JobId> job) {
                      if (!job.ok()) return call->Fail(job.status());
                      if (wait) return call->AnswerAtEnd(caller, *job, 0);
                      call->AnswerNow(caller, *job);
                    });
  return call.get();
}

grpc::ServerUnaryReactor* JobService::Wait(grpc::CallbackServerContext* context,
                                           const v1::WaitRequest* request,
                                           v1::WaitResponse* response) {
  const absl::StatusOr<Caller> caller = CallerOf(*context, p_.sessions);
  if (!caller.ok()) return Answer(*context, caller.status());
  const absl::StatusOr<JobId> job = ParseJobId(request->job_id());
  if (!job.ok()) return Answer(*context, job.status());
  auto call = WaitingCall::Create(p_.table, p_.timers, [response](const JobSnapshot& ended) {
    ToProto(ended, *response->mutable_result());
  });
  call->AnswerAtEnd(*caller, *job, request->timeout_ms());
  return call.get();
}

grpc::ServerWriteReactor<v1::WatchResponse>* JobService::Watch(grpc::CallbackServerContext* context,
                                                               const v1::WatchRequest* request) {
  auto call = WatchCall::Create(p_.table);
  const absl::StatusOr<Caller> caller = CallerOf(*context, p_.sessions);
  const absl::StatusOr<JobId> job = ParseJobId(request->job_id());
  if (!caller.ok()) {
    call->Fail(caller.status());
  } else if (!job.ok()) {
    call->Fail(job.status());
  } else {
    call->Start(*caller, *job);
  }
  return call.get();
}

grpc::ServerUnaryReactor* JobService::Get(grpc::CallbackServerContext* context,
                                          const v1::GetJobRequest* request,
                                          v1::GetJobResponse* response) {
  const absl::StatusOr<Caller> caller = CallerOf(*context, p_.sessions);
  if (!caller.ok()) return Answer(*context, caller.status());
  const absl::StatusOr<JobId> id = ParseJobId(request->job_id());
  if (!id.ok()) return Answer(*context, id.status());
  const absl::StatusOr<JobSnapshot> job = p_.table.Get(*caller, *id);
  if (!job.ok()) return Answer(*context, job.status());
  ToProto(*job, *response->mutable_info());
  const std::shared_ptr<const CompiledJob> compiled = job->spec->compiled.lock();
  if (!request->include_plan() || compiled == nullptr) return Answer(*context, absl::OkStatus());
  // Planning a large job again takes its time.
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  p_.workers.Post([this, compiled, response, reactor, name = job->spec->name] {
    const absl::StatusOr<std::string> text = p_.compiler.PlanText(*compiled, name);
    if (text.ok()) response->set_plan_text(*text);
    reactor->Finish(ToGrpc(text.status()));
  });
  return reactor;
}

grpc::ServerUnaryReactor* JobService::List(grpc::CallbackServerContext* context,
                                           const v1::ListJobsRequest* request,
                                           v1::ListJobsResponse* response) {
  const absl::StatusOr<Caller> caller = CallerOf(*context, p_.sessions);
  if (!caller.ok()) return Answer(*context, caller.status());
  return Answer(*context, FillPage(*caller, *request, *response));
}

absl::Status JobService::FillPage(const Caller& caller, const v1::ListJobsRequest& request,
                                  v1::ListJobsResponse& response) const {
  WEFT_ASSIGN_OR_RETURN(const uint32_t limit, PageSize(request.page_size()));
  std::optional<JobId> before;
  if (!request.page_token().empty()) {
    const absl::StatusOr<JobId> token = ParseJobId(request.page_token());
    if (!token.ok()) return FieldError("page_token", "was not made by this server.");
    before = *token;
  }
  constexpr int kStates = v1::JobState_ARRAYSIZE - 1;
  if (request.states_size() > kStates) {
    return FieldError("states", absl::StrCat("has ", request.states_size(), " entries; there are ",
                                             kStates, " states."));
  }
  std::vector<JobState> states;
  for (const int state : request.states()) {
    WEFT_ASSIGN_OR_RETURN(states.emplace_back(), FromProto(static_cast<v1::JobState>(state)));
  }
  const JobPage page = p_.table.List(caller, before, limit, states);
  for (const JobSnapshot& job : page.items) ToProto(job, *response.add_jobs());
  if (page.next.has_value()) response.set_next_page_token(FormatJobId(*page.next));
  return absl::OkStatus();
}

grpc::ServerUnaryReactor* JobService::Cancel(grpc::CallbackServerContext* context,
                                             const v1::CancelRequest* request,
                                             v1::CancelResponse* response) {
  const absl::StatusOr<Caller> caller = CallerOf(*context, p_.sessions);
  if (!caller.ok()) return Answer(*context, caller.status());
  const absl::StatusOr<JobId> id = ParseJobId(request->job_id());
  if (!id.ok()) return Answer(*context, id.status());
  const absl::StatusOr<JobSnapshot> job = p_.manager.Cancel(*caller, *id);
  if (job.ok()) ToProto(*job, *response->mutable_info());
  return Answer(*context, job.status());
}

}  // namespace weft::daemon
