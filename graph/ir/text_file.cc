#include "graph/ir/text_file.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "graph/ir/errors.h"
#include "graph/ir/field_names.h"
#include "graph/ir/limits.h"
#include "graph/ir/message_walk.h"
#include "graph/ir/text_place.h"

namespace weft::ir {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Keeps the first error: those behind it are its consequences.
class FirstError final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column,
                const std::string& message) override {
    if (!message_.empty()) return;
    line_ = line;
    column_ = column;
    message_ = message;
  }
  // Positions may be -1 where an error belongs to the whole.
  size_t OffsetIn(absl::string_view text) const {
    return line_ < 0 ? text.size() : OffsetOfToken(text, line_, column_);
  }
  const std::string& message() const { return message_; }

 private:
  int line_ = -1;
  int column_ = -1;
  std::string message_;
};

// The text between the next two double quotes of `rest`, which is advanced behind them.
std::optional<std::string> TakeQuoted(absl::string_view& rest) {
  const size_t begin = rest.find('"');
  if (begin == absl::string_view::npos) return std::nullopt;
  const size_t end = rest.find('"', begin + 1);
  if (end == absl::string_view::npos) return std::nullopt;
  std::string quoted(rest.substr(begin + 1, end - begin - 1));
  rest.remove_prefix(end + 1);
  return quoted;
}

// Message types below `root`, root included.
std::vector<const Descriptor*> TypesBelow(const Descriptor& root) {
  std::vector<const Descriptor*> types = {&root};
  for (size_t i = 0; i < types.size(); ++i) {
    for (int f = 0; f < types[i]->field_count(); ++f) {
      const Descriptor* type = types[i]->field(f)->message_type();
      bool is_new = type != nullptr;
      for (const Descriptor* known : types) is_new = is_new && known != type;
      if (is_new) types.push_back(type);
    }
  }
  return types;
}

// An error as protobuf tells it: as text, at the token behind the one it is about.
struct ToldError {
  absl::string_view file;
  size_t offset = 0;
  absl::string_view text;

  // Of `name` in the file, which protobuf has just read over.
  TextPlace PlaceBefore(absl::string_view name) const {
    const size_t found = file.substr(0, offset).rfind(name);
    return PlaceOf(file, found == absl::string_view::npos ? offset : found);
  }
};

// `Message type "weft.v1.Node" has no field named "kernal".`
std::optional<absl::Status> UnknownField(const Descriptor& root, const ToldError& error) {
  absl::string_view text = error.text;
  if (!absl::ConsumePrefix(&text, "Message type ")) return std::nullopt;
  const std::optional<std::string> owner = TakeQuoted(text);
  const std::optional<std::string> name = TakeQuoted(text);
  if (!owner.has_value() || !name.has_value()) return std::nullopt;
  for (const Descriptor* type : TypesBelow(root)) {
    if (type->full_name() != *owner) continue;
    return JobFileUnknownName(error.PlaceBefore(*name), "field", type->name(), *name,
                              NearestField(*type, *name, NameStyle::kProto));
  }
  return std::nullopt;
}

// `Unknown enumeration value of "F33" for field "data_type".`
std::optional<absl::Status> UnknownValue(const Descriptor& root, const ToldError& error) {
  absl::string_view text = error.text;
  if (!absl::ConsumePrefix(&text, "Unknown enumeration value of ")) return std::nullopt;
  const std::optional<std::string> value = TakeQuoted(text);
  const std::optional<std::string> field_name = TakeQuoted(text);
  if (!value.has_value() || !field_name.has_value()) return std::nullopt;
  for (const Descriptor* type : TypesBelow(root)) {
    const FieldDescriptor* field = type->FindFieldByName(*field_name);
    if (field == nullptr || field->enum_type() == nullptr) continue;
    return JobFileUnknownName(error.PlaceBefore(*value), "value", field->enum_type()->name(),
                              *value, NearestValue(*field->enum_type(), *value));
  }
  return std::nullopt;
}

// `Non-repeated field "name" is specified multiple times.`
std::optional<absl::Status> RepeatedField(const ToldError& error) {
  absl::string_view text = error.text;
  if (!absl::ConsumePrefix(&text, "Non-repeated field ")) return std::nullopt;
  const std::optional<std::string> name = TakeQuoted(text);
  if (!name.has_value()) return std::nullopt;
  return JobFileRepeatedField(error.PlaceBefore(*name), *name);
}

