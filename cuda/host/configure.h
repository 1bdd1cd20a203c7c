// The one function of libweft_hostcuda.so that the CUDA driver API does not have.
#pragma once

extern "C" {

// Gives the library its settings (settings.h), in place of the environment variable WEFT_HOSTCUDA.
// Before cuInit; may be called again until then. Returns a CUresult: 0; CUDA_ERROR_INVALID_VALUE for a
// text that is null or wrong (a line on standard error says how); CUDA_ERROR_ILLEGAL_STATE after cuInit.
__attribute__((visibility("default"))) int weft_hostcuda_configure(const char* text);

}  // extern "C"
