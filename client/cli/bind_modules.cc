#include "client/cli/bind_modules.h"

#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error_context.h"
#include "client/cli/errors.h"
#include "client/cli/file_io.h"

namespace weft::cli {
namespace {

// Of all modules of a job together; the server's limit for a whole job is usually less.
constexpr uint64_t kMaxModuleBytes = uint64_t{1} << 30;

// False for an ending of no kind.
bool SetCode(v1::Module& module, const std::string& ending, std::string bytes) {
  if (ending == ".cu") {
    module.set_cuda(std::move(bytes));
  } else if (ending == ".ptx") {
    module.set_ptx(std::move(bytes));
  } else if (ending == ".cubin") {
    module.set_cubin(std::move(bytes));
  } else if (ending == ".fatbin") {
    module.set_fatbin(std::move(bytes));
  } else {
    return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> BindModules(JobFile& file) {
  namespace fs = std::filesystem;
  std::vector<std::string> paths;
  std::vector<FieldViolation> violations;
  uint64_t left = kMaxModuleBytes;
  for (int i = 0; i < file.job.modules_size(); ++i) {
    v1::Module& module = *file.job.mutable_modules(i);
    if (module.code_case() != v1::Module::kFile) continue;
    const std::string field = absl::StrCat("modules[", i, "].file");
    const std::string path = (fs::path(file.folder) / module.file()).string();
    absl::StatusOr<std::string> bytes = ReadWholeFile(path, left);
    if (!bytes.ok()) {
      violations.push_back(ModuleFileViolation(field, module.name(), bytes.status().message()));
      continue;
    }
    left -= bytes->size();
    if (!SetCode(module, fs::path(path).extension().string(), *std::move(bytes))) {
      violations.push_back(ModuleEndingViolation(field, module.name(), path));
      continue;
    }
    paths.push_back(path);
  }
  if (!violations.empty()) return InvalidArgumentError(std::move(violations));
  return paths;
}

}  // namespace weft::cli
