// The CUDA driver API as a table of functions, filled at run time (driver_loader.h) from the GPU's
// driver or from the CPU driver. All code calls the driver through such a table:
//
//   WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(driver, cuStreamSynchronize, stream));
//
// <cuda.h> renames many functions with macros (cuMemAlloc is cuMemAlloc_v2). The same macros rename
// the members below and the places that use them, so the names of the manual are written everywhere
// and the types are those of the newest signature that the table asks for.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <string>

// Toolkits before 13.0 give these names to the older signatures, without a CUmemLocation.
#if CUDA_VERSION < 13000
#define cuMemPrefetchAsync cuMemPrefetchAsync_v2
#define cuMemAdvise cuMemAdvise_v2
#endif

namespace weft::cuda {

// Which implementation of the driver API is behind a table.
enum class DriverKind {
  kCuda,  // libcuda.so.1: the GPU's driver
  kHost,  // libweft_hostcuda.so: the CPU driver
};

// One pointer per line of driver_functions.inc. A required function is never null in a table that
// LoadDriver returned; an optional one is null when the driver lacks it, and its user must test.
//
// Owns nothing: the library stays loaded until the process ends, since threads of the driver may
// still run its code. Made once by main, outlives every handle made with it, never copied.
// Thread safety: the table does not change after loading; the functions follow the driver's rules.
struct Driver {
// `name` declares a member: it cannot stand in parentheses.
// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define WEFT_DRIVER_FUNCTION(name, version) decltype(&::name) name = nullptr;
// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define WEFT_DRIVER_OPTIONAL(name, version) decltype(&::name) name = nullptr;
#include "cuda/driver_functions.inc"
#undef WEFT_DRIVER_FUNCTION
#undef WEFT_DRIVER_OPTIONAL

  DriverKind kind = DriverKind::kCuda;
  std::string path;  // of the library, as it was opened

  // Calls that failed while a handle was being destroyed, where no status can be returned. Each is
  // also logged.
  mutable std::atomic<uint64_t> release_error_count{0};
};

}  // namespace weft::cuda
