#include "server/daemon/job_compiler.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "base/error_context.h"
#include "base/status_macros.h"
#include "cuda/device_info.h"
#include "graph/ir/from_proto.h"
#include "graph/ir/graph.h"
#include "graph/ir/upload_bytes.h"
#include "graph/ir/validate.h"
#include "graph/plan/planner.h"
#include "graph/plan/render.h"
#include "server/daemon/errors.h"
#include "weft/executor/v1/executor.pb.h"
#include "weft/v1/job.pb.h"

namespace weft::daemon {
namespace {

// Ranges of one buffer and access that are ordered one by one; with more, the range around all of
// them stands for them. Keeps an entry of the order between jobs small.
constexpr size_t kMaxRangesPerBuffer = 64;

ir::SharedBuffer ToShared(const BufferSnapshot& buffer) {
  return {.id = buffer.id,
          .dtype = buffer.spec.dtype,
          .shape = buffer.spec.shape,
          .size_bytes = buffer.spec.size_bytes,
          .device = buffer.spec.device};
}

// Sorted, disjoint, not touching; at most kMaxRangesPerBuffer.
std::vector<ByteRange> Merge(std::vector<ByteRange> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const ByteRange& a, const ByteRange& b) { return a.offset < b.offset; });
  std::vector<ByteRange> merged;
  for (const ByteRange& range : ranges) {
    if (!merged.empty() && range.offset <= merged.back().end()) {
      merged.back().size = std::max(merged.back().end(), range.end()) - merged.back().offset;
    } else {
      merged.push_back(range);
    }
  }
  if (merged.size() > kMaxRangesPerBuffer) {
    merged = {{merged.front().offset, merged.back().end() - merged.front().offset}};
  }
  return merged;
}

// What the job does to shared buffers as a whole: the bytes it writes, and those it only reads.
std::vector<BufferUse> SharedUses(const ir::Graph& graph) {
  std::map<std::pair<BufferId, kernels::Access>, std::vector<ByteRange>> ranges;
  for (const ir::Use& use : graph.uses) {
    const ir::Buffer& buffer = graph.buffer(use.storage);
    if (!buffer.shared.has_value() || use.kind == ir::UseKind::kSemaphore) continue;
    const bool writes = kernels::Writes(use.access);
    ranges[{buffer.shared->id, writes ? kernels::Access::kReadWrite : kernels::Access::kRead}]
        .push_back(use.range);
  }
  std::vector<BufferUse> uses;
  for (auto& [key, list] : ranges) {
    for (const ByteRange& range : Merge(std::move(list))) {
      uses.push_back({key.first, range, key.second});
    }
  }
  return uses;
}

void FillSlots(const ir::Graph& graph, const plan::Plan& plan, CompiledJob& compiled) {
  for (uint32_t i = 0; i < graph.node_count(); ++i) {
    if (!ir::UploadOf(graph.nodes[i].op).has_value()) continue;
    compiled.uploads.push_back({graph.nodes[i].name, plan.nodes[i].staging});
    compiled.upload_bytes += plan.nodes[i].staging.size;
  }
  for (uint32_t i = 0; i < compiled.uploads.size(); ++i) {
    compiled.upload_by_node.emplace(compiled.uploads[i].node, i);
  }
  for (const ir::Output& output : graph.outputs) {
    const plan::PlannedNode& node = plan.node(output.node);
    compiled.outputs.push_back({.name = output.name,
                                .file = output.file,
                                .dtype = output.dtype,
                                .shape = output.shape,
                                .staging = {node.staging.offset, output.size_bytes},
                                .ready = node.ready});
    compiled.output_bytes += output.size_bytes;
    compiled.has_host_outputs = compiled.has_host_outputs || !node.ready.empty();
  }
}

