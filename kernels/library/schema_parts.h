// Words in which the schemas of library calls are written, beside those of builtin/schema_parts.h.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernels/builtin/schema_parts.h"
#include "kernels/schema.h"

namespace weft::kernels {

// The choice at position `chosen` is the default.
inline ArgumentSchema Choice(std::string name, std::string doc, std::vector<std::string> choices,
                             int64_t chosen = 0) {
  ScalarSchema scalar;
  scalar.dtype = OneOf({DType::kI32});
  scalar.default_value = Default(chosen);
  scalar.choices = std::move(choices);
  return {std::move(name), std::move(doc), std::move(scalar)};
}

// An i64 from `min` to `max`.
inline ArgumentSchema BoundedInteger(std::string name, std::string doc, ScalarDefault value,
                                     int64_t min, int64_t max) {
  return {std::move(name), std::move(doc),
          ScalarSchema{OneOf({DType::kI64}), value, Number{min}, Number{max}}};
}

inline ArgumentSchema Optional(ArgumentSchema argument) {
  std::get<BufferSchema>(argument.kind).presence = BufferSchema::Presence::kOptional;
  return argument;
}

inline Factor HalfOf(uint32_t argument) { return {argument, 1, Factor::Take::kHalf}; }

// The launch of a CPU twin: it carries out the whole call by itself, in one block, where the product
// of `work` is not 0.
inline PhaseSchema TwinPhase(std::string stem, Product work) {
  LaunchShape shape;
  shape.grid[0] = {std::move(work), 1, 1};
  return {std::move(stem), "", shape};
}

// a × b + c; nullopt: it does not fit 64 bits.
inline std::optional<uint64_t> TimesPlus(std::optional<uint64_t> a, uint64_t b, uint64_t c) {
  uint64_t result = 0;
  if (!a.has_value() || __builtin_mul_overflow(*a, b, &result) ||
      __builtin_add_overflow(result, c, &result)) {
    return std::nullopt;
  }
  return result;
}

}  // namespace weft::kernels
