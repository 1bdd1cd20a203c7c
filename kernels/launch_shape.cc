#include "kernels/launch_shape.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/error_context.h"
#include "kernels/parameters.h"

namespace weft::kernels {
namespace {

constexpr absl::string_view kAxes[] = {"x", "y", "z"};

uint64_t CeilDiv(uint64_t value, uint64_t divisor) {
  return value / divisor + (value % divisor != 0 ? 1 : 0);
}

// Zero when the dimension has nothing to do.
uint32_t BlocksOf(const GridRule& rule, const BoundCall& call, uint32_t max_grid) {
  // An extent that does not fit 64 bits cannot have fitted a buffer either; stride over it.
  const uint64_t extent = Evaluate(rule.extent, call).value_or(UINT64_MAX);
  const uint64_t blocks = CeilDiv(extent, rule.per_block);
  return static_cast<uint32_t>(std::min({blocks, uint64_t{rule.max_blocks}, uint64_t{max_grid}}));
}

uint32_t SharedBytesOf(const LaunchShape& shape, const BoundCall& call) {
  if (shape.shared_unit_bytes == 0) return 0;
  const std::optional<uint64_t> units = Evaluate(shape.shared_units, call);
  const uint64_t max_units = shape.shared_max_bytes / shape.shared_unit_bytes;
  if (!units.has_value() || *units > max_units) return 0;
  return static_cast<uint32_t>(*units * shape.shared_unit_bytes);
}

class ShapeChecker {
 public:
  explicit ShapeChecker(const LaunchLimits& limits) : limits_(limits) {}

  void CheckDimensions(const char* field, const Dim3& value, const uint32_t (&max)[3]) {
    const uint32_t sizes[3] = {value.x, value.y, value.z};
    for (int axis = 0; axis < 3; ++axis) {
      if (sizes[axis] == 0) {
        Violate(field, absl::StrCat(kAxes[axis], " is 0; every dimension is at least 1"));
      } else if (sizes[axis] > max[axis]) {
        Violate(field, absl::StrCat(kAxes[axis], " is ", sizes[axis],
                                    ", above the device's limit of ", max[axis]));
      }
    }
  }

  void CheckPhase(const PhaseLaunch& phase) {
    CheckDimensions("grid", phase.grid, limits_.max_grid);
    CheckDimensions("block", phase.block, limits_.max_block);
    const uint64_t threads = uint64_t{phase.block.x} * phase.block.y * phase.block.z;
    if (threads > limits_.max_threads_per_block) {
      Violate("block", absl::StrCat(phase.block.x, " x ", phase.block.y, " x ", phase.block.z,
                                    " = ", threads, " threads, above the device's limit of ",
                                    limits_.max_threads_per_block));
    }
    if (phase.shared_bytes > limits_.max_shared_bytes_per_block) {
      Violate("shared_bytes", absl::StrCat(phase.shared_bytes, ", above the device's limit of ",
                                           limits_.max_shared_bytes_per_block));
    }
  }

  std::vector<FieldViolation> Take() { return std::move(violations_); }

 protected:
  void Violate(const char* field, std::string text) {
    violations_.push_back({field, std::move(text)});
  }

  const LaunchLimits& limits_;

 private:
  std::vector<FieldViolation> violations_;
};

class LaunchChecker : public ShapeChecker {
 public:
  LaunchChecker(const KernelSchema& schema, const LaunchLimits& limits)
      : ShapeChecker(limits), schema_(schema) {}

  void CheckOverride(const LaunchOverride& chosen) {
    if (!chosen.grid.has_value() && !chosen.block.has_value()) return;
    const char* field = chosen.grid.has_value() ? "grid" : "block";
    if (schema_.phases.size() != 1) {
      Violate(field, absl::StrCat("kernel ", schema_.name, " is ", schema_.phases.size(),
                                  " launches and takes no launch shape; leave it out"));
      return;
    }
    const LaunchShape& shape = schema_.phases[0].shape;
    const Dim3 own{shape.block[0], shape.block[1], shape.block[2]};
    const bool other_block = chosen.block.has_value() && *chosen.block != own;
    if (other_block && shape.block_rule == LaunchShape::Block::kFixed) {
      Violate("block", absl::StrCat("kernel ", schema_.name, " runs only with blocks of ", own.x,
                                    " x ", own.y, " x ", own.z, "; leave the block out"));
    }
  }

