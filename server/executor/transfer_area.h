// The memory through which bytes of buffers go between weftd and the device.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cuda/context.h"
#include "cuda/memory.h"
#include "transport/shared_memory.h"

namespace weft::executor {

class MemoryMap;

// `size_bytes` at device address `address` and at `offset_bytes` of the area.
struct TransferRange {
  uint64_t address = 0;
  uint64_t offset_bytes = 0;
  uint64_t size_bytes = 0;
};

// Page-locked, so that the device copies it directly.
// Thread safety: all members may be called from any thread; which part of the area is whose is
// weftd's to know. Context and map outlive it.
class TransferArea {
 public:
  static absl::StatusOr<std::unique_ptr<TransferArea>> Create(const cuda::Context& context,
                                                              const MemoryMap& memory,
                                                              transport::SharedMemory area);
  TransferArea(const TransferArea&) = delete;
  TransferArea& operator=(const TransferArea&) = delete;

  // Block until the bytes are there. INVALID_ARGUMENT: not within the area, or not within one
  // buffer; nothing was copied.
  absl::Status ToDevice(const TransferRange& range) const;
  absl::Status FromDevice(const TransferRange& range) const;

 private:
  TransferArea(const cuda::Context& context, const MemoryMap& memory, transport::SharedMemory area,
               cuda::PinnedHost pinned)
      : context_(context), memory_(memory), area_(std::move(area)), pinned_(std::move(pinned)) {}
  absl::Status Check(const TransferRange& range) const;

  const cuda::Context& context_;
  const MemoryMap& memory_;
  const transport::SharedMemory area_;
  const cuda::PinnedHost pinned_;
};

}  // namespace weft::executor
