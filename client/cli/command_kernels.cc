#include <memory>
#include <string>
#include <vector>

#include "base/status_macros.h"
#include "client/cli/command.h"
#include "client/cli/kernel_listing.h"
#include "client/cli/output.h"
#include "kernels/registry.h"
#include "weft/v1/service.pb.h"

namespace weft::cli {
namespace {

class KernelsCommand final : public Command {
 public:
  CommandInfo info() const override {
    return {"kernels", "List the built-in kernels and library calls, or explain one",
            "Those of this program's version; it asks no server."};
  }
  std::vector<Option> options() override {
    std::vector<std::string> names;
    for (const kernels::KernelSchema* schema : AllSchemas()) names.push_back(schema->name);
    return {
        Suggesting(OptionalArgument("name", "NAME", "Kernel or call to explain", &name_), names),
        Flag("json", "Print them as JSON", &json_),
    };
  }
  absl::StatusOr<ExitCode> Run(Environment& environment) override {
    std::vector<const kernels::KernelSchema*> chosen;
    if (name_.empty()) {
      chosen = AllSchemas();
    } else if (const auto* call = kernels::Registry::Library().Find(name_); call != nullptr) {
      chosen.push_back(call);
    } else {
      WEFT_ASSIGN_OR_RETURN(chosen.emplace_back(), kernels::Registry::Builtin().Lookup(name_));
    }
    Print(environment.out, chosen);
    return ExitCode::kOk;
  }

 private:
  // Kernels, then calls.
  static std::vector<const kernels::KernelSchema*> AllSchemas() {
    std::vector<const kernels::KernelSchema*> all;
    for (const auto* registry : {&kernels::Registry::Builtin(), &kernels::Registry::Library()}) {
      for (const kernels::KernelSchema& schema : registry->schemas()) all.push_back(&schema);
    }
    return all;
  }

  void Print(std::ostream& out, const std::vector<const kernels::KernelSchema*>& schemas) const {
    if (json_) {
      v1::ListKernelsResponse response;
      for (const kernels::KernelSchema* schema : schemas) {
        *response.add_kernels() = ToProto(*schema);
      }
      out << ToJson(response);
      return;
    }
    if (!name_.empty()) return PrintKernel(out, *schemas.front());
    Table table({{"KERNEL"}, {"WHAT IT DOES"}});
    for (const kernels::KernelSchema* schema : schemas) {
      table.AddRow({schema->name, schema->summary});
    }
    table.Print(out);
  }

  std::string name_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeKernelsCommand() { return std::make_unique<KernelsCommand>(); }

}  // namespace weft::cli
