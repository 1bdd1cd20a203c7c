#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/bind.h"
#include "kernels/library/prim_schemas.h"
#include "kernels/library/schema_parts.h"

namespace weft::kernels {
namespace {

DTypeRule PrimTypes() {
  return OneOf({DType::kI32, DType::kU32, DType::kF32, DType::kI64, DType::kU64, DType::kF64});
}

// A buffer of as many elements as the scalar at position `n` says.
ArgumentSchema Elements(const char* name, const char* doc, Access access, DTypeRule dtype,
                        uint32_t n) {
  return Buffer(name, doc, access, std::move(dtype), kernels::Of({n}));
}
ArgumentSchema PrimCount(const char* doc) {
  return Buffer("count", doc, Access::kWrite, OneOf({DType::kI64}), {Constant(1)});
}
ArgumentSchema PrimExtent(const char* doc) {
  return BoundedInteger("n", doc, Count(0), 0, kMaxPrimElements);
}
ArgumentSchema PrimOrderChoice() {
  return Choice("order", "smallest first, or largest first", {"ascending", "descending"});
}
ArgumentSchema PrimOperation() {
  return Choice("operation", "what combines elements", {"sum", "min", "max"});
}

// Bytes that CUB asks for beside copies of elements: some for each tile of a thousand elements or
// more, and some for each of the blocks that fill a device. What it really asks for is compared with
// this when a call is made ready.
constexpr uint64_t kPrimFixedBytes = uint64_t{1} << 20;

std::optional<uint64_t> SortWorkspace(const BoundCall& call, uint32_t n, uint64_t copied_bytes) {
  // 1 byte an element: 256 counters of 4 bytes for each tile.
  return TimesPlus(static_cast<uint64_t>(call.I64(n)), copied_bytes + 1, kPrimFixedBytes);
}
// The keys in the order of unsigned integers, and a second place for them.
std::optional<uint64_t> PrimSortWorkspace(const BoundCall& call) {
  return SortWorkspace(call, 3, 2 * uint64_t{SizeOf(call.arguments[0].dtype)});
}
std::optional<uint64_t> PrimSortByKeyWorkspace(const BoundCall& call) {
  return SortWorkspace(
      call, 5,
      2 * uint64_t{SizeOf(call.arguments[0].dtype)} + uint64_t{SizeOf(call.arguments[1].dtype)});
}
// 40 bytes at most for each tile.
template <uint32_t kN>
std::optional<uint64_t> PrimTilesWorkspace(const BoundCall& call) {
  return static_cast<uint64_t>(call.I64(kN)) / 4 + kPrimFixedBytes;
}
// Counters of its own for each block; 1024 blocks fill any device.
std::optional<uint64_t> PrimHistogramWorkspace(const BoundCall& call) {
  constexpr uint64_t kMaxBlocks = 1024;
  const uint64_t blocks = std::min(static_cast<uint64_t>(call.I64(5)) / 1024 + 1, kMaxBlocks);
  return TimesPlus(static_cast<uint64_t>(call.I64(4)), 4 * blocks, kPrimFixedBytes);
}

std::vector<FieldViolation> CheckPrimHistogram(const KernelSchema&, const BoundCall& call) {
  const double lower = call.arguments[2].scalar.AsDouble();
  const double upper = call.arguments[3].scalar.AsDouble();
  std::vector<FieldViolation> violations;
  if (!std::isfinite(lower)) violations.push_back({"lower", "must be finite"});
  if (!std::isfinite(upper)) violations.push_back({"upper", "must be finite"});
  if (!violations.empty()) return violations;
  if (!(lower < upper)) {
    return {{"upper", absl::StrCat(upper, " is not above lower, ", lower)}};
  }
  if (!std::isfinite(upper - lower) ||
      !std::isfinite(static_cast<double>(call.I64(4)) / (upper - lower))) {
    return {{"upper", absl::StrCat(upper, " is too far from, or too near to lower, ", lower,
                                   "; the bins in a unit do not fit an f64")}};
  }
  return {};
}

KernelSchema PrimSchema(const char* name, const char* summary, const char* doc,
                        std::vector<ArgumentSchema> arguments) {
  KernelSchema schema;
  schema.name = absl::StrCat("prim.", name);
  schema.summary = absl::StrCat(summary, ", by CUB.");
  schema.doc = doc;
  schema.arguments = std::move(arguments);
  schema.key = {SymbolKey::Kind::kDType, {0}};
  // Of nothing too: there are counts to clear.
  schema.phases = {TwinPhase(absl::StrCat("prim_", name), {})};
  schema.library = LibraryTraits{"CUB", LibraryTraits::Recording::kCaptured};
  return schema;
}

constexpr char kOrderDoc[] =
    "Floats are in IEEE 754's total order: NaN with a sign, -infinity … -0, +0 … infinity, NaN "
    "without one; bits are kept. ";

KernelSchema PrimSortSchema() {
  KernelSchema schema =
      PrimSchema("sort", "dst = the elements of src in order", "",
                 {Elements("src", "what is sorted", Access::kRead, PrimTypes(), 3),
                  Elements("dst", "what is written", Access::kWrite, SameAs(0), 3),
                  PrimOrderChoice(), PrimExtent("elements of src and dst")});
  schema.doc = absl::StrCat(kOrderDoc,
                            "On a GPU the workspace is twice the bytes of src, a byte an element, "
                            "and 1 MiB; unsigned integers in ascending order are sorted fastest.");
  schema.workspace.bytes = &PrimSortWorkspace;
  return schema;
}

KernelSchema PrimSortByKeySchema() {
  KernelSchema schema =
      PrimSchema("sort_by_key", "Pairs of keys and values in the order of the keys", "",
                 {Elements("keys", "what is sorted", Access::kRead, PrimTypes(), 5),
                  Elements("values", "what goes along", Access::kRead, PrimTypes(), 5),
                  Elements("sorted_keys", "the keys in order", Access::kWrite, SameAs(0), 5),
                  Elements("sorted_values", "the value of each", Access::kWrite, SameAs(1), 5),
                  PrimOrderChoice(), PrimExtent("pairs")});
  schema.doc = absl::StrCat(
      kOrderDoc,
      "Pairs of equal keys stay in their order, whichever way the keys are sorted. On a GPU the "
      "workspace is twice the bytes of the keys, those of the values, a byte a pair, and 1 MiB.");
  schema.key = {SymbolKey::Kind::kDType, {0, 1}};
  schema.workspace.bytes = &PrimSortByKeyWorkspace;
  return schema;
}

KernelSchema PrimReduceSchema() {
  KernelSchema schema = PrimSchema(
      "reduce", "dst[0] = the sum, minimum or maximum of src",
      "In the type of src (reduce_sum sums in a wider one): integers wrap. NaN where an element of "
      "a minimum or maximum is NaN. The order of float sums is the library's; they are within n "
      "roundings on the sum of the absolute elements. Of no elements: 0; the largest value or "
      "infinity as minimum, the smallest or -infinity as maximum.",
      {Elements("src", "what is reduced", Access::kRead, PrimTypes(), 3),
       Buffer("dst", "one element", Access::kWrite, SameAs(0), {Constant(1)}), PrimOperation(),
       PrimExtent("elements of src")});
  schema.workspace.bytes = &PrimTilesWorkspace<3>;
  return schema;
}

KernelSchema PrimReduceByKeySchema() {
  KernelSchema schema = PrimSchema(
      "reduce_by_key", "The sum, minimum or maximum of the values of each run of equal keys",
      "A run is of neighbours with the same bits: sort first for one run a key. count[0] = runs; "
      "the "
      "elements of runs and results behind them become 0. Values combine as those of prim.reduce.",
      {Elements("keys", "whose runs", Access::kRead, PrimTypes(), 6),
       Elements("values", "what is reduced", Access::kRead, PrimTypes(), 6),
       Elements("runs", "the key of each run", Access::kWrite, SameAs(0), 6),
       Elements("results", "the result of each run", Access::kWrite, SameAs(1), 6),
       PrimCount("one element, the number of runs"), PrimOperation(), PrimExtent("pairs")});
  schema.key = {SymbolKey::Kind::kDType, {0, 1}};
  schema.workspace.bytes = &PrimTilesWorkspace<6>;
  return schema;
}

KernelSchema PrimScanSchema() {
  KernelSchema schema = PrimSchema(
      "scan", "dst[i] = the sum, minimum or maximum of src[0] … src[i]",
      "Exclusive: without src[i]; dst[0] is then what prim.reduce gives of no elements. Elements "
      "combine as those of prim.reduce; float sums may differ in their last bits from run to run.",
      {Elements("src", "what is added up", Access::kRead, PrimTypes(), 4),
       Elements("dst", "what is written", Access::kWrite, SameAs(0), 4),
       Choice("mode", "whether dst[i] includes src[i]", {"inclusive", "exclusive"}),
       PrimOperation(), PrimExtent("elements of src and dst")});
  schema.workspace.bytes = &PrimTilesWorkspace<4>;
  return schema;
}

KernelSchema PrimSelectSchema() {
  KernelSchema schema = PrimSchema(
      "select", "dst = the elements of src whose flag is not 0, in their order",
      "count[0] = how many; the elements of dst behind them become 0.",
      {Elements("src", "what is read", Access::kRead, PrimTypes(), 4),
       Elements("flags", "which elements are kept", Access::kRead, OneOf({DType::kU8}), 4),
       Elements("dst", "what is written", Access::kWrite, SameAs(0), 4),
       PrimCount("one element, how many are kept"), PrimExtent("elements of src, flags and dst")});
  schema.key.kind = SymbolKey::Kind::kWidth;
  schema.workspace.bytes = &PrimTilesWorkspace<4>;
  return schema;
}

KernelSchema PrimUniqueSchema() {
  KernelSchema schema = PrimSchema(
      "unique", "dst = the elements of src that differ from the one before them",
      "Elements are equal when their bits are: sort first to have each once. count[0] = how many; "
      "the elements of dst behind them become 0.",
      {Elements("src", "what is read", Access::kRead, PrimTypes(), 3),
       Elements("dst", "what is written", Access::kWrite, SameAs(0), 3),
       PrimCount("one element, how many are kept"), PrimExtent("elements of src and dst")});
  schema.key.kind = SymbolKey::Kind::kWidth;
  schema.workspace.bytes = &PrimTilesWorkspace<3>;
  return schema;
}

KernelSchema PrimRunLengthEncodeSchema() {
  KernelSchema schema = PrimSchema(
      "run_length_encode", "Runs of equal elements, and how long each is",
      "Elements are equal when their bits are. count[0] = runs; the elements of runs and lengths "
      "behind them become 0.",
      {Elements("src", "what is read", Access::kRead, PrimTypes(), 4),
       Elements("runs", "the element of each run", Access::kWrite, SameAs(0), 4),
       Elements("lengths", "of each run", Access::kWrite, OneOf({DType::kI32}), 4),
       PrimCount("one element, the number of runs"), PrimExtent("elements of src")});
  schema.key.kind = SymbolKey::Kind::kWidth;
  schema.workspace.bytes = &PrimTilesWorkspace<4>;
  return schema;
}

KernelSchema PrimHistogramSchema() {
  DTypeRule types = PrimTypes();
  types.allowed.push_back(DType::kU8);
  KernelSchema schema = PrimSchema(
      "histogram",
      "counts[b] = how many elements of src are in bin b of even ones in [lower, upper)",
      "The bin of x is floor((x - lower) * (bins / (upper - lower))), in f64, and the last one "
      "where "
      "that is rounded up to upper. Elements outside, and NaN, are not counted. On a GPU the "
      "workspace is 4 bytes for each bin and thousand elements, for a million elements at most, "
      "and "
      "1 MiB.",
      {Elements("src", "samples", Access::kRead, std::move(types), 5),
       Elements("counts", "a count a bin", Access::kWrite, OneOf({DType::kU32}), 4),
       Scalar("lower", "start of the first bin", OneOf({DType::kF64}), Required()),
       Scalar("upper", "end of the last bin", OneOf({DType::kF64}), Required()),
       BoundedInteger("bins", "number of bins", Count(1), 1, kMaxPrimBins),
       PrimExtent("elements of src")});
  schema.workspace.bytes = &PrimHistogramWorkspace;
  schema.check = &CheckPrimHistogram;
  return schema;
}

struct NamedPrimLayout {
  const char* name;
  PrimLayout layout;
};
using P = PrimAlgorithm;
constexpr std::nullopt_t kNone = std::nullopt;
// Columns as in PrimLayout.
const NamedPrimLayout kPrimLayouts[] = {
    {"prim.sort", {P::kSort, 0, kNone, 1, kNone, kNone, 2, kNone, kNone, kNone, 3}},
    {"prim.sort_by_key", {P::kSortByKey, 0, 1, 2, 3, kNone, 4, kNone, kNone, kNone, 5}},
    {"prim.reduce", {P::kReduce, 0, kNone, 1, kNone, kNone, kNone, kNone, 2, kNone, 3}},
    {"prim.reduce_by_key", {P::kReduceByKey, 0, 1, 2, 3, 4, kNone, kNone, 5, kNone, 6}},
    {"prim.scan", {P::kScan, 0, kNone, 1, kNone, kNone, kNone, 2, 3, kNone, 4}},
    {"prim.select", {P::kSelect, 0, 1, 2, kNone, 3, kNone, kNone, kNone, kNone, 4}},
    {"prim.unique", {P::kUnique, 0, kNone, 1, kNone, 2, kNone, kNone, kNone, kNone, 3}},
    {"prim.run_length_encode",
     {P::kRunLengthEncode, 0, kNone, 1, 2, 3, kNone, kNone, kNone, kNone, 4}},
    {"prim.histogram", {P::kHistogram, 0, kNone, 1, kNone, kNone, kNone, kNone, kNone, 2, 5}},
};

}  // namespace

std::vector<KernelSchema> PrimSchemas() {
  return {
      PrimSortSchema(),     PrimSortByKeySchema(), PrimReduceSchema(), PrimReduceByKeySchema(),
      PrimScanSchema(),     PrimSelectSchema(),    PrimUniqueSchema(), PrimRunLengthEncodeSchema(),
      PrimHistogramSchema()};
}

PrimLayout PrimLayoutOf(const KernelSchema& schema) {
  for (const NamedPrimLayout& named : kPrimLayouts) {
    if (schema.name == named.name) return named.layout;
  }
  return {};
}

}  // namespace weft::kernels
