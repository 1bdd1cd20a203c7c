// The part of errors.h that is about code of the job's own: modules, launches of their kernels,
// their variables.
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/ir/error_text.h"
#include "graph/ir/errors.h"
#include "graph/ir/limits.h"
#include "kernels/nearest_name.h"

namespace weft::ir {
namespace {

std::string DimText(const kernels::Dim3& dim) {
  return absl::StrCat(dim.x, " × ", dim.y, " × ", dim.z);
}

}  // namespace

FieldViolation ModuleWithoutCode(std::string field, absl::string_view module) {
  return {std::move(field), absl::StrCat("module ", Quote(module), " has no code; give it one of ",
                                         "cuda, ptx, cubin, fatbin, or a file")};
}

FieldViolation ModuleFromFile(std::string field, absl::string_view module, absl::string_view file) {
  return {std::move(field),
          absl::StrCat("module ", Quote(module), " names the file ", Quote(file),
                       ", which only a client can read; send what is in it (`weft run` does)")};
}

FieldViolation ModuleNotCompiled(std::string field, absl::string_view module,
                                 absl::string_view code) {
  return {std::move(field),
          absl::StrCat("module ", Quote(module), " is ", code,
                       ", which is not compiled; take its options and headers out")};
}

FieldViolation ModuleNeedsGpu(std::string field, absl::string_view module, absl::string_view code) {
  return {
      std::move(field),
      absl::StrCat("module ", Quote(module), " is ", code, ", which needs a GPU, and the job's ",
                   "device is a CPU; bring the kernel as CUDA C++ source, or choose another ",
                   "device (weft devices lists them)")};
}

FieldViolation UnknownModule(const NodePlace& node, absl::string_view module,
                             absl::string_view nearest) {
  return {node.Field("user_kernel.module"),
          WithNearest(absl::StrCat(NodeText(node), " names the unknown module ", Quote(module)),
                      nearest, "declare it in `modules`")};
}

FieldViolation BadEntry(const NodePlace& node, absl::string_view entry) {
  return {node.Field("user_kernel.entry"),
          absl::StrCat(NodeText(node), ": ", Quote(entry), " names no kernel; give the name of a ",
                       "__global__ function of the module, at most ", kMaxTextBytes, " bytes")};
}

FieldViolation NoParameterValue(const NodePlace& node, uint32_t parameter) {
  return {node.Field(absl::StrCat("user_kernel.params[", parameter, "]")),
          absl::StrCat(NodeText(node), ", parameter ", parameter, " has no value; give it a view, ",
                       "or a number of the type that the kernel declares (i32, f32, ...)")};
}

FieldViolation AccessOfScalar(const NodePlace& node, uint32_t parameter) {
  return {node.Field(absl::StrCat("user_kernel.params[", parameter, "].access")),
          absl::StrCat(NodeText(node), ", parameter ", parameter,
                       " is a number; only views have an access, take it out")};
}

FieldViolation TextureIsRead(const NodePlace& node, uint32_t parameter) {
  return {node.Field(absl::StrCat("user_kernel.params[", parameter, "].access")),
          absl::StrCat(NodeText(node), ", parameter ", parameter,
                       " is a texture, which kernels only read; leave its access out")};
}

FieldViolation ParameterOutOfRange(const NodePlace& node, uint32_t parameter,
                                   absl::string_view dtype) {
  return {node.Field(absl::StrCat("user_kernel.params[", parameter, "].", dtype)),
          absl::StrCat(NodeText(node), ", parameter ", parameter, " is no value of ", dtype,
                       "; give one that is, or the type that the kernel declares")};
}

FieldViolation NoLaunchShape(const NodePlace& node) {
  return {
      node.Field("user_kernel.launch"),
      absl::StrCat(NodeText(node), " has no launch shape, and a kernel of your own has no rule ",
                   "for one; give grid_x to block_z")};
}

FieldViolation BadTexture(const NodePlace& node, absl::string_view part, absl::string_view field,
                          absl::string_view why) {
  return {node.Field(absl::StrCat(part, ".", field)),
          absl::StrCat(NodeText(node), ", ", part, ": ", field, " ", why)};
}

FieldViolation BadCluster(const NodePlace& node, const kernels::Dim3& cluster, uint32_t limit) {
  // Reads: node ‹node›: a cluster of ‹cluster› blocks: each extent must be at least 1, and all blocks
  // together at most ‹limit› (or: the device has no clusters (they need compute capability 9.0); leave
  // cluster out)
  const std::string remedy =
      limit == 0
          ? "the device has no clusters (they need compute capability 9.0); leave cluster out"
          : absl::StrCat("each extent must be at least 1, and all blocks together at most ", limit);
  return {node.Field("user_kernel.cluster"),
          absl::StrCat(NodeText(node), ": a cluster of ", DimText(cluster), " blocks: ", remedy)};
}

FieldViolation ClusterDividesNot(const NodePlace& node, const kernels::Dim3& cluster,
                                 const kernels::Dim3& grid) {
  return {node.Field("user_kernel.cluster"),
          absl::StrCat(NodeText(node), ": a grid of ", DimText(grid),
                       " blocks cannot be cut into clusters of ", DimText(cluster),
                       "; make each extent of the grid a multiple of the cluster's")};
}

FieldViolation CooperativeNeedsGpu(const NodePlace& node) {
  return {node.Field("user_kernel.cooperative"),
          absl::StrCat(NodeText(node),
                       " is cooperative, and blocks run one after the other on a CPU device; run "
                       "the job on a GPU, or split the kernel in two nodes where its blocks wait")};
}

FieldViolation BadPriority(const NodePlace& node, int32_t priority, int32_t limit) {
  return {node.Field("user_kernel.priority"),
          absl::StrCat(NodeText(node), " has priority ", priority, "; give one from ", -limit,
                       " to ", limit)};
}

FieldViolation UnknownModuleOfSymbol(const NodePlace& node, absl::string_view module,
                                     absl::string_view nearest) {
  return {node.Field("symbol.module"),
          absl::StrCat(NodeText(node), " sets a variable of the unknown module ", Quote(module),
                       kernels::DidYouMean(nearest), "; list it among the job's modules")};
}

FieldViolation BadSymbol(const NodePlace& node, absl::string_view symbol) {
  return {node.Field("symbol.symbol"),
          absl::StrCat(NodeText(node), ": ", Quote(symbol), " names no variable; give the name of ",
                       "a __constant__ or __device__ variable of the module, at most ",
                       kMaxTextBytes, " bytes")};
}

FieldViolation SymbolWithoutBytes(const NodePlace& node) {
  return {node.Field("symbol.source"),
          absl::StrCat(NodeText(node), " sets no bytes, or more than a variable can have; give it ",
                       "src or data, and an offset_bytes within the variable")};
}

FieldViolation SymbolSizeDiffers(const NodePlace& node, uint64_t data_bytes, uint64_t size_bytes) {
  return {node.Field("symbol.size_bytes"),
          absl::StrCat(NodeText(node), " has ", data_bytes, " bytes of data and says ", size_bytes,
                       "; leave size_bytes out")};
}

}  // namespace weft::ir
