#include "client/cli/output.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "base/error_context.h"

namespace weft::cli {
namespace {

// Characters of UTF-8 text, which is what a terminal's columns count (but for wide ones).
size_t WidthOf(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

void AppendCell(std::string& line, const std::string& text, size_t width, Table::Align align) {
  const std::string padding(width - WidthOf(text), ' ');
  if (!line.empty()) line.append("  ");
  line.append(align == Table::Align::kRight ? padding + text : text + padding);
}

// `name` without `prefix`.
std::string Strip(const std::string& name, absl::string_view prefix) {
  return name.substr(std::min(prefix.size(), name.size()));
}

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

void Table::AddRow(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

void Table::Print(std::ostream& out) const {
  std::vector<size_t> widths;
  std::vector<std::string> titles;
  for (const Column& column : columns_) {
    widths.push_back(WidthOf(column.title));
    titles.push_back(column.title);
  }
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], WidthOf(row[i]));
  }
  const auto print_row = [&](const std::vector<std::string>& row) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) AppendCell(line, row[i], widths[i], columns_[i].align);
    out << absl::StripTrailingAsciiWhitespace(line) << "\n";
  };
  print_row(titles);
  for (const auto& row : rows_) print_row(row);
}

std::string ToJson(const google::protobuf::Message& message, JsonStyle style) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  // A script asks for a field by name, whatever its value is.
  options.always_print_primitive_fields = true;
  options.add_whitespace = style == JsonStyle::kPretty;
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(message, &json, options);
  // Only a damaged Any or a bad timestamp can fail; no message of ours has either.
  if (!status.ok()) return "{}\n";
  if (json.empty() || json.back() != '\n') json.push_back('\n');
  return json;
}

std::string Printable(absl::string_view text) {
  std::string printable;
  for (const char c : text) {
    if (c == '\n') {
      printable.append("\\n");
    } else if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) {
      absl::StrAppendFormat(&printable, "\\x%02x", static_cast<unsigned char>(c));
    } else {
      printable.push_back(c);
    }
  }
  return printable;
}

std::string FormatBytes(uint64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  const bool whole = unit == 0 || value == static_cast<double>(static_cast<uint64_t>(value));
  return absl::StrFormat("%.*f %s", whole ? 0 : 1, value, kUnits[unit]);
}

std::string FormatNanoseconds(uint64_t nanoseconds) {
  if (nanoseconds == 0) return "0";
  const auto value = static_cast<double>(nanoseconds);
  if (value < 1e3) return absl::StrFormat("%d ns", nanoseconds);
  if (value < 1e6) return absl::StrFormat("%.1f µs", value / 1e3);
  if (value < 1e9) return absl::StrFormat("%.2f ms", value / 1e6);
  return absl::StrFormat("%.2f s", value / 1e9);
}

std::string Count(uint64_t count, absl::string_view thing) {
  return absl::StrCat(count, " ", thing, count == 1 ? "" : "s");
}

std::string FormatUnixTime(int64_t unix_ns) {
  if (unix_ns == 0) return "-";
  return absl::FormatTime("%Y-%m-%d %H:%M:%S", absl::FromUnixNanos(unix_ns), absl::LocalTimeZone());
}

std::string FormatShape(absl::Span<const int64_t> shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ", "), "]");
}

std::string FormatState(v1::JobState state) {
  return Strip(v1::JobState_Name(state), "JOB_STATE_");
}

std::string FormatDataType(v1::DataType data_type) {
  if (data_type == v1::DATA_TYPE_UNSPECIFIED) return "u8";  // what the job format says
  return absl::AsciiStrToLower(Strip(v1::DataType_Name(data_type), "DATA_TYPE_"));
}

void PrintError(std::ostream& err, absl::string_view command, const absl::Status& status) {
  const std::vector<FieldViolation> violations = ViolationsOf(status);
  if (violations.empty()) {
    // Lines after the first (what another program said) are set off from it.
    const std::vector<absl::string_view> lines =
        absl::StrSplit(absl::StripTrailingAsciiWhitespace(status.message()), '\n');
    err << command << ": " << Printable(lines.front()) << "\n";
    for (size_t i = 1; i < lines.size(); ++i) err << "  " << Printable(lines[i]) << "\n";
    return;
  }
  err << command << ": " << violations.size()
      << (violations.size() == 1 ? " fault:\n" : " faults:\n");
  for (const FieldViolation& violation : violations) {
    err << "  " << Printable(violation.field) << ": " << Printable(violation.description) << "\n";
  }
}

}  // namespace weft::cli
