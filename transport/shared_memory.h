// Memory that two processes see: a memfd whose size is sealed, and its mapping in this process.
//
// The seal is what makes the mapping safe: without it the peer could shrink the file, and every
// access behind the new end would be SIGBUS. Map therefore refuses a descriptor that is not sealed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "base/unique_fd.h"

namespace weft::transport {

// Owns descriptor and mapping; both end with it. Move-only; an empty one has no bytes.
// Thread safety: as a value; the bytes are shared with another process, and whoever reads them
// decides how. Cost: three system calls to make, and a page fault for each page first touched.
class SharedMemory {
 public:
  // A new area of `size_bytes` zeros, readable and writable. REQUIRES: size_bytes > 0.
  // `name` is for /proc/<pid>/maps only.
  static absl::StatusOr<SharedMemory> Create(const std::string& name, uint64_t size_bytes);

  // Maps an area that another process made. FAILED_PRECONDITION: not a memfd, or its size is not
  // sealed. INVALID_ARGUMENT: its size is not within [min_bytes, max_bytes].
  static absl::StatusOr<SharedMemory> Map(UniqueFd fd, uint64_t min_bytes, uint64_t max_bytes);
  // The same with an exact size.
  static absl::StatusOr<SharedMemory> Map(UniqueFd fd, uint64_t size_bytes) {
    return Map(std::move(fd), size_bytes, size_bytes);
  }

  SharedMemory() = default;
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory() { Unmap(); }

  std::byte* data() const { return data_; }  // page-aligned; null when empty
  uint64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int fd() const { return fd_.get(); }  // to send to the peer

 private:
  SharedMemory(UniqueFd fd, std::byte* data, uint64_t size)
      : fd_(std::move(fd)), data_(data), size_(size) {}
  static absl::StatusOr<SharedMemory> MapChecked(UniqueFd fd, uint64_t size_bytes);
  void Unmap();

  UniqueFd fd_;
  std::byte* data_ = nullptr;
  uint64_t size_ = 0;
};

}  // namespace weft::transport
