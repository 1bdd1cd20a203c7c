// Settings of weftd: one table of what can be set, read from a file (textproto) and from flags.
//
// Thread safety: values and pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace weft::config::v1 {
class DaemonConfig;
}

namespace weft::daemon {

using Config = config::v1::DaemonConfig;

// One setting: a field of config::v1::DaemonConfig, and a flag (`max_nodes` is `--max-nodes`).
struct Setting {
  const char* name;
  const char* help;        // one line, with the unit
  uint64_t default_value;  // numbers only; 0: found at run time, as `help` says
  uint64_t maximum;        // numbers only; 0: none
};

// Every field of DaemonConfig, in its order.
absl::Span<const Setting> Settings();

// Adds what `text` (textproto) sets to `config`. `source` names it in errors.
// INVALID_ARGUMENT with line and column, for an unknown setting with the nearest name.
absl::Status MergeConfigText(const std::string& text, absl::string_view source, Config& config);
// The same from a file; NOT_FOUND or PERMISSION_DENIED when it cannot be read.
absl::Status MergeConfigFile(const std::string& path, Config& config);

// Sets one setting from the text of its flag (numbers also in octal, 0600, and hexadecimal; a list
// separated by commas). REQUIRES: `name` is in Settings().
absl::Status MergeFlag(const std::string& name, const std::string& text, Config& config);

// Puts the default in place of everything that is not set, then checks all limits.
// INVALID_ARGUMENT with a violation for every setting that is out of range.
absl::Status FinishConfig(Config& config);

// `config` as a file that sets it: every setting, those found at run time as comments.
std::string PrintConfig(const Config& config);

}  // namespace weft::daemon
