#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/status_macros.h"
#include "client/cli/command.h"
#include "client/cli/errors.h"
#include "client/cli/output.h"
#include "client/connection.h"
#include "client/retry.h"

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

bool Serves(const v1::ServerStatus& status) {
  return !status.draining() && !status.devices().empty() &&
         std::all_of(status.devices().begin(), status.devices().end(), [](const auto& device) {
           return device.executor_state() == v1::EXECUTOR_STATE_SERVING;
         });
}

class StatusCommand final : public Command {
 public:
  CommandInfo info() const override {
    return {"status", "Show the state of the server and its limits", ""};
  }
  std::vector<Option> options() override {
    return {
        Value("wait", "SECONDS", "Until weftd serves with all its devices, at most so long",
              &wait_s_),
        Flag("json", "Print it as JSON", &json_),
    };
  }
  absl::StatusOr<ExitCode> Run(Environment& environment) override {
    if (!(wait_s_ >= 0 && wait_s_ <= 1e9)) {
      return absl::InvalidArgumentError("--wait: give seconds from 0 to 1000000000");
    }
    WEFT_ASSIGN_OR_RETURN(const v1::GetStatusResponse response, Ask(environment));
    if (json_) {
      environment.out << ToJson(response.status());
    } else {
      PrintStatus(environment.out, response.status());
    }
    return ExitCode::kOk;
  }

 private:
  // Asks again and again: there is nothing to wait on before weftd has made its socket.
  absl::StatusOr<v1::GetStatusResponse> Ask(Environment& environment) const {
    client::Backoff backoff({.initial_backoff = absl::Milliseconds(20),
                             .max_backoff = absl::Milliseconds(200),
                             .total = absl::Seconds(wait_s_)},
                            Clock::Real(), /*seed=*/1);
    while (true) {
      absl::StatusOr<v1::GetStatusResponse> response = AskOnce(environment);
      const bool may_come =
          absl::IsUnavailable(response.status()) || (response.ok() && !Serves(response->status()));
      if (wait_s_ == 0 || !may_come) return response;
      const std::optional<absl::Duration> pause = backoff.Next();
      if (!pause.has_value()) return response.ok() ? NotServingError(wait_s_) : response.status();
      absl::SleepFor(*pause);
    }
  }
  static absl::StatusOr<v1::GetStatusResponse> AskOnce(Environment& environment) {
    WEFT_ASSIGN_OR_RETURN(const auto connection, environment.Connect());
    return connection->GetStatus({});
  }

  double wait_s_ = 0;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeStatusCommand() { return std::make_unique<StatusCommand>(); }

}  // namespace weft::cli
