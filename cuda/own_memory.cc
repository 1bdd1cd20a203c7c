#include "cuda/own_memory.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/byte_range.h"
#include "base/status_macros.h"

namespace weft::cuda {

absl::StatusOr<OwnMemory> OwnMemory::Create(const Context& context, uint64_t size_bytes) {
  WEFT_ASSIGN_OR_RETURN(const size_t granularity, AllocationGranularity(context));
  if (size_bytes > UINT64_MAX / 2) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the library asks for ", size_bytes, " bytes"));
  }
  const uint64_t size = AlignUp(std::max<uint64_t>(size_bytes, 1), granularity);
  WEFT_ASSIGN_OR_RETURN(const Allocation memory, Allocation::Create(context, size));
  WEFT_ASSIGN_OR_RETURN(AddressRange range, AddressRange::Reserve(context, size));
  WEFT_ASSIGN_OR_RETURN(Mapping mapping, Mapping::Create(context, range.address(), memory));
  return OwnMemory(std::move(range), std::move(mapping));
}

}  // namespace weft::cuda
