#include "graph/ir/data_type.h"

#include "weft/v1/kernel.pb.h"

namespace weft::ir {
namespace {

using kernels::DType;

struct Pair {
  v1::DataType api;
  DType kernel;
};
constexpr Pair kPairs[] = {
    {v1::DATA_TYPE_F16, DType::kF16}, {v1::DATA_TYPE_BF16, DType::kBF16},
    {v1::DATA_TYPE_F32, DType::kF32}, {v1::DATA_TYPE_F64, DType::kF64},
    {v1::DATA_TYPE_I8, DType::kI8},   {v1::DATA_TYPE_U8, DType::kU8},
    {v1::DATA_TYPE_I16, DType::kI16}, {v1::DATA_TYPE_U16, DType::kU16},
    {v1::DATA_TYPE_I32, DType::kI32}, {v1::DATA_TYPE_U32, DType::kU32},
    {v1::DATA_TYPE_I64, DType::kI64}, {v1::DATA_TYPE_U64, DType::kU64},
};

}  // namespace

std::optional<DType> DTypeOf(v1::DataType type) {
  for (const Pair& pair : kPairs) {
    if (pair.api == type) return pair.kernel;
  }
  return std::nullopt;
}

v1::DataType DataTypeOf(DType dtype) {
  for (const Pair& pair : kPairs) {
    if (pair.kernel == dtype) return pair.api;
  }
  return v1::DATA_TYPE_UNSPECIFIED;
}

std::optional<uint64_t> BytesOf(absl::Span<const uint64_t> shape, DType dtype,
                                uint64_t limit_bytes) {
  // An extent of 0 makes 0 bytes whatever the others are, even where their product overflows.
  for (const uint64_t extent : shape) {
    if (extent == 0) return 0;
  }
  uint64_t bytes = kernels::SizeOf(dtype);
  for (const uint64_t extent : shape) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return std::nullopt;
  }
  if (bytes > limit_bytes) return std::nullopt;
  return bytes;
}

}  // namespace weft::ir
