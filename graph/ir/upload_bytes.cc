#include "graph/ir/upload_bytes.h"

#include <cstdint>
#include <utility>

#include "graph/ir/errors.h"
#include "graph/ir/limits.h"
#include "graph/ir/violations.h"
#include "weft/v1/job.pb.h"

namespace weft::ir {

std::vector<std::string> TakeUploadBytes(v1::Job& job) {
  std::vector<std::string> taken;
  for (v1::Node& node : *job.mutable_nodes()) {
    if (!node.has_upload()) continue;
    taken.emplace_back();
    v1::UploadNode& upload = *node.mutable_upload();
    if (upload.source_case() != v1::UploadNode::kData) continue;
    taken.back() = std::move(*upload.mutable_data());
    upload.clear_source();
  }
  return taken;
}

void RestoreUploadBytes(v1::Job& job, std::vector<std::string> bytes) {
  size_t next = 0;
  for (v1::Node& node : *job.mutable_nodes()) {
    if (!node.has_upload() || next >= bytes.size()) continue;
    std::string& data = bytes[next++];
    if (node.upload().source_case() == v1::UploadNode::kFile) continue;
    node.mutable_upload()->set_data(std::move(data));
  }
}

absl::Status CheckUploadBytes(const Graph& graph, absl::Span<const std::string> bytes) {
  Violations violations(Limits{}.max_reported);
  for (uint32_t i = 0; i < graph.node_count(); ++i) {
    const auto* upload = std::get_if<UploadOp>(&graph.nodes[i].op);
    if (upload == nullptr) continue;
    const uint64_t size = bytes[upload->upload].size();
    if (size != upload->dst.range.size) {
      violations.Add(UploadSizeDiffers({i, graph.nodes[i].name}, size, upload->dst.range.size));
    }
  }
  return violations.ToStatus();
}

}  // namespace weft::ir
