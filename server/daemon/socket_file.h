// The Unix socket that weftd listens on, and the lock that makes it weftd's own.
//
// Beside the socket lies `<socket>.lock`, held with flock while weftd runs and removed with the
// socket at its end. A socket that lies there already is removed only when all of this holds: the
// lock file was there too (an earlier weftd left both) and nobody holds it, the socket is this
// user's, and nobody listens on it. Anything that is no socket is never removed.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/unique_fd.h"

namespace weft::daemon {

// Thread safety: as a value.
class SocketFile {
 public:
  // Locks, binds and listens; makes the folder (mode 0700) when it is missing. The socket has `mode`
  // (never more, from its first moment on).
  // FAILED_PRECONDITION: another weftd serves it (its pid is named), or what lies there is not ours.
  static absl::StatusOr<std::unique_ptr<SocketFile>> Listen(const std::string& path, mode_t mode);
  // Removes the socket, when it is still the same, and the lock file.
  ~SocketFile();
  SocketFile(const SocketFile&) = delete;
  SocketFile& operator=(const SocketFile&) = delete;

  int fd() const { return listening_.get(); }
  const std::string& path() const { return path_; }

 private:
  SocketFile(std::string path, UniqueFd lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  absl::Status Bind(mode_t mode);

  const std::string path_;
  UniqueFd lock_;
  UniqueFd listening_;
  struct stat bound_ = {};  // of the socket's file; st_ino 0: not bound
};

}  // namespace weft::daemon
