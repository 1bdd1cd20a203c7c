#include "graph/plan/render.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace weft::plan {
namespace {

std::string Counted(uint64_t count, absl::string_view noun) {
  return absl::StrCat(count, " ", noun, count == 1 ? "" : "s");
}

std::string Bytes(ByteRange range) {
  return absl::StrCat("[", range.offset, ", ", range.end(), ")");
}

std::string Dims(const kernels::Dim3& d) { return absl::StrCat(d.x, "x", d.y, "x", d.z); }

// Of a node that launches a kernel; empty: it launches none.
std::string KernelName(const ir::Operation& op) {
  if (const auto* builtin = std::get_if<ir::KernelOp>(&op))
    return std::string(builtin->schema->name);
  if (const auto* user = std::get_if<ir::UserKernelOp>(&op)) return absl::CHexEscape(user->entry);
  return "";
}

class Renderer {
 public:
  Renderer(const ir::Graph& graph, const Plan& plan, const RenderOptions& options)
      : graph_(graph), plan_(plan), options_(options) {}

  std::string Text() {
    AppendHead();
    uint32_t left = options_.max_nodes;
    for (uint32_t l = 0; l < plan_.lane_count(); ++l) AppendLane(LaneId(l), left);
    AppendMemory();
    AppendLaunch();
    return std::move(out_);
  }

  std::string Dot() {
    out_ = absl::StrCat("digraph \"", absl::CHexEscape(graph_.name),
                        "\" {\n  rankdir=TB;\n  node [shape=box, fontname=\"sans-serif\"];\n");
    std::vector<bool> shown(plan_.nodes.size(), false);
    uint32_t left = options_.max_nodes;
    for (uint32_t l = 0; l < plan_.lane_count(); ++l) AppendCluster(LaneId(l), left, shown);
    for (uint32_t v = 0; v < plan_.nodes.size(); ++v) {
      for (const NodeIndex waited : plan_.WaitsOf(plan_.nodes[v])) {
        if (!shown[v] || !shown[waited.value()]) continue;
        absl::StrAppend(&out_, "  n", waited.value(), " -> n", v,
                        " [style=dashed, constraint=true, label=\"",
                        ShortReason(waited, NodeIndex(v)), "\"];\n");
      }
    }
    absl::StrAppend(&out_, "}\n");
    return std::move(out_);
  }

 private:
  const std::string& Name(NodeIndex n) const { return graph_.node(n).name; }

  // What the edge from `a` to `b` protects: the first two uses that conflict.
  std::pair<const ir::Use*, const ir::Use*> Conflict(NodeIndex a, NodeIndex b) const {
    for (const ir::Use& late : graph_.UsesOf(b)) {
      for (const ir::Use& early : graph_.UsesOf(a)) {
        const bool conflict = early.storage == late.storage && early.range.overlaps(late.range) &&
                              (kernels::Writes(early.access) || kernels::Writes(late.access));
        if (conflict) return {&early, &late};
      }
    }
    return {nullptr, nullptr};
  }

  bool IsAfter(NodeIndex a, NodeIndex b) const {
    const absl::Span<const NodeIndex> after = graph_.AfterOf(graph_.node(b));
    return std::find(after.begin(), after.end(), a) != after.end();
  }

  // The module of which one of the nodes sets variables, and the other does so or launches kernels.
  const std::string* CommonModule(NodeIndex a, NodeIndex b) const {
    if (graph_.options.ordering != ir::Ordering::kData) return nullptr;
    const auto module_of = [this](NodeIndex n) {
      const ir::Operation& op = graph_.node(n).op;
      if (const auto* symbol = std::get_if<ir::SymbolOp>(&op)) return int64_t{symbol->module};
      if (const auto* kernel = std::get_if<ir::UserKernelOp>(&op)) return int64_t{kernel->module};
      return int64_t{-1};
    };
    const bool sets = std::holds_alternative<ir::SymbolOp>(graph_.node(a).op) ||
                      std::holds_alternative<ir::SymbolOp>(graph_.node(b).op);
    const int64_t module = module_of(a);
    if (!sets || module < 0 || module != module_of(b)) return nullptr;
    return &graph_.modules[static_cast<size_t>(module)].name;
  }

