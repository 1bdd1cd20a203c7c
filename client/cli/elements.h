// Elements of an output as text, for a look at them.
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include "weft/v1/job.pb.h"

namespace weft::cli {

// The first few elements of an output: "1 2.5 -3", and " …" where there are more. Empty for a type of
// which C++ has no numbers, and for an output without elements.
std::string FormatElements(const v1::JobOutput& output);

}  // namespace weft::cli
