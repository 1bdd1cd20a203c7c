// Ranges that profilers show (NVTX): Nsight Systems draws them above the calls made within, under
// the names that a job gave its nodes.
//
//   const cuda::NvtxRange range(node.name.c_str());
//
// NVTX is header-only and finds its tool through the environment (NVTX_INJECTION64_PATH). Without a
// tool a range costs two tests of a pointer; with one, what the tool makes of it.
//
// Thread safety: a range begins and ends on one thread; ranges of a thread nest.
#pragma once

namespace weft::cuda {

// A range of the domain "weft" on the calling thread, from construction to destruction.
class NvtxRange {
 public:
  // The tool copies `name`.
  explicit NvtxRange(const char* name);
  ~NvtxRange();
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
};

}  // namespace weft::cuda
