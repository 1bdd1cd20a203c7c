#include "server/executor/weftd_channel.h"

#include <array>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "server/executor/errors.h"

namespace weft::executor {

using transport::ExecutorMessage;
using transport::FdMessage;

WeftdChannel::~WeftdChannel() {
  {
    const absl::MutexLock lock(&mutex_);
    closing_ = true;
  }
  socket_.Shutdown();
  if (reader_.joinable()) reader_.join();
}

absl::Status WeftdChannel::Send(ExecutorMessage kind, uint64_t tag, std::string body) const {
  return socket_.Send(
      {.kind = static_cast<uint32_t>(kind), .tag = tag, .body = std::move(body), .fds = {}});
}

absl::Status WeftdChannel::SendFd(ExecutorMessage kind, uint64_t tag, int fd) const {
  const std::array<int, 1> fds = {fd};
  return socket_.Send({.kind = static_cast<uint32_t>(kind), .tag = tag, .body = "", .fds = {}},
                      fds);
}

absl::StatusOr<Attachment> WeftdChannel::AwaitAttach() const {
  WEFT_ASSIGN_OR_RETURN(FdMessage message, socket_.Receive());
  if (message.kind != static_cast<uint32_t>(ExecutorMessage::kAttach) || message.fds.size() != 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected the attach message with 2 descriptors from weftd, got kind ",
                     message.kind, " with ", message.fds.size()));
  }
  Attachment attachment{.ring = std::move(message.fds[0])};
  WEFT_ASSIGN_OR_RETURN(attachment.transfer_area,
                        transport::SharedMemory::Map(std::move(message.fds[1]), 1,
                                                     std::numeric_limits<uint64_t>::max()));
  return attachment;
}

void WeftdChannel::StartReading(std::function<void()> on_closed) {
  reader_ = std::thread([this, on_closed = std::move(on_closed)] { Read(on_closed); });
}

void WeftdChannel::Read(const std::function<void()>& on_closed) {
  for (;;) {
    absl::StatusOr<FdMessage> message = socket_.Receive();
    if (message.ok()) {
      Accept(*std::move(message));
    } else if (message.status().code() == absl::StatusCode::kInvalidArgument) {
      log::Warning("message of weftd", {{"error", message.status().ToString()}});
    } else {
      break;
    }
  }
  {
    const absl::MutexLock lock(&mutex_);
    if (closing_) return;
  }
  on_closed();
}

void WeftdChannel::Accept(FdMessage message) {
  if (message.kind != static_cast<uint32_t>(ExecutorMessage::kImport) || message.fds.size() != 1) {
    log::Warning("unexpected message of weftd",
                 {{"kind", absl::StrCat(message.kind)}, {"fds", absl::StrCat(message.fds.size())}});
    return;
  }
  const absl::MutexLock lock(&mutex_);
  imports_[message.tag].push_back(std::move(message.fds.front()));
}

absl::StatusOr<UniqueFd> WeftdChannel::TakeImport(uint64_t tag, absl::Duration timeout) {
  const absl::MutexLock lock(&mutex_);
  const auto arrived = [this, tag]()
                           ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return imports_.contains(tag); };
  if (!mutex_.AwaitWithTimeout(absl::Condition(&arrived), timeout)) return MissingFdError(tag);
  const auto it = imports_.find(tag);
  UniqueFd fd = std::move(it->second.back());
  it->second.pop_back();
  if (it->second.empty()) imports_.erase(it);
  return fd;
}

}  // namespace weft::executor