// The shared buffers of a received job, as they were when it was received: the fingerprint stands
// for just these.
class FoundBuffers {
 public:
  // REQUIRES: `received` outlives this.
  explicit FoundBuffers(const ReceivedJob& received) {
    size_t next = 0;
    for (const v1::BufferDecl& declaration : received.job->buffers()) {
      if (!declaration.has_shared()) continue;
      if (next == received.buffers.size()) return;  // more than a job may have: not looked up
      const absl::StatusOr<BufferSnapshot>& buffer = received.buffers[next++];
      // Of two look-ups of one name the failed one counts: the job was not resolved.
      const auto [known, added] = by_reference_.try_emplace(declaration.shared(), &buffer);
      if (!added && !buffer.ok()) known->second = &buffer;
      if (buffer.ok()) addresses_[buffer->id] = buffer->address;
    }
  }

  absl::StatusOr<ir::SharedBuffer> Resolve(const ir::SharedRequest& request) const {
    const auto it = by_reference_.find(request.reference);
    if (it == by_reference_.end()) return UnknownBufferError(request.reference);
    if (!it->second->ok()) return it->second->status();
    return ToShared(**it->second);
  }
  uint64_t AddressOf(BufferId id) const { return addresses_.at(id); }

 private:
  absl::flat_hash_map<absl::string_view, const absl::StatusOr<BufferSnapshot>*> by_reference_;
  absl::flat_hash_map<BufferId, uint64_t> addresses_;
};

void SortOnce(std::vector<BufferId>& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

// Where each shared declaration lies, with the job described so that the executor needs no names.
void FillPrepare(const ir::Graph& graph, const v1::Job& job, const FoundBuffers& found,
                 CompiledJob& compiled) {
  compiled.prepare = std::make_unique<executor::v1::PrepareRequest>();
  *compiled.prepare->mutable_job() = job;
  // Jobs of other names, and of other users, share the graph: no message may show this one's name.
  compiled.prepare->set_label(job.name());
  compiled.prepare->mutable_job()->clear_name();
  ir::DescribeSharedBuffers(graph, *compiled.prepare->mutable_job());
  for (const ir::Buffer& buffer : graph.buffers) {
    if (!buffer.shared.has_value()) continue;
    const BufferId id = buffer.shared->id;
    executor::v1::BufferBinding* binding = compiled.prepare->add_bindings();
    binding->set_buffer(buffer.name);
    binding->set_size_bytes(buffer.shared->size_bytes);
    if (graph.IsElsewhere(buffer)) {
      binding->set_tag(id.value());
      compiled.peers.push_back(id);
    } else {
      binding->set_address(found.AddressOf(id));
    }
    compiled.buffers.push_back(id);
  }
  SortOnce(compiled.buffers);
  SortOnce(compiled.peers);
}

const cuda::DeviceInfo* FindDevice(const std::vector<cuda::DeviceInfo>& devices, uint32_t ordinal) {
  for (const cuda::DeviceInfo& device : devices) {
    if (static_cast<uint32_t>(device.ordinal) == ordinal) return &device;
  }
  return nullptr;
}

}  // namespace

ReceivedJob::ReceivedJob() = default;
ReceivedJob::ReceivedJob(ReceivedJob&&) noexcept = default;
ReceivedJob& ReceivedJob::operator=(ReceivedJob&&) noexcept = default;
ReceivedJob::~ReceivedJob() = default;

absl::Status JobCompiler::CheckAllowed(const Caller& caller, const v1::Job& job) const {
  if (job.modules_size() == 0) return absl::OkStatus();
  switch (user_kernels_.who) {
    case UserKernelPolicy::Who::kEveryone:
      return absl::OkStatus();
    case UserKernelPolicy::Who::kOwner:
      if (caller.MayUse(user_kernels_.owner)) return absl::OkStatus();
      return UserKernelsForbiddenError("owner");
    case UserKernelPolicy::Who::kNobody:
      break;
  }
  return UserKernelsForbiddenError("nobody");
}

