#include "server/daemon/peer_mapper.h"

#include <utility>

#include "server/daemon/errors.h"
#include "server/daemon/id_text.h"

namespace weft::daemon {

// The buffers of one job, one after the other.
struct PeerMapper::Call {
  std::shared_ptr<const CompiledJob> compiled;
  std::shared_ptr<ExecutorClient> client;
  ExecutorClient::DoneStatus done;
  size_t next = 0;  // in compiled->peers
};

void PeerMapper::Map(const std::shared_ptr<const CompiledJob>& compiled,
                     const std::shared_ptr<ExecutorClient>& client,
                     ExecutorClient::DoneStatus done) {
  if (compiled->peers.empty()) return std::move(done)(absl::OkStatus());
  auto call = std::make_shared<Call>();
  call->compiled = compiled;
  call->client = client;
  call->done = std::move(done);
  Next(call);
}

void PeerMapper::Next(const std::shared_ptr<Call>& call) {
  if (call->next == call->compiled->peers.size()) return std::move(call->done)(absl::OkStatus());
  const absl::StatusOr<ImportEntry> entry =
      registry_.ImportForPeer(call->compiled->peers[call->next], call->compiled->device);
  if (!entry.ok()) return std::move(call->done)(entry.status());
  call->client->MapPeer(*entry,
                        [this, call](const absl::Status& status) { OnMapped(call, status); });
}

void PeerMapper::OnMapped(const std::shared_ptr<Call>& call, const absl::Status& status) {
  if (!status.ok()) return std::move(call->done)(status);
  const BufferId buffer = call->compiled->peers[call->next];
  // Its end may have come to the executor before the mapping did, and nobody would tell it again.
  // (The job holds the buffer, but a cancelled one no longer does.)
  if (!registry_.Contains(buffer)) {
    call->client->Free(buffer, [](const absl::Status&) {});
    return std::move(call->done)(UnknownBufferError(FormatBufferId(buffer)));
  }
  ++call->next;
  Next(call);
}

}  // namespace weft::daemon
