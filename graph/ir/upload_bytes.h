// The inline bytes of a job's uploads, apart from the job: they go to the staging area, while the
// job without them is what is fingerprinted and sent to the executor.
//
// Thread safety: pure functions. Cost: linear in the nodes; bytes are moved, not copied.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/ir/graph.h"

namespace weft::v1 {
class Job;
}  // namespace weft::v1

namespace weft::ir {

// Moves UploadNode.data of every upload, and SymbolNode.data, out of the job; entry i belongs to the
// node with UploadOf(op) == i. Uploads without data (none given, or a file) give an empty entry and
// are left as they are.
std::vector<std::string> TakeUploadBytes(v1::Job& job);

// Puts back what TakeUploadBytes took. REQUIRES: `bytes` came from this job.
void RestoreUploadBytes(v1::Job& job, std::vector<std::string> bytes);

// INVALID_ARGUMENT with violations of nodes[i].upload.data where the bytes are not exactly those of
// the view. REQUIRES: bytes.size() == graph.upload_count.
absl::Status CheckUploadBytes(const Graph& graph, absl::Span<const std::string> bytes);

}  // namespace weft::ir
