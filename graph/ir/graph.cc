#include "graph/ir/graph.h"

namespace weft::ir {

absl::string_view KindName(const Operation& op) {
  constexpr absl::string_view kNames[] = {"empty", "kernel", "user_kernel", "copy",
                                          "fill",  "upload", "download"};
  static_assert(std::size(kNames) == std::variant_size_v<Operation>);
  return kNames[op.index()];
}

bool IsNoOp(const Operation& op) {
  return std::visit(Overloaded{
                        [](const EmptyOp&) { return true; },
                        [](const KernelOp& kernel) { return kernel.phases.empty(); },
                        [](const UserKernelOp&) { return false; },
                        [](const CopyOp& copy) { return copy.dst.range.empty(); },
                        [](const FillOp& fill) { return fill.dst.range.empty(); },
                        [](const UploadOp& upload) { return upload.dst.range.empty(); },
                        [](const DownloadOp& download) { return download.src.range.empty(); },
                    },
                    op);
}

}  // namespace weft::ir
