// The memory of the devices: blocks of it, each an anonymous memory file, and how much of a device
// they use.
//
// A block is what cuMemCreate makes. Its file descriptor is what is exported: it can be mapped by
// any process that gets it, and its bytes outlive the process that made it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "cuda/host/cuda_api.h"
#include "cuda/host/mutex.h"

namespace weft::hostcuda {

class DeviceMemory;

// Bytes of one device. Freed when the last reference (handle or mapping of this process) is gone.
// Thread safety: immutable.
class MemoryBlock {
 public:
  using FileId = std::pair<uint64_t, uint64_t>;  // st_dev, st_ino

  ~MemoryBlock();
  MemoryBlock(const MemoryBlock&) = delete;
  MemoryBlock& operator=(const MemoryBlock&) = delete;

  int fd() const { return fd_.get(); }
  const UniqueFd& file() const { return fd_; }
  uint64_t size() const { return size_; }
  int device() const { return device_; }
  FileId file_id() const { return id_; }

 private:
  friend class DeviceMemory;
  MemoryBlock(DeviceMemory& owner, UniqueFd fd, FileId id, uint64_t size, int device)
      : owner_(owner), fd_(std::move(fd)), id_(id), size_(size), device_(device) {}

  DeviceMemory& owner_;
  UniqueFd fd_;
  const FileId id_;
  const uint64_t size_;
  const int device_;
};

// Thread safety: all members may be called from any thread. Outlives its blocks.
class DeviceMemory {
 public:
  // cuMemGetAllocationGranularity, as on the GPUs that Weft runs on.
  static constexpr uint64_t kGranularity = uint64_t{2} << 20;

  DeviceMemory(int devices, uint64_t bytes_each);

  // A block of zeros. Errors: OUT_OF_MEMORY when the device has less left, or the system does.
  CUresult Allocate(int device, uint64_t size, std::shared_ptr<MemoryBlock>* block);
  // The block of a descriptor that some process exported; the descriptor stays the caller's. The
  // same memory gives the same block. It counts as used, but is never refused for want of memory:
  // it is there already. Errors: INVALID_VALUE when the descriptor is no exported block.
  CUresult Import(int fd, std::shared_ptr<MemoryBlock>* block);

  uint64_t total_bytes() const { return total_; }
  uint64_t free_bytes(int device) const;

 private:
  friend class MemoryBlock;
  void Forget(const MemoryBlock& block);
  std::shared_ptr<MemoryBlock> Adopt(UniqueFd fd, MemoryBlock::FileId id, uint64_t size, int device)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const uint64_t total_;
  mutable Mutex mu_;
  std::vector<uint64_t> used_ ABSL_GUARDED_BY(mu_);
  std::map<MemoryBlock::FileId, std::weak_ptr<MemoryBlock>> blocks_ ABSL_GUARDED_BY(mu_);
};

}  // namespace weft::hostcuda
