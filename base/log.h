// Structured log lines: one event with key=value fields, on standard error.
//
//   log::Info("executor started", {{"device", "0"}, {"pid", absl::StrCat(pid)}});
//
// Thread safety: every function may be called from any thread. Init is called once, by main, before
// threads start; without it warnings and errors go to standard error.
#pragma once

#include <initializer_list>
#include <string>

#include "absl/strings/string_view.h"

namespace weft::log {

struct Field {
  absl::string_view key;
  std::string value;
};
using Fields = std::initializer_list<Field>;

enum class Level { kDebug, kInfo, kWarning, kError };

// "debug", "warning" or "error"; every other name is kInfo: who reads the setting has checked it.
Level LevelNamed(absl::string_view name);

// `program` stands in every line; lines below `level` are dropped.
void Init(const std::string& program, Level level);

void Write(Level level, absl::string_view event, Fields fields = {});
inline void Debug(absl::string_view event, Fields fields = {}) {
  Write(Level::kDebug, event, fields);
}
inline void Info(absl::string_view event, Fields fields = {}) {
  Write(Level::kInfo, event, fields);
}
inline void Warning(absl::string_view event, Fields fields = {}) {
  Write(Level::kWarning, event, fields);
}
inline void Error(absl::string_view event, Fields fields = {}) {
  Write(Level::kError, event, fields);
}

}  // namespace weft::log
