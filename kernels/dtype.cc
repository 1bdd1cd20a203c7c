#include "kernels/dtype.h"

#include <array>
#include <cstddef>

namespace weft::kernels {
namespace {

enum class Class : uint8_t { kFloat, kSigned, kUnsigned };

struct Traits {
  DType dtype;
  const char* name;
  uint32_t size;
  Class kind;
  DType compute;
  DType sum;
};

// Indexed by the enum's value.
constexpr std::array<Traits, 12> kTraits = {{
    {DType::kF16, "f16", 2, Class::kFloat, DType::kF32, DType::kF32},
    {DType::kBF16, "bf16", 2, Class::kFloat, DType::kF32, DType::kF32},
    {DType::kF32, "f32", 4, Class::kFloat, DType::kF32, DType::kF32},
    {DType::kF64, "f64", 8, Class::kFloat, DType::kF64, DType::kF64},
    {DType::kI8, "i8", 1, Class::kSigned, DType::kI32, DType::kI64},
    {DType::kU8, "u8", 1, Class::kUnsigned, DType::kI32, DType::kU64},
    {DType::kI16, "i16", 2, Class::kSigned, DType::kI32, DType::kI64},
    {DType::kU16, "u16", 2, Class::kUnsigned, DType::kI32, DType::kU64},
    {DType::kI32, "i32", 4, Class::kSigned, DType::kI32, DType::kI64},
    {DType::kU32, "u32", 4, Class::kUnsigned, DType::kU32, DType::kU64},
    {DType::kI64, "i64", 8, Class::kSigned, DType::kI64, DType::kI64},
    {DType::kU64, "u64", 8, Class::kUnsigned, DType::kU64, DType::kU64},
}};

constexpr bool IndexedByValue() {
  for (size_t i = 0; i < kTraits.size(); ++i) {
    if (static_cast<size_t>(kTraits[i].dtype) != i) return false;
  }
  return true;
}
static_assert(IndexedByValue());

constexpr std::array<DType, 12> kAll = {DType::kF16, DType::kBF16, DType::kF32, DType::kF64,
                                        DType::kI8,  DType::kU8,   DType::kI16, DType::kU16,
                                        DType::kI32, DType::kU32,  DType::kI64, DType::kU64};

const Traits& Of(DType dtype) { return kTraits[static_cast<size_t>(dtype)]; }

}  // namespace

uint32_t SizeOf(DType dtype) { return Of(dtype).size; }
absl::string_view NameOf(DType dtype) { return Of(dtype).name; }
bool IsFloat(DType dtype) { return Of(dtype).kind == Class::kFloat; }
bool IsSigned(DType dtype) { return Of(dtype).kind != Class::kUnsigned; }
absl::Span<const DType> AllDTypes() { return kAll; }
DType ComputeType(DType dtype) { return Of(dtype).compute; }
DType SumType(DType dtype) { return Of(dtype).sum; }

std::optional<DType> ParseDType(absl::string_view name) {
  for (const Traits& traits : kTraits) {
    if (name == traits.name) return traits.dtype;
  }
  return std::nullopt;
}

}  // namespace weft::kernels
