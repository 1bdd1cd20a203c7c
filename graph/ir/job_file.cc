#include "graph/ir/job_file.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "base/status_macros.h"
#include "graph/ir/errors.h"
#include "graph/ir/json_file.h"
#include "graph/ir/message_walk.h"
#include "graph/ir/text_file.h"
#include "graph/ir/text_place.h"
#include "weft/v1/job.pb.h"

namespace weft::ir {
namespace {

struct Ending {
  absl::string_view text;
  JobFormat format;
};
constexpr Ending kEndings[] = {
    {".textproto", JobFormat::kText},
    {".pbtxt", JobFormat::kText},
    {".json", JobFormat::kJson},
    {".binpb", JobFormat::kBinary},
};

bool LooksLikeText(absl::string_view bytes) {
  constexpr absl::string_view kStarts[] = {"{", "#", "name", "buffers", "nodes", "options"};
  const absl::string_view text = absl::StripLeadingAsciiWhitespace(bytes);
  return std::any_of(std::begin(kStarts), std::end(kStarts),
                     [text](absl::string_view start) { return absl::StartsWith(text, start); });
}

absl::Status ParseBinary(absl::string_view bytes, v1::Job& job) {
  google::protobuf::io::CodedInputStream input(reinterpret_cast<const uint8_t*>(bytes.data()),
                                               static_cast<int>(bytes.size()));
  input.SetRecursionLimit(kMaxNesting);
  // protobuf would tell standard error of strings that are not UTF-8; the status does.
  const google::protobuf::LogSilencer quiet;
  if (!job.ParseFromCodedStream(&input) || !input.ConsumedEntireMessage()) {
    return JobFileNotBinary(
        LooksLikeText(bytes) ? "; it looks like text: name it .textproto or .json" : "");
  }
  return CheckNoUnknownFields(job);
}

absl::Status CheckUtf8(absl::string_view bytes) {
  const std::optional<size_t> bad = FindInvalidUtf8(bytes);
  if (!bad.has_value()) return absl::OkStatus();
  return JobFileNotUtf8(PlaceOf(bytes, *bad), static_cast<uint8_t>(bytes[*bad]));
}

}  // namespace

absl::StatusOr<JobFormat> FormatFromPath(absl::string_view path) {
  for (const Ending& ending : kEndings) {
    if (absl::EndsWithIgnoreCase(path, ending.text)) return ending.format;
  }
  return UnknownFileEnding(path);
}

absl::StatusOr<v1::Job> ParseJob(absl::string_view bytes, JobFormat format, const Limits& limits) {
  // protobuf counts in int, whatever the limit says.
  const uint64_t limit = std::min(limits.max_job_bytes, uint64_t{INT32_MAX});
  if (bytes.size() > limit) return JobFileTooLarge(bytes.size(), limit);
  if (bytes.empty()) return JobFileEmpty();
  v1::Job job;
  if (format == JobFormat::kBinary) {
    WEFT_RETURN_IF_ERROR(ParseBinary(bytes, job));
    return job;
  }
  WEFT_RETURN_IF_ERROR(CheckUtf8(bytes));
  WEFT_RETURN_IF_ERROR(format == JobFormat::kJson ? ParseJson(bytes, job) : ParseText(bytes, job));
  return job;
}

}  // namespace weft::ir
