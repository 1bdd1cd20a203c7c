// One command of `weft`: its options as data, and what it does. The parser (app.h), the help, the
// shell completion and docs/cli.md are all made from this description.
//
// Thread safety: none; the main thread alone.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/environment.h"
#include "client/cli/exit_codes.h"

namespace weft::cli {

// Where the value of an option goes. It keeps its value when the option is not given.
using OptionTarget = std::variant<bool*, std::string*, uint32_t*, uint64_t*, double*,
                                  std::optional<uint32_t>*, std::vector<std::string>*>;

// What completes the value of an option in a shell.
enum class Completes : uint8_t {
  kNothing,
  kFiles,
  kFolders,
  kChoices,      // Option::choices, and nothing else is accepted
  kSuggestions,  // Option::choices, but the command itself judges the value
};

struct Option {
  enum class Kind : uint8_t { kRequiredArgument, kOptionalArgument, kOption };
  Kind kind = Kind::kOption;
  std::string name;   // "out-dir" for --out-dir; "job" for an argument
  std::string value;  // "DIR"; empty for a flag
  std::string help;   // one line
  OptionTarget target;
  Completes completes = Completes::kNothing;
  std::vector<std::string> choices;
  char letter = 0;  // 'o' for -o beside --output; 0: none
};

struct CommandInfo {
  std::string name;
  std::string summary;  // one line
  std::string details;  // below the options in its help; may be empty
};

class Command {
 public:
  virtual ~Command() = default;
  virtual CommandInfo info() const = 0;
  // The targets point into this command.
  virtual std::vector<Option> options() = 0;
  // Called once, after the options are set. An error is printed by the caller, which takes the exit
  // code from it.
  virtual absl::StatusOr<ExitCode> Run(Environment& environment) = 0;
};

// Makers of options, so that a command's list reads as a table.
inline Option Argument(std::string name, std::string value, std::string help, OptionTarget target,
                       Completes completes = Completes::kNothing) {
  return {Option::Kind::kRequiredArgument,
          std::move(name),
          std::move(value),
          std::move(help),
          target,
          completes,
          {},
          0};
}
inline Option OptionalArgument(std::string name, std::string value, std::string help,
                               OptionTarget target) {
  return {Option::Kind::kOptionalArgument,
          std::move(name),
          std::move(value),
          std::move(help),
          target,
          Completes::kNothing,
          {},
          0};
}
inline Option Flag(std::string name, std::string help, bool* target) {
  return {Option::Kind::kOption,
          std::move(name),
          "",
          std::move(help),
          target,
          Completes::kNothing,
          {},
          0};
}
inline Option Value(std::string name, std::string value, std::string help, OptionTarget target,
                    Completes completes = Completes::kNothing) {
  return {Option::Kind::kOption,
          std::move(name),
          std::move(value),
          std::move(help),
          target,
          completes,
          {},
          0};
}
// `option` that may also be given by one letter.
inline Option Lettered(char letter, Option option) {
  option.letter = letter;
  return option;
}
// `option` with its only values.
inline Option OneOf(Option option, std::vector<std::string> choices) {
  option.completes = Completes::kChoices;
  option.choices = std::move(choices);
  return option;
}

// `option` with values worth proposing.
inline Option Suggesting(Option option, std::vector<std::string> suggestions) {
  option.completes = Completes::kSuggestions;
  option.choices = std::move(suggestions);
  return option;
}

// Every command, in the order of the help.
std::vector<std::unique_ptr<Command>> MakeCommands();

// Their names, in the same order (made without making them: commands may ask for it).
std::vector<std::string> CommandNames();

// command_<name>.cc each.
std::unique_ptr<Command> MakeRunCommand();
std::unique_ptr<Command> MakePlanCommand();
std::unique_ptr<Command> MakeSubmitCommand();
std::unique_ptr<Command> MakeWaitCommand();
std::unique_ptr<Command> MakeWatchCommand();
std::unique_ptr<Command> MakeTraceCommand();
std::unique_ptr<Command> MakeJobsCommand();
std::unique_ptr<Command> MakeShowCommand();
std::unique_ptr<Command> MakeCancelCommand();
std::unique_ptr<Command> MakeBuffersCommand();
std::unique_ptr<Command> MakePutCommand();
std::unique_ptr<Command> MakeGetCommand();
std::unique_ptr<Command> MakeDeleteCommand();
std::unique_ptr<Command> MakeDevicesCommand();
std::unique_ptr<Command> MakeKernelsCommand();
std::unique_ptr<Command> MakeKernelCommand();
std::unique_ptr<Command> MakeStatusCommand();
std::unique_ptr<Command> MakeCompletionCommand();
std::unique_ptr<Command> MakeHelpCommand();
std::unique_ptr<Command> MakeVersionCommand();

}  // namespace weft::cli
