#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

#include "absl/strings/str_cat.h"

namespace weft::log {
namespace {

spdlog::level::level_enum ToSpdlog(Level level) {
  switch (level) {
    case Level::kDebug:
      return spdlog::level::debug;
    case Level::kInfo:
      return spdlog::level::info;
    case Level::kWarning:
      return spdlog::level::warn;
    case Level::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

// Values with spaces, quotes or control characters are quoted, so that a line splits back into its
// fields.
std::string Quoted(absl::string_view value) {
  bool plain = !value.empty();
  for (const char c : value) plain = plain && c > ' ' && c != '"' && c != '=' && c != '\x7f';
  if (plain) return std::string(value);
  std::string quoted = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') {
      quoted += '?';
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

// Until Init, warnings and errors go to standard error (spdlog's own default is standard output).
spdlog::logger& Logger() {
  static const bool fallback_set = [] {
    if (spdlog::default_logger_raw()->name().empty()) Init("weft", Level::kWarning);
    return true;
  }();
  static_cast<void>(fallback_set);
  return *spdlog::default_logger_raw();
}

}  // namespace

Level LevelNamed(absl::string_view name) {
  if (name == "debug") return Level::kDebug;
  if (name == "warning") return Level::kWarning;
  if (name == "error") return Level::kError;
  return Level::kInfo;
}

void Init(const std::string& program, Level level) {
  auto logger = spdlog::stderr_logger_mt(program);
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%f%z %l %n[%P] %v");
  logger->set_level(ToSpdlog(level));
  logger->flush_on(spdlog::level::debug);
  spdlog::set_default_logger(std::move(logger));
}

void Write(Level level, absl::string_view event, Fields fields) {
  spdlog::logger& logger = Logger();
  if (!logger.should_log(ToSpdlog(level))) return;
  std::string line(event);
  for (const Field& field : fields)
    absl::StrAppend(&line, " ", field.key, "=", Quoted(field.value));
  logger.log(ToSpdlog(level), spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace weft::log
