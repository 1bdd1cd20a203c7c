#include "cuda/host/device_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace weft::hostcuda {
namespace {

// The name of a block's file says whose it is: an importer recognises it by its link in /proc.
constexpr char kFileName[] = "weft_hostcuda_";
// Without these a peer could shrink the file, and the next access here would be a SIGBUS.
constexpr int kSizeSeals = F_SEAL_SHRINK | F_SEAL_GROW;

CUresult FromErrno(int error) {
  return error == ENOMEM ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_OPERATING_SYSTEM;
}

// The device written in the name of the block's file; -1 when the descriptor is no block.
int DeviceOfFile(int fd) {
  char target[64];
  const std::string link = absl::StrCat("/proc/self/fd/", fd);
  const ssize_t length = ::readlink(link.c_str(), target, sizeof(target));
  if (length <= 0 || static_cast<size_t>(length) == sizeof(target)) return -1;
  absl::string_view name(target, static_cast<size_t>(length));
  int device = -1;
  if (!absl::ConsumePrefix(&name, absl::StrCat("/memfd:", kFileName))) return -1;
  absl::ConsumeSuffix(&name, " (deleted)");
  if (!absl::SimpleAtoi(name, &device) || device < 0) return -1;
  return device;
}

bool FileIdOf(int fd, MemoryBlock::FileId* id, uint64_t* size) {
  struct stat info;
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return false;
  *id = {info.st_dev, info.st_ino};
  *size = static_cast<uint64_t>(info.st_size);
  return true;
}

}  // namespace

MemoryBlock::~MemoryBlock() { owner_.Forget(*this); }

DeviceMemory::DeviceMemory(int devices, uint64_t bytes_each)
    : total_(bytes_each), used_(static_cast<size_t>(devices), 0) {}

std::shared_ptr<MemoryBlock> DeviceMemory::Adopt(UniqueFd fd, MemoryBlock::FileId id, uint64_t size,
                                                 int device) {
  std::shared_ptr<MemoryBlock> block(new MemoryBlock(*this, std::move(fd), id, size, device));
  used_[static_cast<size_t>(device)] += size;
  blocks_[id] = block;
  return block;
}

CUresult DeviceMemory::Allocate(int device, uint64_t size, std::shared_ptr<MemoryBlock>* block) {
  MutexLock lock(mu_);
  const uint64_t used = used_[static_cast<size_t>(device)];
  if (used > total_ || size > total_ - used) return CUDA_ERROR_OUT_OF_MEMORY;
  UniqueFd fd(
      ::memfd_create(absl::StrCat(kFileName, device).c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid()) return FromErrno(errno);
  if (::ftruncate(fd.get(), static_cast<off_t>(size)) != 0) return FromErrno(errno);
  if (::fcntl(fd.get(), F_ADD_SEALS, kSizeSeals | F_SEAL_SEAL) != 0) return FromErrno(errno);
  MemoryBlock::FileId id;
  uint64_t file_size = 0;
  if (!FileIdOf(fd.get(), &id, &file_size)) return CUDA_ERROR_OPERATING_SYSTEM;
  *block = Adopt(std::move(fd), id, size, device);
  return CUDA_SUCCESS;
}

CUresult DeviceMemory::Import(int fd, std::shared_ptr<MemoryBlock>* block) {
  MemoryBlock::FileId id;
  uint64_t size = 0;
  if (fd < 0 || !FileIdOf(fd, &id, &size)) return CUDA_ERROR_INVALID_VALUE;
  const int seals = ::fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & kSizeSeals) != kSizeSeals || size == 0) return CUDA_ERROR_INVALID_VALUE;
  int device = DeviceOfFile(fd);
  if (device < 0) return CUDA_ERROR_INVALID_VALUE;
  UniqueFd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!copy.valid()) return FromErrno(errno);

  MutexLock lock(mu_);
  const auto known = blocks_.find(id);
  if (known != blocks_.end()) {
    if (std::shared_ptr<MemoryBlock> live = known->second.lock()) {
      *block = std::move(live);
      return CUDA_SUCCESS;
    }
  }
  // Its maker may have had more devices than this process has.
  if (static_cast<size_t>(device) >= used_.size()) device = 0;
  *block = Adopt(std::move(copy), id, size, device);
  return CUDA_SUCCESS;
}

uint64_t DeviceMemory::free_bytes(int device) const {
  MutexLock lock(mu_);
  const uint64_t used = used_[static_cast<size_t>(device)];
  return used >= total_ ? 0 : total_ - used;
}

void DeviceMemory::Forget(const MemoryBlock& block) {
  MutexLock lock(mu_);
  used_[static_cast<size_t>(block.device())] -= block.size();
  const auto known = blocks_.find(block.file_id());
  // The entry may already be that of a newer import of the same file.
  if (known != blocks_.end() && known->second.expired()) blocks_.erase(known);
}

}  // namespace weft::hostcuda
