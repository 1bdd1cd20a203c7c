// Managed memory: one address for host and device, bytes that move to whoever touches them.
//
//   WEFT_ASSIGN_OR_RETURN(auto memory, ManagedMemory::Create(context, size));
//   WEFT_RETURN_IF_ERROR(PrefetchAsync(stream, {memory.address(), size, Place::kDevice}));
//
// Prefetches and advice need a device with concurrent managed access
// (DeviceInfo::concurrent_managed_access); FAILED_PRECONDITION without. A prefetch is an operation
// of a stream; CUDA Graphs have no node for it, and none for advice.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cuda/context.h"
#include "cuda/driver.h"
#include "cuda/stream.h"
#include "cuda/unique_handle.h"

namespace weft::cuda {

namespace internal {
void FreeManaged(const ContextRef& context, CUdeviceptr address);
}  // namespace internal

// Owns the memory. Destroying it waits for the work of the context. Content of fresh memory is
// undefined; pages come into being where they are touched first, so it may be larger than the
// device. Thread safety: const members may be called from any thread.
class ManagedMemory {
 public:
  // REQUIRES: size_bytes > 0.
  // Errors: RESOURCE_EXHAUSTED, and INVALID_ARGUMENT on a device without managed memory.
  static absl::StatusOr<ManagedMemory> Create(const Context& context, size_t size_bytes);

  CUdeviceptr address() const { return owned_.get(); }
  size_t size() const { return size_; }
  bool valid() const { return owned_.valid(); }

 private:
  using Owned = UniqueHandle<CUdeviceptr, internal::FreeManaged>;
  ManagedMemory(Owned owned, size_t size) : owned_(std::move(owned)), size_(size) {}
  Owned owned_;
  size_t size_ = 0;
};

// Where bytes of managed memory can be.
enum class Place : uint8_t {
  kDevice,  // the context's
  kHost,
};

struct Prefetch {
  CUdeviceptr address = 0;
  size_t size_bytes = 0;
  Place to = Place::kDevice;
  friend bool operator==(const Prefetch&, const Prefetch&) = default;
};

// Moves the pages of the range after the work before it. Does not block; size 0 does nothing.
// Errors: INVALID_ARGUMENT when the range is not managed memory.
absl::Status PrefetchAsync(const StreamRef& stream, const Prefetch& prefetch);

// How bytes will be used. The place matters to the two pairs that name one.
enum class Advice : uint8_t {
  kReadMostly,
  kNotReadMostly,
  kPreferredLocation,
  kNoPreferredLocation,
  kAccessedBy,
  kNotAccessedBy,
};

struct Advise {
  CUdeviceptr address = 0;
  size_t size_bytes = 0;
  Advice advice = Advice::kReadMostly;
  Place place = Place::kDevice;
};

// In force when it returns, and until the memory is freed. Size 0 does nothing.
// Errors: INVALID_ARGUMENT when the range is not managed memory.
absl::Status AdviseNow(const Context& context, const Advise& advise);

}  // namespace weft::cuda
