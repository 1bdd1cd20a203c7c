#include "server/daemon/buffer_service.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/error_context.h"
#include "base/status_macros.h"
#include "graph/ir/data_type.h"
#include "graph/ir/limits.h"
#include "server/daemon/errors.h"
#include "server/daemon/request_context.h"
#include "server/daemon/to_proto.h"
#include "server/daemon/transfer_calls.h"

namespace weft::daemon {
namespace {

// 1 to 128 characters of [A-Za-z0-9_.-].
bool IsName(absl::string_view name) {
  return !name.empty() && name.size() <= ir::kMaxNameBytes &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '.' || c == '-';
         });
}

void CheckShape(const v1::CreateBufferRequest& request, BufferSpec& spec,
                std::vector<FieldViolation>& violations) {
  if (request.shape_size() > static_cast<int>(ir::kMaxDimensions)) {
    violations.push_back(
        {"shape", absl::StrCat("has ", request.shape_size(), " dimensions; at most ",
                               ir::kMaxDimensions, " are allowed.")});
    return;
  }
  for (int i = 0; i < request.shape_size(); ++i) {
    if (request.shape(i) < 1) {
      violations.push_back(
          {absl::StrCat("shape[", i, "]"), absl::StrCat(request.shape(i),
                                                        " is less than 1: a buffer has at "
                                                        "least one byte.")});
      return;
    }
    spec.shape.push_back(static_cast<uint64_t>(request.shape(i)));
  }
  if (spec.shape.empty()) spec.shape.push_back(1);
  const std::optional<uint64_t> bytes = ir::BytesOf(spec.shape, spec.dtype, ir::kMaxBufferBytes);
  if (bytes.has_value()) {
    spec.size_bytes = *bytes;
  } else {
    violations.push_back({"shape", absl::StrCat("is more than ", ir::kMaxBufferBytes,
                                                " bytes, the limit of a buffer.")});
  }
}

absl::StatusOr<BufferSpec> ToSpec(const v1::CreateBufferRequest& request) {
  BufferSpec spec;
  spec.name = request.name();
  spec.device = request.device();
  std::vector<FieldViolation> violations;
  if (!request.name().empty() && !IsName(request.name())) {
    violations.push_back({"name", "may have 1 to 128 characters of [A-Za-z0-9_.-]."});
  }
  const v1::DataType type =
      request.data_type() == v1::DATA_TYPE_UNSPECIFIED ? v1::DATA_TYPE_U8 : request.data_type();
  if (const auto dtype = ir::DTypeOf(type)) {
    spec.dtype = *dtype;
  } else {
    violations.push_back({"data_type", absl::StrCat(static_cast<int>(type), " is no data type.")});
  }
  CheckShape(request, spec, violations);
  if (!violations.empty()) return InvalidArgumentError(std::move(violations));
  return spec;
}

}  // namespace

grpc::ServerUnaryReactor* BufferService::Create(grpc::CallbackServerContext* context,
                                                const v1::CreateBufferRequest* request,
                                                v1::CreateBufferResponse* response) {
  const absl::StatusOr<Caller> caller = CallerOf(*context, p_.sessions);
  if (!caller.ok()) return Answer(*context, caller.status());
  if (p_.state.draining) return Answer(*context, DrainingError());
  absl::StatusOr<BufferSpec> spec = ToSpec(*request);
  if (!spec.ok()) return Answer(*context, spec.status());
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  p_.manager.Create(*caller, *std::move(spec),
                    [response, reactor](const absl::StatusOr<BufferSnapshot>& buffer) {
                      if (buffer.ok()) ToProto(*buffer, *response->mutable_buffer());
                      reactor->Finish(ToGrpc(buffer.status()));
                    });
  return reactor;
}

grpc::ServerUnaryReactor* BufferService::Get(grpc::CallbackServerContext* context,
                                             const v1::GetBufferRequest* request,
                                             v1::GetBufferResponse* response) {
  const absl::StatusOr<Caller> caller = CallerOf(*context, p_.sessions);
  if (!caller.ok()) return Answer(*context, caller.status());
  const absl::StatusOr<std::string> reference = FromProto(request->buffer());
  if (!reference.ok()) return Answer(*context, reference.status());
  const absl::StatusOr<BufferSnapshot> buffer = p_.registry.Find(*caller, *reference);
  if (buffer.ok()) ToProto(*buffer, *response->mutable_buffer());
  return Answer(*context, buffer.status());
}

grpc::ServerUnaryReactor* BufferService::List(grpc::CallbackServerContext* context,
                                              const v1::ListBuffersRequest* request,
                                              v1::ListBuffersResponse* response) {
  const absl::StatusOr<Caller> caller = CallerOf(*context, p_.sessions);
  if (!caller.ok()) return Answer(*context, caller.status());
  return Answer(*context, FillPage(*caller, *request, *response));
}

absl::Status BufferService::FillPage(const Caller& caller, const v1::ListBuffersRequest& request,
                                     v1::ListBuffersResponse& response) const {
  WEFT_ASSIGN_OR_RETURN(const uint32_t limit, PageSize(request.page_size()));
  uint64_t after = 0;
  if (!request.page_token().empty() && !absl::SimpleAtoi(request.page_token(), &after)) {
    return FieldError("page_token", "was not made by this server.");
  }
  const BufferPage page = p_.registry.List(caller, BufferId(after), limit);
  for (const BufferSnapshot& buffer : page.items) ToProto(buffer, *response.add_buffers());
  if (page.next.has_value()) response.set_next_page_token(absl::StrCat(page.next->value()));
  return absl::OkStatus();
}

grpc::ServerUnaryReactor* BufferService::Delete(grpc::CallbackServerContext* context,
                                                const v1::DeleteBufferRequest* request,
                                                v1::DeleteBufferResponse*) {
  const absl::StatusOr<Caller> caller = CallerOf(*context, p_.sessions);
  if (!caller.ok()) return Answer(*context, caller.status());
  const absl::StatusOr<std::string> reference = FromProto(request->buffer());
  if (!reference.ok()) return Answer(*context, reference.status());
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  p_.manager.Delete(*caller, *reference,
                    [reactor](const absl::Status& status) { reactor->Finish(ToGrpc(status)); });
  return reactor;
}

grpc::ServerReadReactor<v1::WriteBufferRequest>* BufferService::Write(
    grpc::CallbackServerContext* context, v1::WriteBufferResponse* response) {
  auto call = WriteCall::Create(p_.manager, p_.state, *response);
  const absl::StatusOr<Caller> caller = CallerOf(*context, p_.sessions);
  if (caller.ok()) {
    call->Start(*caller);
  } else {
    call->Fail(caller.status());
  }
  return call.get();
}

grpc::ServerWriteReactor<v1::ReadBufferResponse>* BufferService::Read(
    grpc::CallbackServerContext* context, const v1::ReadBufferRequest* request) {
  auto call = ReadCall::Create();
  const absl::StatusOr<Caller> caller = CallerOf(*context, p_.sessions);
  if (caller.ok()) {
    call->Start(p_.manager, *caller, *request);
  } else {
    call->Fail(caller.status());
  }
  return call.get();
}

}  // namespace weft::daemon
