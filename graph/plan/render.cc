#include "graph/plan/render.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "graph/ir/semaphores.h"

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
  if (const auto* library = std::get_if<ir::LibraryOp>(&op))
    return std::string(library->schema->name);
  if (const auto* user = std::get_if<ir::UserKernelOp>(&op)) return absl::CHexEscape(user->entry);
  return "";
}

const char* NameOf(ir::ConditionalOp::Kind kind) {
  switch (kind) {
    case ir::ConditionalOp::Kind::kIf:
      return "IF";
    case ir::ConditionalOp::Kind::kWhile:
      return "WHILE";
    case ir::ConditionalOp::Kind::kSwitch:
      return "SWITCH";
  }
  return "";
}

// Of body `i` of a node that runs graphs.
std::string BodyLabel(const ir::Operation& op, size_t i) {
  const auto* conditional = std::get_if<ir::ConditionalOp>(&op);
  if (conditional == nullptr) return "runs";
  switch (conditional->kind) {
    case ir::ConditionalOp::Kind::kIf:
      return i == 0 ? "then" : "else";
    case ir::ConditionalOp::Kind::kWhile:
      return "repeats";
    case ir::ConditionalOp::Kind::kSwitch:
      return absl::StrCat("case ", i, ":");
  }
  return "";
}

// As the order of nodes takes it: waits and signals are as reads to all nodes but each other.
bool Writes(const ir::Use& use) {
  return kernels::Writes(use.access) && use.kind != ir::UseKind::kSemaphore;
}

// Nodes and segments named in one line.
constexpr size_t kMaxListed = 8;

class Renderer {
 public:
  Renderer(const ir::Graph& graph, const Plan& plan, const RenderOptions& options)
      : graph_(graph), plan_(plan), options_(options), job_(graph), job_plan_(plan) {}

