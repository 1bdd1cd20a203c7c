#include <memory>
#include <string>
#include <vector>

#include "base/status_macros.h"
#include "client/cli/buffer_name.h"
#include "client/cli/command.h"
#include "client/connection.h"

namespace weft::cli {
namespace {

class DeleteCommand final : public Command {
 public:
  CommandInfo info() const override {
    return {"delete", "Delete a buffer of the server",
            "Refused (exit status 5) while jobs use it."};
  }
  std::vector<Option> options() override {
    return {Argument("name", "NAME", "Buffer, by its name or as #ID", &name_)};
  }
  absl::StatusOr<ExitCode> Run(Environment& environment) override {
    v1::DeleteBufferRequest request;
    WEFT_ASSIGN_OR_RETURN(*request.mutable_buffer(), ParseBufferRef(name_));
    WEFT_ASSIGN_OR_RETURN(const auto connection, environment.Connect());
    WEFT_RETURN_IF_ERROR(connection->DeleteBuffer(request).status());
    return ExitCode::kOk;
  }

 private:
  std::string name_;
};

}  // namespace

std::unique_ptr<Command> MakeDeleteCommand() { return std::make_unique<DeleteCommand>(); }

}  // namespace weft::cli
