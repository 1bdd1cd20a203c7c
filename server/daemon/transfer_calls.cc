#include "server/daemon/transfer_calls.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "server/daemon/errors.h"
#include "server/daemon/request_context.h"
#include "server/daemon/to_proto.h"

namespace weft::daemon {
namespace {

absl::Status GoneError() { return absl::CancelledError("the caller went away"); }

}  // namespace

std::shared_ptr<WriteCall> WriteCall::Create(BufferManager& buffers, const ServerState& state,
                                             v1::WriteBufferResponse& response) {
  std::shared_ptr<WriteCall> call(new WriteCall(buffers, state, response));
  call->self_ = call;
  return call;
}

void WriteCall::Start(const Caller& caller) {
  caller_ = caller;
  StartRead(&request_);
}

void WriteCall::Fail(const absl::Status& status) {
  if (transfer_ != nullptr) transfer_->End();
  Finish(ToGrpc(status));
}

// Also when the stream broke: what was taken is written.
void WriteCall::End() {
  transfer_->End();
  response_.set_written_bytes(transfer_->done_bytes());
  Finish(grpc::Status::OK);
}

void WriteCall::OnReadDone(bool ok) {
  if (!ok) {
    if (transfer_ != nullptr) return End();
    return Fail(FieldError("buffer", "the stream ended before its first message."));
  }
  data_ = std::move(*request_.mutable_data());
  data_done_ = 0;
  if (transfer_ != nullptr) return WriteNext();
  if (const absl::Status begun = Begin(); !begun.ok()) return Fail(begun);
  if (!stage_.Enter()) return Fail(GoneError());
  transfer_->Open();
}

absl::Status WriteCall::Begin() {
  if (state_.draining) return DrainingError();
  WEFT_ASSIGN_OR_RETURN(const std::string reference, FromProto(request_.buffer()));
  WEFT_ASSIGN_OR_RETURN(transfer_,
                        buffers_.Begin(caller_, reference, {request_.offset_bytes(), 0},
                                       kernels::Access::kReadWrite, [self = shared_from_this()] {
                                         if (self->stage_.Go()) self->WriteNext();
                                       }));
  return absl::OkStatus();
}

void WriteCall::WriteNext() {
  if (data_done_ == data_.size()) return StartRead(&request_);
  // The usual message is one chunk and is not copied.
  const size_t size = std::min<size_t>(data_.size() - data_done_, kMaxTransferBytes);
  std::string chunk = size == data_.size() ? std::move(data_) : data_.substr(data_done_, size);
  data_done_ = data_.empty() ? 0 : data_done_ + size;
  transfer_->Write(std::move(chunk), [self = shared_from_this()](const absl::Status& status) {
    if (!status.ok()) return self->Fail(status);
    self->WriteNext();
  });
}

void WriteCall::OnCancel() {
  // Before and after the wait, the read in progress ends it.
  if (stage_.Cancel()) Fail(GoneError());
}

std::shared_ptr<ReadCall> ReadCall::Create() {
  std::shared_ptr<ReadCall> call(new ReadCall);
  call->self_ = call;
  return call;
}

void ReadCall::Start(BufferManager& buffers, const Caller& caller,
                     const v1::ReadBufferRequest& request) {
  const absl::StatusOr<std::string> reference = FromProto(request.buffer());
  if (!reference.ok()) return Fail(reference.status());
  absl::StatusOr<std::shared_ptr<BufferTransfer>> transfer =
      buffers.Begin(caller, *reference, {request.offset_bytes(), request.size_bytes()},
                    kernels::Access::kRead, [self = shared_from_this()] {
                      if (self->stage_.Go()) self->ReadNext();
                    });
  if (!transfer.ok()) return Fail(transfer.status());
  transfer_ = *std::move(transfer);
  if (!stage_.Enter()) return End(GoneError());
  transfer_->Open();
}

void ReadCall::Fail(const absl::Status& status) { Finish(ToGrpc(status)); }

void ReadCall::End(const absl::Status& status) {
  transfer_->End();
  Finish(ToGrpc(status));
}

void ReadCall::ReadNext() {
  if (transfer_->left() == 0) return End(absl::OkStatus());
  transfer_->Read([self = shared_from_this()](absl::StatusOr<std::string> bytes) {
    if (!bytes.ok()) return self->End(bytes.status());
    self->response_.set_data(*std::move(bytes));
    self->StartWrite(&self->response_);
  });
}

void ReadCall::OnWriteDone(bool ok) {
  if (!ok) return End(GoneError());
  ReadNext();
}

void ReadCall::OnCancel() {
  // After the wait, the write that follows ends it.
  if (stage_.Cancel()) End(GoneError());
}

}  // namespace weft::daemon