  std::string Reason(NodeIndex a, NodeIndex b) const {
    if (const std::string* module = CommonModule(a, b)) {
      return absl::StrCat("variables of module ", *module);
    }
    if (IsAfter(a, b)) return "named in `after`";
    const auto [early, late] = Conflict(a, b);
    if (early == nullptr) return "what comes before it, by way of others";
    const uint64_t begin = std::max(early->range.offset, late->range.offset);
    const ByteRange common = {begin, std::min(early->range.end(), late->range.end()) - begin};
    const bool read_later = kernels::Reads(late->access) && kernels::Writes(early->access);
    const char* does = read_later ? "reads" : "writes";
    const char* did = kernels::Writes(early->access) ? "write" : "read";
    return absl::StrCat(does, " ", graph_.buffer(late->storage).name, " ", Bytes(common),
                        " after its ", did);
  }

  std::string ShortReason(NodeIndex a, NodeIndex b) const {
    if (const std::string* module = CommonModule(a, b)) return *module;
    if (IsAfter(a, b)) return "after";
    const auto [early, late] = Conflict(a, b);
    return early == nullptr ? "" : graph_.buffer(late->storage).name;
  }

  void AppendHead() {
    absl::StrAppend(&out_, "job \"", absl::CHexEscape(graph_.name),
                    "\": ", Counted(plan_.nodes.size(), "node"), " in ",
                    Counted(plan_.lane_count(), "lane"), ", ",
                    Counted(plan_.event_edge_count(), "event edge"), "\n");
    const Counts& counts = plan_.counts;
    absl::StrAppend(&out_, "dependencies: ", counts.dependencies, ", of which ", counts.transitive,
                    " follow from others");
    if (counts.joins > 0) absl::StrAppend(&out_, "; ", Counted(counts.joins, "join"));
    absl::StrAppend(&out_, "; at most ", Counted(plan_.lane_limit, "lane"), "\n");
  }

  std::string Work(const ir::Node& node, const PlannedNode& planned) const {
    if (planned.is_no_op) return absl::StrCat(ir::KindName(node.op), ", nothing to do");
    const std::string kernel = KernelName(node.op);
    if (const auto* symbol = std::get_if<ir::SymbolOp>(&node.op)) {
      return absl::StrCat("symbol ", absl::CHexEscape(symbol->symbol), ", ",
                          Counted(symbol->size_bytes, "byte"));
    }
    if (kernel.empty()) {
      uint64_t bytes = 0;
      for (const ir::Use& use : graph_.UsesOf(node)) bytes = std::max(bytes, use.range.size);
      return absl::StrCat(ir::KindName(node.op), " of ", Counted(bytes, "byte"));
    }
    const kernels::PhaseLaunch& first = plan_.LaunchesOf(planned)[0];
    std::string text =
        absl::StrCat("kernel ", kernel, ", grid ", Dims(first.grid), ", block ", Dims(first.block));
    if (planned.launches.count > 1) {
      absl::StrAppend(&text, ", ", planned.launches.count, " launches");
    }
    return text;
  }

  std::string Place(const PlannedNode& node) const {
    const std::optional<NodeIndex> before = plan_.BeforeInLane(node);
    switch (node.lane_reason) {
      case LaneReason::kOpens:
        return "opens the lane";
      case LaneReason::kContinues:
        return absl::StrCat("continues ", Name(*before));
      case LaneReason::kFollows:
        return absl::StrCat("follows ", Name(*before), ", which has ended by then");
      case LaneReason::kShares:
        return absl::StrCat("shares the lane of ", Name(*before), ", all lanes being in use");
    }
    return "";
  }

