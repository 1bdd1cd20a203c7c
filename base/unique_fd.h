// An owned file descriptor, closed exactly once. Every maker sets close-on-exec.
//
// Thread safety: as an int; one owner at a time.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace weft {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}  // takes ownership; -1 means none
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1);

  // A second descriptor of the same open file.
  absl::StatusOr<UniqueFd> Duplicate() const;

  // An anonymous memory file of `size` bytes (zeros), whose size can no longer change when `seal`
  // is kSealSize.
  enum class Seal { kNone, kSealSize };
  static absl::StatusOr<UniqueFd> Memfd(const std::string& name, uint64_t size, Seal seal);
  static absl::StatusOr<UniqueFd> Eventfd();
  static absl::StatusOr<UniqueFd> Pidfd(pid_t pid);
  // Two connected Unix sockets of `type` (SOCK_SEQPACKET, SOCK_STREAM).
  static absl::StatusOr<std::pair<UniqueFd, UniqueFd>> SocketPair(int type);

 private:
  int fd_ = -1;
};

}  // namespace weft
