// Code that jobs bring along: compiled where it is source, loaded, and shared by the jobs that bring
// the same. It is unloaded when the last graph that launches its kernels is gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "cuda/context.h"
#include "cuda/device_info.h"
#include "cuda/module.h"
#include "graph/build/bindings.h"
#include "graph/ir/graph.h"
#include "kernels/compile/compiler.h"

namespace weft::v1 {
class Job;
class Module;
}  // namespace weft::v1

namespace weft::executor {

// A module of a job, on the device. Thread safety: immutable.
class UserModule {
 public:
  // What a job names in it: kernels, and variables that it sets. Each sorted, unique.
  struct Names {
    std::vector<std::string> entries;
    std::vector<std::string> variables;
  };

  // `symbols`: the names in the module, of the entries and then of the variables.
  UserModule(std::string name, cuda::Module module, Names names, std::vector<std::string> symbols)
      : name_(std::move(name)),
        module_(std::move(module)),
        names_(std::move(names)),
        symbols_(std::move(symbols)) {}

  // Errors: NOT_FOUND.
  absl::StatusOr<cuda::Function> Find(const std::string& entry) const;
  absl::StatusOr<cuda::GlobalVariable> FindVariable(const std::string& variable) const;

 private:
  const std::string name_;
  const cuda::Module module_;
  const Names names_;
  const std::vector<std::string> symbols_;
};

// Modules of a job by ir::Graph::modules; null where no node launches anything of one, or sets a
// variable of it.
using UserModules = std::vector<std::shared_ptr<const UserModule>>;

// Thread safety: all members may be called from any thread. The context outlives it, and every
// module that it gave out.
class UserModuleStore {
 public:
  using MakeCompiler = std::function<absl::StatusOr<std::unique_ptr<const kernels::Compiler>>()>;

  // `make_compiler`: called by PrepareCompiler, or when the first source comes; again at the next one
  // when it failed.
  // `device`: that of the context, for messages.
  UserModuleStore(const cuda::Context& context, const cuda::DeviceInfo& device,
                  MakeCompiler make_compiler)
      : context_(context), device_(device), make_compiler_(std::move(make_compiler)) {}
  UserModuleStore(const UserModuleStore&) = delete;
  UserModuleStore& operator=(const UserModuleStore&) = delete;

  // Makes the compiler ready ahead of the first source, so that the launch of one whose code is in the
  // cache does not wait for it. Whoever brings source where there is no compiler hears of it then.
  void PrepareCompiler() { FindCompiler().status().IgnoreError(); }

  // The modules that `graph`, made from `job`, uses. One of which it sets variables is loaded for it
  // alone. Blocks while they are compiled.
  // Errors: those of kernels::Compiler, of kernels/compile/image_format.h, of cuda::Module::Load.
  absl::StatusOr<UserModules> Load(const ir::Graph& graph, const ::weft::v1::Job& job);

 private:
  // One module. No lock is held while it is loaded; others who want it wait for the first.
  struct Slot {
    enum class State : uint8_t { kIdle, kLoading } state = State::kIdle;
    std::weak_ptr<const UserModule> module;
    size_t waiting = 0;  // how many want it right now
  };

  absl::StatusOr<std::shared_ptr<const UserModule>> Get(const ::weft::v1::Module& module,
                                                        const UserModule::Names& names);
  void ForgetUnused() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<std::shared_ptr<const UserModule>> Make(const ::weft::v1::Module& module,
                                                         const UserModule::Names& names);
  absl::StatusOr<const kernels::Compiler*> FindCompiler();

  const cuda::Context& context_;
  const cuda::DeviceInfo& device_;
  const MakeCompiler make_compiler_;
  absl::Mutex mutex_;
  absl::CondVar loaded_;  // a slot is idle again
  // Slots stay where they are while somebody waits for one.
  absl::flat_hash_map<std::string, std::unique_ptr<Slot>> slots_ ABSL_GUARDED_BY(mutex_);
  absl::Mutex compiler_mutex_;
  std::unique_ptr<const kernels::Compiler> compiler_ ABSL_GUARDED_BY(compiler_mutex_);
};

// The kernels of a job: built-in ones, calls of libraries, and those of its modules.
// Thread safety: one thread. References outlive it.
class JobFunctions final : public build::FunctionResolver {
 public:
  JobFunctions(build::FunctionResolver& builtin, const UserModules& modules)
      : builtin_(builtin), modules_(modules) {}

  absl::StatusOr<cuda::Function> Resolve(const std::string& symbol) override {
    return builtin_.Resolve(symbol);
  }
  absl::StatusOr<cuda::Function> ResolveUser(uint32_t module, const std::string& entry) override;
  absl::StatusOr<std::shared_ptr<const cuda::LibraryCall>> ResolveLibrary(
      const build::LibraryRequest& request) override {
    return builtin_.ResolveLibrary(request);
  }
  absl::StatusOr<cuda::GlobalVariable> ResolveVariable(uint32_t module,
                                                       const std::string& symbol) override;

 private:
  build::FunctionResolver& builtin_;
  const UserModules& modules_;
};

}  // namespace weft::executor