  void AppendLane(LaneId lane, uint32_t& left) {
    absl::StrAppend(&out_, "lane ", lane.value(), "\n");
    const absl::Span<const NodeIndex> nodes = plan_.NodesOf(lane);
    const size_t shown = std::min<size_t>(nodes.size(), left);
    left -= static_cast<uint32_t>(shown);
    for (const NodeIndex n : nodes.subspan(0, shown)) {
      const PlannedNode& planned = plan_.node(n);
      absl::StrAppend(&out_, "  ", Name(n), ": ", Work(graph_.node(n), planned), "; ",
                      Place(planned), "\n");
      for (const NodeIndex waited : plan_.WaitsOf(planned)) {
        absl::StrAppend(&out_, "    waits for ", Name(waited), ": ", Reason(waited, n), "\n");
      }
    }
    if (shown < nodes.size()) {
      absl::StrAppend(&out_, "  and ", Counted(nodes.size() - shown, "more node"), "\n");
    }
  }

  void AppendMemory() {
    const Scratch& scratch = plan_.scratch;
    absl::StrAppend(&out_, "scratch: ", Counted(scratch.size_bytes, "byte"), "; largest live set ",
                    scratch.largest_live_bytes, "; without sharing ", scratch.unshared_bytes, "\n");
    uint32_t left = options_.max_nodes;
    for (size_t i = 0; i < graph_.buffers.size(); ++i) {
      const std::optional<uint64_t>& offset = scratch.buffer_offsets[i];
      if (!offset.has_value() || left == 0) continue;
      --left;
      absl::StrAppend(&out_, "  ", graph_.buffers[i].name, ": ",
                      Bytes({*offset, graph_.buffers[i].size_bytes}), "\n");
    }
    for (size_t v = 0; v < plan_.nodes.size(); ++v) {
      const ByteRange& workspace = plan_.nodes[v].workspace;
      if (workspace.empty() || left == 0) continue;
      --left;
      absl::StrAppend(&out_, "  workspace of ", graph_.nodes[v].name, ": ", Bytes(workspace), "\n");
    }
    absl::StrAppend(&out_, "staging: ", Counted(plan_.staging_bytes, "byte"), "\n");
  }

  void AppendLaunch() {
    absl::StrAppend(&out_, "launch: ",
                    plan_.launch.mode == LaunchMode::kGraph ? "as a graph; " : "through streams; ",
                    plan_.launch.reason, "\n");
  }

  void AppendCluster(LaneId lane, uint32_t& left, std::vector<bool>& shown) {
    absl::StrAppend(&out_, "  subgraph cluster_lane", lane.value(), " {\n    label=\"lane ",
                    lane.value(), "\";\n");
    std::vector<std::string> chain;
    for (const NodeIndex n : plan_.NodesOf(lane)) {
      if (left == 0) break;
      --left;
      shown[n.value()] = true;
      const std::string kernel = KernelName(graph_.node(n).op);
      const absl::string_view what =
          kernel.empty() ? ir::KindName(graph_.node(n).op) : absl::string_view(kernel);
      absl::StrAppend(&out_, "    n", n.value(), " [label=\"", absl::CHexEscape(Name(n)), "\\n",
                      what, "\"];\n");
      chain.push_back(absl::StrCat("n", n.value()));
    }
    if (chain.size() > 1) absl::StrAppend(&out_, "    ", absl::StrJoin(chain, " -> "), ";\n");
    absl::StrAppend(&out_, "  }\n");
  }

  const ir::Graph& graph_;
  const Plan& plan_;
  const RenderOptions& options_;
  std::string out_;
};

}  // namespace

std::string RenderText(const ir::Graph& graph, const Plan& plan, const RenderOptions& options) {
  return Renderer(graph, plan, options).Text();
}

std::string RenderDot(const ir::Graph& graph, const Plan& plan, const RenderOptions& options) {
  return Renderer(graph, plan, options).Dot();
}

std::string RenderPasses(const Plan& plan) {
  std::string out;
  for (const PassReport& pass : plan.passes) {
    const bool ran = pass.outcome == PassReport::Outcome::kRan;
    absl::StrAppendFormat(&out, "%-18s %-12s %10.1f us\n", pass.name, ran ? "ran" : "switched off",
                          absl::ToDoubleMicroseconds(pass.duration));
  }
  return out;
}

}  // namespace weft::plan
