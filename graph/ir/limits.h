// Limits of a job. The daemon fills them from its configuration; the defaults are those of
// weft.config.v1.DaemonConfig.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::ir {

struct Limits {
  uint64_t max_job_bytes = uint64_t{64} << 20;  // of a job file or message
  uint32_t max_nodes = 400'000;
  uint32_t max_buffers = 65'536;                  // BufferDecls of a job
  uint32_t max_arguments = 64;                    // of one kernel node
  uint64_t max_output_bytes = uint64_t{1} << 30;  // of all outputs of a job together
  uint64_t max_pinned_bytes = uint64_t{1} << 30;  // of all pinned buffers of a job together
  uint32_t max_after = 65'536;                    // entries of one node's `after`
  uint32_t max_reported = 64;  // violations listed one by one; the others are counted
};

// Fixed by the job format (proto/weft/v1/job.proto), not settings.
inline constexpr size_t kMaxNameBytes = 128;
inline constexpr size_t kMaxTextBytes = 4096;  // Job.name and file names: a Linux path's limit
inline constexpr size_t kMaxDimensions = 8;
inline constexpr int32_t kMaxKernelPriority = 10;  // and its negative
inline constexpr size_t kMaxModules = 256;
inline constexpr size_t kMaxModuleOptions = 256;  // of one module
inline constexpr size_t kMaxModuleHeaders = 256;  // of one module
inline constexpr size_t kMaxExpressions =
    256;  // kernels made of a job's expressions; compiled in seconds
inline constexpr size_t kMaxGraphs = 256;  // Job.graphs
// Levels of graphs that run graphs, the job's own nodes not counted. CUDA names no limit of its own; the
// conformance suite nests conditional nodes so deep.
inline constexpr uint32_t kMaxGraphDepth = 8;
// Outputs of a job that are delivered while it runs: whenever one is ready, weftd looks at the words of
// all that are not, so that the work grows with the square.
inline constexpr size_t kMaxHostOutputs = 1024;
inline constexpr size_t kMaxBodies = 64;  // of one conditional node
inline constexpr uint64_t kMaxBufferBytes = uint64_t{1} << 40;
// Messages inside messages in a job file. The format itself needs 7 (Job, SubGraph, Node,
// ConditionalNode, GraphNode, Binding, View); more is an attack or a mistake.
inline constexpr int kMaxNesting = 32;
// Names compared when the nearest name is looked for: keeps an error about one wrong name among
// 400,000 nodes at a few milliseconds.
inline constexpr size_t kMaxNearestCandidates = 512;

}  // namespace weft::ir
