#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/command.h"
#include "client/cli/output.h"
#include "client/connection.h"

namespace weft::cli {
namespace {

std::string FormatLimit(uint64_t value, const std::string& unit) {
  return unit == "bytes" ? FormatBytes(value) : absl::StrCat(value, " ", Printable(unit));
}

void PrintStatus(std::ostream& out, const v1::ServerStatus& status) {
  out << "weftd " << Printable(status.version()) << ", pid " << status.pid() << ", up for "
      << FormatNanoseconds(status.uptime_ms() * 1'000'000)
      << (status.draining() ? ", draining" : "") << "\n"
      << "jobs      " << status.jobs_queued() << " queued, " << status.jobs_running()
      << " running, " << status.jobs_ended() << " ended\n"
      << "buffers   " << status.buffers() << ", " << FormatBytes(status.buffer_bytes()) << "\n"
      << "sessions  " << status.sessions() << "\n"
      << "graphs    " << status.prepared_graphs() << " prepared\n"
      << "devices   " << status.devices_size() << " (`weft devices`)\n\n";
  using Align = Table::Align;
  Table table({{"LIMIT"}, {"VALUE", Align::kRight}, {"USED", Align::kRight}});
  for (const v1::Limit& limit : status.limits()) {
    table.AddRow({Printable(limit.name()),
                  limit.limit() == 0 ? "none" : FormatLimit(limit.limit(), limit.unit()),
                  FormatLimit(limit.used(), limit.unit())});
  }
  if (!table.empty()) table.Print(out);
}

class StatusCommand final : public Command {
 public:
  CommandInfo info() const override {
    return {"status", "Show the state of the server and its limits", ""};
  }
  std::vector<Option> options() override { return {Flag("json", "Print it as JSON", &json_)}; }
  absl::StatusOr<ExitCode> Run(Environment& environment) override {
    WEFT_ASSIGN_OR_RETURN(const auto connection, environment.Connect());
    WEFT_ASSIGN_OR_RETURN(const v1::GetStatusResponse response, connection->GetStatus({}));
    if (json_) {
      environment.out << ToJson(response.status());
    } else {
      PrintStatus(environment.out, response.status());
    }
    return ExitCode::kOk;
  }

 private:
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeStatusCommand() { return std::make_unique<StatusCommand>(); }

}  // namespace weft::cli
