// What each way of running a plan costs. Private to graph/plan.
//
// CPU time on the launching side, in microseconds, measured on an H200 (driver 580, CUDA 13.0); the
// sources are the figures of docs/performance.md. They decide between ways that differ by an order of
// magnitude, so another driver or CPU hardly changes a choice; measure again for a new driver API.
#pragma once

#include "cuda/device_info.h"
#include "graph/ir/graph.h"

namespace weft::plan {

// Whether a CUDA graph can hold the node; else it is issued to a stream.
bool GraphCanHold(const ir::Node& node, const cuda::DeviceInfo& device);

inline constexpr double kStreamOperationUs = 2.5;  // launch of a kernel or copy: 2–3
inline constexpr double kEventUs = 0.2;            // record or wait
inline constexpr double kInstantiateNodeUs = 3.3;  // chain of 512: 1.7 ms
inline constexpr double kInstantiateEdgeUs = 1.0;  // beyond the chains: wide 512 take 6 ms in all
inline constexpr double kGraphLaunchUs = 2.5;      // the launch call of a small graph
inline constexpr double kGraphRootUs = 0.85;       // 512 roots: 442 in the launch call

}  // namespace weft::plan
