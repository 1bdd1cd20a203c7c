// Element types of buffers and scalars, as kernels and job files name them.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace weft::kernels {

enum class DType : uint8_t {
  kF16,
  kBF16,
  kF32,
  kF64,
  kI8,
  kU8,
  kI16,
  kU16,
  kI32,
  kU32,
  kI64,
  kU64,
};

// Bytes of one element; also its alignment.
uint32_t SizeOf(DType dtype);
// "f16", "bf16", "f32", "f64", "i8", "u8" … "u64".
absl::string_view NameOf(DType dtype);
// The inverse of NameOf; nullopt for any other text.
std::optional<DType> ParseDType(absl::string_view name);
bool IsFloat(DType dtype);
bool IsSigned(DType dtype);
// Every dtype, in the order of the enum.
absl::Span<const DType> AllDTypes();

// The type in which arithmetic on `dtype` is done, and that of scalar coefficients beside it:
// f16, bf16 → f32; 8- and 16-bit integers → i32; every other type is its own.
DType ComputeType(DType dtype);
// The type of sums over elements of `dtype`: f16, bf16 → f32; signed integers → i64; unsigned
// integers → u64; f32 and f64 are their own.
DType SumType(DType dtype);

}  // namespace weft::kernels
