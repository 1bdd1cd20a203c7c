// Copies that a kernel carries out. Private to graph/plan.
#pragma once

#include <cstdint>
#include <optional>

#include "cuda/device_info.h"
#include "graph/ir/graph.h"
#include "kernels/launch_shape.h"

namespace weft::plan {

// Copies of fewer bytes stay copy nodes: below it both take a few microseconds.
inline constexpr uint64_t kCopyKernelBytes = uint64_t{1} << 20;

// The launch of weft_copy_bytes (destination, source, bytes) that does what `copy` does; nullopt where a
// copy node is no slower, or the addresses are not known to suit the kernel.
//
// A copy node between buffers of the device moves 1.36 TB/s of 1 GiB on an H200 (driver 580), captured
// or added, and cuMemcpyAsync 2.12; this kernel moves 2.13.
std::optional<kernels::PhaseLaunch> CopyLaunch(const ir::Graph& graph, const ir::CopyOp& copy,
                                               const cuda::DeviceInfo& device);

}  // namespace weft::plan
