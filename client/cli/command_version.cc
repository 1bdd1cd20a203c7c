#include <memory>
#include <vector>

#include "client/cli/app.h"
#include "client/cli/command.h"

namespace weft::cli {
namespace {

class VersionCommand final : public Command {
 public:
  CommandInfo info() const override {
    return {"version", "Print the version of this program", "`weft status` shows weftd's."};
  }
  std::vector<Option> options() override { return {}; }
  absl::StatusOr<ExitCode> Run(Environment& environment) override {
    environment.out << VersionText() << "\n";
    return ExitCode::kOk;
  }
};

}  // namespace

std::unique_ptr<Command> MakeVersionCommand() { return std::make_unique<VersionCommand>(); }

}  // namespace weft::cli
