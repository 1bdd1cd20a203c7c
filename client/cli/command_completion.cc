#include <memory>
#include <string>
#include <vector>

#include "client/cli/command.h"
#include "client/cli/completion.h"

namespace weft::cli {
namespace {

class CompletionCommand final : public Command {
 public:
  CommandInfo info() const override {
    return {"completion", "Print a script that completes commands and options in a shell",
            "bash: source <(weft completion bash)\n"
            "zsh:  weft completion zsh > ~/.zfunc/_weft, with ~/.zfunc in $fpath\n"
            "fish: weft completion fish > ~/.config/fish/completions/weft.fish"};
  }
  std::vector<Option> options() override {
    return {OneOf(Argument("shell", "SHELL", "Which shell", &shell_), {"bash", "zsh", "fish"})};
  }
  absl::StatusOr<ExitCode> Run(Environment& environment) override {
    const Shell shell = shell_ == "bash"  ? Shell::kBash
                        : shell_ == "zsh" ? Shell::kZsh
                                          : Shell::kFish;
    environment.out << CompletionScript(shell, MakeCommands());
    return ExitCode::kOk;
  }

 private:
  std::string shell_;
};

}  // namespace

std::unique_ptr<Command> MakeCompletionCommand() { return std::make_unique<CompletionCommand>(); }

}  // namespace weft::cli