  std::string Text() {
    AppendHead();
    uint32_t left = options_.max_nodes;
    std::vector<bool> shown(plan_.graphs.size(), false);
    AppendLanes(left, shown);
    AppendMemory();
    AppendLaunch();
    AppendSegments();
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
  // Of a graph of the job, as a part of the text of `outer`, indented by `indent`.
  Renderer(const ir::Graph& graph, const Plan& plan, const Renderer& outer, std::string indent)
      : graph_(graph),
        plan_(plan),
        options_(outer.options_),
        job_(outer.job_),
        job_plan_(outer.job_plan_),
        indent_(std::move(indent)) {}

  const std::string& Name(NodeIndex n) const { return graph_.node(n).name; }

  // What the edge from `a` to `b` protects: the first two uses that conflict.
  std::pair<const ir::Use*, const ir::Use*> Conflict(NodeIndex a, NodeIndex b) const {
    for (const ir::Use& late : graph_.UsesOf(b)) {
      for (const ir::Use& early : graph_.UsesOf(a)) {
        const bool conflict = early.storage == late.storage && early.range.overlaps(late.range) &&
                              (Writes(early) || Writes(late));
        if (conflict) return {&early, &late};
      }
    }
    return {nullptr, nullptr};
  }

  bool IsAfter(NodeIndex a, NodeIndex b) const {
    const absl::Span<const NodeIndex> after = graph_.AfterOf(graph_.node(b));
    return std::find(after.begin(), after.end(), a) != after.end();
  }

  bool UsesModule(const ir::Operation& op, uint32_t module) const {
    if (const auto* symbol = std::get_if<ir::SymbolOp>(&op)) return symbol->module == module;
    if (const auto* kernel = std::get_if<ir::UserKernelOp>(&op)) return kernel->module == module;
    const absl::Span<const ir::GraphCall> calls = graph_.CallsOf(op);
    return std::any_of(calls.begin(), calls.end(), [&](const ir::GraphCall& call) {
      const std::vector<uint32_t>& modules = graph_.graphs[call.graph].kernel_modules;
      return std::binary_search(modules.begin(), modules.end(), module);
    });
  }

  // The module of which one of the nodes sets variables, and the other does so or launches kernels.
  const std::string* CommonModule(NodeIndex a, NodeIndex b) const {
    if (graph_.options.ordering != ir::Ordering::kData) return nullptr;
    const auto* setter = std::get_if<ir::SymbolOp>(&graph_.node(a).op);
    if (setter == nullptr) {
      std::swap(a, b);
      setter = std::get_if<ir::SymbolOp>(&graph_.node(a).op);
    }
    if (setter == nullptr || !UsesModule(graph_.node(b).op, setter->module)) return nullptr;
    return &graph_.modules[setter->module].name;
  }

  std::string Reason(NodeIndex a, NodeIndex b) const {
    if (ir::IsSemaphorePair(graph_, a, b)) return "signals what it waits for";
    if (const std::string* module = CommonModule(a, b)) {
      return absl::StrCat("variables of module ", *module);
    }
    if (IsAfter(a, b)) return "named in `after`";
    const auto [early, late] = Conflict(a, b);
    if (early == nullptr) return "what comes before it, by way of others";
    const uint64_t begin = std::max(early->range.offset, late->range.offset);
    const ByteRange common = {begin, std::min(early->range.end(), late->range.end()) - begin};
    const bool read_later = kernels::Reads(late->access) && Writes(*early);
    const char* does = read_later ? "reads" : "writes";
    const char* did = Writes(*early) ? "write" : "read";
    return absl::StrCat(does, " ", graph_.buffer(late->storage).name, " ", Bytes(common),
                        " after its ", did);
  }

  std::string ShortReason(NodeIndex a, NodeIndex b) const {
    if (ir::IsSemaphorePair(graph_, a, b)) return "signal";
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

  // "copy of 3 rows of 16 bytes"
  std::string BytesOf(const ir::Node& node) const {
    const absl::Span<const ir::Use> uses = graph_.UsesOf(node);
    uint64_t bytes = 0;
    for (const ir::Use& use : uses) bytes = std::max(bytes, use.range.size);
    if (uses.empty() || uses[0].runs == ir::Use::kAllBytes) return Counted(bytes, "byte");
    const ir::Runs& runs = graph_.runs[uses[0].runs];
    return absl::StrCat(Counted(runs.rows * runs.slices, "row"), " of ",
                        Counted(runs.width_bytes, "byte"));
  }

  // " from device 1 to device 2": of a copy, the devices that are not the job's.
  std::string OtherDevices(const ir::Operation& op) const {
    const auto* copy = std::get_if<ir::CopyOp>(&op);
    if (copy == nullptr) return "";
    std::string text;
    const ir::Buffer& src = graph_.buffer(copy->src.buffer);
    const ir::Buffer& dst = graph_.buffer(copy->dst.buffer);
    if (graph_.IsElsewhere(src)) absl::StrAppend(&text, " from device ", src.shared->device);
    if (graph_.IsElsewhere(dst)) absl::StrAppend(&text, " to device ", dst.shared->device);
    return text;
  }

  std::string Work(const ir::Node& node, const PlannedNode& planned) const {
    if (std::holds_alternative<ir::AdviseOp>(node.op)) {
      return "advise, done when the graph is prepared";
    }
    if (planned.is_no_op && std::holds_alternative<ir::SemaphoreWaitOp>(node.op)) {
      return absl::StrCat(FlowWork(node.op), ", which it is by then");
    }
    if (planned.is_no_op) return absl::StrCat(ir::KindName(node.op), ", nothing to do");
    std::string flow = FlowWork(node.op);
    if (!flow.empty()) return flow;
    const std::string kernel = KernelName(node.op);
    if (const auto* symbol = std::get_if<ir::SymbolOp>(&node.op)) {
      return absl::StrCat("symbol ", absl::CHexEscape(symbol->symbol), ", ",
                          Counted(symbol->size_bytes, "byte"));
    }
    if (kernel.empty()) {
      return absl::StrCat(ir::KindName(node.op), " of ", BytesOf(node), OtherDevices(node.op),
                          ir::IsHostOutput(node.op) ? ", delivered when ready" : "",
                          planned.launches.count > 0 ? ", by a kernel" : "");
    }
    const auto* library = std::get_if<ir::LibraryOp>(&node.op);
    const absl::string_view kind = library != nullptr ? "call " : "kernel ";
    if (planned.launches.count == 0) {
      return absl::StrCat(kind, kernel, " of ", library->schema->library->library);
    }
    const kernels::PhaseLaunch& first = plan_.LaunchesOf(planned)[0];
    std::string text =
        absl::StrCat(kind, kernel, ", grid ", Dims(first.grid), ", block ", Dims(first.block));
    if (planned.launches.count > 1) {
      absl::StrAppend(&text, ", ", planned.launches.count, " launches");
    }
    return text;
  }

  std::string ViewText(const ir::View& view) const {
    return absl::StrCat(graph_.buffer(view.buffer).name, " ", Bytes(view.range));
  }

  // Of nodes that run graphs, wait or signal; empty: another one.
  std::string FlowWork(const ir::Operation& op) const {
    if (const auto* wait = std::get_if<ir::SemaphoreWaitOp>(&op)) {
      return absl::StrCat("wait until ", ViewText(wait->semaphore), " is ", wait->value);
    }
    if (const auto* signal = std::get_if<ir::SemaphoreSignalOp>(&op)) {
      return absl::StrCat("signal ", signal->value, " to ", ViewText(signal->semaphore));
    }
    if (const auto* conditional = std::get_if<ir::ConditionalOp>(&op)) {
      return absl::StrCat("conditional, ", NameOf(conditional->kind), " on ",
                          ViewText(conditional->value));
    }
    return std::holds_alternative<ir::GraphOp>(op) ? "graph" : "";
  }

  // The graphs that a node runs; each of them whole where it comes first.
  void AppendBodies(const ir::Node& node, uint32_t& left, std::vector<bool>& shown) {
    const absl::Span<const ir::GraphCall> calls = graph_.CallsOf(node.op);
    for (size_t i = 0; i < calls.size(); ++i) {
      const ir::Graph& body = job_.graphs[calls[i].graph];
      std::vector<std::string> bound;
      const absl::Span<const ir::View> bindings = graph_.BindingsOf(calls[i]);
      for (size_t p = 0; p < bindings.size(); ++p) {
        bound.push_back(
            absl::StrCat(body.buffer(body.parameters[p]).name, " = ", ViewText(bindings[p])));
      }
      const bool is_known = shown[calls[i].graph];
      absl::StrAppend(&out_, indent_, "    ", BodyLabel(node.op, i), " ", body.name, "(",
                      absl::StrJoin(bound, ", "), ")", is_known ? ", as above\n" : "\n");
      if (is_known) continue;
      shown[calls[i].graph] = true;
      Renderer part(body, job_plan_.graphs[calls[i].graph], *this, absl::StrCat(indent_, "      "));
      part.AppendLanes(left, shown);  // NOLINT(misc-no-recursion): at most kMaxGraphDepth levels
      absl::StrAppend(&out_, part.out_);
    }
  }

  void AppendLanes(uint32_t& left, std::vector<bool>& shown) {
    for (uint32_t l = 0; l < plan_.lane_count(); ++l) AppendLane(LaneId(l), left, shown);
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

  void AppendLane(LaneId lane, uint32_t& left, std::vector<bool>& shown_graphs) {
    absl::StrAppend(&out_, indent_, "lane ", lane.value(), "\n");
    const absl::Span<const NodeIndex> nodes = plan_.NodesOf(lane);
    const size_t shown = std::min<size_t>(nodes.size(), left);
    left -= static_cast<uint32_t>(shown);
    for (const NodeIndex n : nodes.subspan(0, shown)) {
      const PlannedNode& planned = plan_.node(n);
      absl::StrAppend(&out_, indent_, "  ", Name(n), ": ", Work(graph_.node(n), planned), "; ",
                      Place(planned), "\n");
      for (const NodeIndex waited : plan_.WaitsOf(planned)) {
        absl::StrAppend(&out_, indent_, "    waits for ", Name(waited), ": ", Reason(waited, n),
                        "\n");
      }
      AppendBodies(graph_.node(n), left, shown_graphs);
    }
    if (shown < nodes.size()) {
      absl::StrAppend(&out_, indent_, "  and ", Counted(nodes.size() - shown, "more node"), "\n");
    }
  }

  void AppendMemory() {
    const Scratch& scratch = plan_.scratch;
    absl::StrAppend(&out_, "scratch: ", Counted(scratch.size_bytes, "byte"), "; largest live set ",
                    scratch.largest_live_bytes, "; without sharing ", scratch.unshared_bytes, "\n");
    uint32_t left = options_.max_nodes;
    AppendBuffers(ir::MemoryKind::kDevice, left);
    for (size_t v = 0; v < plan_.nodes.size(); ++v) {
      const ByteRange& workspace = plan_.nodes[v].workspace;
      if (workspace.empty() || left == 0) continue;
      --left;
      absl::StrAppend(&out_, "  workspace of ", graph_.nodes[v].name, ": ", Bytes(workspace), "\n");
    }
    AppendArea("pinned", ir::MemoryKind::kPinned, plan_.pinned_bytes, left);
    AppendArea("managed", ir::MemoryKind::kManaged, plan_.managed_bytes, left);
    absl::StrAppend(&out_, "staging: ", Counted(plan_.staging_bytes, "byte"), "\n");
  }

  void AppendArea(absl::string_view name, ir::MemoryKind memory, uint64_t bytes, uint32_t& left) {
    if (bytes == 0) return;
    absl::StrAppend(&out_, name, ": ", Counted(bytes, "byte"), "\n");
    AppendBuffers(memory, left);
  }

  void AppendBuffers(ir::MemoryKind memory, uint32_t& left) {
    for (size_t i = 0; i < graph_.buffers.size(); ++i) {
      const std::optional<uint64_t>& offset = plan_.scratch.buffer_offsets[i];
      if (!offset.has_value() || graph_.buffers[i].memory != memory || left == 0) continue;
      --left;
      absl::StrAppend(&out_, "  ", graph_.buffers[i].name, ": ",
                      Bytes({*offset, graph_.buffers[i].size_bytes}), "\n");
    }
  }

  void AppendLaunch() {
    absl::StrAppend(&out_, "launch: ",
                    plan_.launch.mode == LaunchMode::kGraph ? "as a graph; " : "through streams; ",
                    plan_.launch.reason, "\n");
  }

  static std::string Listed(absl::Span<const uint32_t> segments) {
    std::string text = absl::StrJoin(segments.subspan(0, kMaxListed), ", ");
    if (segments.size() > kMaxListed) absl::StrAppend(&text, ", …");
    return text;
  }

  static const char* HowRun(Segment::Kind kind, LaunchMode mode) {
    if (kind == Segment::Kind::kWait) return "a wait, which the host sees to";
    const bool is_graph = kind == Segment::Kind::kNodes && mode == LaunchMode::kGraph;
    return is_graph ? "a graph" : "through streams";
  }

  void AppendSegments() {
    if (plan_.segments.empty()) return;
    absl::StrAppend(&out_, "segments: ", plan_.segments.size(),
                    "; each starts when those before it have, and their waits are over\n");
    uint32_t left = options_.max_nodes;
    for (size_t s = 0; s < plan_.segments.size() && left > 0; ++s, --left) {
      const Segment& segment = plan_.segments[s];
      const absl::Span<const NodeIndex> nodes = plan_.NodesOf(segment);
      const size_t shown = std::min(nodes.size(), kMaxListed);
      absl::StrAppend(
          &out_, "  ", s, ": ",
          absl::StrJoin(nodes.subspan(0, shown), ", ",
                        [this](std::string* out, NodeIndex n) { absl::StrAppend(out, Name(n)); }));
      if (shown < nodes.size()) {
        absl::StrAppend(&out_, " and ", Counted(nodes.size() - shown, "more node"));
      }
      absl::StrAppend(&out_, "; ", HowRun(segment.kind, plan_.launch.mode));
      if (segment.after.count > 0) {
        absl::StrAppend(&out_, "; after ", Listed(plan_.AfterOf(segment)));
      }
      absl::StrAppend(&out_, "\n");
    }
    if (plan_.segments.size() > options_.max_nodes) {
      absl::StrAppend(&out_, "  and ",
                      Counted(plan_.segments.size() - options_.max_nodes, "more segment"), "\n");
    }
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
      std::string what = kernel.empty() ? std::string(ir::KindName(graph_.node(n).op)) : kernel;
      for (const ir::GraphCall& call : graph_.CallsOf(graph_.node(n).op)) {
        absl::StrAppend(&what, " ", job_.graphs[call.graph].name);
      }
      if (!plan_.segments.empty()) {
        absl::StrAppend(&what, "\\nsegment ", plan_.node(n).segment);
      }
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
  const ir::Graph& job_;
  const Plan& job_plan_;
  const std::string indent_;
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
