// Entries of the host image of the library calls: typed functions with the parameters of the schema
// (its arguments, then the workspace, which twins do not use), whose failures become the launch's.
#pragma once

#include <cstdint>
#include <new>

#include "kernels/builtin/host_entry.h"

namespace weft::kernels {

namespace host_call_internal {

template <auto kFunction>
int32_t RunCall(const weft_host_launch* launch, void* const* params,
                const weft_host_runtime* runtime) {
  try {
    return host_entry_internal::Adapter<kFunction>::Run(launch, params, runtime);
  } catch (const std::bad_alloc&) {
    return WEFT_HOST_OUT_OF_MEMORY;
  } catch (...) {
    return WEFT_HOST_LAUNCH_FAILED;
  }
}

}  // namespace host_call_internal

template <auto kFunction>
constexpr weft_host_kernel HostCall(const char* name) {
  weft_host_kernel entry = HostEntry<kFunction>(name);
  entry.run = &host_call_internal::RunCall<kFunction>;
  return entry;
}

// The parts of the image's table, one a source file.
HostEntries BlasMatmulEntries();
HostEntries DnnEntries();
HostEntries FftEntries();
HostEntries PrimEntries();
HostEntries RandEntries();
HostEntries SolverEntries();
HostEntries SparseEntries();

}  // namespace weft::kernels
