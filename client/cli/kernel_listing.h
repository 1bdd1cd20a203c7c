// The built-in kernels as the API and as people see them.
//
// Thread safety: pure functions.
#pragma once

#include <ostream>

#include "kernels/schema.h"
#include "weft/v1/kernel.pb.h"

namespace weft::cli {

v1::KernelSchema ToProto(const kernels::KernelSchema& schema);

// Everything about one kernel: what it does, and a row an argument.
void PrintKernel(std::ostream& out, const kernels::KernelSchema& schema);

}  // namespace weft::cli
