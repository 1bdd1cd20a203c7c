// Element types of the API ↔ those of the kernels.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "kernels/dtype.h"

namespace weft::v1 {
enum DataType : int;
}  // namespace weft::v1

namespace weft::ir {

// nullopt for DATA_TYPE_UNSPECIFIED and for numbers that are no value.
std::optional<kernels::DType> DTypeOf(v1::DataType type);
v1::DataType DataTypeOf(kernels::DType dtype);

// shape × dtype. nullopt when that is more than `limit_bytes`. An empty shape is one element.
std::optional<uint64_t> BytesOf(absl::Span<const uint64_t> shape, kernels::DType dtype,
                                uint64_t limit_bytes);

}  // namespace weft::ir
