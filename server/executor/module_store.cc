#include "server/executor/module_store.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "server/executor/errors.h"

namespace weft::executor {

absl::Status ModuleStore::Load(const std::string& name, const std::string& image) {
  const absl::MutexLock lock(&mutex_);
  for (const Entry& entry : modules_) {
    if (entry.name == name) return absl::OkStatus();
  }
  absl::StatusOr<cuda::Module> module = cuda::Module::Load(context_, image);
  if (!module.ok()) {
    return absl::Status(module.status().code(),
                        absl::StrCat("kernel image \"", name, "\": ", module.status().message()));
  }
  modules_.push_back({name, *std::move(module)});
  return absl::OkStatus();
}

bool ModuleStore::IsLoaded(const std::string& name) {
  const absl::MutexLock lock(&mutex_);
  for (const Entry& entry : modules_) {
    if (entry.name == name) return true;
  }
  return false;
}

absl::StatusOr<cuda::Function> ModuleStore::Resolve(const std::string& symbol) {
  const absl::MutexLock lock(&mutex_);
  if (const auto it = functions_.find(symbol); it != functions_.end()) return it->second;
  WEFT_ASSIGN_OR_RETURN(const cuda::Function function, Look(symbol));
  functions_.emplace(symbol, function);
  return function;
}

absl::StatusOr<cuda::Function> ModuleStore::Look(const std::string& symbol) const {
  for (const Entry& entry : modules_) {
    absl::StatusOr<cuda::Function> function = entry.module.GetFunction(symbol);
    if (function.ok() || function.status().code() != absl::StatusCode::kNotFound) return function;
  }
  return UnknownSymbolError(symbol);
}

}  // namespace weft::executor
