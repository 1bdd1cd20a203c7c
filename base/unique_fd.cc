#include "base/unique_fd.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "base/error_context.h"

namespace weft {

void UniqueFd::reset(int fd) {
  // EINTR after close(2) on Linux means closed: a retry could close another thread's descriptor.
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

absl::StatusOr<UniqueFd> UniqueFd::Duplicate() const {
  const int fd = ::fcntl(fd_, F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return ErrnoError(errno, "fcntl", "F_DUPFD_CLOEXEC");
  return UniqueFd(fd);
}

absl::StatusOr<UniqueFd> UniqueFd::Memfd(const std::string& name, uint64_t size, Seal seal) {
  UniqueFd fd(::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid()) return ErrnoError(errno, "memfd_create", name);
  if (::ftruncate(fd.get(), static_cast<off_t>(size)) != 0) {
    return ErrnoError(errno, "ftruncate", absl::StrCat(name, ", ", size, " bytes"));
  }
  if (seal == Seal::kSealSize &&
      ::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return ErrnoError(errno, "fcntl", absl::StrCat("F_ADD_SEALS, ", name));
  }
  return fd;
}

absl::StatusOr<UniqueFd> UniqueFd::Eventfd() {
  UniqueFd fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!fd.valid()) return ErrnoError(errno, "eventfd", "");
  return fd;
}

absl::StatusOr<UniqueFd> UniqueFd::Pidfd(pid_t pid) {
  UniqueFd fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!fd.valid()) return ErrnoError(errno, "pidfd_open", absl::StrCat(pid));
  return fd;
}

absl::StatusOr<std::pair<UniqueFd, UniqueFd>> UniqueFd::SocketPair(int type) {
  int fds[2];
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds) != 0) {
    return ErrnoError(errno, "socketpair", "AF_UNIX");
  }
  return std::make_pair(UniqueFd(fds[0]), UniqueFd(fds[1]));
}

}  // namespace weft
