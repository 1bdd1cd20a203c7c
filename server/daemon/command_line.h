// weftd's command line: flags over a file over defaults.
//
// Thread safety: pure, but for the file it reads.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "weft/config/v1/daemon_config.pb.h"

namespace weft::daemon {

struct CommandLine {
  enum class Action {
    kServe,
    kPrint,  // `text` to standard output, then end with success
  };
  Action action = Action::kServe;
  std::string text;  // help, version, or the settings in force
  config::v1::DaemonConfig config;
  int ready_fd = -1;  // told when weftd serves; -1: nobody
  bool exit_with_parent = false;
};

// INVALID_ARGUMENT for anything unknown or out of range.
absl::StatusOr<CommandLine> ParseCommandLine(int argc, const char* const* argv);

}  // namespace weft::daemon
