#include "client/cli/trace.h"

#include <google/protobuf/struct.pb.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/output.h"

namespace weft::cli {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

void Set(Struct& object, const std::string& key, const std::string& value) {
  (*object.mutable_fields())[key].set_string_value(value);
}
void Set(Struct& object, const std::string& key, double value) {
  (*object.mutable_fields())[key].set_number_value(value);
}
Struct& Inner(Struct& object, const std::string& key) {
  return *(*object.mutable_fields())[key].mutable_struct_value();
}

double ToMicroseconds(uint64_t ns) { return static_cast<double>(ns) / 1e3; }

constexpr double kProcess = 1;  // the job is the one process of its trace

Struct& AddEvent(google::protobuf::ListValue& events, const char* phase, const std::string& name) {
  Struct& event = *events.add_values()->mutable_struct_value();
  Set(event, "ph", phase);
  Set(event, "name", name);
  Set(event, "pid", kProcess);
  return event;
}

std::string TitleOf(const v1::JobInfo& info) {
  return info.name().empty() ? absl::StrCat("job ", info.id())
                             : absl::StrCat("job ", info.id(), " (", info.name(), ")");
}

void AddNames(google::protobuf::ListValue& events, const v1::JobResult& result) {
  Set(Inner(AddEvent(events, "M", "process_name"), "args"), "name", TitleOf(result.info()));
  std::set<uint32_t> lanes;
  for (const v1::NodeTiming& timing : result.timeline()) lanes.insert(timing.lane());
  for (const uint32_t lane : lanes) {
    Struct& event = AddEvent(events, "M", "thread_name");
    Set(event, "tid", lane);
    Set(Inner(event, "args"), "name", absl::StrCat("lane ", lane));
  }
}

void AddNode(google::protobuf::ListValue& events, const v1::NodeTiming& timing) {
  Struct& event = AddEvent(events, "X", timing.node());
  Set(event, "cat", timing.kind().empty() ? "node" : timing.kind());
  Set(event, "tid", timing.lane());
  Set(event, "ts", ToMicroseconds(timing.start_ns()));
  Set(event, "dur", ToMicroseconds(timing.end_ns() - std::min(timing.start_ns(), timing.end_ns())));
  Struct& details = Inner(event, "args");
  Set(details, "lane", timing.lane());
  if (timing.occupancy() > 0) Set(details, "occupancy", timing.occupancy());
}

}  // namespace

BusyTime BusyTimeOf(const v1::JobResult& result) {
  BusyTime time;
  std::vector<std::pair<uint64_t, uint64_t>> spans;
  for (const v1::NodeTiming& timing : result.timeline()) {
    if (timing.end_ns() < timing.start_ns()) continue;  // only a broken server says so
    spans.emplace_back(timing.start_ns(), timing.end_ns());
    time.sum_ns += timing.end_ns() - timing.start_ns();
    time.wall_ns = std::max(time.wall_ns, timing.end_ns());
  }
  std::sort(spans.begin(), spans.end());
  uint64_t seen_ns = 0;  // everything before it is counted
  for (const auto& [start, end] : spans) {
    const uint64_t from = std::max(start, seen_ns);
    if (end > from) time.busy_ns += end - from;
    seen_ns = std::max(seen_ns, end);
  }
  return time;
}

std::string ChromeTrace(const v1::JobResult& result) {
  Struct trace;
  google::protobuf::ListValue& events =
      *(*trace.mutable_fields())["traceEvents"].mutable_list_value();
  AddNames(events, result);
  for (const v1::NodeTiming& timing : result.timeline()) AddNode(events, timing);
  Set(trace, "displayTimeUnit", "ns");
  Struct& other = Inner(trace, "otherData");
  const BusyTime time = BusyTimeOf(result);
  Set(other, "job", result.info().id());
  Set(other, "queued_us", ToMicroseconds(result.info().queued_ns()));
  Set(other, "wall_us", ToMicroseconds(time.wall_ns));
  Set(other, "busy_us", ToMicroseconds(time.busy_ns));
  Set(other, "sum_of_nodes_us", ToMicroseconds(time.sum_ns));
  return ToJson(trace);
}

}  // namespace weft::cli
