#include "server/executor/device_region.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace weft::executor {

absl::StatusOr<cuda::Allocation> CreateAllocation(const cuda::Context& context,
                                                  uint64_t size_bytes) {
  WEFT_ASSIGN_OR_RETURN(const size_t granularity, cuda::AllocationGranularity(context));
  if (size_bytes == 0 || size_bytes > std::numeric_limits<uint64_t>::max() - granularity) {
    return absl::InvalidArgumentError(
        absl::StrCat("device memory of ", size_bytes, " bytes cannot be allocated"));
  }
  return cuda::Allocation::Create(context, AlignUp(size_bytes, granularity));
}

absl::StatusOr<DeviceRegion> DeviceRegion::MapIn(const cuda::Context& context,
                                                 cuda::AddressRange range,
                                                 const cuda::Allocation& allocation) {
  WEFT_ASSIGN_OR_RETURN(cuda::Mapping mapping,
                        cuda::Mapping::Create(context, range.address(), allocation));
  return DeviceRegion(std::move(range), std::move(mapping));
}

absl::StatusOr<DeviceRegion> DeviceRegion::Create(const cuda::Context& context,
                                                  uint64_t size_bytes) {
  WEFT_ASSIGN_OR_RETURN(const cuda::Allocation allocation, CreateAllocation(context, size_bytes));
  return Map(context, allocation);
}

absl::StatusOr<DeviceRegion> DeviceRegion::Map(const cuda::Context& context,
                                               const cuda::Allocation& allocation) {
  WEFT_ASSIGN_OR_RETURN(cuda::AddressRange range,
                        cuda::AddressRange::Reserve(context, allocation.size()));
  return MapIn(context, std::move(range), allocation);
}

absl::StatusOr<DeviceRegion> DeviceRegion::MapAt(const cuda::Context& context,
                                                 const cuda::Allocation& allocation,
                                                 CUdeviceptr address) {
  WEFT_ASSIGN_OR_RETURN(cuda::AddressRange range,
                        cuda::AddressRange::ReserveAt(context, address, allocation.size()));
  return MapIn(context, std::move(range), allocation);
}

}  // namespace weft::executor
