// The streams of BufferService: Write and Read. Each waits for its place in the order between jobs,
// then moves chunk after chunk, one at a time, and holds no thread meanwhile.
//
// Thread safety: gRPC and the executor's client call one after the other; who ends a call that
// waits for its place is decided by its TransferStage. Both keep the call alive.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/daemon/buffer_manager.h"
#include "server/daemon/caller.h"
#include "server/daemon/server_state.h"
#include "weft/v1/service.pb.h"

namespace weft::daemon {

// Where a transfer is, between gRPC's threads (which may tell at any time that the caller went away)
// and whoever makes it ready.
//
//   before ──Enter──▶ waiting ──Go──▶ going
//      └────Cancel───────┴──────▶ cancelled
class TransferStage {
 public:
  // False: cancelled meanwhile; the caller of this ends the call.
  bool Enter() { return Move(Stage::kBefore, Stage::kWaiting); }
  // False: cancelled meanwhile; the call was ended.
  bool Go() { return Move(Stage::kWaiting, Stage::kGoing); }
  // True: it was waiting; the caller of this ends the call. Otherwise the next step ends it.
  bool Cancel() {
    if (Move(Stage::kBefore, Stage::kCancelled)) return false;
    return Move(Stage::kWaiting, Stage::kCancelled);
  }

 private:
  enum class Stage : uint8_t { kBefore, kWaiting, kGoing, kCancelled };
  bool Move(Stage from, Stage to) { return stage_.compare_exchange_strong(from, to); }
  std::atomic<Stage> stage_{Stage::kBefore};
};

class WriteCall final : public grpc::ServerReadReactor<v1::WriteBufferRequest>,
                        public std::enable_shared_from_this<WriteCall> {
 public:
  static std::shared_ptr<WriteCall> Create(BufferManager& buffers, const ServerState& state,
                                           v1::WriteBufferResponse& response);

  void Start(const Caller& caller);
  void Fail(const absl::Status& status);

 private:
  WriteCall(BufferManager& buffers, const ServerState& state, v1::WriteBufferResponse& response)
      : buffers_(buffers), state_(state), response_(response) {}

  void OnReadDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override { self_.reset(); }
  absl::Status Begin();
  void WriteNext();
  void End();

  BufferManager& buffers_;
  const ServerState& state_;
  v1::WriteBufferResponse& response_;
  std::shared_ptr<WriteCall> self_;  // until gRPC is done with it
  Caller caller_;
  std::shared_ptr<BufferTransfer> transfer_;
  TransferStage stage_;
  v1::WriteBufferRequest request_;
  std::string data_;      // of the message at hand
  size_t data_done_ = 0;  // bytes of it that were written
};

class ReadCall final : public grpc::ServerWriteReactor<v1::ReadBufferResponse>,
                       public std::enable_shared_from_this<ReadCall> {
 public:
  static std::shared_ptr<ReadCall> Create();

  void Start(BufferManager& buffers, const Caller& caller, const v1::ReadBufferRequest& request);
  void Fail(const absl::Status& status);

 private:
  ReadCall() = default;

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override { self_.reset(); }
  void ReadNext();
  void End(const absl::Status& status);

  std::shared_ptr<ReadCall> self_;  // until gRPC is done with it
  std::shared_ptr<BufferTransfer> transfer_;
  TransferStage stage_;
  v1::ReadBufferResponse response_;
};

}  // namespace weft::daemon
