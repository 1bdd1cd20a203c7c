#include "transport/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error_context.h"
#include "base/status_macros.h"

namespace weft::transport {

absl::StatusOr<SharedMemory> SharedMemory::MapChecked(UniqueFd fd, uint64_t size_bytes) {
  void* data =
      ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), /*offset=*/0);
  if (data == MAP_FAILED) {
    return ErrnoError(errno, "mmap", absl::StrCat("shared memory of ", size_bytes, " bytes"));
  }
  return SharedMemory(std::move(fd), static_cast<std::byte*>(data), size_bytes);
}

absl::StatusOr<SharedMemory> SharedMemory::Create(const std::string& name, uint64_t size_bytes) {
  WEFT_ASSIGN_OR_RETURN(UniqueFd fd, UniqueFd::Memfd(name, size_bytes, UniqueFd::Seal::kSealSize));
  return MapChecked(std::move(fd), size_bytes);
}

absl::StatusOr<SharedMemory> SharedMemory::Map(UniqueFd fd, uint64_t min_bytes,
                                               uint64_t max_bytes) {
  // Seals first: only behind them does the size stay what fstat says.
  const int seals = ::fcntl(fd.get(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) {
    return absl::FailedPreconditionError(
        "shared memory from a peer must be a memfd sealed against shrinking");
  }
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return ErrnoError(errno, "fstat", "shared memory");
  const auto size = static_cast<uint64_t>(info.st_size);
  if (size == 0 || size < min_bytes || size > max_bytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "shared memory from a peer has ", size, " bytes; expected ", min_bytes, " to ", max_bytes));
  }
  return MapChecked(std::move(fd), size);
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : fd_(std::move(other.fd_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  if (this != &other) {
    Unmap();
    fd_ = std::move(other.fd_);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

void SharedMemory::Unmap() {
  if (data_ != nullptr) ::munmap(data_, size_);
  data_ = nullptr;
  size_ = 0;
}

}  // namespace weft::transport
