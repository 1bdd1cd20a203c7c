#include "server/daemon/command_line.h"

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/error_context.h"
#include "base/status_macros.h"
#include "server/daemon/config.h"

namespace weft::daemon {
namespace {

std::string FlagOf(absl::string_view setting) {
  return absl::StrCat("--", absl::StrReplaceAll(setting, {{"_", "-"}}));
}

// One line a fault, by flag.
absl::Status DescribeFaults(const absl::Status& status) {
  std::string text;
  for (const FieldViolation& violation : ViolationsOf(status)) {
    absl::StrAppend(&text, text.empty() ? "" : "\n", FlagOf(violation.field), ": ",
                    violation.description);
  }
  return text.empty() ? status : absl::InvalidArgumentError(text);
}

// File first, flags over it, defaults under both.
absl::Status FillConfig(const std::string& file, const std::map<std::string, std::string>& flags,
                        Config& config) {
  if (!file.empty()) WEFT_RETURN_IF_ERROR(MergeConfigFile(file, config));
  for (const auto& [setting, text] : flags) {
    WEFT_RETURN_IF_ERROR(MergeFlag(setting, text, config));
  }
  return FinishConfig(config);
}

CommandLine Print(std::string text) {
  CommandLine line;
  line.action = CommandLine::Action::kPrint;
  line.text = std::move(text);
  return line;
}

}  // namespace

absl::StatusOr<CommandLine> ParseCommandLine(int argc, const char* const* argv) {
  CommandLine line;
  std::string file;
  std::map<std::string, std::string> flags;
  bool print_config = false;
  CLI::App app("weftd: runs graphs of GPU work for many processes. `weft` is its client.", "weftd");
  app.set_version_flag("--version", absl::StrCat("weftd ", WEFT_VERSION));
  app.add_option("--config", file, "file of settings (textproto; --print-config prints one)");
  app.add_flag("--print-config", print_config, "print the settings in force, and end");
  app.add_option("--ready-fd", line.ready_fd,
                 "inherited descriptor: the socket's path and a newline are written to it when "
                 "weftd serves")
      ->check(CLI::Range(0, 1 << 20));
  app.add_flag("--exit-with-parent", line.exit_with_parent,
               "drain and end when the process that started weftd ends");
  for (const Setting& setting : Settings()) {
    app.add_option_function<std::string>(
           FlagOf(setting.name),
           [&flags, name = setting.name](const std::string& text) { flags[name] = text; },
           setting.help)
        ->group("Settings");
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return Print(app.help());
  } catch (const CLI::CallForVersion&) {
    return Print(absl::StrCat(app.version(), "\n"));
  } catch (const CLI::ParseError& error) {
    return absl::InvalidArgumentError(
        absl::StrCat(error.what(), ". `weftd --help` lists all flags."));
  }
  const absl::Status filled = FillConfig(file, flags, line.config);
  if (!filled.ok()) return DescribeFaults(filled);
  if (print_config) return Print(PrintConfig(line.config));
  return line;
}

}  // namespace weft::daemon
