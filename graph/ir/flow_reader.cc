#include "graph/ir/flow_reader.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/ir/field_names.h"
#include "graph/ir/parameter_effects.h"
#include "weft/v1/job.pb.h"

namespace weft::ir {
namespace {

constexpr uint64_t kWordBytes = 4;
constexpr uint64_t kSemaphoreBytes = 8;
// The device compares cyclically: a value and one 2^63 above it are each "at least" the other.
constexpr uint64_t kMaxSemaphoreValue = (uint64_t{1} << 63) - 1;

// The number of bodies that a kind takes, and how messages say it.
struct BodyRule {
  size_t most = 0;
  const char* kind = "";
  const char* allowed = "";
};
BodyRule RuleOf(ConditionalOp::Kind kind) {
  switch (kind) {
    case ConditionalOp::Kind::kIf:
      return {2, "an IF", "one, or two (the second is the ELSE)"};
    case ConditionalOp::Kind::kWhile:
      return {1, "a WHILE", "one"};
    case ConditionalOp::Kind::kSwitch:
      return {kMaxBodies, "a SWITCH", "1 to 64"};
  }
  return {};
}

// A bound view with its parameter, for the search for overlaps.
struct BoundRange {
  BufferIndex storage;
  ByteRange range;
  uint32_t parameter = 0;
  bool is_written = false;
};

}  // namespace

void FlowReader::AddUse(const View& view, Access access, UseKind kind) {
  graph_.uses.push_back(
      {NodeIndex(place_.index), graph_.buffer(view.buffer).storage, view.range, access, kind});
}

void FlowReader::Align(const View& view, uint32_t alignment) {
  uint32_t& whole = graph_.buffers[view.buffer.value()].alignment;
  whole = std::max(whole, alignment);
}

bool FlowReader::CheckBinding(const std::string& field, const View& view, const Buffer& parameter) {
  if (view.range.size != parameter.size_bytes) {
    violations_.Add(
        BindingSizeDiffers(place_, field, parameter.name, view.range.size, parameter.size_bytes));
    return false;
  }
  if (view.range.offset % parameter.alignment != 0) {
    violations_.Add(
        BindingMisaligned(place_, field, parameter.name, view.range.offset, parameter.alignment));
    return false;
  }
  Align(view, parameter.alignment);
  return true;
}

bool FlowReader::ReadBindings(const std::string& part, const v1::GraphNode& node,
                              const Graph& callee, std::vector<std::optional<View>>& bound) {
  NameTable parameters(callee.parameters.size());
  for (uint32_t p = 0; p < callee.parameters.size(); ++p) {
    parameters.Add(callee.buffer(callee.parameters[p]).name, p);
  }
  const uint64_t before = violations_.count();
  for (int i = 0; i < node.bindings_size(); ++i) {
    const v1::GraphNode::Binding& binding = node.bindings(i);
    const std::string field = absl::StrCat(part, ".bindings[", i, "]");
    const std::optional<uint32_t> p = parameters.Find(binding.parameter());
    if (!p.has_value()) {
      violations_.Add(UnknownGraphParameter(place_, field, binding.parameter(), callee.name,
                                            parameters.Nearest(binding.parameter())));
      // Of a list that is far too long the rest says nothing new.
      if (static_cast<size_t>(i) > callee.parameters.size()) return false;
      continue;
    }
    if (bound[*p].has_value()) {
      violations_.Add(BoundTwice(place_, field, binding.parameter()));
      continue;
    }
    const std::string view_part = absl::StrCat(field, ".view");
    const ViewPlace view_place = {place_, view_part, -1, {}};
    if (!binding.has_view()) {
      violations_.Add(NoView(view_place));
      continue;
    }
    const std::optional<ReadView> view = views_.Read(view_place, binding.view());
    if (!view.has_value()) return false;
    if (!CheckBinding(field, view->view, callee.buffer(callee.parameters[*p]))) continue;
    bound[*p] = view->view;
  }
  return violations_.count() == before;
}

bool FlowReader::CheckOverlaps(const std::string& part, const Graph& callee,
                               const std::vector<std::optional<View>>& bound) {
  std::vector<BoundRange> ranges;
  for (uint32_t p = 0; p < bound.size(); ++p) {
    if (bound[p]->range.empty()) continue;
    ranges.push_back({graph_.buffer(bound[p]->buffer).storage, bound[p]->range, p, false});
  }
  for (BoundRange& range : ranges) {
    range.is_written = std::any_of(
        callee.effects.begin(), callee.effects.end(), [&range](const ParameterEffect& effect) {
          return effect.parameter == range.parameter && kernels::Writes(effect.access);
        });
  }
  std::sort(ranges.begin(), ranges.end(), [](const BoundRange& a, const BoundRange& b) {
    return std::tie(a.storage, a.range.offset) < std::tie(b.storage, b.range.offset);
  });
  // The one that reaches furthest so far, among all and among those that are written.
  const BoundRange* furthest = nullptr;
  const BoundRange* written = nullptr;
  for (const BoundRange& range : ranges) {
    const BoundRange* other = range.is_written ? furthest : written;
    if (other != nullptr && other->storage == range.storage && other->range.overlaps(range.range)) {
      const ByteRange common = {
          range.range.offset, std::min(other->range.end(), range.range.end()) - range.range.offset};
      const auto name = [&](uint32_t p) { return callee.buffer(callee.parameters[p]).name; };
      violations_.Add(BindingsOverlap(place_, part, name(other->parameter), name(range.parameter),
                                      graph_.buffer(range.storage).name, common));
      return false;
    }
    const auto keep = [&range](const BoundRange*& last) {
      if (last == nullptr || last->storage != range.storage ||
          last->range.end() < range.range.end()) {
        last = &range;
      }
    };
    keep(furthest);
    if (range.is_written) keep(written);
  }
  return true;
}

std::optional<GraphCall> FlowReader::ReadCall(const std::string& part, const v1::GraphNode& node) {
  const std::optional<uint32_t> known = names_.graphs.Find(node.graph());
  if (!known.has_value()) {
    violations_.Add(UnknownGraph(place_, part, node.graph(), names_.graphs.Nearest(node.graph())));
    return std::nullopt;
  }
  const std::optional<uint32_t> place = names_.graph_places[*known];
  if (!place.has_value()) return std::nullopt;  // reported with the graph
  const Graph& callee = (*names_.read_graphs)[*place];
  std::vector<std::optional<View>> bound(callee.parameters.size());
  if (!ReadBindings(part, node, callee, bound)) return std::nullopt;
  bool all = true;
  for (uint32_t p = 0; p < bound.size(); ++p) {
    if (bound[p].has_value()) continue;
    const Buffer& parameter = callee.buffer(callee.parameters[p]);
    violations_.Add(NotBound(place_, part, parameter.name, callee.name, parameter.size_bytes));
    all = false;
  }
  if (!all || !CheckOverlaps(part, callee, bound)) return std::nullopt;
  GraphCall call = {
      *place, {static_cast<uint32_t>(graph_.views.size()), static_cast<uint32_t>(bound.size())}};
  for (const std::optional<View>& view : bound) graph_.views.push_back(*view);
  return call;
}

std::optional<GraphOp> FlowReader::Read(const v1::GraphNode& node) {
  const std::optional<GraphCall> call = ReadCall("graph", node);
  if (!call.has_value()) return std::nullopt;
  AddUsesOfGraph(NodeIndex(place_.index), *call, *names_.read_graphs, graph_);
  graph_.calls.push_back(*call);
  return GraphOp{{static_cast<uint32_t>(graph_.calls.size() - 1), 1}};
}

std::optional<ConditionalOp::Kind> FlowReader::ReadConditionalKind(
    const v1::ConditionalNode& node) {
  switch (node.kind()) {
    case v1::ConditionalNode::KIND_IF:
      return ConditionalOp::Kind::kIf;
    case v1::ConditionalNode::KIND_WHILE:
      return ConditionalOp::Kind::kWhile;
    case v1::ConditionalNode::KIND_SWITCH:
      return ConditionalOp::Kind::kSwitch;
    default:
      break;
  }
  const std::string values = ListValues(*v1::ConditionalNode::Kind_descriptor());
  if (node.kind() == v1::ConditionalNode::KIND_UNSPECIFIED) {
    violations_.Add(NoConditionalKind(place_, values));
  } else {
    violations_.Add(UnknownEnumValue(place_.Field("conditional.kind"), "ConditionalNode.Kind",
                                     node.kind(), values));
  }
  return std::nullopt;
}

std::optional<View> FlowReader::ReadWord(const char* part, bool is_given, const v1::View& view) {
  const ViewPlace view_place = {place_, part, -1, {}};
  if (!is_given) {
    violations_.Add(NoView(view_place));
    return std::nullopt;
  }
  const std::optional<ReadView> read = views_.Read(view_place, view);
  if (!read.has_value()) return std::nullopt;
  const bool is_word = read->dtype == kernels::DType::kI32 || read->dtype == kernels::DType::kU32;
  if (!is_word || read->view.range.size != kWordBytes ||
      read->view.range.offset % kWordBytes != 0) {
    violations_.Add(
        BadWord(place_, part, "one i32 or u32", read->view.range, kernels::NameOf(read->dtype)));
    return std::nullopt;
  }
  return read->view;
}

std::optional<ConditionalOp> FlowReader::Read(const v1::ConditionalNode& node) {
  const std::optional<ConditionalOp::Kind> kind = ReadConditionalKind(node);
  const std::optional<View> value = ReadWord("conditional.value", node.has_value(), node.value());
  const auto count = static_cast<size_t>(node.bodies_size());
  if (kind.has_value() && (count == 0 || count > RuleOf(*kind).most)) {
    violations_.Add(BodyCount(place_, RuleOf(*kind).kind, count, RuleOf(*kind).allowed));
    return std::nullopt;
  }
  std::vector<GraphCall> calls;
  for (int i = 0; i < node.bodies_size() && static_cast<size_t>(i) < kMaxBodies; ++i) {
    const auto call = ReadCall(absl::StrCat("conditional.bodies[", i, "]"), node.bodies(i));
    if (call.has_value()) calls.push_back(*call);
  }
  if (!kind.has_value() || !value.has_value() || calls.size() != count) return std::nullopt;
  AddUse(*value, Access::kRead, UseKind::kPlain);
  AddUsesOfBodies(NodeIndex(place_.index), *kind, calls, *names_.read_graphs, graph_);
  const Slice slice = {static_cast<uint32_t>(graph_.calls.size()), static_cast<uint32_t>(count)};
  graph_.calls.insert(graph_.calls.end(), calls.begin(), calls.end());
  return ConditionalOp{*kind, *value, slice};
}

std::optional<View> FlowReader::ReadSemaphore(const char* part, bool is_given,
                                              const v1::View& view) {
  // Another view of the same bytes is the same semaphore.
  const ViewPlace view_place = {place_, part, -1, {}};
  if (!is_given) {
    violations_.Add(NoView(view_place));
    return std::nullopt;
  }
  const std::optional<ReadView> read = views_.Read(view_place, view);
  if (!read.has_value()) return std::nullopt;
  if (read->view.range.size != kSemaphoreBytes || read->view.range.offset % kSemaphoreBytes != 0) {
    violations_.Add(BadWord(place_, part, "8 bytes, 8-byte aligned", read->view.range,
                            kernels::NameOf(read->dtype)));
    return std::nullopt;
  }
  return read->view;
}

bool FlowReader::CheckValue(const char* part, uint64_t value) {
  if (value <= kMaxSemaphoreValue) return true;
  violations_.Add(SemaphoreValueTooLarge(place_, part, value));
  return false;
}

std::optional<SemaphoreWaitOp> FlowReader::Read(const v1::SemaphoreWaitNode& node) {
  const std::optional<View> semaphore =
      ReadSemaphore("wait.semaphore", node.has_semaphore(), node.semaphore());
  if (!CheckValue("wait.value", node.value()) || !semaphore.has_value()) return std::nullopt;
  AddUse(*semaphore, Access::kRead, UseKind::kSemaphore);
  return SemaphoreWaitOp{*semaphore, node.value()};
}

std::optional<SemaphoreSignalOp> FlowReader::Read(const v1::SemaphoreSignalNode& node) {
  const std::optional<View> semaphore =
      ReadSemaphore("signal.semaphore", node.has_semaphore(), node.semaphore());
  if (!CheckValue("signal.value", node.value()) || !semaphore.has_value()) return std::nullopt;
  AddUse(*semaphore, Access::kReadWrite, UseKind::kSemaphore);
  return SemaphoreSignalOp{*semaphore, node.value()};
}

}  // namespace weft::ir
