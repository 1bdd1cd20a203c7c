#include "graph/ir/module_reader.h"

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "graph/ir/errors.h"
#include "graph/ir/limits.h"
#include "weft/v1/job.pb.h"

namespace weft::ir {
namespace {

std::string ModuleField(uint32_t index, absl::string_view member) {
  return absl::StrCat("modules[", index, "]", member.empty() ? "" : ".", member);
}

class ModuleReader {
 public:
  ModuleReader(const cuda::DeviceInfo* device, Violations& violations)
      : device_(device), violations_(violations) {}

  void Read(uint32_t index, const v1::Module& in, Module& out) {
    index_ = index;
    out.name = in.name();
    CheckCounts(in);
    switch (in.code_case()) {
      case v1::Module::kCuda:
        out.code = Module::Code::kCuda;
        return CheckNotEmpty("cuda", in.cuda(), out);
      case v1::Module::kPtx:
        out.code = Module::Code::kPtx;
        return CheckBinary("ptx", in.ptx(), in, out);
      case v1::Module::kCubin:
        out.code = Module::Code::kCubin;
        return CheckBinary("cubin", in.cubin(), in, out);
      case v1::Module::kFatbin:
        out.code = Module::Code::kFatbin;
        return CheckBinary("fatbin", in.fatbin(), in, out);
      case v1::Module::kFile:
        return violations_.Add(ModuleFromFile(ModuleField(index_, "file"), in.name(), in.file()));
      case v1::Module::CODE_NOT_SET:
        return violations_.Add(ModuleWithoutCode(ModuleField(index_, ""), in.name()));
    }
  }

 private:
  void CheckCounts(const v1::Module& in) {
    const auto options = static_cast<uint64_t>(in.options_size());
    const auto headers = static_cast<uint64_t>(in.headers_size());
    if (options > kMaxModuleOptions) {
      violations_.Add(
          TooMany(ModuleField(index_, "options"), "options", options, kMaxModuleOptions));
    }
    if (headers > kMaxModuleHeaders) {
      violations_.Add(
          TooMany(ModuleField(index_, "headers"), "headers", headers, kMaxModuleHeaders));
    }
  }

  void CheckNotEmpty(absl::string_view member, const std::string& code, const Module& module) {
    if (code.empty()) violations_.Add(ModuleWithoutCode(ModuleField(index_, member), module.name));
  }

  void CheckBinary(absl::string_view member, const std::string& code, const v1::Module& in,
                   const Module& module) {
    CheckNotEmpty(member, code, module);
    if (in.options_size() > 0 || in.headers_size() > 0) {
      violations_.Add(ModuleNotCompiled(ModuleField(index_, ""), module.name, member));
    }
    if (device_ != nullptr && device_->is_cpu) {
      violations_.Add(ModuleNeedsGpu(ModuleField(index_, member), module.name, member));
    }
  }

  const cuda::DeviceInfo* device_;
  Violations& violations_;
  uint32_t index_ = 0;
};

}  // namespace

NameTable ReadModules(const v1::Job& job, const cuda::DeviceInfo* device, Graph& graph,
                      Violations& violations) {
  const auto count = static_cast<size_t>(job.modules_size());
  NameTable names(count);
  if (count > kMaxModules) {
    violations.Add(TooMany("modules", "modules", count, kMaxModules));
    return names;
  }
  graph.modules.resize(count);  // names are views into it from here on
  ModuleReader reader(device, violations);
  for (uint32_t i = 0; i < count; ++i) {
    Module& module = graph.modules[i];
    reader.Read(i, job.modules(static_cast<int>(i)), module);
    if (!IsGoodName(module.name)) {
      violations.Add(BadName(ModuleField(i, "name"), "module", module.name));
    }
    if (const std::optional<uint32_t> first = names.Add(module.name, i)) {
      violations.Add(RepeatedName(ModuleField(i, "name"), "module", module.name,
                                  absl::StrCat("modules[", *first, "]")));
    }
  }
  return names;
}

}  // namespace weft::ir
