#include "graph/ir/node_reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/ir/argument_reader.h"
#include "graph/ir/expression_reader.h"
#include "graph/ir/field_names.h"
#include "graph/ir/flow_reader.h"
#include "graph/ir/kernel_reader.h"
#include "graph/ir/symbol_reader.h"
#include "graph/ir/user_kernel_reader.h"
#include "kernels/nearest_name.h"
#include "weft/v1/job.pb.h"

namespace weft::ir {

NodeReader::NodeReader(const JobContext& context, const kernels::LaunchLimits& limits,
                       const ReadBuffers& buffers, const JobNames& names, Graph& graph,
                       Violations& violations)
    : context_(context),
      limits_(limits),
      job_names_(names),
      graph_(graph),
      violations_(violations),
      views_(graph, buffers, violations),
      names_(0),
      outputs_(0) {}

void NodeReader::Run(const Nodes& nodes) {
  ReadNames(nodes);
  waited_by_.assign(graph_.nodes.size(), 0);
  for (uint32_t i = 0; i < graph_.node_count(); ++i) {
    place_ = {i, graph_.nodes[i].name, graph_.scope, graph_.name};
    const v1::Node& node = nodes[static_cast<int>(i)];
    ReadAfter(node);
    ReadKind(node);
  }
}

void NodeReader::ReadNames(const Nodes& nodes) {
  names_ = NameTable(static_cast<size_t>(nodes.size()));
  graph_.nodes.resize(static_cast<size_t>(nodes.size()));  // names are views into it
  for (uint32_t i = 0; i < graph_.node_count(); ++i) {
    std::string& name = graph_.nodes[i].name;
    name = nodes[static_cast<int>(i)].name();
    if (name.empty()) name = absl::StrCat("node", i);
    place_ = {i, name, graph_.scope, graph_.name};
    if (!IsGoodName(name)) violations_.Add(BadName(place_.Field("name"), "node", name));
    const std::optional<uint32_t> first = names_.Add(name, i);
    if (first.has_value()) {
      violations_.Add(RepeatedName(place_.Field("name"), "node", name,
                                   absl::StrCat(graph_.scope, "nodes[", *first, "]")));
    }
  }
}

void NodeReader::ReadAfter(const v1::Node& node) {
  Slice& slice = graph_.nodes[place_.index].after;
  slice.begin = static_cast<uint32_t>(graph_.after.size());
  if (static_cast<uint32_t>(node.after_size()) > context_.limits.max_after) {
    violations_.Add(TooMany(place_.Field("after"), "entries",
                            static_cast<uint64_t>(node.after_size()), context_.limits.max_after));
    return;
  }
  for (uint32_t entry = 0; entry < static_cast<uint32_t>(node.after_size()); ++entry) {
    const std::string& name = node.after(static_cast<int>(entry));
    const std::optional<uint32_t> before = names_.Find(name);
    if (!before.has_value()) {
      violations_.Add(
          UnknownAfter(place_, entry, name, violations_.full() ? "" : names_.Nearest(name)));
    } else if (*before == place_.index) {
      violations_.Add(AfterItself(place_, entry));
    } else if (std::exchange(waited_by_[*before], place_.index + 1) != place_.index + 1) {
      graph_.after.push_back(NodeIndex(*before));
    }
  }
  slice.count = static_cast<uint32_t>(graph_.after.size()) - slice.begin;
}

void NodeReader::ReadKind(const v1::Node& node) {
  Node& out = graph_.nodes[place_.index];
  out.uses.begin = static_cast<uint32_t>(graph_.uses.size());
  std::optional<Operation> op;
  if (!MayStandHere(node)) return;
  switch (node.kind_case()) {
    case v1::Node::kKernel:
      op = ReadKernel(node.kernel());
      break;
    case v1::Node::kUserKernel:
      op = ReadUserKernel(node.user_kernel());
      break;
    case v1::Node::kLibrary:
      op = ReadLibrary(node.library());
      break;
    case v1::Node::kCopy:
      op = ReadCopy(node.copy());
      break;
    case v1::Node::kFill:
      op = ReadFill(node.fill());
      break;
    case v1::Node::kPrefetch:
      op = ReadPrefetch(node.prefetch());
      break;
    case v1::Node::kAdvise:
      op = ReadAdvise(node.advise());
      break;
    case v1::Node::kUpload:
      op = ReadUpload(node.upload());
      break;
    case v1::Node::kDownload:
      op = ReadDownload(node.download());
      break;
    case v1::Node::kEmpty:
      op = EmptyOp{};
      break;
    case v1::Node::kGraph:
      op = ReadFlow(node.graph());
      break;
    case v1::Node::kConditional:
      op = ReadFlow(node.conditional());
      break;
    case v1::Node::kWait:
      op = ReadFlow(node.wait());
      break;
    case v1::Node::kSignal:
      op = ReadFlow(node.signal());
      break;
    case v1::Node::kSymbol:
      op = ReadSymbol(node.symbol());
      break;
    case v1::Node::kExpression:
      op = ReadExpression(node.expression());
      break;
    case v1::Node::KIND_NOT_SET:
      violations_.Add(NoKind(place_));
      break;
  }
  if (op.has_value()) out.op = *std::move(op);
  out.uses.count = static_cast<uint32_t>(graph_.uses.size()) - out.uses.begin;
}

bool NodeReader::MayStandHere(const v1::Node& node) {
  if (graph_.is_job()) return true;
  switch (node.kind_case()) {
    // What CUDA allows in the body of a conditional node, which any graph of the job may become.
    case v1::Node::kKernel:
    case v1::Node::kUserKernel:
    case v1::Node::kExpression:
    case v1::Node::kCopy:
    case v1::Node::kFill:
    case v1::Node::kEmpty:
    case v1::Node::kGraph:
    case v1::Node::kConditional:
    case v1::Node::KIND_NOT_SET:  // reported by who reads it
      return true;
    default:
      violations_.Add(
          NotInGraph(place_, v1::Node::descriptor()->FindFieldByNumber(node.kind_case())->name()));
      return false;
  }
}

template <typename FlowNode>
std::optional<Operation> NodeReader::ReadFlow(const FlowNode& node) {
  auto op = FlowReader(place_, views_, job_names_, graph_, violations_).Read(node);
  if (!op.has_value()) return std::nullopt;
  for (const GraphCall& call : graph_.CallsOf(*op)) {
    const Graph& callee = (*job_names_.read_graphs)[call.graph];
    for (const uint32_t module : callee.kernel_modules) LaunchOf(module);
  }
  return Operation(*std::move(op));
}

void NodeReader::AddUse(const View& view, Access access, const std::optional<Runs>& runs) {
  if (view.range.empty()) return;
  graph_.uses.push_back(
      {NodeIndex(place_.index), graph_.buffer(view.buffer).storage, view.range, access});
  if (!runs.has_value()) return;
  graph_.uses.back().runs = static_cast<uint32_t>(graph_.runs.size());
  graph_.runs.push_back(*runs);
}

void NodeReader::Align(const View& view, uint32_t alignment) {
  uint32_t& whole = graph_.buffers[view.buffer.value()].alignment;
  whole = std::max(whole, alignment);
}

void NodeReader::AddAfter(uint32_t before) {
  if (graph_.options.ordering != Ordering::kData) return;
  if (std::exchange(waited_by_[before], place_.index + 1) == place_.index + 1) return;
  graph_.after.push_back(NodeIndex(before));
  ++graph_.nodes[place_.index].after.count;
}

void NodeReader::LaunchOf(uint32_t module) {
  module_order_.Read(module, place_.index, [this](uint32_t before) { AddAfter(before); });
}

std::optional<ReadView> NodeReader::ReadPart(const char* part, bool is_given,
                                             const v1::View& view) {
  const ViewPlace place = {place_, part, -1, {}};
  if (!is_given) {
    violations_.Add(NoView(place));
    return std::nullopt;
  }
  return views_.Read(place, view);
}

bool NodeReader::CheckArgumentCount(const char* part, int count) {
  if (static_cast<uint32_t>(count) <= context_.limits.max_arguments) return true;
  violations_.Add(TooMany(place_.Field(part), "arguments", static_cast<uint64_t>(count),
                          context_.limits.max_arguments));
  return false;
}

std::optional<Operation> NodeReader::ReadKernel(const v1::KernelNode& kernel) {
  const kernels::Registry& registry =
      context_.registry != nullptr ? *context_.registry : kernels::Registry::Builtin();
  const kernels::KernelSchema* schema = registry.Find(kernel.kernel());
  if (schema == nullptr) {
    std::vector<absl::string_view> names;
    for (const kernels::KernelSchema& known : registry.schemas()) names.push_back(known.name);
    violations_.Add(
        UnknownKernel(place_, kernel.kernel(), kernels::NearestName(kernel.kernel(), names)));
    return std::nullopt;
  }
  if (!CheckArgumentCount("kernel.args", kernel.args_size())) return std::nullopt;
  KernelReader reader(place_, kernel, graph_, violations_);
  std::optional<KernelOp> op = reader.Read(*schema, views_, limits_);
  if (!op.has_value()) return std::nullopt;
  op->views.begin = static_cast<uint32_t>(graph_.views.size());
  op->views.count = static_cast<uint32_t>(reader.views().size());
  for (const ArgumentReader::ArgumentView& argument : reader.views()) {
    graph_.views.push_back(argument.view);
    AddUse({argument.view.buffer, argument.touched}, argument.access);
  }
  return *std::move(op);
}

std::optional<Operation> NodeReader::ReadUserKernel(const v1::UserKernelNode& kernel) {
  if (!CheckArgumentCount("user_kernel.params", kernel.params_size())) return std::nullopt;
  UserKernelReader reader(place_, kernel, violations_);
  std::optional<UserKernelOp> op = reader.Read(job_names_.modules, views_, limits_);
  if (!op.has_value()) return std::nullopt;
  op->views.begin = static_cast<uint32_t>(graph_.views.size());
  op->views.count = static_cast<uint32_t>(reader.views().size());
  for (const UserKernelReader::ParameterView& parameter : reader.views()) {
    graph_.views.push_back(parameter.view);
    AddUse(parameter.view, parameter.access);
  }
  for (const KernelParameter& parameter : op->parameters) {
    const auto* const texture = std::get_if<TextureParameter>(&parameter);
    if (texture == nullptr) continue;
    Align(reader.views()[texture->view].view, kTextureAlignmentBytes);
  }
  LaunchOf(op->module);
  return *std::move(op);
}

std::optional<Operation> NodeReader::ReadExpression(const v1::ExpressionNode& node) {
  if (!CheckArgumentCount("expression.args", node.args_size())) return std::nullopt;
  ExpressionReader reader(place_, node, graph_, violations_);
  std::optional<UserKernelOp> op = reader.Read(views_, job_names_.expressions);
  if (!op.has_value()) return std::nullopt;
  op->views.begin = static_cast<uint32_t>(graph_.views.size());
  op->views.count = static_cast<uint32_t>(reader.views().size());
  for (const UserKernelReader::ParameterView& read : reader.views())
    graph_.views.push_back(read.view);
  // What is read before what is written, which may be the same bytes.
  for (size_t i = reader.views().size(); i-- > 0;) {
    AddUse(reader.views()[i].view, reader.views()[i].access);
  }
  return *std::move(op);
}

std::optional<Operation> NodeReader::ReadSymbol(const v1::SymbolNode& symbol) {
  std::optional<SymbolOp> op = SymbolReader(place_, symbol, violations_)
                                   .Read(job_names_.modules, views_, graph_.upload_count);
  if (!op.has_value()) return std::nullopt;
  if (const auto* view = std::get_if<View>(&op->source)) AddUse(*view, Access::kRead);
  module_order_.Write(op->module, place_.index, [this](uint32_t before) { AddAfter(before); });
  return *std::move(op);
}

std::optional<Operation> NodeReader::ReadLibrary(const v1::LibraryNode& call) {
  const kernels::Registry& registry = kernels::Registry::Library();
  const kernels::KernelSchema* schema = registry.Find(call.call());
  if (schema == nullptr) {
    std::vector<absl::string_view> names;
    for (const kernels::KernelSchema& known : registry.schemas()) names.push_back(known.name);
    violations_.Add(UnknownCall(place_, call.call(), kernels::NearestName(call.call(), names)));
    return std::nullopt;
  }
  if (!CheckArgumentCount("library.args", call.args_size())) return std::nullopt;
  ArgumentReader reader(place_, "library.args", call.args(), graph_, violations_);
  std::optional<kernels::BoundCall> bound = reader.Read(*schema, views_);
  if (!bound.has_value()) return std::nullopt;
  LibraryOp op;
  op.schema = schema;
  op.call = *std::move(bound);
  // One block: within the limits of every device.
  absl::StatusOr<kernels::LaunchPlan> plan = PlanLaunch(*schema, op.call, limits_);
  if (plan.ok()) op.phases = std::move(plan->phases);
  op.views.begin = static_cast<uint32_t>(graph_.views.size());
  op.views.count = static_cast<uint32_t>(reader.views().size());
  for (const ArgumentReader::ArgumentView& argument : reader.views()) {
    graph_.views.push_back(argument.view);
    AddUse({argument.view.buffer, argument.touched}, argument.access);
  }
  return op;
}

MemoryNodeReader NodeReader::MemoryNodes() const {
  return {place_, graph_, views_, FindDevice(graph_.options.device, context_), violations_};
}

std::optional<Operation> NodeReader::ReadCopy(const v1::CopyNode& copy) {
  const std::optional<CopyOp> op = MemoryNodes().Read(copy);
  if (!op.has_value()) return std::nullopt;
  AddUse(op->src, Access::kRead, op->box.has_value() ? SourceRuns(*op->box) : std::nullopt);
  AddUse(op->dst, Access::kWrite, op->box.has_value() ? DestinationRuns(*op->box) : std::nullopt);
  return op;
}

std::optional<Operation> NodeReader::ReadFill(const v1::FillNode& fill) {
  const std::optional<FillOp> op = MemoryNodes().Read(fill);
  if (!op.has_value()) return std::nullopt;
  Align(op->dst, op->pattern_bytes);
  AddUse(op->dst, Access::kWrite, op->rows);
  return op;
}

// As if it wrote: what comes before it is done with the bytes, and what comes later finds them moved.
std::optional<Operation> NodeReader::ReadPrefetch(const v1::PrefetchNode& prefetch) {
  const std::optional<PrefetchOp> op = MemoryNodes().Read(prefetch);
  if (op.has_value()) AddUse(op->view, Access::kReadWrite);
  return op;
}

std::optional<Operation> NodeReader::ReadAdvise(const v1::AdviseNode& advise) {
  return MemoryNodes().Read(advise);
}

std::optional<Operation> NodeReader::ReadUpload(const v1::UploadNode& upload) {
  const uint32_t number = graph_.upload_count++;  // faulty ones count too
  const std::optional<ReadView> dst = ReadPart("upload.dst", upload.has_dst(), upload.dst());
  if (context_.uploads == UploadData::kPresent) {
    if (upload.source_case() == v1::UploadNode::kFile) {
      violations_.Add(UploadFromFile(place_, upload.file()));
      return std::nullopt;
    }
    if (dst.has_value() && upload.data().size() != dst->view.range.size) {
      violations_.Add(UploadSizeDiffers(place_, upload.data().size(), dst->view.range.size));
      return std::nullopt;
    }
  }
  if (!dst.has_value()) return std::nullopt;
  AddUse(dst->view, Access::kWrite);
  return UploadOp{dst->view, number};
}

void NodeReader::ReportOutput(const v1::DownloadNode& download, const Output& output) {
  if (!IsGoodName(output.name)) {
    violations_.Add(BadName(place_.Field("download.output"), "output", output.name));
  }
  if (download.file().size() > kMaxTextBytes) {
    violations_.Add(BadText(place_.Field("download.file"), "file name", download.file().size()));
  }
  const absl::string_view name =
      download.output().empty() ? place_.name : absl::string_view(download.output());
  const std::optional<uint32_t> first = outputs_.Add(name, place_.index);
  if (first.has_value()) {
    violations_.Add(RepeatedName(place_.Field("download.output"), "output", name,
                                 absl::StrCat("nodes[", *first, "]")));
  }
}

// AT_END for what is refused.
Delivery NodeReader::ReadDelivery(const v1::DownloadNode& download) {
  switch (download.delivery()) {
    case v1::DownloadNode::DELIVERY_UNSPECIFIED:
    case v1::DownloadNode::DELIVERY_AT_END:
      return Delivery::kAtEnd;
    case v1::DownloadNode::DELIVERY_WHEN_READY:
      if (++host_outputs_ == kMaxHostOutputs + 1) {
        violations_.Add(TooManyHostOutputs(place_, kMaxHostOutputs));
      }
      return Delivery::kWhenReady;
    default:
      violations_.Add(UnknownEnumValue(place_.Field("download.delivery"), "DownloadNode.Delivery",
                                       download.delivery(),
                                       ListValues(*v1::DownloadNode::Delivery_descriptor())));
      return Delivery::kAtEnd;
  }
}

std::optional<Operation> NodeReader::ReadDownload(const v1::DownloadNode& download) {
  Output output;
  output.name = download.output();
  output.delivery = ReadDelivery(download);
  output.file = download.file();
  output.node = NodeIndex(place_.index);
  if (output.name.empty()) output.name = std::string(place_.name);
  ReportOutput(download, output);
  std::optional<ReadView> src = ReadPart("download.src", download.has_src(), download.src());
  if (!src.has_value()) return std::nullopt;
  if (src->shape.empty()) {
    violations_.Add(PartialElement({place_, "download.src", -1, {}}, src->view.range.size,
                                   kernels::NameOf(src->dtype), kernels::SizeOf(src->dtype)));
    return std::nullopt;
  }
  output.dtype = src->dtype;
  output.shape = std::move(src->shape);
  output.size_bytes = src->view.range.size;
  AddUse(src->view, Access::kRead);
  const Delivery delivery = output.delivery;
  graph_.outputs.push_back(std::move(output));
  return DownloadOp{src->view, static_cast<uint32_t>(graph_.outputs.size() - 1), delivery};
}

}  // namespace weft::ir
