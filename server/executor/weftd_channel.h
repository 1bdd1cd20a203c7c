// The executor's end of the fd socket: the handshake and the messages of
// transport/executor_messages.h.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/unique_fd.h"
#include "transport/executor_messages.h"
#include "transport/fd_socket.h"
#include "transport/shared_memory.h"

namespace weft::executor {

// What weftd hands over at the start.
struct Attachment {
  UniqueFd ring;
  transport::SharedMemory transfer_area;
};

// Thread safety: Send and TakeImport from any thread; the others by the thread that owns it.
class WeftdChannel {
 public:
  explicit WeftdChannel(UniqueFd socket) : socket_(std::move(socket)) {}
  WeftdChannel(const WeftdChannel&) = delete;
  WeftdChannel& operator=(const WeftdChannel&) = delete;
  // Ends the connection and waits for the reading thread.
  ~WeftdChannel();

  // Blocks while weftd does not read. UNAVAILABLE: weftd is gone.
  absl::Status Send(transport::ExecutorMessage kind, uint64_t tag, std::string body = "") const;
  absl::Status SendFd(transport::ExecutorMessage kind, uint64_t tag, int fd) const;

  // The first message of weftd. Blocks. REQUIRES: StartReading was not called.
  absl::StatusOr<Attachment> AwaitAttach() const;

  // Reads on a thread of its own from now on; `on_closed` is called on it, once, when weftd has
  // closed its end (not when this object ends the connection). REQUIRES: called once at most.
  void StartReading(std::function<void()> on_closed);

  // One of the descriptors that weftd sent with kImport and `tag`; waits for it. DEADLINE_EXCEEDED.
  absl::StatusOr<UniqueFd> TakeImport(uint64_t tag, absl::Duration timeout);

 private:
  void Read(const std::function<void()>& on_closed);
  void Accept(transport::FdMessage message);

  const transport::FdSocket socket_;
  absl::Mutex mutex_;
  // Several of one tag: memory of another device is sent for every graph that is prepared with it.
  absl::flat_hash_map<uint64_t, std::vector<UniqueFd>> imports_ ABSL_GUARDED_BY(mutex_);
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread reader_;
};

}  // namespace weft::executor
