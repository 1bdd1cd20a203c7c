#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/byte_range.h"
#include "kernels/bind.h"
#include "kernels/library/dnn_schemas.h"
#include "kernels/library/schema_parts.h"

namespace weft::kernels {
namespace {

using C = Conv2dArguments;
using ConvViolations = std::vector<FieldViolation>;

// The library counts elements of a tensor in 32 bits.
constexpr int64_t kMaxConvElements = std::numeric_limits<int32_t>::max();
constexpr int64_t kMaxConvStep = 1 << 16;

// How far filters reach in one dimension.
struct ConvDimension {
  uint32_t in;
  uint32_t filter;
  uint32_t out;
  uint32_t pad;
  uint32_t stride;
  uint32_t dilation;
  const char* out_name;
  const char* filter_name;
};

void CheckDimension(const BoundCall& call, const ConvDimension& d, ConvViolations& violations) {
  // Below 2^50 all: extents are below 2^31, steps at most 2^16.
  const int64_t reach = (call.I64(d.filter) - 1) * call.I64(d.dilation) + 1;
  const int64_t padded = call.I64(d.in) + 2 * call.I64(d.pad);
  if (reach > padded) {
    violations.push_back(
        {d.filter_name, absl::StrCat("reaches over ", reach, " elements, but x has ", padded,
                                     " with its padding")});
    return;
  }
  const int64_t wanted = (padded - reach) / call.I64(d.stride) + 1;
  if (call.I64(d.out) == wanted) return;
  violations.push_back({d.out_name, absl::StrCat(call.I64(d.out), " is not ", wanted,
                                                 ", the places of the filter; correct y's shape")});
}

ConvViolations CheckConv(const KernelSchema& schema, const BoundCall& call) {
  ConvViolations violations;
  for (const uint32_t tensor : {C::kX, C::kFilters, C::kY}) {
    const uint64_t elements =
        call.arguments[tensor].touched_bytes / SizeOf(call.arguments[tensor].dtype);
    if (elements <= static_cast<uint64_t>(kMaxConvElements)) continue;
    violations.push_back(
        {schema.arguments[tensor].name,
         absl::StrCat("has ", elements, " elements; the library counts up to ", kMaxConvElements)});
  }
  CheckDimension(
      call,
      {C::kHeight, C::kFilterHeight, C::kOutHeight, C::kPadH, C::kStrideH, C::kDilationH, "p", "r"},
      violations);
  CheckDimension(
      call,
      {C::kWidth, C::kFilterWidth, C::kOutWidth, C::kPadW, C::kStrideW, C::kDilationW, "q", "s"},
      violations);
  return violations;
}

// What its kernels may copy into another order: all three tensors; and a fixed part. A call that the
// library wants more for gets it outside of the plan (cuda/dnn.h).
std::optional<uint64_t> ConvWorkspace(const BoundCall& call) {
  constexpr uint64_t kFixedBytes = uint64_t{16} << 20;
  uint64_t bytes = kFixedBytes;
  for (const uint32_t tensor : {C::kX, C::kFilters, C::kY}) {
    const uint64_t touched = call.arguments[tensor].touched_bytes;
    if (touched > UINT64_MAX / 8) return std::nullopt;
    bytes += AlignUp(touched, kWorkspaceAlignment);
  }
  return bytes;
}

ArgumentSchema ConvTensor(std::string name, std::string doc, Access access, DTypeRule dtype,
                          const std::vector<uint32_t>& extents) {
  ArgumentSchema argument =
      Buffer(std::move(name), std::move(doc), access, std::move(dtype), kernels::Of(extents));
  std::get<BufferSchema>(argument.kind).alignment = 8;  // the library moves 16 bytes at once
  return argument;
}
ArgumentSchema ConvExtent(const char* name, const char* doc, uint32_t buffer, uint32_t from_last) {
  return BoundedInteger(name, doc, Dimension(buffer, from_last), 1, kMaxConvElements);
}
ArgumentSchema ConvStep(const char* name, const char* doc, int64_t value, int64_t min) {
  return BoundedInteger(name, doc, Default(value), min, kMaxConvStep);
}

std::vector<ArgumentSchema> ConvArguments() {
  return {
      ConvTensor("x", "images: n x c x h x w", Access::kRead, OneOf({DType::kF32, DType::kF16}),
                 {C::kImages, C::kChannels, C::kHeight, C::kWidth}),
      ConvTensor("filters", "k x c x r x s", Access::kRead, SameAs(C::kX),
                 {C::kFilterCount, C::kChannels, C::kFilterHeight, C::kFilterWidth}),
      ConvTensor("bias", "k elements, one a channel of y", Access::kRead, SameAs(C::kX),
                 {C::kFilterCount}),
      ConvTensor("y", "n x k x p x q", Access::kWrite, SameAs(C::kX),
                 {C::kImages, C::kFilterCount, C::kOutHeight, C::kOutWidth}),
      Choice("activation", "of the sums, before they are rounded", {"none", "relu"}),
      ConvStep("pad_h", "zeros above and below x", 0, 0),
      ConvStep("pad_w", "zeros left and right of x", 0, 0),
      ConvStep("stride_h", "rows from one place of a filter to the next", 1, 1),
      ConvStep("stride_w", "columns from one place of a filter to the next", 1, 1),
      ConvStep("dilation_h", "rows from one element of a filter to the next", 1, 1),
      ConvStep("dilation_w", "columns from one element of a filter to the next", 1, 1),
      ConvExtent("n", "images", C::kX, 3),
      ConvExtent("c", "channels of x", C::kX, 2),
      ConvExtent("h", "rows of x", C::kX, 1),
      ConvExtent("w", "columns of x", C::kX, 0),
      ConvExtent("k", "filters, the channels of y", C::kFilters, 3),
      ConvExtent("r", "rows of a filter", C::kFilters, 1),
      ConvExtent("s", "columns of a filter", C::kFilters, 0),
      ConvExtent("p", "rows of y", C::kY, 1),
      ConvExtent("q", "columns of y", C::kY, 0),
  };
}

}  // namespace

KernelSchema Conv2dForwardSchema() {
  KernelSchema schema;
  schema.name = "dnn.conv2d_forward";
  schema.summary = "y = activation(x * filters + bias) of images, by cuDNN.";
  schema.doc =
      "Filters are laid over the images as they are (a correlation, as neural networks have it). "
      "Sums in f32, in an order that the library chooses, rounded once to the type of y. Within (c "
      "r s "
      "+ 8) roundings of f32 on the sum of the absolute terms of the exact result, and one "
      "rounding to "
      "the type of y. y is (h + 2 pad_h - (r - 1) dilation_h - 1) / stride_h + 1 rows high, and as "
      "wide "
      "likewise. On a GPU outside of CUDA graphs, and the call may block the thread that makes it; "
      "the workspace there is the bytes of x, filters and y, and 16 MiB.";
  schema.arguments = ConvArguments();
  schema.key = {SymbolKey::Kind::kDType, {C::kX}};
  schema.workspace.bytes = &ConvWorkspace;
  schema.phases = {TwinPhase("dnn_conv2d_forward", kernels::Of({C::kImages}))};
  schema.library = LibraryTraits{"cuDNN", LibraryTraits::Recording::kStreams};
  schema.check = &CheckConv;
  return schema;
}

}  // namespace weft::kernels
