// The modules of a job: names, kinds, and what the job's device can run. Private to graph/ir.
//
// Thread safety: pure functions.
#pragma once

#include "cuda/device_info.h"
#include "graph/ir/graph.h"
#include "graph/ir/name_table.h"
#include "graph/ir/violations.h"

namespace weft::v1 {
class Job;
}  // namespace weft::v1

namespace weft::ir {

// Fills graph.modules. `device`: the job's; null when it has none, which was reported. The names
// point into `graph`.
NameTable ReadModules(const v1::Job& job, const cuda::DeviceInfo* device, Graph& graph,
                      Violations& violations);

}  // namespace weft::ir
