// When each node of a job ran: as a table with bars, or as JSON.
//
// Thread safety: pure functions, but for the file system.
#pragma once

#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "weft/v1/job.pb.h"

namespace weft::cli {

// A line a node in the order of their starts: node, lane, start, end, occupancy ("-" where it is
// not known), and a bar on a common scale. The last line says how long the device was busy, which
// counts what overlaps once.
std::string TimelineText(const v1::JobResult& result);
// A JobResult with `info` and `timeline` alone; times in nanoseconds.
std::string TimelineJson(const v1::JobResult& result);

// To `file`: JSON where it ends in .json, else text; "-" is `out`.
absl::Status WriteTimeline(const v1::JobResult& result, const std::string& file, std::ostream& out);

}  // namespace weft::cli
