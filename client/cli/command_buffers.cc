#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/command.h"
#include "client/cli/output.h"
#include "client/connection.h"

namespace weft::cli {
namespace {

class BuffersCommand final : public Command {
 public:
  CommandInfo info() const override {
    return {"buffers", "List the buffers of the server",
            "`weft put` makes and fills one, `weft get` reads it, `weft delete` removes it."};
  }
  std::vector<Option> options() override { return {Flag("json", "Print them as JSON", &json_)}; }
  absl::StatusOr<ExitCode> Run(Environment& environment) override;

 private:
  bool json_ = false;
};

absl::StatusOr<v1::ListBuffersResponse> ListAll(client::Connection& connection) {
  v1::ListBuffersRequest request;
  request.set_page_size(1000);
  v1::ListBuffersResponse all;
  do {
    WEFT_ASSIGN_OR_RETURN(v1::ListBuffersResponse page, connection.ListBuffers(request));
    request.set_page_token(page.next_page_token());
    for (v1::BufferInfo& buffer : *page.mutable_buffers()) *all.add_buffers() = std::move(buffer);
  } while (!request.page_token().empty());
  return all;
}

absl::StatusOr<ExitCode> BuffersCommand::Run(Environment& environment) {
  WEFT_ASSIGN_OR_RETURN(const auto connection, environment.Connect());
  WEFT_ASSIGN_OR_RETURN(const v1::ListBuffersResponse buffers, ListAll(*connection));
  if (json_) {
    environment.out << ToJson(buffers);
    return ExitCode::kOk;
  }
  using Align = Table::Align;
  Table table({{"ID"},
               {"NAME"},
               {"TYPE"},
               {"SHAPE"},
               {"SIZE", Align::kRight},
               {"DEVICE", Align::kRight},
               {"OWNER", Align::kRight},
               {"JOBS", Align::kRight},
               {"CREATED"}});
  for (const v1::BufferInfo& buffer : buffers.buffers()) {
    table.AddRow({absl::StrCat("#", buffer.id()), Printable(buffer.name()),
                  FormatDataType(buffer.data_type()), FormatShape(buffer.shape()),
                  FormatBytes(buffer.size_bytes()), absl::StrCat(buffer.device()),
                  absl::StrCat(buffer.owner_uid()), absl::StrCat(buffer.jobs_in_flight()),
                  FormatUnixTime(buffer.created_unix_ns())});
  }
  if (table.empty()) {
    environment.err << "no buffers\n";
  } else {
    table.Print(environment.out);
  }
  return ExitCode::kOk;
}

}  // namespace

std::unique_ptr<Command> MakeBuffersCommand() { return std::make_unique<BuffersCommand>(); }

}  // namespace weft::cli
