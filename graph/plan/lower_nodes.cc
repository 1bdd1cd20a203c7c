#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "graph/ir/semaphores.h"
#include "graph/plan/copy_launch.h"
#include "graph/plan/pass_pipeline.h"

namespace weft::plan {
namespace {

class NodeLowering {
 public:
  explicit NodeLowering(PlanState& state)
      : state_(state),
        plan_(state.plan),
        is_cpu_(state.device.is_cpu),
        own_waits_(ir::WaitsForOwnSignals(state.graph)) {}

  PlannedNode Lower(uint32_t index) {
    const ir::Node& node = state_.graph.nodes[index];
    PlannedNode out;
    out.is_no_op = ir::IsNoOp(node.op) || (!own_waits_.empty() && own_waits_[index]);
    out.launches.begin = static_cast<uint32_t>(plan_.launches.size());
    std::visit([this, &out](const auto& op) { Lower(op, out); }, node.op);
    out.launches.count = static_cast<uint32_t>(plan_.launches.size()) - out.launches.begin;
    if (!out.is_no_op) plan_.counts.operations += std::max(out.launches.count, 1U);
    return out;
  }

 private:
  void Lower(const ir::KernelOp& op, PlannedNode& out) {
    plan_.launches.insert(plan_.launches.end(), op.phases.begin(), op.phases.end());
    if (!op.phases.empty()) out.workspace.size = op.call.workspace_bytes;
  }
  void Lower(const ir::UserKernelOp& op, PlannedNode&) { plan_.launches.push_back(op.launch); }
  // On a GPU the library's; the twin needs none.
  void Lower(const ir::LibraryOp& op, PlannedNode& out) {
    if (op.phases.empty()) return;
    if (is_cpu_) {
      plan_.launches.insert(plan_.launches.end(), op.phases.begin(), op.phases.end());
    } else {
      out.workspace.size = op.call.workspace_bytes;
    }
  }
  void Lower(const ir::UploadOp& op, PlannedNode& out) { Stage(op.dst.range.size, out); }
  void Lower(const ir::DownloadOp& op, PlannedNode& out) {
    if (op.delivery == ir::Delivery::kAtEnd) return Stage(op.src.range.size, out);
    ++plan_.counts.operations;  // the call of the host behind the copy
    const uint64_t word = AlignUp(op.src.range.size, kReadyWordBytes);
    out.ready = {plan_.staging_bytes + word, kReadyWordBytes};
    Stage(word + kReadyWordBytes, out);
    out.staging.size = op.src.range.size;
  }
  void Lower(const ir::SymbolOp& op, PlannedNode& out) {
    if (std::holds_alternative<uint32_t>(op.source)) Stage(op.size_bytes, out);
  }
  void Lower(const ir::CopyOp& op, PlannedNode&) {
    std::optional<kernels::PhaseLaunch> launch = CopyLaunch(state_.graph, op, state_.device);
    if (launch.has_value()) plan_.launches.push_back(*std::move(launch));
  }
  void Lower(const ir::FillOp&, PlannedNode&) {}
  void Lower(const ir::PrefetchOp&, PlannedNode&) {}
  void Lower(const ir::AdviseOp&, PlannedNode&) {}
  void Lower(const ir::EmptyOp&, PlannedNode&) {}
  void Lower(const ir::GraphOp& op, PlannedNode& out) { LowerCalls(op, out); }
  void Lower(const ir::ConditionalOp& op, PlannedNode& out) { LowerCalls(op, out); }
  void Lower(const ir::SemaphoreWaitOp&, PlannedNode&) {}
  void Lower(const ir::SemaphoreSignalOp&, PlannedNode&) {}

  // One body runs at a time.
  void LowerCalls(const ir::Operation& op, PlannedNode& out) {
    for (const ir::GraphCall& call : state_.graph.CallsOf(op)) {
      const Plan& called = state_.graphs[call.graph];
      out.workspace.size = std::max(out.workspace.size, called.scratch.size_bytes);
      plan_.counts.operations += called.counts.operations;
    }
  }

  // A job has at most 2^20 nodes of at most 2^40 bytes: the sum fits 64 bits.
  void Stage(uint64_t size, PlannedNode& out) {
    out.staging = {plan_.staging_bytes, size};
    plan_.staging_bytes += AlignUp(size, kAreaAlignment);
  }

  PlanState& state_;
  Plan& plan_;
  const bool is_cpu_;
  const std::vector<bool> own_waits_;
};

}  // namespace

absl::Status LowerNodes(PlanState& state) {
  state.plan.nodes.reserve(state.graph.nodes.size());
  NodeLowering lowering(state);
  for (uint32_t i = 0; i < state.graph.node_count(); ++i) {
    state.plan.nodes.push_back(lowering.Lower(i));
  }
  return absl::OkStatus();
}

}  // namespace weft::plan
