#include "graph/ir/user_kernel_reader.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/ir/field_names.h"
#include "graph/ir/limits.h"
#include "graph/ir/texture_reader.h"
#include "kernels/scalar.h"
#include "weft/v1/job.pb.h"

namespace weft::ir {
namespace {

using kernels::DType;
using kernels::Number;
using V = v1::KernelParameter;

std::string PartOf(int parameter, absl::string_view member) {
  return absl::StrCat("user_kernel.params[", parameter, "]", member.empty() ? "" : ".", member);
}

struct TypedNumber {
  DType dtype;
  Number number;
};

// REQUIRES: a number is set, other than u64, which Number cannot hold whole.
TypedNumber NumberOf(const V& parameter) {
  switch (parameter.value_case()) {
    case V::kI8:
      return {DType::kI8, Number(int64_t{parameter.i8()})};
    case V::kU8:
      return {DType::kU8, Number(int64_t{parameter.u8()})};
    case V::kI16:
      return {DType::kI16, Number(int64_t{parameter.i16()})};
    case V::kU16:
      return {DType::kU16, Number(int64_t{parameter.u16()})};
    case V::kI32:
      return {DType::kI32, Number(int64_t{parameter.i32()})};
    case V::kU32:
      return {DType::kU32, Number(int64_t{parameter.u32()})};
    case V::kF16:
      return {DType::kF16, Number(double{parameter.f16()})};
    case V::kBf16:
      return {DType::kBF16, Number(double{parameter.bf16()})};
    case V::kF32:
      return {DType::kF32, Number(double{parameter.f32()})};
    case V::kF64:
      return {DType::kF64, Number(parameter.f64())};
    default:
      return {DType::kI64, Number(int64_t{parameter.i64()})};
  }
}

// nullopt: above the type's limits (8 and 16 bits are 32 on the wire, halves are floats).
std::optional<ScalarParameter> ScalarOf(const V& parameter) {
  if (parameter.value_case() == V::kU64) return ScalarParameter{parameter.u64(), 8};
  const TypedNumber typed = NumberOf(parameter);
  const std::optional<kernels::ScalarValue> value =
      kernels::ConvertNumber(typed.number, typed.dtype);
  if (!value.has_value()) return std::nullopt;
  return ScalarParameter{value->bits, static_cast<uint32_t>(kernels::SizeOf(typed.dtype))};
}

std::optional<Access> AccessOf(v1::Access access) {
  switch (access) {
    case v1::ACCESS_READ:
      return Access::kRead;
    case v1::ACCESS_WRITE:
      return Access::kWrite;
    case v1::ACCESS_UNSPECIFIED:
    case v1::ACCESS_READ_WRITE:
      return Access::kReadWrite;
    default:
      return std::nullopt;
  }
}

kernels::Dim3 GridOf(const v1::LaunchShape& launch) {
  return {launch.grid_x(), launch.grid_y(), launch.grid_z()};
}
kernels::Dim3 BlockOf(const v1::LaunchShape& launch) {
  return {launch.block_x(), launch.block_y(), launch.block_z()};
}

}  // namespace

bool UserKernelReader::ReadCode(const NameTable& modules, UserKernelOp& op) {
  const std::optional<uint32_t> module = modules.Find(node_.module());
  if (!module.has_value()) {
    violations_.Add(UnknownModule(place_, node_.module(),
                                  violations_.full() ? "" : modules.Nearest(node_.module())));
  } else {
    op.module = *module;
  }
  op.entry = node_.entry();
  const bool entry_good =
      !op.entry.empty() && op.entry.size() <= kMaxTextBytes && !absl::StrContains(op.entry, '\0');
  if (!entry_good) violations_.Add(BadEntry(place_, op.entry));
  return module.has_value() && entry_good;
}

bool UserKernelReader::ReadPointer(int index, const v1::KernelParameter& parameter,
                                   const ViewReader& views, UserKernelOp& op) {
  const std::string part = PartOf(index, "view");
  const std::optional<ReadView> view = views.Read({place_, part, -1, {}}, parameter.view());
  const std::optional<Access> access = AccessOf(parameter.access());
  if (!access.has_value()) {
    violations_.Add(UnknownEnumValue(place_.Field(PartOf(index, "access")), "Access",
                                     parameter.access(), ListValues(*v1::Access_descriptor())));
  }
  if (!view.has_value() || !access.has_value()) return false;
  op.parameters.emplace_back(PointerParameter{static_cast<uint32_t>(views_.size())});
  views_.push_back({view->view, *access});
  return true;
}

bool UserKernelReader::ReadTextureParameter(int index, const v1::KernelParameter& parameter,
                                            const ViewReader& views, UserKernelOp& op) {
  const std::string part = PartOf(index, "texture");
  const std::string view_part = absl::StrCat(part, ".view");
  const bool reads =
      parameter.access() == v1::ACCESS_UNSPECIFIED || parameter.access() == v1::ACCESS_READ;
  if (!reads) violations_.Add(TextureIsRead(place_, static_cast<uint32_t>(index)));
  const std::optional<ReadView> view =
      views.Read({place_, view_part, -1, {}}, parameter.texture().view());
  if (!view.has_value() || !reads) return false;
  const std::optional<Texture> texture =
      ReadTexture(place_, part, parameter.texture(), *view, violations_);
  if (!texture.has_value()) return false;
  op.parameters.emplace_back(TextureParameter{static_cast<uint32_t>(views_.size()), *texture});
  views_.push_back({view->view, Access::kRead});
  return true;
}

bool UserKernelReader::ReadParameter(int index, const v1::KernelParameter& parameter,
                                     const ViewReader& views, UserKernelOp& op) {
  if (parameter.value_case() == V::kView) return ReadPointer(index, parameter, views, op);
  if (parameter.value_case() == V::kTexture) {
    return ReadTextureParameter(index, parameter, views, op);
  }
  if (parameter.value_case() == V::VALUE_NOT_SET) {
    violations_.Add(NoParameterValue(place_, static_cast<uint32_t>(index)));
    return false;
  }
  if (parameter.access() != v1::ACCESS_UNSPECIFIED) {
    violations_.Add(AccessOfScalar(place_, static_cast<uint32_t>(index)));
    return false;
  }
  const std::optional<ScalarParameter> scalar = ScalarOf(parameter);
  if (!scalar.has_value()) {
    violations_.Add(ParameterOutOfRange(place_, static_cast<uint32_t>(index),
                                        kernels::NameOf(NumberOf(parameter).dtype)));
    return false;
  }
  op.parameters.emplace_back(*scalar);
  return true;
}

bool UserKernelReader::ReadLaunch(const kernels::LaunchLimits& limits, UserKernelOp& op) {
  if (!node_.has_launch()) {
    violations_.Add(NoLaunchShape(place_));
    return false;
  }
  op.launch = {op.entry, GridOf(node_.launch()), BlockOf(node_.launch()), node_.shared_bytes()};
  kernels::LaunchLimits opted_in = limits;
  opted_in.max_shared_bytes_per_block = limits.max_shared_bytes_per_block_optin;
  const std::vector<FieldViolation> found = kernels::CheckLaunch(op.launch, opted_in);
  for (const FieldViolation& violation : found) {
    const char* part =
        violation.field == "shared_bytes" ? "user_kernel.shared_bytes" : "user_kernel.launch";
    violations_.Add(KernelRefuses(place_, part, violation.field, violation.description));
  }
  return found.empty();
}

bool UserKernelReader::ReadCluster(const kernels::LaunchLimits& limits, UserKernelOp& op) {
  if (!node_.has_cluster()) return true;
  op.cluster = {node_.cluster().x(), node_.cluster().y(), node_.cluster().z()};
  const uint32_t most = limits.max_cluster_blocks;
  const auto within = [most](uint32_t extent) { return extent >= 1 && extent <= most; };
  const bool small = within(op.cluster.x) && within(op.cluster.y) && within(op.cluster.z) &&
                     uint64_t{op.cluster.x} * op.cluster.y * op.cluster.z <= most;
  if (!small) {
    violations_.Add(BadCluster(place_, op.cluster, most));
    return false;
  }
  const kernels::Dim3 grid = GridOf(node_.launch());
  if (grid.x % op.cluster.x != 0 || grid.y % op.cluster.y != 0 || grid.z % op.cluster.z != 0) {
    violations_.Add(ClusterDividesNot(place_, op.cluster, grid));
    return false;
  }
  return true;
}

bool UserKernelReader::ReadScheduling(const kernels::LaunchLimits& limits, UserKernelOp& op) {
  op.cooperative = node_.cooperative();
  op.priority = node_.priority();
  const bool together = !op.cooperative || limits.cooperative;
  if (!together) violations_.Add(CooperativeNeedsGpu(place_));
  const bool in_range = op.priority >= -kMaxKernelPriority && op.priority <= kMaxKernelPriority;
  if (!in_range) violations_.Add(BadPriority(place_, op.priority, kMaxKernelPriority));
  return together && in_range;
}

std::optional<UserKernelOp> UserKernelReader::Read(const NameTable& modules,
                                                   const ViewReader& views,
                                                   const kernels::LaunchLimits& limits) {
  UserKernelOp op;
  bool good = ReadCode(modules, op);
  for (int i = 0; i < node_.params_size(); ++i) {
    good = ReadParameter(i, node_.params(i), views, op) && good;
  }
  good = ReadLaunch(limits, op) && good;
  good = ReadCluster(limits, op) && good;
  good = ReadScheduling(limits, op) && good;
  if (!good) return std::nullopt;
  return op;
}

}  // namespace weft::ir
