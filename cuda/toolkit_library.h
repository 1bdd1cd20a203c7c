// A library of the CUDA Toolkit, opened when it is first needed, so that programs run without it.
//
// It is looked for at the file that an environment variable names, when that is set; else where the
// dynamic loader looks, in $CUDA_HOME/lib64 and in /usr/local/cuda/lib64; or in folders of its own.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace weft::cuda {

struct ToolkitLibraryName {
  const char* name;                       // "cuBLASLt"
  const char* variable;                   // "WEFT_CUBLASLT"
  std::vector<const char*> files;         // newest first: "libcublasLt.so.13"
  std::vector<std::string> folders = {};  // not empty: the only ones looked in
};

// Stays loaded until the process ends: what it made may outlive this, and it has threads of its own.
// Thread safety: immutable.
class ToolkitLibrary {
 public:
  // Errors: NOT_FOUND, with what was looked for, and what the loader said of a file that is there.
  static absl::StatusOr<ToolkitLibrary> Open(const ToolkitLibraryName& name);

  // nullptr when it has no such function.
  void* Find(const char* function) const;
  // As it was opened.
  const std::string& file() const { return file_; }

 private:
  ToolkitLibrary(void* handle, std::string file) : handle_(handle), file_(std::move(file)) {}
  void* handle_;
  std::string file_;
};

// Fills a table of functions: Resolve(library, "name", table.name) for each, then `missing`.
class FunctionFinder {
 public:
  explicit FunctionFinder(const ToolkitLibrary& library) : library_(library) {}
  template <typename Function>
  void Find(const char* name, Function& function) {
    function = reinterpret_cast<Function>(library_.Find(name));
    if (function == nullptr && missing_.empty()) missing_ = name;
  }
  // NOT_FOUND when a function was not there: a library of another version.
  absl::Status status() const;

 private:
  const ToolkitLibrary& library_;
  std::string missing_;  // the first one
};

}  // namespace weft::cuda