  void CheckParameters(const BoundCall& call) {
    const std::vector<ParameterSlot> slots = ParameterLayout(schema_, call);
    const uint32_t bytes = slots.empty() ? 0 : slots.back().offset + slots.back().size;
    if (bytes > limits_.max_parameter_bytes) {
      Violate("parameters", absl::StrCat(bytes, " bytes, above the device's limit of ",
                                         limits_.max_parameter_bytes));
    }
  }

 private:
  const KernelSchema& schema_;
};

PhaseLaunch ShapePhase(const KernelSchema& schema, const PhaseSchema& phase, const BoundCall& call,
                       const LaunchLimits& limits) {
  const LaunchShape& shape = phase.shape;
  PhaseLaunch launch;
  launch.symbol = SymbolOf(schema, phase, call.arguments);
  launch.grid = {BlocksOf(shape.grid[0], call, limits.max_grid[0]),
                 BlocksOf(shape.grid[1], call, limits.max_grid[1]),
                 BlocksOf(shape.grid[2], call, limits.max_grid[2])};
  launch.block = {shape.block[0], shape.block[1], shape.block[2]};
  launch.shared_bytes = SharedBytesOf(shape, call);
  return launch;
}

}  // namespace

absl::StatusOr<LaunchPlan> PlanLaunch(const KernelSchema& schema, const BoundCall& call,
                                      const LaunchLimits& limits, const LaunchOverride& chosen) {
  LaunchChecker checker(schema, limits);
  checker.CheckOverride(chosen);
  checker.CheckParameters(call);
  LaunchPlan plan;
  plan.workspace_bytes = call.workspace_bytes;
  for (const PhaseSchema& phase : schema.phases) {
    PhaseLaunch launch = ShapePhase(schema, phase, call, limits);
    const bool idle = launch.grid.x == 0 || launch.grid.y == 0 || launch.grid.z == 0;
    // An idle phase is not launched, but a chosen shape is checked all the same.
    if (idle) launch.grid = Dim3{};
    if (chosen.grid.has_value()) launch.grid = *chosen.grid;
    if (chosen.block.has_value()) launch.block = *chosen.block;
    checker.CheckPhase(launch);
    if (!idle) plan.phases.push_back(std::move(launch));
  }
  std::vector<FieldViolation> violations = checker.Take();
  if (!violations.empty()) return InvalidArgumentError(std::move(violations));
  return plan;
}

std::vector<FieldViolation> CheckLaunch(const PhaseLaunch& launch, const LaunchLimits& limits) {
  ShapeChecker checker(limits);
  checker.CheckPhase(launch);
  return checker.Take();
}

std::string SymbolOf(const KernelSchema& schema, const PhaseSchema& phase,
                     absl::Span<const BoundArgument> arguments) {
  std::string symbol = absl::StrCat("weft_", phase.stem);
  for (const uint32_t key : schema.key.arguments) {
    const DType dtype = arguments[key].dtype;
    if (schema.key.kind == SymbolKey::Kind::kWidth) {
      absl::StrAppend(&symbol, "_b", 8 * SizeOf(dtype));
    } else {
      absl::StrAppend(&symbol, "_", NameOf(dtype));
    }
  }
  if (!phase.suffix.empty()) absl::StrAppend(&symbol, "_", phase.suffix);
  return symbol;
}

std::vector<std::string> AllSymbols(const KernelSchema& schema) {
  std::vector<std::vector<BoundArgument>> choices(
      1, std::vector<BoundArgument>(schema.arguments.size()));
  for (const uint32_t key : schema.key.arguments) {
    std::vector<std::vector<BoundArgument>> longer;
    for (const std::vector<BoundArgument>& choice : choices) {
      for (const DType dtype : schema.arguments[key].buffer()->dtype.allowed) {
        longer.push_back(choice);
        longer.back()[key].dtype = dtype;
      }
    }
    choices = std::move(longer);
  }
  std::vector<std::string> symbols;
  for (const std::vector<BoundArgument>& choice : choices) {
    for (const PhaseSchema& phase : schema.phases) {
      symbols.push_back(SymbolOf(schema, phase, choice));
    }
  }
  std::sort(symbols.begin(), symbols.end());
  symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
  return symbols;
}

}  // namespace weft::kernels
