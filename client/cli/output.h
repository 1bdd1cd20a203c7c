// How the command line prints: tables, JSON, figures, errors.
//
// Text that came from a server or a file is printed through Printable, so that it cannot steer the
// terminal.
//
// Thread safety: pure functions, but for the streams.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "weft/v1/job.pb.h"

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace weft::cli {

// Columns as wide as their widest cell; numbers look best right-aligned.
class Table {
 public:
  enum class Align : uint8_t { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };

  explicit Table(std::vector<Column> columns);
  // REQUIRES: as many cells as columns.
  void AddRow(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  // The titles and a line a row, without trailing spaces.
  void Print(std::ostream& out) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

enum class JsonStyle : uint8_t { kPretty, kOneLine };
// proto3 JSON with the field names of the protos; unset fields are left out, numbers of 64 bits are
// texts.
std::string ToJson(const google::protobuf::Message& message, JsonStyle style = JsonStyle::kPretty);

// `text` without control characters ("\n" → "\\n"); UTF-8 stays.
std::string Printable(absl::string_view text);

// "12 B", "1.5 KiB", "64 MiB".
std::string FormatBytes(uint64_t bytes);
// "850 ns", "12.3 µs", "4.56 ms", "1.23 s"; "0" for zero.
std::string FormatNanoseconds(uint64_t nanoseconds);
// "1 node", "3 nodes".
std::string Count(uint64_t count, absl::string_view thing);
// "2026-12-01 03:25:00", local time; "-" for zero.
std::string FormatUnixTime(int64_t unix_ns);
// "[480, 640, 3]"
std::string FormatShape(absl::Span<const int64_t> shape);
// "SUCCEEDED", "u8": enum values without their prefix.
std::string FormatState(v1::JobState state);
std::string FormatDataType(v1::DataType data_type);

// "weft run: no weftd at …" and, for a request with faults, a line a fault.
void PrintError(std::ostream& err, absl::string_view command, const absl::Status& status);

}  // namespace weft::cli
