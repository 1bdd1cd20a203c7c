#include "client/cli/elements.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace weft::cli {
namespace {

constexpr size_t kMaxShown = 8;

template <typename T>
std::string FirstOf(const std::string& data) {
  const size_t count = data.size() / sizeof(T);
  std::string text;
  for (size_t i = 0; i < std::min(count, kMaxShown); ++i) {
    T element;
    std::memcpy(&element, data.data() + i * sizeof(T), sizeof(T));
    absl::StrAppend(&text, i == 0 ? "" : " ", +element);  // +: a byte is a number
  }
  if (count > kMaxShown) absl::StrAppend(&text, " …");
  return text;
}

}  // namespace

std::string FormatElements(const v1::JobOutput& output) {
  switch (output.data_type()) {
    case v1::DATA_TYPE_F32:
      return FirstOf<float>(output.data());
    case v1::DATA_TYPE_F64:
      return FirstOf<double>(output.data());
    case v1::DATA_TYPE_I8:
      return FirstOf<int8_t>(output.data());
    case v1::DATA_TYPE_U8:
      return FirstOf<uint8_t>(output.data());
    case v1::DATA_TYPE_I16:
      return FirstOf<int16_t>(output.data());
    case v1::DATA_TYPE_U16:
      return FirstOf<uint16_t>(output.data());
    case v1::DATA_TYPE_I32:
      return FirstOf<int32_t>(output.data());
    case v1::DATA_TYPE_U32:
      return FirstOf<uint32_t>(output.data());
    case v1::DATA_TYPE_I64:
      return FirstOf<int64_t>(output.data());
    case v1::DATA_TYPE_U64:
      return FirstOf<uint64_t>(output.data());
    default:
      return "";
  }
}

}  // namespace weft::cli
