// A job after validation and planning: all that weftd needs to run it, again and again, without
// looking at the job once more. Immutable; shared by its jobs and by the cache.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "base/byte_range.h"
#include "base/ids.h"
#include "graph/ir/fingerprint.h"
#include "kernels/dtype.h"
#include "server/daemon/job_order.h"

namespace weft::executor::v1 {
class PrepareRequest;
}

namespace weft::daemon {

// The inline bytes of one upload. Shared with nobody who writes them; a prepared graph remembers
// (weakly) which bytes lie in its staging area already.
using UploadBytes = std::shared_ptr<const std::string>;

struct UploadSlot {
  std::string node;
  ByteRange staging;
};

struct OutputSlot {
  std::string name;
  std::string file;
  kernels::DType dtype = kernels::DType::kU8;
  std::vector<uint64_t> shape;
  ByteRange staging;
  ByteRange ready;  // plan::PlannedNode::ready; empty: it is delivered at the end
};

struct CompiledJob {
  CompiledJob();
  ~CompiledJob();
  CompiledJob(const CompiledJob&) = delete;
  CompiledJob& operator=(const CompiledJob&) = delete;

  ir::Fingerprint fingerprint;
  uint32_t device = 0;
  bool collect_timeline = false;
  uint32_t node_count = 0;
  uint32_t lane_count = 0;
  uint64_t scratch_bytes = 0;

  std::vector<BufferUse> uses;      // of shared buffers, merged by buffer and access
  std::vector<BufferId> buffers;    // the shared buffers, sorted, each once
  std::vector<BufferId> peers;      // of those, the ones that lie on another device
  std::vector<UploadSlot> uploads;  // in program order, as ir::TakeUploadBytes gives them
  // Index in `uploads` by name of the node; the keys are those names.
  absl::flat_hash_map<absl::string_view, uint32_t> upload_by_node;
  std::vector<OutputSlot> outputs;  // in program order
  uint64_t upload_bytes = 0;        // of all uploads
  uint64_t output_bytes = 0;        // of all outputs
  bool has_host_outputs = false;    // one is delivered while the job runs
  uint64_t staging_bytes = 0;       // of the area that holds both

  // What an executor builds the graph from; graph_id is not set.
  std::unique_ptr<executor::v1::PrepareRequest> prepare;
  uint64_t memory_bytes = 0;  // of this object, about
};

}  // namespace weft::daemon
