// Job proto → ir::Graph: names resolved, defaults filled, arguments bound to the kernels' schemas.
//
// Thread safety: pure functions. Cost: linear; about 1 µs a node.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/ids.h"
#include "cuda/device_info.h"
#include "graph/ir/graph.h"
#include "graph/ir/limits.h"
#include "graph/ir/violations.h"
#include "kernels/dtype.h"
#include "kernels/registry.h"

namespace weft::v1 {
class Job;
}  // namespace weft::v1

namespace weft::ir {

// A buffer of the server, as the job's owner may use it.
struct SharedBuffer {
  BufferId id;
  kernels::DType dtype = kernels::DType::kU8;
  std::vector<uint64_t> shape;  // outermost first; empty: one element
  uint64_t size_bytes = 0;
  uint32_t device = 0;
};

// What a BufferDecl asks for.
struct SharedRequest {
  absl::string_view buffer;             // BufferDecl.name
  absl::string_view reference;          // BufferDecl.shared: a name, or "#" and an id
  std::optional<kernels::DType> dtype;  // as declared; nullopt: left out
  absl::Span<const uint64_t> shape;     // as declared; empty: left out
  uint32_t device = 0;                  // as declared; left out: JobOptions.device
};

// An error becomes a violation of buffers[i].shared, with the error's text. When nothing else is
// wrong, its code (NOT_FOUND, PERMISSION_DENIED) is the code of the whole.
using SharedBufferResolver = std::function<absl::StatusOr<SharedBuffer>(const SharedRequest&)>;

// Takes every shared buffer to be what the job declares it to be (data_type and shape must be
// there, and device where it is not the job's). For planning without a daemon, and for the
// executor, whose daemon wrote them into the job (DescribeSharedBuffers). Ids are made from the
// references: equal references, equal ids.
absl::StatusOr<SharedBuffer> ResolveFromDeclaration(const SharedRequest& request);

enum class UploadData : uint8_t {
  kPresent,   // UploadNode.data has exactly the bytes of its view
  kStripped,  // the bytes are elsewhere (upload_bytes.h) or not known yet: UploadNode.source is
              // ignored
};

// What a job is checked against. The referenced objects must outlive the call alone, but for the
// registry, whose schemas the graph points to.
struct JobContext {
  absl::Span<const cuda::DeviceInfo> devices = {};  // JobOptions.device: the ordinal of one of them
  SharedBufferResolver resolver = {};               // empty: ResolveFromDeclaration
  Limits limits = {};
  UploadData uploads = UploadData::kPresent;
  const kernels::Registry* registry = nullptr;  // nullptr: Registry::Builtin()
};

// The device of that ordinal; null when there is none.
const cuda::DeviceInfo* FindDevice(uint32_t ordinal, const JobContext& context);

// The graph of `job`. Everything wrong goes to `violations`; then the graph is incomplete (a faulty
// node has no uses) and good only for finding more faults.
Graph FromProto(const v1::Job& job, const JobContext& context, Violations& violations);

// Writes data type, shape and device of every shared buffer into its declaration, so that
// ResolveFromDeclaration gives the same graph from `job` without asking anyone. REQUIRES: `graph`
// was made from `job`.
void DescribeSharedBuffers(const Graph& graph, v1::Job& job);

}  // namespace weft::ir
