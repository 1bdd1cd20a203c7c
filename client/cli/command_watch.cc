#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/status_macros.h"
#include "client/cli/command.h"
#include "client/cli/output.h"
#include "client/client.h"

namespace weft::cli {
namespace {

class WatchCommand final : public Command {
 public:
  CommandInfo info() const override {
    return {"watch", "Print the states of a job as they change, until it has ended",
            "The exit status says how the job ended, as for `weft run`."};
  }
  std::vector<Option> options() override {
    return {
        Argument("id", "ID", "Job, as `weft submit` or `weft jobs` prints it", &id_),
        Flag("json", "Print each state as one line of JSON", &json_),
    };
  }
  absl::StatusOr<ExitCode> Run(Environment& environment) override {
    WEFT_ASSIGN_OR_RETURN(const auto connection, environment.Connect());
    v1::WatchRequest request;
    request.set_job_id(id_);
    v1::JobInfo last;
    WEFT_RETURN_IF_ERROR(connection->Watch(request, [&](const v1::JobInfo& info) {
      last = info;
      Print(environment, info);
      return environment.out ? client::WatchNext::kContinue : client::WatchNext::kStop;
    }));
    const absl::Status ended = client::StatusOfJob(last);
    if (!ended.ok()) PrintError(environment.err, "weft watch", ended);
    return ExitCodeOf(last.state());
  }

 private:
  void Print(Environment& environment, const v1::JobInfo& info) const {
    if (json_) {
      environment.out << ToJson(info, JsonStyle::kOneLine) << std::flush;
      return;
    }
    environment.out << FormatUnixTime(absl::ToUnixNanos(WallTimeForDisplay())) << "  "
                    << FormatState(info.state());
    if (info.running_ns() > 0) {
      environment.out << "  ran for " << FormatNanoseconds(info.running_ns());
    }
    environment.out << "\n" << std::flush;
  }

  std::string id_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeWatchCommand() { return std::make_unique<WatchCommand>(); }

}  // namespace weft::cli
