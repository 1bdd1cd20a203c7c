#include "graph/ir/from_proto.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "graph/ir/buffer_reader.h"
#include "graph/ir/data_type.h"
#include "graph/ir/errors.h"
#include "graph/ir/field_names.h"
#include "graph/ir/graphs_reader.h"
#include "graph/ir/module_reader.h"
#include "graph/ir/node_reader.h"
#include "graph/ir/semaphores.h"
#include "weft/v1/job.pb.h"

namespace weft::ir {
namespace {

kernels::LaunchLimits LaunchLimitsOf(const cuda::DeviceInfo& device) {
  kernels::LaunchLimits limits;
  for (size_t axis = 0; axis < 3; ++axis) {
    limits.max_grid[axis] = device.max_grid[axis];
    limits.max_block[axis] = device.max_block[axis];
  }
  limits.max_threads_per_block = device.max_threads_per_block;
  limits.max_shared_bytes_per_block = device.shared_bytes_per_block;
  limits.max_shared_bytes_per_block_optin = device.shared_bytes_per_block_optin;
  limits.max_parameter_bytes = device.max_parameter_bytes;
  // CUDA C++ Programming Guide, "Thread Block Clusters".
  limits.max_cluster_blocks = device.compute_major >= 9 ? 8 : 0;
  limits.cooperative = !device.is_cpu;
  return limits;
}

// The job's device; null when there is none of that ordinal.
const cuda::DeviceInfo* ReadDevice(uint32_t ordinal, const JobContext& context,
                                   Violations& violations) {
  const cuda::DeviceInfo* const device = FindDevice(ordinal, context);
  if (device != nullptr) return device;
  std::vector<uint32_t> ordinals;
  for (const cuda::DeviceInfo& known : context.devices) {
    ordinals.push_back(static_cast<uint32_t>(known.ordinal));
  }
  violations.Add(NoSuchDevice(ordinal, ordinals));
  return nullptr;
}

Options ReadOptions(const v1::Job& job, Violations& violations) {
  const v1::JobOptions& in = job.options();
  Options options;
  options.device = in.device();
  options.timeline = in.collect_timeline() ? Timeline::kCollect : Timeline::kOff;
  options.max_lanes = in.max_lanes();
  options.deadline_ms = in.deadline_ms();
  if (!v1::Ordering_IsValid(in.ordering())) {
    violations.Add(UnknownEnumValue("options.ordering", "Ordering", in.ordering(),
                                    ListValues(*v1::Ordering_descriptor())));
  }
  options.ordering = in.ordering() == v1::ORDERING_EXPLICIT ? Ordering::kExplicit : Ordering::kData;
  return options;
}

// False when the job is too large to be read on.
bool CheckCounts(const v1::Job& job, const Limits& limits, Violations& violations) {
  const auto nodes = static_cast<uint64_t>(job.nodes_size());
  const auto buffers = static_cast<uint64_t>(job.buffers_size());
  if (nodes == 0) violations.Add(NoNodes());
  if (nodes > limits.max_nodes) {
    violations.Add(TooMany("nodes", "nodes", nodes, limits.max_nodes));
  }
  if (buffers > limits.max_buffers) {
    violations.Add(TooMany("buffers", "buffers", buffers, limits.max_buffers));
  }
  if (job.name().size() > kMaxTextBytes) {
    violations.Add(BadText("name", "job's name", job.name().size()));
  }
  return nodes <= limits.max_nodes && buffers <= limits.max_buffers;
}

}  // namespace

absl::StatusOr<SharedBuffer> ResolveFromDeclaration(const SharedRequest& request) {
  if (!request.dtype.has_value() || request.shape.empty()) {
    return SharedNotDeclared(request.buffer, request.reference);
  }
  const std::optional<uint64_t> bytes = BytesOf(request.shape, *request.dtype, UINT64_MAX);
  // FNV-1a: the id need only be the same for equal references.
  uint64_t id = 0xcbf29ce484222325;
  for (const char c : request.reference) id = (id ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  SharedBuffer buffer;
  buffer.id = BufferId(id);
  buffer.dtype = *request.dtype;
  buffer.shape.assign(request.shape.begin(), request.shape.end());
  buffer.size_bytes = bytes.value_or(UINT64_MAX);  // the declaration itself is then refused
  buffer.device = request.device;
  return buffer;
}

const cuda::DeviceInfo* FindDevice(uint32_t ordinal, const JobContext& context) {
  const auto* const found = std::find_if(context.devices.begin(), context.devices.end(),
                                         [ordinal](const cuda::DeviceInfo& device) {
                                           return static_cast<uint32_t>(device.ordinal) == ordinal;
                                         });
  return found == context.devices.end() ? nullptr : &*found;
}

Graph FromProto(const v1::Job& job, const JobContext& context, Violations& violations) {
  Graph graph;
  graph.name = job.name();
  graph.options = ReadOptions(job, violations);
  const cuda::DeviceInfo* device = ReadDevice(graph.options.device, context, violations);
  // Without a device, those that every GPU has, so that the other checks still mean something.
  const kernels::LaunchLimits limits =
      device != nullptr ? LaunchLimitsOf(*device) : kernels::LaunchLimits();
  if (!CheckCounts(job, context.limits, violations)) return graph;
  const ReadBuffers buffers = ReadBufferDecls(job.buffers(), context, graph, violations);
  JobCode code = {ReadModules(job, device, graph, violations),
                  ExpressionTable(static_cast<uint32_t>(graph.modules.size()))};
  const JobNames names = ReadGraphs(job, context, limits, code, graph, violations);
  NodeReader(context, limits, buffers, names, graph, violations).Run(job.nodes());
  code.expressions.AddTo(graph);
  PairSemaphores(graph);
  CountExpanded(graph.graphs, graph);
  if (graph.expanded_nodes > context.limits.max_nodes) {
    violations.Add(TooManyExpanded("nodes", graph.expanded_nodes, context.limits.max_nodes));
  }
  return graph;
}

void DescribeSharedBuffers(const Graph& graph, v1::Job& job) {
  for (size_t i = 0; i < graph.buffers.size(); ++i) {
    const Buffer& buffer = graph.buffers[i];
    if (!buffer.shared.has_value()) continue;
    v1::BufferDecl& decl = *job.mutable_buffers(static_cast<int>(i));
    decl.set_data_type(DataTypeOf(buffer.dtype));
    decl.set_device(buffer.shared->device);
    decl.clear_shape();
    for (const uint64_t extent : buffer.shape) decl.add_shape(static_cast<int64_t>(extent));
  }
}

}  // namespace weft::ir
