#include "client/cli/timeline.h"

#include <algorithm>
#include <sstream>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/file_io.h"
#include "client/cli/output.h"
#include "client/cli/trace.h"

namespace weft::cli {
namespace {

constexpr uint64_t kBarWidth = 40;

std::vector<v1::NodeTiming> ByStart(const v1::JobResult& result) {
  std::vector<v1::NodeTiming> timings(result.timeline().begin(), result.timeline().end());
  std::stable_sort(timings.begin(), timings.end(),
                   [](const auto& a, const auto& b) { return a.start_ns() < b.start_ns(); });
  return timings;
}

std::string Bar(const v1::NodeTiming& timing, uint64_t total_ns) {
  const uint64_t total = std::max<uint64_t>(1, total_ns);
  const auto column = [total](uint64_t ns) {
    return static_cast<size_t>(static_cast<double>(ns) / static_cast<double>(total) * kBarWidth);
  };
  const size_t begin = std::min<size_t>(column(timing.start_ns()), kBarWidth - 1);
  const size_t end = std::clamp<size_t>(column(timing.end_ns()), begin + 1, kBarWidth);
  return std::string(begin, ' ') + std::string(end - begin, '#');
}

std::string Microseconds(uint64_t nanoseconds) {
  return absl::StrFormat("%.1f", static_cast<double>(nanoseconds) / 1e3);
}

std::string Occupancy(const v1::NodeTiming& timing) {
  return timing.occupancy() > 0 ? absl::StrFormat("%.0f%%", timing.occupancy() * 100.0) : "-";
}

}  // namespace

std::string TimelineText(const v1::JobResult& result) {
  const std::vector<v1::NodeTiming> timings = ByStart(result);
  uint64_t total_ns = 0;
  for (const v1::NodeTiming& timing : timings) total_ns = std::max(total_ns, timing.end_ns());
  using Align = Table::Align;
  Table table({{"NODE", Align::kLeft},
               {"LANE", Align::kRight},
               {"START µs", Align::kRight},
               {"END µs", Align::kRight},
               {"OCC", Align::kRight},
               {absl::StrCat("0 … ", FormatNanoseconds(total_ns)), Align::kLeft}});
  for (const v1::NodeTiming& timing : timings) {
    table.AddRow({Printable(timing.node()), absl::StrCat(timing.lane()),
                  Microseconds(timing.start_ns()), Microseconds(timing.end_ns()), Occupancy(timing),
                  Bar(timing, total_ns)});
  }
  std::ostringstream text;
  table.Print(text);
  const BusyTime time = BusyTimeOf(result);
  text << "busy " << FormatNanoseconds(time.busy_ns) << " of " << FormatNanoseconds(time.wall_ns)
       << "; the nodes' own times add up to " << FormatNanoseconds(time.sum_ns) << "\n";
  return text.str();
}

std::string TimelineJson(const v1::JobResult& result) {
  v1::JobResult timeline;
  *timeline.mutable_info() = result.info();
  *timeline.mutable_timeline() = result.timeline();
  return ToJson(timeline);
}

absl::Status WriteTimeline(const v1::JobResult& result, const std::string& file,
                           std::ostream& out) {
  const std::string text =
      absl::EndsWithIgnoreCase(file, ".json") ? TimelineJson(result) : TimelineText(result);
  if (file != "-") return WriteWholeFile(file, {text});
  out << text;
  return absl::OkStatus();
}

}  // namespace weft::cli
