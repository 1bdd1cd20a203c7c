#include "server/daemon/config.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/error_context.h"
#include "base/status_macros.h"
#include "kernels/nearest_name.h"
#include "weft/config/v1/daemon_config.pb.h"

namespace weft::daemon {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Reflection;
using google::protobuf::TextFormat;

constexpr uint64_t kMiB = uint64_t{1024} * 1024;

// A socket's path has 107 bytes (sun_path less its end); executors listen at longer names beside
// it.
constexpr size_t kMaxSocketPath = 90;

constexpr Setting kSettings[] = {
    {"socket",
     "path of the Unix socket (default: $XDG_RUNTIME_DIR/weft/weftd.sock, for root "
     "/run/weft/weftd.sock)",
     0, 0},
    {"socket_mode", "permission bits of the socket", 0600, 0777},
    {"driver", "auto (cuda where a GPU is, else cpu), cuda or cpu", 0, 0},
    {"driver_library", "path of the driver library (default: found by driver)", 0, 0},
    {"devices", "ordinals of the devices to serve (default: all)", 0, 1023},
    {"cpu_devices", "devices of the CPU driver", 1, 16},
    {"cpu_workers", "worker threads of each (default: the number of cores, at least 4)", 0, 256},
    {"cpu_memory_mib", "memory of each, MiB", 4096, 1 << 24},
    {"cpu_faults", "fault plan of the CPU driver, for tests", 0, 0},
    {"max_job_bytes", "bytes of one request", 64 * kMiB, 1024 * kMiB},
    {"max_nodes", "nodes of a job", 400000, 1000000},
    {"max_buffers_per_job", "buffers of a job", 65536, 1000000},
    {"max_queued_jobs", "jobs accepted and not ended, over all users", 4096, 1000000},
    {"max_kept_jobs", "ended jobs remembered, with their results", 1024, 1000000},
    {"max_kept_result_bytes", "bytes of the outputs of remembered jobs, and of one job",
     1024 * kMiB, 0},
    {"max_buffers", "buffers of the server", 65536, 1000000},
    {"max_buffer_bytes", "bytes of all buffers of a device (default: 90 % of its memory)", 0, 0},
    {"max_sessions", "connections", 1024, 65536},
    {"max_prepared_graphs", "prepared graphs kept for reuse", 256, 65536},
    {"drain_grace_ms", "milliseconds that running jobs have after SIGTERM", 10000, 86400000},
    {"spin_us", "microseconds that a ring's waiter spins at most before it sleeps", 500, 1000000},
    {"log_level", "debug, info, warning or error", 0, 0},
    {"executor_program", "path of weft-executor (default: beside weftd)", 0, 0},
    {"user_kernels",
     "whose jobs may bring code along: owner (weftd's own user), everyone or nobody", 0, 0},
    {"max_pinned_bytes", "bytes of the pinned buffers of a job", 1024 * kMiB, 0},
};

const FieldDescriptor* FieldOf(absl::string_view name) {
  return Config::descriptor()->FindFieldByName(std::string(name));
}

std::string DidYouMean(absl::string_view name) {
  std::vector<absl::string_view> names;
  for (const Setting& setting : kSettings) names.emplace_back(setting.name);
  return kernels::DidYouMean(kernels::NearestName(name, names));
}

// Keeps the first error of the text parser with its place.
class FirstError final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (!text_.empty()) return;
    text_ = absl::StrCat("line ", line + 1, ", column ", column + 1, ": ", message);
    // The parser's own text: Message type "…" has no field named "x".
    const std::vector<std::string> quoted = absl::StrSplit(message, '"');
    if (absl::StrContains(message, "no field named") && quoted.size() > 3) {
      absl::StrAppend(&text_, DidYouMean(quoted[3]));
    }
  }
  void AddWarning(int, int, const std::string&) override {}
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// A number as C writes it: decimal, 0600, 0x180.
bool ParseNumber(absl::string_view text, uint64_t& value) {
  const std::string copy(text);
  if (copy.empty() || copy[0] < '0' || copy[0] > '9') return false;
  char* end = nullptr;
  errno = 0;
  value = std::strtoull(copy.c_str(), &end, 0);
  return errno == 0 && *end == '\0';
}

uint64_t NumberOf(const Config& config, const FieldDescriptor* field) {
  const Reflection* reflection = config.GetReflection();
  return field->cpp_type() == FieldDescriptor::CPPTYPE_UINT32
             ? reflection->GetUInt32(config, field)
             : reflection->GetUInt64(config, field);
}

bool SetNumber(Config& config, const FieldDescriptor* field, uint64_t value) {
  const Reflection* reflection = config.GetReflection();
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_UINT64) {
    reflection->SetUInt64(&config, field, value);
    return true;
  }
  if (value > UINT32_MAX) return false;
  if (field->is_repeated()) {
    reflection->AddUInt32(&config, field, static_cast<uint32_t>(value));
  } else {
    reflection->SetUInt32(&config, field, static_cast<uint32_t>(value));
  }
  return true;
}

std::string DefaultSocket() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (::geteuid() != 0 && runtime != nullptr && *runtime != '\0') {
    return absl::StrCat(runtime, "/weft/weftd.sock");
  }
  return "/run/weft/weftd.sock";
}

