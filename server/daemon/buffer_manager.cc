#include "server/daemon/buffer_manager.h"

#include <utility>

#include "base/log.h"
#include "base/status_macros.h"
#include "server/daemon/errors.h"

namespace weft::daemon {

// A Create on its way.
struct BufferManager::CreateCall {
  BufferId id;
  SessionId session;
  uint32_t device = 0;
  uint64_t size_bytes = 0;
  uint64_t epoch = 0;
  std::shared_ptr<ExecutorClient> client;
  Created created;
  bool may_retry = true;  // once, after idle graphs made room on the device
};

void BufferManager::Create(const Caller& caller, BufferSpec spec, Created created) {
  auto call = std::make_unique<CreateCall>();
  call->session = caller.session;
  call->device = spec.device;
  call->size_bytes = spec.size_bytes;
  // Before the executor is looked up: a replacement in between is then noticed by Commit.
  call->epoch = registry_.Epoch(spec.device);
  absl::StatusOr<std::shared_ptr<ExecutorClient>> client = executors_.Find(spec.device);
  if (!client.ok()) return std::move(created)(client.status());
  absl::StatusOr<BufferId> id = registry_.Reserve(caller, std::move(spec));
  if (!id.ok()) return std::move(created)(id.status());
  call->id = *id;
  call->client = *std::move(client);
  call->created = std::move(created);
  Allocate(std::move(call));
}

void BufferManager::Allocate(std::unique_ptr<CreateCall> call) {
  ExecutorClient& client = *call->client;
  const BufferId id = call->id;
  const uint64_t size_bytes = call->size_bytes;
  client.Allocate(id, size_bytes,
                  [this, call = std::move(call)](absl::StatusOr<DeviceMemory> memory) mutable {
                    OnAllocated(std::move(call), std::move(memory));
                  });
}

void BufferManager::OnAllocated(std::unique_ptr<CreateCall> call,
                                absl::StatusOr<DeviceMemory> memory) {
  if (!memory.ok()) {
    if (absl::IsResourceExhausted(memory.status()) && call->may_retry) {
      return RetryAllocate(std::move(call), memory.status());
    }
    registry_.Abandon(call->id);
    return std::move(call->created)(memory.status());
  }
  absl::StatusOr<BufferSnapshot> buffer =
      registry_.Commit(call->id, *std::move(memory), call->epoch);
  // The session may have ended meanwhile, with nobody left to delete an unnamed buffer.
  if (buffer.ok() && !sessions_.IsOpen(call->session)) EndSession(call->session);
  std::move(call->created)(std::move(buffer));
}

void BufferManager::RetryAllocate(std::unique_ptr<CreateCall> call, const absl::Status& error) {
  call->may_retry = false;
  const std::shared_ptr<ExecutorClient> client = call->client;
  cache_.ReleaseIdle(client, [this, error, call = std::move(call)](size_t released) mutable {
    if (released > 0) return Allocate(std::move(call));
    registry_.Abandon(call->id);
    std::move(call->created)(error);
  });
}

void BufferManager::Delete(const Caller& caller, absl::string_view reference, DoneStatus done) {
  absl::StatusOr<RemovedBuffer> removed = registry_.Remove(caller, reference);
  if (!removed.ok()) return std::move(done)(removed.status());
  FreeMemory(*removed, std::move(done));
}

void BufferManager::EndSession(SessionId session) { FreeAll(registry_.EndSession(session)); }

void BufferManager::ReleaseUses(absl::Span<const BufferId> ids) {
  FreeAll(registry_.ReleaseUses(ids));
}

void BufferManager::FreeAll(const std::vector<RemovedBuffer>& removed) {
  for (const RemovedBuffer& buffer : removed) FreeMemory(buffer, [](const absl::Status&) {});
}

// The memory is the device's again once the last executor has unmapped it.
struct BufferManager::FreeCall {
  RemovedBuffer removed;
  DoneStatus done;
  std::atomic<size_t> left{0};
};

void BufferManager::FreeMemory(const RemovedBuffer& removed, DoneStatus done) {
  cache_.DropBuffer(removed.id);
  std::vector<uint32_t> devices = removed.peers;
  devices.push_back(removed.device);
  std::vector<std::shared_ptr<ExecutorClient>> clients;
  for (const uint32_t device : devices) {
    // Without an executor nothing maps the memory; its last descriptor went with the record.
    auto client = executors_.Find(device);
    if (client.ok()) clients.push_back(*std::move(client));
  }
  if (clients.empty()) {
    registry_.ReleaseQuota(removed);
    return std::move(done)(absl::OkStatus());
  }
  // Shared: the replies come on threads of all the clients.
  auto call = std::make_shared<FreeCall>();
  call->removed = removed;
  call->done = std::move(done);
  call->left = clients.size();
  for (const auto& client : clients) {
    client->Free(removed.id, [this, call](const absl::Status& status) { OnFreed(*call, status); });
  }
}

void BufferManager::OnFreed(FreeCall& call, const absl::Status& status) {
  // The buffer is gone for its owner either way. A lost executor has freed it by ending.
  if (!status.ok() && !absl::IsUnavailable(status) && !absl::IsNotFound(status)) {
    log::Error("buffer memory not freed", {{"buffer", std::to_string(call.removed.id.value())},
                                           {"error", std::string(status.message())}});
  }
  if (--call.left > 0) return;
  registry_.ReleaseQuota(call.removed);
  std::move(call.done)(absl::OkStatus());
}

absl::StatusOr<std::shared_ptr<BufferTransfer>> BufferManager::Begin(
    const Caller& caller, absl::string_view reference, ByteRange range, kernels::Access access,
    absl::AnyInvocable<void() &&> ready) {
  WEFT_ASSIGN_OR_RETURN(BufferSnapshot buffer, registry_.Find(caller, reference));
  const uint64_t total = buffer.spec.size_bytes;
  if (range.size == 0 && range.offset <= total) range.size = total - range.offset;
  if (!range.within(total)) return BufferRangeError(range.offset, range.size, total);
  const BufferId id = buffer.id;
  WEFT_RETURN_IF_ERROR(registry_.AddUses({id}));
  auto transfer = std::make_shared<BufferTransfer>(*this, std::move(buffer), range);
  transfer->unit_ = order_.Add({{id, range, access}}, std::move(ready));
  return transfer;
}

void BufferTransfer::End() {
  if (ended_.exchange(true)) return;
  manager_.ReleaseUses({buffer_.id});
  manager_.order_.End(unit_);
}

void BufferTransfer::Write(std::string bytes, ExecutorClient::DoneStatus done) {
  if (bytes.size() > left()) {
    return std::move(done)(
        BufferRangeError(range_.offset, done_bytes_ + bytes.size(), buffer_.spec.size_bytes));
  }
  absl::StatusOr<std::shared_ptr<ExecutorClient>> client =
      manager_.executors_.Find(buffer_.spec.device);
  if (!client.ok()) return std::move(done)(client.status());
  const uint64_t address = buffer_.address + range_.offset + done_bytes_;
  done_bytes_ += bytes.size();
  (*client)->Write(address, std::move(bytes), std::move(done));
}

void BufferTransfer::Read(ExecutorClient::Done<std::string> done) {
  absl::StatusOr<std::shared_ptr<ExecutorClient>> client =
      manager_.executors_.Find(buffer_.spec.device);
  if (!client.ok()) return std::move(done)(client.status());
  const uint64_t address = buffer_.address + range_.offset + done_bytes_;
  const uint64_t size = std::min(left(), kMaxTransferBytes);
  done_bytes_ += size;
  (*client)->Read(address, size, std::move(done));
}

}  // namespace weft::daemon
