// The loaded kernel images of this executor, and their functions by name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "cuda/context.h"
#include "cuda/module.h"
#include "graph/build/bindings.h"

namespace weft::executor {

// Each image is loaded once and stays loaded as long as this lives, which keeps every function
// handed out valid.
// Thread safety: all members may be called from any thread. The context outlives it.
class ModuleStore final : public build::FunctionResolver {
 public:
  explicit ModuleStore(const cuda::Context& context) : context_(context) {}
  ModuleStore(const ModuleStore&) = delete;
  ModuleStore& operator=(const ModuleStore&) = delete;

  // Loads an image (0.1 ms to many). A second image under the same name does nothing.
  // Errors: those of cuda::Module::Load, with the name.
  absl::Status Load(const std::string& name, const std::string& image);

  bool IsLoaded(const std::string& name);

  // The function of the first loaded image that has it; cached. NOT_FOUND.
  absl::StatusOr<cuda::Function> Resolve(const std::string& symbol) override;

 private:
  struct Entry {
    std::string name;
    cuda::Module module;
  };
  absl::StatusOr<cuda::Function> Look(const std::string& symbol) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const cuda::Context& context_;
  absl::Mutex mutex_;
  std::vector<Entry> modules_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, cuda::Function> functions_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace weft::executor
