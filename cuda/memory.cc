#include "cuda/memory.h"

#include <fcntl.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/error_context.h"
#include "base/status_macros.h"
#include "cuda/status.h"

namespace weft::cuda {
namespace {

CUmemAllocationProp AllocationProperties(const ContextRef& context) {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = context.device;
  return properties;
}

}  // namespace

namespace internal {

void ReleaseAllocation(const ContextRef& context, CUmemGenericAllocationHandle handle) {
  const Driver& driver = *context.driver;
  ReportReleaseError(driver, driver.cuMemRelease(handle), "cuMemRelease");
}

void FreeAddressRange(const ContextRef& context, AddressSpan range) {
  const Driver& driver = *context.driver;
  ReportReleaseError(driver, driver.cuMemAddressFree(range.address, range.size),
                     "cuMemAddressFree");
}

void Unmap(const ContextRef& context, AddressSpan mapped) {
  const Driver& driver = *context.driver;
  ReportReleaseError(driver, driver.cuMemUnmap(mapped.address, mapped.size), "cuMemUnmap");
}

void UnregisterHost(const ContextRef& context, void* address) {
  const ScopedContext current(context);
  const Driver& driver = *context.driver;
  ReportReleaseError(driver, driver.cuMemHostUnregister(address), "cuMemHostUnregister");
}

}  // namespace internal

absl::StatusOr<size_t> AllocationGranularity(const Context& context) {
  const CUmemAllocationProp properties = AllocationProperties(context.ref());
  size_t granularity = 0;
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(context.driver(), cuMemGetAllocationGranularity,
                                        &granularity, &properties,
                                        CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  return granularity;
}

absl::StatusOr<MemoryInfo> QueryMemory(const Context& context) {
  WEFT_MAKE_CURRENT(context.ref());
  MemoryInfo info;
  WEFT_RETURN_IF_ERROR(
      WEFT_DRIVER_CALL(context.driver(), cuMemGetInfo, &info.free_bytes, &info.total_bytes));
  return info;
}

absl::StatusOr<Allocation> Allocation::Create(const Context& context, size_t size_bytes) {
  WEFT_MAKE_CURRENT(context.ref());
  const CUmemAllocationProp properties = AllocationProperties(context.ref());
  CUmemGenericAllocationHandle handle = 0;
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(context.driver(), cuMemCreate, &handle, size_bytes,
                                        &properties, /*flags=*/0));
  return Allocation(Owned(context.ref(), handle), size_bytes);
}

absl::StatusOr<Allocation> Allocation::ImportFd(const Context& context, int fd, size_t size_bytes) {
  WEFT_MAKE_CURRENT(context.ref());
  CUmemGenericAllocationHandle handle = 0;
  // The driver takes the number of the descriptor as a pointer's value.
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  void* const fd_value = reinterpret_cast<void*>(static_cast<intptr_t>(fd));
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(context.driver(), cuMemImportFromShareableHandle, &handle,
                                        fd_value, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  return Allocation(Owned(context.ref(), handle), size_bytes);
}

absl::StatusOr<UniqueFd> Allocation::ExportFd() const {
  int fd = -1;
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(owned_.driver(), cuMemExportToShareableHandle, &fd,
                                        owned_.get(), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                        /*flags=*/0));
  UniqueFd owned_fd(fd);
  // No driver promises close-on-exec.
  if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) return ErrnoError(errno, "fcntl", "F_SETFD");
  return owned_fd;
}

absl::StatusOr<AddressRange> AddressRange::Reserve(const Context& context, size_t size_bytes) {
  WEFT_MAKE_CURRENT(context.ref());
  CUdeviceptr address = 0;
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(context.driver(), cuMemAddressReserve, &address, size_bytes,
                                        /*alignment=*/0, /*addr=*/0, /*flags=*/0));
  return AddressRange(Owned(context.ref(), {address, size_bytes}));
}

