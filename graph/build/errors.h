// What can be wrong with a kernel of the user's own that only its compiled module tells: one function
// an error. The job and the node are put in front where it is built.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace weft::build {

absl::Status ParameterCountError(absl::string_view entry, size_t given, size_t declared);
// Parameter `index` has `given_bytes` in the job and `declared_bytes` in the kernel.
absl::Status ParameterSizeError(absl::string_view entry, size_t index, size_t given_bytes,
                                size_t declared_bytes);
// More threads in a block than the kernel's registers allow, or its __launch_bounds__.
absl::Status BlockTooLargeError(absl::string_view entry, uint64_t threads, uint32_t limit,
                                uint32_t registers);
// Static and dynamic shared memory together are more than a block may have.
absl::Status SharedMemoryError(absl::string_view entry, uint32_t static_bytes,
                               uint32_t dynamic_bytes);

// More blocks than the device holds at once, which a cooperative launch needs.
absl::Status GridTooLargeError(absl::string_view entry, uint64_t blocks, uint64_t limit);

// Bytes behind the end of a variable are to be set.
absl::Status VariableTooSmallError(absl::string_view symbol, uint64_t variable_bytes,
                                   uint64_t offset_bytes, uint64_t size_bytes);

}  // namespace weft::build
