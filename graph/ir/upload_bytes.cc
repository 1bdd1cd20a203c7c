#include "graph/ir/upload_bytes.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "graph/ir/errors.h"
#include "graph/ir/limits.h"
#include "graph/ir/violations.h"
#include "weft/v1/job.pb.h"

namespace weft::ir {

namespace {

bool HasInlineBytes(const v1::Node& node) {
  return node.has_upload() ||
         (node.has_symbol() && node.symbol().source_case() != v1::SymbolNode::kSrc);
}

std::string TakeOf(v1::UploadNode& upload) {
  if (upload.source_case() != v1::UploadNode::kData) return "";
  std::string data = std::move(*upload.mutable_data());
  upload.clear_source();
  return data;
}

std::string TakeOf(v1::SymbolNode& symbol) {
  if (symbol.source_case() != v1::SymbolNode::kData) return "";
  std::string data = std::move(*symbol.mutable_data());
  symbol.clear_source();
  // One that the job gives is held against the bytes later.
  if (symbol.size_bytes() == 0) symbol.set_size_bytes(data.size());
  return data;
}

}  // namespace

std::vector<std::string> TakeUploadBytes(v1::Job& job) {
  std::vector<std::string> taken;
  for (v1::Node& node : *job.mutable_nodes()) {
    if (!HasInlineBytes(node)) continue;
    taken.push_back(node.has_upload() ? TakeOf(*node.mutable_upload())
                                      : TakeOf(*node.mutable_symbol()));
  }
  return taken;
}

void RestoreUploadBytes(v1::Job& job, std::vector<std::string> bytes) {
  size_t next = 0;
  for (v1::Node& node : *job.mutable_nodes()) {
    if (!HasInlineBytes(node) || next >= bytes.size()) continue;
    std::string& data = bytes[next++];
    if (node.has_symbol()) {
      if (!data.empty()) node.mutable_symbol()->set_data(std::move(data));
    } else if (node.upload().source_case() != v1::UploadNode::kFile) {
      node.mutable_upload()->set_data(std::move(data));
    }
  }
}

absl::Status CheckUploadBytes(const Graph& graph, absl::Span<const std::string> bytes) {
  Violations violations(Limits{}.max_reported);
  for (uint32_t i = 0; i < graph.node_count(); ++i) {
    const Operation& op = graph.nodes[i].op;
    const std::optional<uint32_t> upload = UploadOf(op);
    if (!upload.has_value()) continue;
    const uint64_t size = bytes[*upload].size();
    if (size == StagedBytes(op)) continue;
    const NodePlace place = {i, graph.nodes[i].name};
    violations.Add(std::holds_alternative<SymbolOp>(op)
                       ? (size == 0 ? SymbolWithoutBytes(place)
                                    : SymbolSizeDiffers(place, size, StagedBytes(op)))
                       : UploadSizeDiffers(place, size, StagedBytes(op)));
  }
  return violations.ToStatus();
}

}  // namespace weft::ir