absl::StatusOr<AddressRange> AddressRange::ReserveAt(const Context& context, CUdeviceptr address,
                                                     size_t size_bytes) {
  WEFT_MAKE_CURRENT(context.ref());
  CUdeviceptr given = 0;
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(context.driver(), cuMemAddressReserve, &given, size_bytes,
                                        /*alignment=*/0, address, /*flags=*/0));
  AddressRange range(Owned(context.ref(), {given, size_bytes}));
  if (given != address) {  // The driver takes the address as a hint.
    return absl::AlreadyExistsError(
        absl::StrFormat("the driver did not reserve %u bytes at device address %#x: something of "
                        "this process lies there",
                        size_bytes, address));
  }
  return range;
}

absl::StatusOr<Mapping> Mapping::Create(const Context& context, CUdeviceptr address,
                                        const Allocation& allocation, Access access) {
  WEFT_MAKE_CURRENT(context.ref());
  const size_t size = allocation.size();
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(context.driver(), cuMemMap, address, size, /*offset=*/0,
                                        allocation.handle(), /*flags=*/0));
  Mapping mapping(Owned(context.ref(), {address, size}));
  CUmemAccessDesc description = {};
  description.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  description.location.id = context.device();
  description.flags =
      access == Access::kRead ? CU_MEM_ACCESS_FLAGS_PROT_READ : CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  WEFT_RETURN_IF_ERROR(
      WEFT_DRIVER_CALL(context.driver(), cuMemSetAccess, address, size, &description, /*count=*/1));
  return mapping;
}

absl::StatusOr<PinnedHost> PinnedHost::Register(const Context& context, void* address,
                                                size_t size_bytes) {
  WEFT_MAKE_CURRENT(context.ref());
  WEFT_RETURN_IF_ERROR(
      WEFT_DRIVER_CALL(context.driver(), cuMemHostRegister, address, size_bytes,
                       CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP));
  Owned owned(context.ref(), address);
  CUdeviceptr device_address = 0;
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(context.driver(), cuMemHostGetDevicePointer,
                                        &device_address, address, /*flags=*/0));
  return PinnedHost(std::move(owned), device_address, size_bytes);
}

absl::Status CopyToDevice(const Context& context, CUdeviceptr destination, const void* source,
                          size_t size_bytes) {
  if (size_bytes == 0) return absl::OkStatus();
  WEFT_MAKE_CURRENT(context.ref());
  WEFT_RETURN_IF_ERROR(
      WEFT_DRIVER_CALL(context.driver(), cuMemcpyHtoD, destination, source, size_bytes));
  // From pageable memory the call returns once the bytes are staged: the copy of them to the device
  // may still be under way, and a stream that does not wait for stream 0 would overtake it.
  return WEFT_DRIVER_CALL(context.driver(), cuStreamSynchronize, nullptr);
}

absl::Status CopyToHost(const Context& context, void* destination, CUdeviceptr source,
                        size_t size_bytes) {
  if (size_bytes == 0) return absl::OkStatus();
  WEFT_MAKE_CURRENT(context.ref());
  return WEFT_DRIVER_CALL(context.driver(), cuMemcpyDtoH, destination, source, size_bytes);
}

absl::Status CopyAsync(const StreamRef& stream, CUdeviceptr destination, CUdeviceptr source,
                       size_t size_bytes) {
  if (size_bytes == 0) return absl::OkStatus();
  WEFT_MAKE_CURRENT(stream.context());
  return WEFT_DRIVER_CALL(stream.driver(), cuMemcpyAsync, destination, source, size_bytes,
                          stream.handle());
}

absl::Status FillAsync(const StreamRef& stream, CUdeviceptr destination, const FillPattern& pattern,
                       size_t count) {
  if (count == 0) return absl::OkStatus();
  WEFT_MAKE_CURRENT(stream.context());
  const Driver& driver = stream.driver();
  switch (pattern.element_size) {
    case 1:
      return WEFT_DRIVER_CALL(driver, cuMemsetD8Async, destination,
                              static_cast<unsigned char>(pattern.value), count, stream.handle());
    case 2:
      return WEFT_DRIVER_CALL(driver, cuMemsetD16Async, destination,
                              static_cast<unsigned short>(pattern.value), count, stream.handle());
    case 4:
      return WEFT_DRIVER_CALL(driver, cuMemsetD32Async, destination, pattern.value, count,
                              stream.handle());
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("a fill pattern has 1, 2 or 4 bytes, not ", pattern.element_size));
  }
}

}  // namespace weft::cuda
