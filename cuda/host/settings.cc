#include "cuda/host/settings.h"

#include <algorithm>
#include <thread>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"

namespace weft::hostcuda {
namespace {

// Branches of a graph must overlap even where the machine has one core.
constexpr int kMinDefaultWorkers = 4;
// More devices or workers than these are a mistake, not a wish.
constexpr uint64_t kMaxDevices = 64;
constexpr uint64_t kMaxWorkers = 1024;
// Keeps the number of bytes far from overflow.
constexpr uint64_t kMaxMemoryMib = uint64_t{1} << 30;

absl::StatusOr<uint64_t> ParseNumber(absl::string_view key, absl::string_view value, uint64_t max) {
  uint64_t number = 0;
  if (!absl::SimpleAtoi(value, &number) || number == 0 || number > max) {
    return absl::InvalidArgumentError(
        absl::StrCat(key, "=", value, ": a number from 1 to ", max, " is needed"));
  }
  return number;
}

absl::Status ApplyPair(absl::string_view key, absl::string_view value, Settings* settings) {
  if (key == "devices") {
    WEFT_ASSIGN_OR_RETURN(const uint64_t devices, ParseNumber(key, value, kMaxDevices));
    settings->devices = static_cast<int>(devices);
  } else if (key == "workers") {
    WEFT_ASSIGN_OR_RETURN(const uint64_t workers, ParseNumber(key, value, kMaxWorkers));
    settings->workers = static_cast<int>(workers);
  } else if (key == "memory_mib") {
    WEFT_ASSIGN_OR_RETURN(const uint64_t mib, ParseNumber(key, value, kMaxMemoryMib));
    settings->memory_bytes = mib << 20;
  } else if (key == "fault") {
    settings->faults.emplace_back(value);
  } else {
    return absl::InvalidArgumentError(absl::StrCat(
        "unknown setting \"", key, "\"; known are devices, workers, memory_mib and fault"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Settings> ParseSettings(absl::string_view text) {
  Settings settings;
  settings.workers =
      std::max<int>(kMinDefaultWorkers, static_cast<int>(std::thread::hardware_concurrency()));
  for (absl::string_view pair : absl::StrSplit(text, ';')) {
    pair = absl::StripAsciiWhitespace(pair);
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    if (equals == absl::string_view::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", pair, "\" is not of the form key=value"));
    }
    WEFT_RETURN_IF_ERROR(ApplyPair(absl::StripAsciiWhitespace(pair.substr(0, equals)),
                                   absl::StripAsciiWhitespace(pair.substr(equals + 1)), &settings));
  }
  return settings;
}

}  // namespace weft::hostcuda
