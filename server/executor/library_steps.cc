#include "server/executor/library_steps.h"

#include "base/status_macros.h"
#include "kernels/bind.h"
#include "kernels/launch_shape.h"
#include "kernels/parameters.h"
#include "kernels/registry.h"

namespace weft::executor {

absl::Status AddTransposition(const Transposition& transposition, build::FunctionResolver& resolver,
                              std::vector<cuda::CallSequence::Step>& steps) {
  const kernels::KernelSchema* schema = kernels::Registry::Builtin().Find("transpose");
  const std::vector<uint64_t> from = {transposition.rows, transposition.columns};
  const std::vector<uint64_t> to = {transposition.columns, transposition.rows};
  const uint64_t bytes = from[0] * from[1] * kernels::SizeOf(transposition.dtype);
  const std::vector<kernels::GivenArgument> given = {
      {"src", kernels::GivenBuffer{transposition.dtype, from, bytes, 0, {}}},
      {"dst", kernels::GivenBuffer{transposition.dtype, to, bytes, 0, {}}}};
  const kernels::BindResult bound = kernels::Bind(*schema, given);
  if (!bound.ok()) return WEFT_BUG("a transposition does not bind");
  WEFT_ASSIGN_OR_RETURN(
      const kernels::ParameterPack pack,
      kernels::PackParameters(*schema, bound.call,
                              {transposition.source, transposition.destination}, 0));
  WEFT_ASSIGN_OR_RETURN(const kernels::LaunchPlan plan,
                        kernels::PlanLaunch(*schema, bound.call, {}));
  for (const kernels::PhaseLaunch& phase : plan.phases) {
    WEFT_ASSIGN_OR_RETURN(const cuda::Function function, resolver.Resolve(phase.symbol));
    steps.emplace_back(cuda::CallSequence::Kernel{function,
                                                  {phase.grid.x, phase.grid.y, phase.grid.z},
                                                  {phase.block.x, phase.block.y, phase.block.z},
                                                  phase.shared_bytes,
                                                  pack.words});
  }
  return absl::OkStatus();
}

}  // namespace weft::executor
