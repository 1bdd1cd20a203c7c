// When each node of a job ran, as the JSON that chrome://tracing and ui.perfetto.dev open ("Trace
// Event Format", the JSON object form): a row a lane, a box a node.
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include "weft/v1/job.pb.h"

namespace weft::cli {

// How long a device was at work for one job.
struct BusyTime {
  uint64_t busy_ns = 0;  // at least one node ran: what overlaps counts once
  uint64_t sum_ns = 0;   // the nodes' own times added up
  uint64_t wall_ns = 0;  // from the start of the run to the end of the last node
};
BusyTime BusyTimeOf(const v1::JobResult& result);

// `ts` and `dur` are in microseconds from the start of the run, with their nanoseconds behind the
// point. Node events carry kind and, where known, occupancy; "otherData" the job and its BusyTime.
std::string ChromeTrace(const v1::JobResult& result);

}  // namespace weft::cli
