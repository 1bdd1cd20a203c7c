// Device memory in its three parts, as the driver's virtual memory management has them, each with
// an owner of its own:
//
//   Allocation    physical memory, exportable as a file descriptor (also to processes without CUDA)
//   AddressRange  a range of device addresses without memory behind it
//   Mapping       an allocation placed at an address and made accessible
//
//   WEFT_ASSIGN_OR_RETURN(const size_t granularity, AllocationGranularity(context));
//   WEFT_ASSIGN_OR_RETURN(auto memory, Allocation::Create(context, AlignUp(size, granularity)));
//   WEFT_ASSIGN_OR_RETURN(auto range, AddressRange::Reserve(context, memory.size()));
//   WEFT_ASSIGN_OR_RETURN(auto mapping, Mapping::Create(context, range.address(), memory));
//
// Destroy the Mapping before its AddressRange. The memory lives while an Allocation, a Mapping or
// an exported descriptor of it lives, in any process; closing the last one frees it. Content of
// fresh memory is undefined.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/unique_fd.h"
#include "cuda/context.h"
#include "cuda/driver.h"
#include "cuda/stream.h"
#include "cuda/unique_handle.h"

namespace weft::cuda {

namespace internal {
struct AddressSpan {
  CUdeviceptr address = 0;
  size_t size = 0;
  friend bool operator==(const AddressSpan&, const AddressSpan&) = default;
};
void ReleaseAllocation(const ContextRef& context, CUmemGenericAllocationHandle handle);
void FreeAddressRange(const ContextRef& context, AddressSpan range);
void Unmap(const ContextRef& context, AddressSpan mapped);
void UnregisterHost(const ContextRef& context, void* address);
}  // namespace internal

// Sizes and addresses of allocations and mappings are multiples of this (2 MiB on an H200).
absl::StatusOr<size_t> AllocationGranularity(const Context& context);

// Free and total bytes of the context's device (cuMemGetInfo).
struct MemoryInfo {
  size_t free_bytes = 0;
  size_t total_bytes = 0;
};
absl::StatusOr<MemoryInfo> QueryMemory(const Context& context);

// Physical memory of the context's device. About 0.1 ms to make.
// Thread safety: const members may be called from any thread.
class Allocation {
 public:
  // REQUIRES: size_bytes is a positive multiple of AllocationGranularity.
  // Errors: RESOURCE_EXHAUSTED (no memory), INVALID_ARGUMENT (size).
  static absl::StatusOr<Allocation> Create(const Context& context, size_t size_bytes);

  // The allocation behind a descriptor that ExportFd made, in this or another process. `fd` is only
  // read: it stays the caller's and may be closed afterwards. REQUIRES: size_bytes is the size
  // given to Create (a descriptor does not tell it).
  static absl::StatusOr<Allocation> ImportFd(const Context& context, int fd, size_t size_bytes);

  // A new descriptor that keeps the memory alive, close-on-exec.
  absl::StatusOr<UniqueFd> ExportFd() const;

  size_t size() const { return size_; }
  CUmemGenericAllocationHandle handle() const { return owned_.get(); }
  bool valid() const { return owned_.valid(); }

 private:
  using Owned = UniqueHandle<CUmemGenericAllocationHandle, internal::ReleaseAllocation>;
  Allocation(Owned owned, size_t size) : owned_(std::move(owned)), size_(size) {}
  Owned owned_;
  size_t size_ = 0;
};

// Reserved device addresses. REQUIRES for destruction: nothing is mapped in the range.
class AddressRange {
 public:
  // REQUIRES: size_bytes is a positive multiple of AllocationGranularity. The driver chooses where.
  static absl::StatusOr<AddressRange> Reserve(const Context& context, size_t size_bytes);

  // The range that starts at exactly `address` (an address that Reserve once gave, in this or
  // another process). Errors: ALREADY_EXISTS when the driver does not give that range.
  static absl::StatusOr<AddressRange> ReserveAt(const Context& context, CUdeviceptr address,
                                                size_t size_bytes);

  CUdeviceptr address() const { return owned_.get().address; }
  size_t size() const { return owned_.get().size; }
  bool valid() const { return owned_.valid(); }

 private:
  using Owned = UniqueHandle<internal::AddressSpan, internal::FreeAddressRange>;
  explicit AddressRange(Owned owned) : owned_(std::move(owned)) {}
  Owned owned_;
};

enum class Access { kRead, kReadWrite };

// A whole allocation at an address. Destroying it waits for no work: the caller makes sure that
// nothing on the device still uses the range.
class Mapping {
 public:
  // REQUIRES: [address, address + allocation.size()) lies in a live AddressRange, is aligned to
  // AllocationGranularity and has nothing mapped. The Allocation may be destroyed afterwards.
  // Calls cuMemMap and cuMemSetAccess.
  static absl::StatusOr<Mapping> Create(const Context& context, CUdeviceptr address,
                                        const Allocation& allocation,
                                        Access access = Access::kReadWrite);

  CUdeviceptr address() const { return owned_.get().address; }
  size_t size() const { return owned_.get().size; }
  bool valid() const { return owned_.valid(); }

 private:
  using Owned = UniqueHandle<internal::AddressSpan, internal::Unmap>;
  explicit Mapping(Owned owned) : owned_(std::move(owned)) {}
  Owned owned_;
};

// Host memory of the caller's (a memfd mapping), page-locked and visible to the device for this
// object's life. The host memory must outlive it. Expensive: grows with the size, about 0.1 ms/MiB.
class PinnedHost {
 public:
  // REQUIRES: size_bytes > 0; the range is mapped, page aligned, and not registered yet.
  static absl::StatusOr<PinnedHost> Register(const Context& context, void* address,
                                             size_t size_bytes);

  void* host_address() const { return owned_.get(); }
  // The same memory as the device addresses it; equal to the host address on Linux GPUs.
  CUdeviceptr device_address() const { return device_address_; }
  size_t size() const { return size_; }
  bool valid() const { return owned_.valid(); }

 private:
  using Owned = UniqueHandle<void*, internal::UnregisterHost>;
  PinnedHost(Owned owned, CUdeviceptr device_address, size_t size)
      : owned_(std::move(owned)), device_address_(device_address), size_(size) {}
  Owned owned_;
  CUdeviceptr device_address_ = 0;
  size_t size_ = 0;
};

// A host pointer as the copy functions take it (unified addressing: the driver tells by the value
// whether an address is the host's or a device's).
inline CUdeviceptr HostAddress(const void* pointer) {
  return static_cast<CUdeviceptr>(reinterpret_cast<uintptr_t>(pointer));
}

// Copies; size 0 does nothing. The first two block until the bytes are there. CopyAsync takes host
// and device addresses on either side; host memory that is not page-locked is staged by the driver,
// so that the call may block.
absl::Status CopyToDevice(const Context& context, CUdeviceptr destination, const void* source,
                          size_t size_bytes);
absl::Status CopyToHost(const Context& context, void* destination, CUdeviceptr source,
                        size_t size_bytes);
absl::Status CopyAsync(const StreamRef& stream, CUdeviceptr destination, CUdeviceptr source,
                       size_t size_bytes);

// A repeated pattern: the low `element_size` bytes (1, 2 or 4) of `value`.
struct FillPattern {
  uint32_t value = 0;
  uint32_t element_size = 1;
};
// Writes `count` elements; `destination` is aligned to the element size; count 0 does nothing.
// Errors: INVALID_ARGUMENT for another element size.
absl::Status FillAsync(const StreamRef& stream, CUdeviceptr destination, const FillPattern& pattern,
                       size_t count);

}  // namespace weft::cuda
