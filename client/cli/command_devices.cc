#include <memory>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "client/cli/command.h"
#include "client/cli/output.h"
#include "client/connection.h"

namespace weft::cli {
namespace {

std::string StateOf(const v1::DeviceInfo& device) {
  const std::string name = v1::ExecutorState_Name(device.executor_state());
  return absl::AsciiStrToLower(absl::StripPrefix(name, "EXECUTOR_STATE_"));
}

std::string CapabilityOf(const v1::DeviceInfo& device) {
  if (device.is_cpu()) return "cpu";
  return absl::StrCat(device.compute_capability_major(), ".", device.compute_capability_minor());
}

class DevicesCommand final : public Command {
 public:
  CommandInfo info() const override { return {"devices", "List the devices of the server", ""}; }
  std::vector<Option> options() override { return {Flag("json", "Print them as JSON", &json_)}; }
  absl::StatusOr<ExitCode> Run(Environment& environment) override {
    WEFT_ASSIGN_OR_RETURN(const auto connection, environment.Connect());
    WEFT_ASSIGN_OR_RETURN(const v1::ListDevicesResponse response, connection->ListDevices({}));
    if (json_) {
      environment.out << ToJson(response);
      return ExitCode::kOk;
    }
    using Align = Table::Align;
    Table table({{"DEVICE", Align::kRight},
                 {"NAME"},
                 {"CAPABILITY"},
                 {"MEMORY", Align::kRight},
                 {"FREE", Align::kRight},
                 {"SMS", Align::kRight},
                 {"LANES", Align::kRight},
                 {"EXECUTOR"},
                 {"PID", Align::kRight}});
    for (const v1::DeviceInfo& device : response.devices()) {
      table.AddRow({absl::StrCat(device.ordinal()), Printable(device.name()), CapabilityOf(device),
                    FormatBytes(device.total_memory_bytes()),
                    FormatBytes(device.free_memory_bytes()),
                    absl::StrCat(device.multiprocessor_count()), absl::StrCat(device.max_lanes()),
                    StateOf(device), absl::StrCat(device.executor_pid())});
    }
    table.Print(environment.out);
    return ExitCode::kOk;
  }

 private:
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeDevicesCommand() { return std::make_unique<DevicesCommand>(); }

}  // namespace weft::cli
