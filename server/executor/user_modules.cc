#include "server/executor/user_modules.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/error_context.h"
#include "base/status_macros.h"
#include "kernels/compile/digest.h"
#include "kernels/compile/errors.h"
#include "kernels/compile/image_format.h"
#include "server/executor/errors.h"
#include "weft/v1/job.pb.h"

namespace weft::executor {
namespace {

using Proto = ::weft::v1::Module;

// By module: the kernels that nodes launch; sorted, unique.
std::vector<std::vector<std::string>> EntriesOf(const ir::Graph& graph) {
  std::vector<std::vector<std::string>> entries(graph.modules.size());
  const auto add = [&entries](const ir::Graph& part) {
    for (const ir::Node& node : part.nodes) {
      const auto* op = std::get_if<ir::UserKernelOp>(&node.op);
      if (op != nullptr) entries[op->module].push_back(op->entry);
    }
  };
  for (const ir::Graph& part : graph.graphs) add(part);
  add(graph);
  for (std::vector<std::string>& list : entries) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return entries;
}

// Which kernels are in it depends on `entries` for source alone: templates are compiled on demand.
std::string KeyOf(const Proto& module, const std::vector<std::string>& entries) {
  kernels::Digest digest;
  Proto unnamed = module;
  unnamed.clear_name();
  digest.Add(unnamed.SerializeAsString());
  for (const std::string& entry : entries) digest.Add(entry);
  return digest.Hex();
}

kernels::CudaSource SourceOf(const Proto& module, const std::vector<std::string>& entries) {
  kernels::CudaSource source;
  source.name = module.name();
  source.code = module.cuda();
  source.options.assign(module.options().begin(), module.options().end());
  for (const Proto::Header& header : module.headers()) {
    source.headers.push_back({header.name(), header.text()});
  }
  source.entries = entries;
  return source;
}

// Code that is not compiled here: checked, its kernels under their own names.
absl::StatusOr<kernels::CompiledModule> TakeImage(const Proto& module,
                                                  const std::vector<std::string>& entries) {
  switch (module.code_case()) {
    case Proto::kPtx:
      WEFT_RETURN_IF_ERROR(kernels::CheckPtx(module.name(), module.ptx()));
      return kernels::CompiledModule{module.ptx(), entries};
    case Proto::kCubin:
      WEFT_RETURN_IF_ERROR(kernels::CheckCubin(module.name(), module.cubin()));
      return kernels::CompiledModule{module.cubin(), entries};
    case Proto::kFatbin:
      WEFT_RETURN_IF_ERROR(kernels::CheckFatbin(module.name(), module.fatbin()));
      return kernels::CompiledModule{module.fatbin(), entries};
    default:
      return WEFT_BUG("a module without code passed the checks");
  }
}

}  // namespace

absl::StatusOr<cuda::Function> UserModule::Find(const std::string& entry) const {
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i] != entry) continue;
    absl::StatusOr<cuda::Function> function = module_.GetFunction(symbols_[i]);
    if (!absl::IsNotFound(function.status())) return function;
  }
  return kernels::UnknownEntryError(name_, entry);
}

absl::StatusOr<UserModules> UserModuleStore::Load(const ir::Graph& graph,
                                                  const ::weft::v1::Job& job) {
  UserModules modules(graph.modules.size());
  const std::vector<std::vector<std::string>> entries = EntriesOf(graph);
  for (size_t i = 0; i < modules.size(); ++i) {
    if (entries[i].empty()) continue;
    WEFT_ASSIGN_OR_RETURN(modules[i], Get(job.modules(static_cast<int>(i)), entries[i]));
  }
  return modules;
}

void UserModuleStore::ForgetUnused() {
  absl::erase_if(slots_, [](const auto& entry) {
    return entry.second->waiting == 0 && entry.second->module.expired();
  });
}

absl::StatusOr<std::shared_ptr<const UserModule>> UserModuleStore::Get(
    const Proto& module, const std::vector<std::string>& entries) {
  const std::string key = KeyOf(module, entries);
  Slot* slot = nullptr;
  {
    const absl::MutexLock lock(&mutex_);
    ForgetUnused();
    std::unique_ptr<Slot>& known = slots_[key];
    if (known == nullptr) known = std::make_unique<Slot>();
    slot = known.get();
    ++slot->waiting;
    while (slot->state == Slot::State::kLoading) loaded_.Wait(&mutex_);
    if (std::shared_ptr<const UserModule> loaded = slot->module.lock()) {
      --slot->waiting;
      return loaded;
    }
    slot->state = Slot::State::kLoading;
  }
  absl::StatusOr<std::shared_ptr<const UserModule>> made = Make(module, entries);
  const absl::MutexLock lock(&mutex_);
  slot->state = Slot::State::kIdle;
  --slot->waiting;
  if (made.ok()) slot->module = *made;
  loaded_.SignalAll();
  return made;
}

absl::StatusOr<std::shared_ptr<const UserModule>> UserModuleStore::Make(
    const Proto& module, const std::vector<std::string>& entries) {
  kernels::CompiledModule compiled;
  if (module.code_case() == Proto::kCuda) {
    WEFT_ASSIGN_OR_RETURN(const kernels::Compiler* compiler, FindCompiler());
    WEFT_ASSIGN_OR_RETURN(compiled, compiler->Compile(SourceOf(module, entries)));
  } else {
    WEFT_ASSIGN_OR_RETURN(compiled, TakeImage(module, entries));
  }
  absl::StatusOr<cuda::Module> loaded = cuda::Module::Load(context_, compiled.image);
  if (!loaded.ok()) return ModuleRefusedError(module.name(), loaded.status());
  return std::make_shared<const UserModule>(module.name(), *std::move(loaded), entries,
                                            std::move(compiled.symbols));
}

absl::StatusOr<const kernels::Compiler*> UserModuleStore::FindCompiler() {
  const absl::MutexLock lock(&compiler_mutex_);
  if (compiler_ == nullptr) {
    WEFT_ASSIGN_OR_RETURN(compiler_, make_compiler_());
  }
  return compiler_.get();
}

absl::StatusOr<cuda::Function> JobFunctions::ResolveUser(uint32_t module,
                                                         const std::string& entry) {
  if (module >= modules_.size() || modules_[module] == nullptr) {
    return WEFT_BUG("a node launches a kernel of a module that was not loaded");
  }
  return modules_[module]->Find(entry);
}

}  // namespace weft::executor
