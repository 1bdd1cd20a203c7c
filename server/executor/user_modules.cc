#include "server/executor/user_modules.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/error_context.h"
#include "base/status_macros.h"
#include "cuda/status.h"
#include "kernels/compile/code_images.h"
#include "kernels/compile/digest.h"
#include "kernels/compile/errors.h"
#include "kernels/compile/image_format.h"
#include "server/executor/errors.h"
#include "weft/v1/job.pb.h"

namespace weft::executor {
namespace {

using Proto = ::weft::v1::Module;

using Names = UserModule::Names;

void SortUnique(std::vector<std::string>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

void AddNames(const ir::Graph& part, std::vector<Names>& names) {
  for (const ir::Node& node : part.nodes) {
    if (const auto* kernel = std::get_if<ir::UserKernelOp>(&node.op)) {
      names[kernel->module].entries.push_back(kernel->entry);
    } else if (const auto* symbol = std::get_if<ir::SymbolOp>(&node.op)) {
      names[symbol->module].variables.push_back(symbol->symbol);
    }
  }
}

// By module: what nodes name in it, those of the job's graphs too.
std::vector<Names> NamesOf(const ir::Graph& graph) {
  std::vector<Names> names(graph.modules.size());
  for (const ir::Graph& part : graph.graphs) AddNames(part, names);
  AddNames(graph, names);
  for (Names& of_one : names) {
    SortUnique(of_one.entries);
    SortUnique(of_one.variables);
  }
  return names;
}

// Which kernels are in it depends on `entries` for source alone: templates are compiled on demand.
std::string KeyOf(const Proto& module, const Names& names) {
  kernels::Digest digest;
  Proto unnamed = module;
  unnamed.clear_name();
  digest.Add(unnamed.SerializeAsString());
  for (const std::string& entry : names.entries) digest.Add(entry);
  return digest.Hex();
}

kernels::CudaSource SourceOf(const Proto& module, const Names& names) {
  kernels::CudaSource source;
  source.name = module.name();
  source.code = module.cuda();
  source.options.assign(module.options().begin(), module.options().end());
  for (const Proto::Header& header : module.headers()) {
    source.headers.push_back({header.name(), header.text()});
  }
  source.entries = names.entries;
  source.variables = names.variables;
  return source;
}

// Code that is not compiled here: checked, what is in it under its own names.
absl::StatusOr<kernels::CompiledModule> TakeImage(const Proto& module, const Names& names) {
  std::vector<std::string> symbols = names.entries;
  symbols.insert(symbols.end(), names.variables.begin(), names.variables.end());
  switch (module.code_case()) {
    case Proto::kPtx:
      WEFT_RETURN_IF_ERROR(kernels::CheckPtx(module.name(), module.ptx()));
      return kernels::CompiledModule{module.ptx(), std::move(symbols)};
    case Proto::kCubin:
      WEFT_RETURN_IF_ERROR(kernels::CheckCubin(module.name(), module.cubin()));
      return kernels::CompiledModule{module.cubin(), std::move(symbols)};
    case Proto::kFatbin:
      WEFT_RETURN_IF_ERROR(kernels::CheckFatbin(module.name(), module.fatbin()));
      return kernels::CompiledModule{module.fatbin(), std::move(symbols)};
    default:
      return WEFT_BUG("a module without code passed the checks");
  }
}

// What was made of the job's expressions, as if the job brought it.
Proto MadeOf(const ir::Module& module) {
  Proto made;
  made.set_name(module.name);
  made.set_cuda(module.made);
  made.add_options("--fmad=false");
  return made;
}

std::string ArchitectureOf(const cuda::DeviceInfo& device) {
  return absl::StrCat("sm_", device.compute_major, device.compute_minor, " (", device.name, ")");
}

// Why the driver refuses `image`, said with what the image holds where that is the reason.
absl::Status Refusal(const std::string& module, const std::string& image,
                     const cuda::DeviceInfo& device, const absl::Status& cause) {
  const std::optional<CUresult> result = cuda::ResultOf(cause);
  const bool no_image = result == CUDA_ERROR_NO_BINARY_FOR_GPU;
  const bool too_new = result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  if (!no_image && !too_new) return ModuleRefusedError(module, cause);
  const auto images = kernels::ReadImages(module, image);
  if (!images.ok()) return ModuleRefusedError(module, cause);
  const std::string held = kernels::ListArchitectures(*images);
  return no_image ? NoImageForDeviceError(module, held, ArchitectureOf(device))
                  : PtxTooNewError(module, held, device.driver_version);
}

}  // namespace

absl::StatusOr<cuda::Function> UserModule::Find(const std::string& entry) const {
  for (size_t i = 0; i < names_.entries.size(); ++i) {
    if (names_.entries[i] != entry) continue;
    absl::StatusOr<cuda::Function> function = module_.GetFunction(symbols_[i]);
    if (!absl::IsNotFound(function.status())) return function;
  }
  return kernels::UnknownEntryError(name_, entry);
}

absl::StatusOr<cuda::GlobalVariable> UserModule::FindVariable(const std::string& variable) const {
  for (size_t i = 0; i < names_.variables.size(); ++i) {
    if (names_.variables[i] != variable) continue;
    absl::StatusOr<cuda::GlobalVariable> found =
        module_.GetGlobal(symbols_[names_.entries.size() + i]);
    if (!absl::IsNotFound(found.status())) return found;
  }
  return kernels::UnknownVariableError(name_, variable);
}

absl::StatusOr<UserModules> UserModuleStore::Load(const ir::Graph& graph,
                                                  const ::weft::v1::Job& job) {
  UserModules modules(graph.modules.size());
  const std::vector<Names> names = NamesOf(graph);
  for (size_t i = 0; i < modules.size(); ++i) {
    const Proto made = MadeOf(graph.modules[i]);
    const bool is_made = !graph.modules[i].made.empty();
    const Proto& module = is_made ? made : job.modules(static_cast<int>(i));
    if (names[i].entries.empty()) {
      if (names[i].variables.empty()) continue;
      return VariableWithoutKernelError(module.name(), names[i].variables.front());
    }
    WEFT_ASSIGN_OR_RETURN(
        modules[i], names[i].variables.empty() ? Get(module, names[i]) : Make(module, names[i]));
  }
  return modules;
}

void UserModuleStore::ForgetUnused() {
  absl::erase_if(slots_, [](const auto& entry) {
    return entry.second->waiting == 0 && entry.second->module.expired();
  });
}

absl::StatusOr<std::shared_ptr<const UserModule>> UserModuleStore::Get(const Proto& module,
                                                                       const Names& names) {
  const std::string key = KeyOf(module, names);
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
  absl::StatusOr<std::shared_ptr<const UserModule>> made = Make(module, names);
  const absl::MutexLock lock(&mutex_);
  slot->state = Slot::State::kIdle;
  --slot->waiting;
  if (made.ok()) slot->module = *made;
  loaded_.SignalAll();
  return made;
}

absl::StatusOr<std::shared_ptr<const UserModule>> UserModuleStore::Make(const Proto& module,
                                                                        const Names& names) {
  kernels::CompiledModule compiled;
  if (module.code_case() == Proto::kCuda) {
    WEFT_ASSIGN_OR_RETURN(const kernels::Compiler* compiler, FindCompiler());
    WEFT_ASSIGN_OR_RETURN(compiled, compiler->Compile(SourceOf(module, names)));
  } else {
    WEFT_ASSIGN_OR_RETURN(compiled, TakeImage(module, names));
  }
  absl::StatusOr<cuda::Module> loaded = cuda::Module::Load(context_, compiled.image);
  if (!loaded.ok()) {
    return Refusal(module.name(), compiled.image, device_, loaded.status());
  }
  return std::make_shared<const UserModule>(module.name(), *std::move(loaded), names,
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

absl::StatusOr<cuda::GlobalVariable> JobFunctions::ResolveVariable(uint32_t module,
                                                                   const std::string& symbol) {
  if (module >= modules_.size() || modules_[module] == nullptr) {
    return WEFT_BUG("a node sets a variable of a module that was not loaded");
  }
  return modules_[module]->FindVariable(symbol);
}

}  // namespace weft::executor
