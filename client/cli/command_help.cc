#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/app.h"
#include "client/cli/command.h"

namespace weft::cli {
namespace {

class HelpCommand final : public Command {
 public:
  CommandInfo info() const override {
    return {"help", "Print the help of weft, or of one command", ""};
  }
  std::vector<Option> options() override {
    return {
        Suggesting(OptionalArgument("command", "COMMAND", "Command to explain", &command_),
                   CommandNames()),
        Flag("markdown", "Print everything as a page of Markdown (docs/cli.md)", &markdown_),
    };
  }
  absl::StatusOr<ExitCode> Run(Environment& environment) override {
    if (markdown_) {
      environment.out << HelpMarkdown();
      return ExitCode::kOk;
    }
    const std::vector<std::string> names = CommandNames();
    if (!command_.empty() && std::find(names.begin(), names.end(), command_) == names.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("there is no command \"", command_, "\": `weft help` lists them"));
    }
    environment.out << HelpText(command_);
    return ExitCode::kOk;
  }

 private:
  std::string command_;
  bool markdown_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeHelpCommand() { return std::make_unique<HelpCommand>(); }

}  // namespace weft::cli
