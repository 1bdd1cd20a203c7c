// The images in code that is not source, whatever form it comes in: a cubin or PTX is one, a fatbin
// several.
//
// Thread safety: pure functions; results point into the bytes. The bytes may be anything.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kernels/compile/fatbin_reader.h"
#include "kernels/compile/kernel_info.h"

namespace weft::kernels {

// Tells the form by the first bytes: a fatbin's, an ELF file's, or else PTX.
// `name`: of the module or file, for messages. Errors: INVALID_ARGUMENT.
absl::StatusOr<std::vector<FatbinImage>> ReadImages(absl::string_view name,
                                                    absl::string_view bytes);

// What is in one of them. Errors: INVALID_ARGUMENT; UNIMPLEMENTED for a compressed one.
absl::StatusOr<CodeInfo> ReadImage(absl::string_view name, const FatbinImage& image);

// "sm_75, sm_90 and compute_90 (PTX 9.0)"; "nothing" of none.
std::string ListArchitectures(absl::Span<const FatbinImage> images);

}  // namespace weft::kernels
