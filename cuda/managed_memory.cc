#include "cuda/managed_memory.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/status_macros.h"
#include "cuda/status.h"

namespace weft::cuda {
namespace {

CUmemLocation LocationOf(Place place, const ContextRef& context) {
  CUmemLocation location = {};
  location.type = place == Place::kDevice ? CU_MEM_LOCATION_TYPE_DEVICE : CU_MEM_LOCATION_TYPE_HOST;
  location.id = place == Place::kDevice ? context.device : 0;
  return location;
}

CUmem_advise ToCuda(Advice advice) {
  switch (advice) {
    case Advice::kReadMostly:
      return CU_MEM_ADVISE_SET_READ_MOSTLY;
    case Advice::kNotReadMostly:
      return CU_MEM_ADVISE_UNSET_READ_MOSTLY;
    case Advice::kPreferredLocation:
      return CU_MEM_ADVISE_SET_PREFERRED_LOCATION;
    case Advice::kNoPreferredLocation:
      return CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION;
    case Advice::kAccessedBy:
      return CU_MEM_ADVISE_SET_ACCESSED_BY;
    case Advice::kNotAccessedBy:
      return CU_MEM_ADVISE_UNSET_ACCESSED_BY;
  }
  return CU_MEM_ADVISE_SET_READ_MOSTLY;
}

absl::Status TooOld(absl::string_view what) {
  return absl::FailedPreconditionError(
      absl::StrCat("the driver has no ", what, " by location; install driver 535 or newer"));
}

}  // namespace

namespace internal {

void FreeManaged(const ContextRef& context, CUdeviceptr address) {
  const ScopedContext current(context);
  const Driver& driver = *context.driver;
  ReportReleaseError(driver, driver.cuMemFree(address), "cuMemFree");
}

}  // namespace internal

absl::StatusOr<ManagedMemory> ManagedMemory::Create(const Context& context, size_t size_bytes) {
  WEFT_MAKE_CURRENT(context.ref());
  CUdeviceptr address = 0;
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(context.driver(), cuMemAllocManaged, &address, size_bytes,
                                        CU_MEM_ATTACH_GLOBAL));
  return ManagedMemory(Owned(context.ref(), address), size_bytes);
}

absl::Status PrefetchAsync(const StreamRef& stream, const Prefetch& prefetch) {
  if (prefetch.size_bytes == 0) return absl::OkStatus();
  if (stream.driver().cuMemPrefetchAsync == nullptr) return TooOld("prefetch");
  WEFT_MAKE_CURRENT(stream.context());
  return WEFT_DRIVER_CALL(stream.driver(), cuMemPrefetchAsync, prefetch.address,
                          prefetch.size_bytes, LocationOf(prefetch.to, stream.context()),
                          /*flags=*/0, stream.handle());
}

absl::Status AdviseNow(const Context& context, const Advise& advise) {
  if (advise.size_bytes == 0) return absl::OkStatus();
  if (context.driver().cuMemAdvise == nullptr) return TooOld("advice");
  WEFT_MAKE_CURRENT(context.ref());
  return WEFT_DRIVER_CALL(context.driver(), cuMemAdvise, advise.address, advise.size_bytes,
                          ToCuda(advise.advice), LocationOf(advise.place, context.ref()));
}

}  // namespace weft::cuda
