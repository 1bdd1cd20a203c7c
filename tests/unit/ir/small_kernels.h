// Kernels for tests of graph/ and a device to plan for: a few shapes of argument lists, independent of
// the built-in kernels and of how they are tuned.
//
//   produce(dst)             writes dst
//   map(src, dst)            reads src, writes dst; may be in place
//   update(x)                reads and writes x
//   zip(a, b, dst)           reads a and b, writes dst
//   total(src, dst)          reads src, writes one element; two launches with a workspace between
//   scale(x, factor, power)  updates x; factor is required and at least 0, power is 1 by default
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/registry.h"
#include "kernels/schema.h"

namespace weft::testing {

namespace small_kernels {

using kernels::Access;
using kernels::ArgumentSchema;
using kernels::BufferSchema;
using kernels::DType;
using kernels::DTypeRule;
using kernels::Factor;
using kernels::KernelSchema;
using kernels::ScalarDefault;
using kernels::ScalarSchema;

inline Factor Value(uint32_t argument) { return {argument, 1}; }

// A buffer of n elements, n being scalar argument `count`. The first of a kernel chooses the type.
inline ArgumentSchema Buffer(std::string name, Access access, uint32_t index, uint32_t count) {
  BufferSchema buffer;
  buffer.access = access;
  if (index == 0) {
    buffer.dtype.allowed = {DType::kF32, DType::kF64, DType::kI32, DType::kU8};
  } else {
    buffer.dtype.kind = DTypeRule::Kind::kSameAs;
    buffer.dtype.argument = 0;
  }
  buffer.shape = {Value(count)};
  return {std::move(name), "a test buffer", buffer};
}

inline ArgumentSchema Count(uint32_t of) {
  ScalarSchema scalar;
  scalar.dtype.allowed = {DType::kU64};
  scalar.default_value.kind = ScalarDefault::Kind::kElementCount;
  scalar.default_value.argument = of;
  return {"n", "elements", scalar};
}

inline kernels::PhaseSchema Phase(const std::string& stem, uint32_t count) {
  kernels::PhaseSchema phase;
  phase.stem = stem;
  phase.shape.grid[0] = {{Value(count)}, 256, 1024};
  phase.shape.grid[1] = {{}, 1, 1};
  phase.shape.grid[2] = {{}, 1, 1};
  phase.shape.block[0] = 256;
  phase.shape.block_rule = kernels::LaunchShape::Block::kAny;
  return phase;
}

inline KernelSchema Kernel(std::string name, std::vector<ArgumentSchema> arguments,
                           uint32_t count) {
  KernelSchema schema;
  schema.name = std::move(name);
  schema.arguments = std::move(arguments);
  schema.key.arguments = {0};
  schema.phases = {Phase(schema.name, count)};
  return schema;
}

inline KernelSchema Map() {
  KernelSchema map = Kernel(
      "map", {Buffer("src", Access::kRead, 0, 2), Buffer("dst", Access::kWrite, 1, 2), Count(0)},
      2);
  std::get<BufferSchema>(map.arguments[1].kind).in_place_with = {0};
  return map;
}

inline KernelSchema Total() {
  KernelSchema total = Kernel(
      "total", {Buffer("src", Access::kRead, 0, 2), Buffer("dst", Access::kWrite, 1, 2), Count(0)},
      2);
  std::get<BufferSchema>(total.arguments[1].kind).shape = {};
  total.phases.push_back(Phase("total_blocks", 2));
  total.workspace = {{Value(2)}, 256, 1024, 8};
  return total;
}

inline KernelSchema Scale() {
  ScalarSchema factor;
  factor.dtype.allowed = {DType::kF64};
  factor.min = kernels::Number(0.0);
  ScalarSchema power;
  power.dtype.allowed = {DType::kI32};
  power.default_value.kind = ScalarDefault::Kind::kConstant;
  power.default_value.constant = int64_t{1};
  return Kernel("scale",
                {Buffer("x", Access::kReadWrite, 0, 3),
                 {"factor", "what to multiply by", factor},
                 {"power", "how often", power},
                 Count(0)},
                3);
}

}  // namespace small_kernels

inline const kernels::Registry& SmallKernels() {
  using kernels::Access;
  using small_kernels::Buffer;
  using small_kernels::Count;
  using small_kernels::Kernel;
  static const kernels::Registry& registry = *new kernels::Registry(
      {Kernel("produce", {Buffer("dst", Access::kWrite, 0, 1), Count(0)}, 1), small_kernels::Map(),
       Kernel("update", {Buffer("x", Access::kReadWrite, 0, 1), Count(0)}, 1),
       Kernel("zip",
              {Buffer("a", Access::kRead, 0, 3), Buffer("b", Access::kRead, 1, 3),
               Buffer("dst", Access::kWrite, 2, 3), Count(0)},
              3),
       small_kernels::Total(), small_kernels::Scale()});
  return registry;
}

}  // namespace weft::testing
