#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/status_macros.h"
#include "client/cli/command.h"
#include "client/cli/elements.h"
#include "client/cli/output.h"
#include "client/client.h"

namespace weft::cli {
namespace {

class WatchCommand final : public Command {
 public:
  CommandInfo info() const override {
    return {
        "watch",
        "Print the states of a job as they change, and what it delivers, until it has ended",
        "Outputs are those that are delivered while the job runs (`delivery` of the download);\n"
        "others come with its end: `weft wait` writes them. The exit status says how the job\n"
        "ended, as for `weft run`."};
  }
  std::vector<Option> options() override {
    return {
        Argument("id", "ID", "Job, as `weft submit` or `weft jobs` prints it", &id_),
        Flag("json", "Print each state and each output as one line of JSON", &json_),
    };
  }
  absl::StatusOr<ExitCode> Run(Environment& environment) override {
    WEFT_ASSIGN_OR_RETURN(const auto connection, environment.Connect());
    v1::WatchRequest request;
    request.set_job_id(id_);
    v1::JobInfo last;
    WEFT_RETURN_IF_ERROR(connection->Watch(request, [&](const v1::WatchResponse& message) {
      if (message.has_output()) {
        Print(environment, message.output());
      } else {
        last = message.info();
        Print(environment, last);
      }
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
    environment.out << Now() << "  " << FormatState(info.state());
    if (info.running_ns() > 0) {
      environment.out << "  ran for " << FormatNanoseconds(info.running_ns());
    }
    environment.out << "\n" << std::flush;
  }

  void Print(Environment& environment, const v1::JobOutput& output) const {
    if (json_) {
      environment.out << ToJson(output, JsonStyle::kOneLine) << std::flush;
      return;
    }
    environment.out << Now() << "  output " << Printable(output.name()) << "  "
                    << FormatDataType(output.data_type()) << " " << FormatShape(output.shape());
    const std::string elements = FormatElements(output);
    if (!elements.empty()) environment.out << "  " << elements;
    environment.out << "\n" << std::flush;
  }

  static std::string Now() { return FormatUnixTime(absl::ToUnixNanos(WallTimeForDisplay())); }

  std::string id_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeWatchCommand() { return std::make_unique<WatchCommand>(); }

}  // namespace weft::cli
