// Copies that a kernel carries out. Private to graph/plan.
#pragma once

#include <cstdint>
#include <optional>

#include "cuda/device_info.h"
#include "graph/ir/graph.h"
#include "kernels/launch_shape.h"

namespace weft::plan {

// Copies of fewer bytes stay copy nodes: a kernel is no faster.
inline constexpr uint64_t kCopyKernelBytes = uint64_t{4} << 20;

// The launch of weft_copy_bytes (destination, source, bytes) that does what `copy` does; nullopt where a
// copy node is no slower, or the addresses are not known to suit the kernel.
//
// On an H200 (driver 580), microseconds a copy, in a graph of 16: 4 MiB 2.2 as a copy node, 2.1 as this
// kernel; 256 MiB 126, 126; 1 GiB 775, 500. cuMemcpyAsync takes 503 for 1 GiB: it is the node, captured
// or added, that loses speed somewhere above 256 MiB.
std::optional<kernels::PhaseLaunch> CopyLaunch(const ir::Graph& graph, const ir::CopyOp& copy,
                                               const cuda::DeviceInfo& device);

}  // namespace weft::plan
