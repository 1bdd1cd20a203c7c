#include "server/daemon/socket_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/error_context.h"
#include "base/status_macros.h"
#include "server/daemon/errors.h"

namespace weft::daemon {
namespace {

// Connections that wait to be accepted. The accept thread does nothing else; 128 is for a burst.
constexpr int kBacklog = 128;

std::string LockPath(const std::string& path) { return absl::StrCat(path, ".lock"); }

absl::Status MakeFolder(const std::string& path) {
  const std::string folder = path.substr(0, path.rfind('/'));
  if (folder.empty() || ::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) {
    return absl::OkStatus();
  }
  return ErrnoError(errno, "mkdir", folder);
}

sockaddr_un AddressOf(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  // FinishConfig bounds the length.
  std::memcpy(address.sun_path, path.data(), std::min(path.size(), sizeof address.sun_path - 1));
  return address;
}

absl::StatusOr<UniqueFd> NewSocket() {
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return ErrnoError(errno, "socket", "AF_UNIX");
  return fd;
}

bool SameFile(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

pid_t PidIn(int lock) {
  char text[32] = {};
  if (::pread(lock, text, sizeof text - 1, 0) <= 0) return 0;
  return static_cast<pid_t>(std::atol(text));
}

struct Lock {
  UniqueFd fd;
  bool existed = false;
};

// Opens and locks the lock file. Its holder may remove it at the same time: what was locked must
// still be what lies at the path.
absl::StatusOr<Lock> Acquire(const std::string& socket) {
  const std::string path = LockPath(socket);
  for (;;) {
    Lock lock;
    lock.existed = ::access(path.c_str(), F_OK) == 0;
    lock.fd.reset(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!lock.fd.valid()) return ErrnoError(errno, "open", path);
    if (::flock(lock.fd.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) return ErrnoError(errno, "flock", path);
      return AlreadyRunningError(socket, PidIn(lock.fd.get()));
    }
    struct stat locked = {};
    struct stat there = {};
    if (::fstat(lock.fd.get(), &locked) != 0) return ErrnoError(errno, "fstat", path);
    if (::lstat(path.c_str(), &there) == 0 && SameFile(locked, there)) return lock;
  }
}

absl::Status WritePid(int lock) {
  const std::string text = absl::StrCat(::getpid(), "\n");
  if (::ftruncate(lock, 0) != 0 ||
      ::pwrite(lock, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return ErrnoError(errno, "write", "lock file");
  }
  return absl::OkStatus();
}

// True when something accepts connections at `path`, or may.
absl::StatusOr<bool> SomeoneListens(const std::string& path) {
  WEFT_ASSIGN_OR_RETURN(const UniqueFd probe, NewSocket());
  const sockaddr_un address = AddressOf(path);
  if (::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return true;
  }
  return errno != ECONNREFUSED;
}

// Removes what a weftd that was killed has left at `path`.
absl::Status RemoveStale(const std::string& path, bool lock_existed) {
  struct stat there = {};
  if (::lstat(path.c_str(), &there) != 0) {
    return errno == ENOENT ? absl::OkStatus() : ErrnoError(errno, "lstat", path);
  }
  if (!S_ISSOCK(there.st_mode)) return NotOurSocketError(path, "is not a socket");
  WEFT_ASSIGN_OR_RETURN(const bool listens, SomeoneListens(path));
  if (listens) return NotOurSocketError(path, "is the socket of another program");
  if (!lock_existed || there.st_uid != ::geteuid()) {
    return NotOurSocketError(path, "is a socket that no weftd of this user has left");
  }
  if (::unlink(path.c_str()) != 0) return ErrnoError(errno, "unlink", path);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<SocketFile>> SocketFile::Listen(const std::string& path,
                                                               mode_t mode) {
  WEFT_RETURN_IF_ERROR(MakeFolder(path));
  WEFT_ASSIGN_OR_RETURN(Lock lock, Acquire(path));
  const absl::Status stale = RemoveStale(path, lock.existed);
  if (!stale.ok()) {
    if (!lock.existed) ::unlink(LockPath(path).c_str());
    return stale;
  }
  // From here on the destructor removes the lock file.
  std::unique_ptr<SocketFile> file(new SocketFile(path, std::move(lock.fd)));
  WEFT_RETURN_IF_ERROR(WritePid(file->lock_.get()));
  WEFT_RETURN_IF_ERROR(file->Bind(mode));
  return file;
}

absl::Status SocketFile::Bind(mode_t mode) {
  WEFT_ASSIGN_OR_RETURN(listening_, NewSocket());
  // bind gives the file the socket's own mode, less the umask: never more than `mode`. The chmod
  // after it gives back what the umask took.
  if (::fchmod(listening_.get(), mode) != 0) return ErrnoError(errno, "fchmod", path_);
  const sockaddr_un address = AddressOf(path_);
  if (::bind(listening_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return ErrnoError(errno, "bind", path_);
  }
  if (::lstat(path_.c_str(), &bound_) != 0) return ErrnoError(errno, "lstat", path_);
  if (::chmod(path_.c_str(), mode) != 0) return ErrnoError(errno, "chmod", path_);
  if (::listen(listening_.get(), kBacklog) != 0) return ErrnoError(errno, "listen", path_);
  return absl::OkStatus();
}

SocketFile::~SocketFile() {
  struct stat there = {};
  if (bound_.st_ino != 0 && ::lstat(path_.c_str(), &there) == 0 && SameFile(bound_, there)) {
    ::unlink(path_.c_str());
  }
  // Before the lock is given up with its descriptor: see Acquire.
  ::unlink(LockPath(path_).c_str());
}

}  // namespace weft::daemon
