// CUresult → absl::Status, in one place: one table that names every code of the driver API, the
// canonical code it becomes and whether it ends the context.
//
// Thread safety: pure functions.
#pragma once

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "cuda/driver.h"

namespace weft::cuda {

// Calls driver.name(...) and turns its result into a Status that carries the call's name.
#define WEFT_DRIVER_CALL(driver, name, ...) \
  ::weft::cuda::ResultToStatus((driver), (driver).name(__VA_ARGS__), #name)

// OK for CUDA_SUCCESS; otherwise "cuMemCreate: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory" with
// the canonical code of the table and the CUresult attached (ResultOf). A code that the table does
// not know (a newer driver's) is named by the driver and becomes UNKNOWN.
absl::Status ResultToStatus(const Driver& driver, CUresult result, absl::string_view call);

// The CUresult behind a status made by ResultToStatus (also after WithContext); nullopt for others.
std::optional<CUresult> ResultOf(const absl::Status& status);

// True for a result after which the context answers every call with an error until the process
// ends: faults of a kernel, uncorrectable memory errors, a lost MPS server. The executor must exit.
bool IsContextFatal(CUresult result);
bool IsContextFatal(const absl::Status& status);

// Name ("CUDA_ERROR_ILLEGAL_ADDRESS") and canonical code of `result`; "" and kUnknown for a code
// that the table does not know.
absl::string_view ResultName(CUresult result);
absl::StatusCode CanonicalCode(CUresult result);

// For destructors: logs a failed call and counts it in the driver's table. After a context-fatal
// error every release fails; those are counted and not logged.
void ReportReleaseError(const Driver& driver, CUresult result, absl::string_view call);

}  // namespace weft::cuda
