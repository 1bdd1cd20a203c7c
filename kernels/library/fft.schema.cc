#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/byte_range.h"
#include "kernels/bind.h"
#include "kernels/library/library_schemas.h"
#include "kernels/library/schema_parts.h"

namespace weft::kernels {
namespace {

using F = FftArguments;

constexpr int64_t kMaxFftExtent = std::numeric_limits<int32_t>::max();

// Above this prime factor, cuFFT transforms by Bluestein's algorithm, in longer arrays (its manual,
// "Accuracy and Performance").
constexpr uint64_t kLargestDirectPrime = 127;

bool HasLargePrime(uint64_t extent) {
  for (uint64_t factor = 2; factor <= kLargestDirectPrime && extent > 1; ++factor) {
    while (extent % factor == 0) extent /= factor;
  }
  return extent > 1;
}

// The manual's bounds, as multiples of the complex elements of the whole batch: as few as 1, at most
// 8 where an extent has a large prime factor. Without one, 2 is an estimate that all plans of
// weft_library_tests keep on an H200; a plan that needs more is refused when it is made. A fixed part
// pays for what small plans round up to.
std::optional<uint64_t> FftWorkspaceOf(const BoundCall& call, const FftShape& shape) {
  constexpr uint64_t kFixedBytes = uint64_t{16} << 20;
  std::optional<uint64_t> elements = static_cast<uint64_t>(call.I64(shape.Batch()));
  bool has_large_prime = false;
  for (uint32_t i = 0; i < shape.rank; ++i) {
    const auto extent = static_cast<uint64_t>(call.I64(shape.FirstExtent() + i));
    has_large_prime = has_large_prime || HasLargePrime(extent);
    elements = TimesPlus(elements, extent, 0);
  }
  const uint64_t complex_bytes = 2 * uint64_t{SizeOf(call.arguments[F::kSrc].dtype)};
  const std::optional<uint64_t> bytes =
      TimesPlus(elements, complex_bytes * (has_large_prime ? 8 : 2), kFixedBytes);
  if (!bytes.has_value() || *bytes > UINT64_MAX - kWorkspaceAlignment) return std::nullopt;
  return bytes;
}

template <FftKind kKind, uint32_t kRank>
std::optional<uint64_t> FftWorkspace(const BoundCall& call) {
  return FftWorkspaceOf(call, {kKind, kRank});
}

// batch × extents; complex ones with the innermost extent halved where the reals have all of them.
Product SignalShapeOf(const FftShape& shape, bool is_complex) {
  Product product = kernels::Of({shape.Batch()});
  for (uint32_t i = 0; i < shape.rank; ++i) {
    const uint32_t extent = shape.FirstExtent() + i;
    const bool half = is_complex && shape.kind != FftKind::kC2C && i + 1 == shape.rank;
    product.push_back(half ? HalfOf(extent) : Factor{extent, 1, Factor::Take::kValue});
  }
  if (is_complex) product.push_back(Constant(2));
  return product;
}

ArgumentSchema Signal(std::string name, const FftShape& shape, bool is_complex, Access access,
                      DTypeRule dtype) {
  ArgumentSchema argument = Buffer(std::move(name), is_complex ? "complex: (re, im) pairs" : "real",
                                   access, std::move(dtype), SignalShapeOf(shape, is_complex));
  // Reals too: the libraries move them in pairs.
  std::get<BufferSchema>(argument.kind).alignment = 2;
  return argument;
}

std::vector<ArgumentSchema> FftArgumentsOf(const FftShape& shape) {
  const bool src_complex = shape.kind != FftKind::kR2C;
  const bool dst_complex = shape.kind != FftKind::kC2R;
  const DTypeRule types = OneOf({DType::kF32, DType::kF64});
  const Access src_access = shape.kind == FftKind::kC2R ? Access::kReadWrite : Access::kRead;
  std::vector<ArgumentSchema> arguments = {
      Signal("src", shape, src_complex, src_access, types),
      Signal("dst", shape, dst_complex, Access::kWrite, SameAs(F::kSrc)),
  };
  if (shape.kind == FftKind::kC2C) {
    std::get<BufferSchema>(arguments[F::kDst].kind).in_place_with = {F::kSrc};
    arguments.push_back(
        Choice("direction", "sign of the exponent: forward -, inverse +", {"forward", "inverse"}));
  }
  // Extents are taken from the reals where there are some: half of them does not tell odd from even.
  const uint32_t from = shape.kind == FftKind::kC2R ? F::kDst : F::kSrc;
  const uint32_t behind = shape.kind == FftKind::kC2C ? 1 : 0;  // the pair
  for (uint32_t i = 0; i < shape.rank; ++i) {
    const uint32_t from_last = shape.rank - 1 - i + behind;
    arguments.push_back(BoundedInteger(absl::StrCat("n", i),
                                       i + 1 == shape.rank ? "innermost extent" : "extent",
                                       Dimension(from, from_last), 1, kMaxFftExtent));
  }
  arguments.push_back(BoundedInteger("batch", "transforms, one behind the other",
                                     Leading(from, shape.rank + behind), 0, kMaxFftExtent));
  return arguments;
}

const char* SummaryOf(FftKind kind) {
  switch (kind) {
    case FftKind::kC2C:
      return "Fourier transform of complex numbers, by cuFFT.";
    case FftKind::kR2C:
      return "Fourier transform of reals, by cuFFT.";
    case FftKind::kC2R:
      break;
  }
  return "inverse Fourier transform to reals, by cuFFT.";
}

const char* DocOf(FftKind kind) {
  switch (kind) {
    case FftKind::kC2C:
      return "Not scaled: forward and inverse in a row multiply by the number of elements.";
    case FftKind::kR2C:
      return "Of the innermost dimension only the first n/2+1 results are given; the others are "
             "their conjugates. Not scaled.";
    case FftKind::kC2R:
      break;
  }
  return "src has the first n/2+1 numbers of the innermost dimension; its bytes are undefined "
         "afterwards. Not scaled.";
}

template <FftKind kKind, uint32_t kRank>
KernelSchema FftSchema(const char* kind) {
  constexpr FftShape kShape = {kKind, kRank};
  KernelSchema schema;
  schema.name = absl::StrCat("fft.", kind, "_", kRank, "d");
  schema.summary = absl::StrCat(kRank, "D ", SummaryOf(kKind));
  schema.doc = absl::StrCat(
      DocOf(kKind),
      " The mean square error's root is within 1e-6 (f32) or 1e-15 (f64) times log2 of the number "
      "of elements, relative to that of the exact result. On a GPU the workspace is twice the "
      "bytes "
      "of the complex elements (8 times where an extent has a prime factor above 127) and 16 MiB.");
  schema.arguments = FftArgumentsOf(kShape);
  schema.key = {SymbolKey::Kind::kDType, {F::kSrc}};
  schema.workspace.bytes = &FftWorkspace<kKind, kRank>;
  schema.phases = {
      TwinPhase(absl::StrCat("fft_", kind, "_", kRank, "d"), kernels::Of({kShape.Batch()}))};
  schema.library = LibraryTraits{"cuFFT", LibraryTraits::Recording::kCaptured};
  return schema;
}

template <FftKind kKind>
void AddRanks(const char* kind, std::vector<KernelSchema>& schemas) {
  schemas.push_back(FftSchema<kKind, 1>(kind));
  schemas.push_back(FftSchema<kKind, 2>(kind));
  schemas.push_back(FftSchema<kKind, 3>(kind));
}

}  // namespace

std::vector<KernelSchema> FftSchemas() {
  std::vector<KernelSchema> schemas;
  AddRanks<FftKind::kC2C>("c2c", schemas);
  AddRanks<FftKind::kR2C>("r2c", schemas);
  AddRanks<FftKind::kC2R>("c2r", schemas);
  return schemas;
}

FftShape FftShapeOf(const KernelSchema& schema) {
  FftShape shape;
  if (absl::StrContains(schema.name, "r2c")) shape.kind = FftKind::kR2C;
  if (absl::StrContains(schema.name, "c2r")) shape.kind = FftKind::kC2R;
  shape.rank = static_cast<uint32_t>(schema.name[schema.name.size() - 2] - '0');
  return shape;
}

}  // namespace weft::kernels