ReceivedJob JobCompiler::Receive(const Caller& caller, v1::Job job) const {
  ReceivedJob received;
  received.caller = caller;
  received.job = std::make_unique<v1::Job>(std::move(job));
  received.uploads = ir::TakeUploadBytes(*received.job);
  received.resolved = true;
  std::vector<ir::SharedBuffer> bindings;
  if (received.job->buffers_size() > static_cast<int64_t>(limits_.max_buffers)) {
    received.resolved = false;  // Compile refuses it
    return received;
  }
  for (const v1::BufferDecl& declaration : received.job->buffers()) {
    if (!declaration.has_shared()) continue;
    received.buffers.push_back(buffers_.Find(caller, declaration.shared()));
    received.resolved = received.resolved && received.buffers.back().ok();
    if (received.resolved) bindings.push_back(ToShared(*received.buffers.back()));
  }
  if (!received.resolved) return received;
  std::vector<uint64_t> sizes;
  for (const std::string& bytes : received.uploads) sizes.push_back(bytes.size());
  received.fingerprint = fingerprinter_.Of(*received.job, sizes, bindings);
  return received;
}

std::shared_ptr<const CompiledJob> JobCompiler::Find(const ReceivedJob& received) const {
  return received.resolved ? cache_.Find(received.fingerprint) : nullptr;
}

absl::StatusOr<std::shared_ptr<const CompiledJob>> JobCompiler::Compile(
    ReceivedJob& received) const {
  v1::Job& job = *received.job;
  ir::RestoreUploadBytes(job, std::move(received.uploads));
  if (job.ByteSizeLong() > limits_.max_job_bytes) {
    return JobTooLargeError(job.ByteSizeLong(), limits_.max_job_bytes);
  }
  // Before any check, so that a device which is starting is not taken for none.
  if (const absl::Status serves = executors_.Find(job.options().device()).status();
      absl::IsUnavailable(serves)) {
    return serves;
  }
  const FoundBuffers found(received);
  const std::vector<cuda::DeviceInfo> devices = executors_.Devices();
  ir::JobContext context;
  context.devices = devices;
  context.resolver = [&found](const ir::SharedRequest& request) { return found.Resolve(request); };
  context.limits = limits_;
  WEFT_ASSIGN_OR_RETURN(const ir::Graph graph, ir::ValidateJob(job, context));
  const cuda::DeviceInfo* device = FindDevice(devices, graph.options.device);
  if (device == nullptr) return UnknownDeviceError(graph.options.device, devices.size());
  WEFT_ASSIGN_OR_RETURN(const plan::Plan plan, plan::PlanGraph(graph, *device));

  received.uploads = ir::TakeUploadBytes(job);
  auto compiled = std::make_shared<CompiledJob>();
  compiled->fingerprint = received.fingerprint;
  compiled->device = graph.options.device;
  compiled->collect_timeline = graph.options.timeline == ir::Timeline::kCollect;
  compiled->node_count = graph.node_count();
  compiled->lane_count = plan.lane_count();
  compiled->scratch_bytes = plan.scratch.size_bytes;
  compiled->staging_bytes = plan.staging_bytes;
  compiled->uses = SharedUses(graph);
  FillSlots(graph, plan, *compiled);
  FillPrepare(graph, job, found, *compiled);
  compiled->memory_bytes = sizeof(CompiledJob) + compiled->prepare->SpaceUsedLong();
  return cache_.Insert(compiled);
}

absl::StatusOr<std::string> JobCompiler::PlanText(const CompiledJob& compiled,
                                                  const std::string& name) const {
  const std::vector<cuda::DeviceInfo> devices = executors_.Devices();
  const cuda::DeviceInfo* device = FindDevice(devices, compiled.device);
  if (device == nullptr) return UnknownDeviceError(compiled.device, devices.size());
  ir::JobContext context;
  context.devices = devices;
  context.limits = limits_;
  context.uploads = ir::UploadData::kStripped;
  v1::Job job = compiled.prepare->job();
  job.set_name(name);
  WEFT_ASSIGN_OR_RETURN(const ir::Graph graph, ir::ValidateJob(job, context));
  WEFT_ASSIGN_OR_RETURN(const plan::Plan plan, plan::PlanGraph(graph, *device));
  return plan::RenderText(graph, plan);
}

JobRequestOptions JobCompiler::OptionsOf(const ReceivedJob& received) {
  return {.name = received.job->name(), .deadline_ms = received.job->options().deadline_ms()};
}

}  // namespace weft::daemon