// `Field "fill" is specified along with field "empty", another member of oneof "kind".`
std::optional<absl::Status> ExcludedField(const ToldError& error) {
  absl::string_view text = error.text;
  if (!absl::StrContains(text, " another member of oneof ")) return std::nullopt;
  const std::optional<std::string> name = TakeQuoted(text);
  const std::optional<std::string> earlier = TakeQuoted(text);
  if (!name.has_value() || !earlier.has_value()) return std::nullopt;
  return JobFileExcludedField(error.PlaceBefore(*name), *name, *earlier);
}

// Errors that a person meets are put into Weft's words; a text that is not known (of another
// version of protobuf) is passed on as it is.
absl::Status Translate(const Descriptor& root, const ToldError& error) {
  if (auto status = UnknownField(root, error); status.has_value()) return *status;
  if (auto status = UnknownValue(root, error); status.has_value()) return *status;
  if (auto status = RepeatedField(error); status.has_value()) return *status;
  if (auto status = ExcludedField(error); status.has_value()) return *status;
  const TextPlace place = PlaceOf(error.file, error.offset);
  if (absl::StrContains(error.text, "too deep")) return JobFileTooDeep(place, kMaxNesting);
  const bool at_end = absl::EndsWith(error.text, ", got: ");
  return JobFileSyntax(
      place, absl::StrCat(absl::StripSuffix(error.text, "."), at_end ? "the end of the file" : ""));
}

// Whether there are escapes that may spell what is not UTF-8: \x and \377 any byte, \u and \U
// half of a surrogate pair, which protobuf writes out as it is. Only then need the strings be
// looked at.
bool HasRiskyEscape(absl::string_view text) {
  for (size_t at = text.find('\\'); at != absl::string_view::npos; at = text.find('\\', at + 2)) {
    const char next = at + 1 < text.size() ? text[at + 1] : '\0';
    if (absl::StrContains("xXuU01234567", next)) return true;
  }
  return false;
}

// Where the field of `message`, which was read from `text`, stands there. Reads the text again with
// note of the places, which only an error is worth.
TextPlace PlaceOfField(absl::string_view text, const Message& message,
                       absl::Span<const FieldStep> path) {
  google::protobuf::io::ArrayInputStream input(text.data(), static_cast<int>(text.size()));
  google::protobuf::TextFormat::Parser parser;
  google::protobuf::TextFormat::ParseInfoTree places;
  parser.WriteLocationsTo(&places);
  parser.SetRecursionLimit(kMaxNesting);
  const std::unique_ptr<Message> again(message.New());
  parser.Parse(&input, again.get());
  const auto* owner = &places;
  for (const FieldStep& step : path.first(path.size() - 1)) {
    if (owner != nullptr) owner = owner->GetTreeForNested(step.field, step.index);
  }
  if (owner == nullptr) return PlaceOf(text, 0);
  // A list in brackets has one place for all of its elements.
  int index = path.back().index;
  auto place = owner->GetLocation(path.back().field, index);
  while (place.line < 0 && index > 0) place = owner->GetLocation(path.back().field, --index);
  return PlaceOf(text, place.line < 0 ? 0 : OffsetOfToken(text, place.line, place.column));
}

}  // namespace

absl::Status ParseText(absl::string_view text, Message& message) {
  absl::ConsumePrefix(&text, "\xef\xbb\xbf");  // the byte order mark of some editors
  google::protobuf::io::ArrayInputStream input(text.data(), static_cast<int>(text.size()));
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.SetRecursionLimit(kMaxNesting);
  if (!parser.Parse(&input, &message)) {
    absl::string_view told = error.message();
    if (told.empty()) told = "this is not protobuf text";
    return Translate(*message.GetDescriptor(), {text, error.OffsetIn(text), told});
  }
  if (!HasRiskyEscape(text)) return absl::OkStatus();
  const std::optional<InvalidString> invalid = FindInvalidString(message);
  if (!invalid.has_value()) return absl::OkStatus();
  return JobFileTextNotUtf8(PlaceOfField(text, message, invalid->path), PathText(invalid->path),
                            invalid->text);
}

}  // namespace weft::ir
