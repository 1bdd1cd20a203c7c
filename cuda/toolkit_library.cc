#include "cuda/toolkit_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace weft::cuda {
namespace {

std::vector<std::string> PathsOf(const ToolkitLibraryName& name) {
  if (const char* file = std::getenv(name.variable); file != nullptr && *file != '\0') {
    return {file};
  }
  std::vector<std::string> folders;
  for (const std::string& folder : name.folders) folders.push_back(absl::StrCat(folder, "/"));
  if (name.folders.empty()) {
    folders.emplace_back("");
    if (const char* home = std::getenv("CUDA_HOME"); home != nullptr && *home != '\0') {
      folders.push_back(absl::StrCat(home, "/lib64/"));
    }
    folders.emplace_back("/usr/local/cuda/lib64/");
  }
  std::vector<std::string> paths;
  for (const std::string& folder : folders) {
    for (const char* file : name.files) paths.push_back(folder + file);
  }
  return paths;
}

}  // namespace

absl::StatusOr<ToolkitLibrary> ToolkitLibrary::Open(const ToolkitLibraryName& name) {
  const std::vector<std::string> paths = PathsOf(name);
  std::string refused;  // what the loader says of a file that it found
  for (const std::string& path : paths) {
    if (void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      return ToolkitLibrary(handle, path);
    }
    const char* error = ::dlerror();
    const bool is_missing = error == nullptr || absl::StrContains(error, "No such file");
    if (!is_missing && refused.empty()) refused = absl::StrCat(" (", error, ")");
  }
  return absl::NotFoundError(
      absl::StrCat("none of ", absl::StrJoin(paths, ", "), " can be loaded", refused));
}

void* ToolkitLibrary::Find(const char* function) const { return ::dlsym(handle_, function); }

absl::Status FunctionFinder::status() const {
  if (missing_.empty()) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat(library_.file(), " has no function ", missing_));
}

}  // namespace weft::cuda
