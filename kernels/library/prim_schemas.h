// The schemas of prim.*, device-wide algorithms by CUB, and where in their arguments is what.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/schema.h"

namespace weft::kernels {

std::vector<KernelSchema> PrimSchemas();

enum class PrimAlgorithm : uint8_t {
  kSort,
  kSortByKey,
  kReduce,
  kReduceByKey,
  kScan,
  kSelect,
  kUnique,
  kRunLengthEncode,
  kHistogram,
};

// Positions of the choices.
struct PrimChoices {
  enum class Order : uint32_t { kAscending, kDescending };
  enum class Mode : uint32_t { kInclusive, kExclusive };
  enum class Operation : uint32_t { kSum, kMin, kMax };
};

// Positions of a call's arguments; nullopt: it has no such argument.
struct PrimLayout {
  PrimAlgorithm algorithm = PrimAlgorithm::kSort;
  uint32_t keys_in = 0;               // or the elements, or samples
  std::optional<uint32_t> values_in;  // or the flags
  uint32_t keys_out = 0;  // or what becomes of the elements; or the counts of a histogram
  std::optional<uint32_t> values_out;  // or the lengths
  std::optional<uint32_t> count_out;
  std::optional<uint32_t> order;
  std::optional<uint32_t> mode;
  std::optional<uint32_t> operation;
  std::optional<uint32_t> lower;  // histograms; then upper and bins
  uint32_t n = 0;
};
// REQUIRES: `schema` is one of PrimSchemas().
PrimLayout PrimLayoutOf(const KernelSchema& schema);

// CUB counts in 32 bits, and rounds up to whole tiles.
inline constexpr int64_t kMaxPrimElements = int64_t{1} << 30;
inline constexpr int64_t kMaxPrimBins = 65536;

}  // namespace weft::kernels
