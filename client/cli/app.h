// The command line as a whole: parses it, runs the command, prints its error.
//
// Thread safety: none; the main thread alone.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "client/cli/command.h"
#include "client/cli/environment.h"
#include "client/cli/exit_codes.h"

namespace weft::cli {

// `arguments` are those behind the program's name.
ExitCode RunApp(const std::vector<std::string>& arguments, Environment& environment);

// What `weft NAME --help` prints; `weft --help` for an empty name. REQUIRES: there is that command.
std::string HelpText(absl::string_view command);
// docs/cli.md: the help of everything.
std::string HelpMarkdown();

// "weft 0.1.0"
std::string VersionText();

}  // namespace weft::cli
