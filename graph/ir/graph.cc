#include "graph/ir/graph.h"

#include <algorithm>

namespace weft::ir {

absl::string_view KindName(const Operation& op) {
  constexpr absl::string_view kNames[] = {
      "empty",  "kernel",  "user_kernel", "copy",        "fill", "upload", "download", "prefetch",
      "advise", "library", "graph",       "conditional", "wait", "signal", "symbol"};
  static_assert(std::size(kNames) == std::variant_size_v<Operation>);
  const auto* kernel = std::get_if<UserKernelOp>(&op);
  if (kernel != nullptr && kernel->origin == UserKernelOp::Origin::kExpression) return "expression";
  return kNames[op.index()];
}

std::optional<uint32_t> UploadOf(const Operation& op) {
  if (const auto* upload = std::get_if<UploadOp>(&op)) return upload->upload;
  const auto* symbol = std::get_if<SymbolOp>(&op);
  if (symbol == nullptr || !std::holds_alternative<uint32_t>(symbol->source)) return std::nullopt;
  return std::get<uint32_t>(symbol->source);
}

uint64_t StagedBytes(const Operation& op) {
  if (const auto* upload = std::get_if<UploadOp>(&op)) return upload->dst.range.size;
  if (const auto* download = std::get_if<DownloadOp>(&op)) return download->src.range.size;
  return UploadOf(op).has_value() ? std::get<SymbolOp>(op).size_bytes : 0;
}

bool IsHostOutput(const Operation& op) {
  const auto* download = std::get_if<DownloadOp>(&op);
  return download != nullptr && download->delivery == Delivery::kWhenReady;
}

bool HasTextures(const UserKernelOp& op) {
  return std::any_of(op.parameters.begin(), op.parameters.end(), [](const KernelParameter& one) {
    return std::holds_alternative<TextureParameter>(one);
  });
}

bool IsNoOp(const Operation& op) {
  return std::visit(Overloaded{
                        [](const EmptyOp&) { return true; },
                        [](const KernelOp& kernel) { return kernel.phases.empty(); },
                        [](const LibraryOp& call) { return call.phases.empty(); },
                        [](const UserKernelOp&) { return false; },
                        [](const CopyOp& copy) { return copy.dst.range.empty(); },
                        [](const FillOp& fill) { return fill.dst.range.empty(); },
                        [](const UploadOp& upload) { return upload.dst.range.empty(); },
                        [](const DownloadOp& download) {
                          return download.src.range.empty() &&
                                 download.delivery == Delivery::kAtEnd;
                        },
                        [](const PrefetchOp& prefetch) { return prefetch.view.range.empty(); },
                        [](const AdviseOp&) { return true; },
                        [](const GraphOp&) { return false; },
                        [](const ConditionalOp&) { return false; },
                        [](const SemaphoreWaitOp&) { return false; },
                        [](const SemaphoreSignalOp&) { return false; },
                        [](const SymbolOp&) { return false; },
                    },
                    op);
}

absl::Span<const GraphCall> Graph::CallsOf(const Operation& op) const {
  if (const auto* graph = std::get_if<GraphOp>(&op)) return Part(calls, graph->calls);
  if (const auto* conditional = std::get_if<ConditionalOp>(&op)) {
    return Part(calls, conditional->calls);
  }
  return {};
}

}  // namespace weft::ir
