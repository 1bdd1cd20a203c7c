// Built-in kernels as steps of a library's call: what it needs done to its arguments.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "cuda/call_sequence.h"
#include "graph/build/bindings.h"
#include "kernels/dtype.h"

namespace weft::executor {

// dst = the transpose of src, which is rows × columns, both row-major.
struct Transposition {
  kernels::DType dtype = kernels::DType::kF32;
  uint64_t rows = 0;
  uint64_t columns = 0;
  CUdeviceptr source = 0;
  CUdeviceptr destination = 0;
};
// Appends the launch of the built-in kernel transpose. Errors: those of `resolver`.
absl::Status AddTransposition(const Transposition& transposition, build::FunctionResolver& resolver,
                              std::vector<cuda::CallSequence::Step>& steps);

}  // namespace weft::executor
