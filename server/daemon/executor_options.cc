#include "server/daemon/executor_options.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "server/daemon/errors.h"
#include "weft/config/v1/daemon_config.pb.h"

namespace weft::daemon {
namespace {

namespace fs = std::filesystem;

absl::StatusOr<std::string> ExecutorProgram(const Config& config) {
  if (!config.executor_program().empty()) return config.executor_program();
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return absl::NotFoundError("cannot tell where weftd lies: set --executor-program.");
  return (self.parent_path() / "weft-executor").string();
}

struct Served {
  std::string driver;  // "cuda" or "cpu"
  std::vector<uint32_t> devices;
};

absl::StatusOr<Served> ServedDevices(const Config& config) {
  const uint32_t gpus = CountGpus("/dev", std::getenv("CUDA_VISIBLE_DEVICES"));
  Served served;
  served.driver = config.driver() == "auto" ? (gpus > 0 ? "cuda" : "cpu") : config.driver();
  served.devices.assign(config.devices().begin(), config.devices().end());
  if (!served.devices.empty()) {
    std::sort(served.devices.begin(), served.devices.end());
    return served;
  }
  const uint32_t count = served.driver == "cpu" ? config.cpu_devices() : gpus;
  if (count == 0) {
    return NoGpuError();
  }
  served.devices.resize(count);
  std::iota(served.devices.begin(), served.devices.end(), 0u);
  return served;
}

}  // namespace

uint32_t CountGpus(const std::string& folder, const char* visible) {
  uint32_t count = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    absl::string_view digits = name;
    uint32_t number = 0;
    if (absl::ConsumePrefix(&digits, "nvidia") && absl::SimpleAtoi(digits, &number)) ++count;
  }
  // The Windows Subsystem for Linux has one file for all.
  if (count == 0 && fs::exists(fs::path(folder) / "dxg", error)) count = 1;
  if (visible == nullptr) return count;
  const std::vector<std::string> listed = absl::StrSplit(visible, ',', absl::SkipWhitespace());
  // CUDA ignores what stands behind an entry that is none ("-1").
  const auto end = std::find_if(listed.begin(), listed.end(), [](const std::string& entry) {
    return absl::StartsWith(entry, "-");
  });
  return std::min(count, static_cast<uint32_t>(end - listed.begin()));
}

std::string CpuDriverSettings(const Config& config) {
  std::string settings =
      absl::StrCat("devices=", config.cpu_devices(), ";workers=", config.cpu_workers(),
                   ";memory_mib=", config.cpu_memory_mib());
  for (absl::string_view fault : absl::StrSplit(config.cpu_faults(), ';', absl::SkipWhitespace())) {
    absl::ConsumePrefix(&fault, "fault=");
    absl::StrAppend(&settings, ";fault=", fault);
  }
  return settings;
}

absl::StatusOr<std::vector<SupervisorOptions>> ExecutorOptions(const Config& config) {
  WEFT_ASSIGN_OR_RETURN(const std::string program, ExecutorProgram(config));
  WEFT_ASSIGN_OR_RETURN(const Served served, ServedDevices(config));
  std::vector<SupervisorOptions> all;
  for (uint32_t device : served.devices) {
    SupervisorOptions options;
    options.device = device;
    options.grpc_socket = absl::StrCat(config.socket(), ".x", device);
    options.spin = absl::Microseconds(static_cast<int64_t>(config.spin_us()));
    options.command.program = program;
    options.command.arguments = {absl::StrCat("--device=", device),
                                 absl::StrCat("--driver=", served.driver),
                                 absl::StrCat("--grpc-socket=", options.grpc_socket),
                                 absl::StrCat("--spin-us=", config.spin_us()),
                                 absl::StrCat("--log-level=", config.log_level())};
    if (!config.driver_library().empty()) {
      options.command.arguments.push_back(
          absl::StrCat("--driver-library=", config.driver_library()));
    }
    if (served.driver == "cpu") {
      options.command.environment = {absl::StrCat("WEFT_HOSTCUDA=", CpuDriverSettings(config))};
    }
    all.push_back(std::move(options));
  }
  return all;
}

}  // namespace weft::daemon