void FillDefaults(Config& config) {
  for (const Setting& setting : kSettings) {
    const FieldDescriptor* field = FieldOf(setting.name);
    if (setting.default_value != 0 && NumberOf(config, field) == 0) {
      SetNumber(config, field, setting.default_value);
    }
  }
  if (config.socket().empty()) config.set_socket(DefaultSocket());
  if (config.driver().empty()) config.set_driver("auto");
  if (config.user_kernels().empty()) config.set_user_kernels("owner");
  if (config.log_level().empty()) config.set_log_level("info");
  if (config.cpu_workers() == 0) {
    config.set_cpu_workers(std::clamp(std::thread::hardware_concurrency(), 4u, 256u));
  }
}

void CheckNumbers(const Config& config, std::vector<FieldViolation>& violations) {
  for (const Setting& setting : kSettings) {
    const FieldDescriptor* field = FieldOf(setting.name);
    if (setting.maximum == 0 || field->is_repeated()) continue;
    const uint64_t value = NumberOf(config, field);
    if (value <= setting.maximum) continue;
    violations.push_back({setting.name, absl::StrCat(value, " is over the limit of ",
                                                     setting.maximum, " (", setting.help, ").")});
  }
}

void CheckOneOf(const char* name, const std::string& value,
                std::initializer_list<absl::string_view> allowed,
                std::vector<FieldViolation>& violations) {
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return;
  std::string list;
  for (absl::string_view word : allowed) absl::StrAppend(&list, list.empty() ? "" : ", ", word);
  violations.push_back({name, absl::StrCat("\"", value, "\" is none of: ", list, ".")});
}

void CheckDevices(const Config& config, std::vector<FieldViolation>& violations) {
  std::vector<uint32_t> seen;
  for (uint32_t device : config.devices()) {
    if (device > 1023) {
      violations.push_back({"devices", absl::StrCat("there is no device ", device, ".")});
    }
    if (std::find(seen.begin(), seen.end(), device) != seen.end()) {
      violations.push_back({"devices", absl::StrCat("device ", device, " is listed twice.")});
    }
    seen.push_back(device);
  }
}

// How one setting stands in a file: "name: value" lines, or a comment where it has no value yet.
std::string PrintSetting(const Config& config, const Setting& setting) {
  const FieldDescriptor* field = FieldOf(setting.name);
  const Reflection* reflection = config.GetReflection();
  std::string lines;
  if (field->is_repeated()) {
    for (int i = 0; i < reflection->FieldSize(config, field); ++i) {
      absl::StrAppend(&lines, setting.name, ": ", reflection->GetRepeatedUInt32(config, field, i),
                      "\n");
    }
  } else if (reflection->HasField(config, field)) {
    std::string value;
    TextFormat::PrintFieldValueToString(config, field, -1, &value);
    absl::StrAppend(&lines, setting.name, ": ", value, "\n");
  }
  return lines.empty() ? absl::StrCat("# ", setting.name, ": ", setting.help, "\n") : lines;
}

}  // namespace

absl::Span<const Setting> Settings() { return kSettings; }

absl::Status MergeConfigText(const std::string& text, absl::string_view source, Config& config) {
  FirstError error;
  TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  Config parsed;
  if (!parser.ParseFromString(text, &parsed)) {
    return absl::InvalidArgumentError(absl::StrCat(source, ": ", error.text()));
  }
  config.MergeFrom(parsed);
  return absl::OkStatus();
}

absl::Status MergeConfigFile(const std::string& path, Config& config) {
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (!stream.is_open() || stream.bad()) {
    return ErrnoError(errno == 0 ? EIO : errno, "read", path);
  }
  return MergeConfigText(text, path, config);
}

absl::Status MergeFlag(const std::string& name, const std::string& text, Config& config) {
  const FieldDescriptor* field = FieldOf(name);
  if (field == nullptr) return WEFT_BUG(absl::StrCat("no setting ", name));
  const Reflection* reflection = config.GetReflection();
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    reflection->SetString(&config, field, text);
    return absl::OkStatus();
  }
  reflection->ClearField(&config, field);
  for (absl::string_view part : absl::StrSplit(text, field->is_repeated() ? "," : "\n")) {
    uint64_t value = 0;
    if (!ParseNumber(part, value) || !SetNumber(config, field, value)) {
      return InvalidArgumentError(
          {{name, absl::StrCat("\"", part, "\" is no number that fits this setting.")}});
    }
  }
  return absl::OkStatus();
}

absl::Status FinishConfig(Config& config) {
  FillDefaults(config);
  std::vector<FieldViolation> violations;
  CheckNumbers(config, violations);
  CheckOneOf("driver", config.driver(), {"auto", "cuda", "cpu"}, violations);
  CheckOneOf("user_kernels", config.user_kernels(), {"owner", "everyone", "nobody"}, violations);
  CheckOneOf("log_level", config.log_level(), {"debug", "info", "warning", "error"}, violations);
  CheckDevices(config, violations);
  if (config.socket().size() > kMaxSocketPath) {
    violations.push_back(
        {"socket", absl::StrCat("the path has ", config.socket().size(), " bytes; at most ",
                                kMaxSocketPath, " fit. Choose a shorter one.")});
  }
  if (config.socket()[0] != '/') {
    violations.push_back(
        {"socket", absl::StrCat("\"", config.socket(), "\" is no absolute path.")});
  }
  if (!violations.empty()) return InvalidArgumentError(std::move(violations));
  return absl::OkStatus();
}

std::string PrintConfig(const Config& config) {
  std::string text;
  for (const Setting& setting : kSettings) text += PrintSetting(config, setting);
  return text;
}

}  // namespace weft::daemon
