// An expression as a job writes it, such as "y = a * x + sin(b)", read into steps. Every name and
// function in it is checked: a text can say nothing else than what is here.
//
//   expression := name "=" value
//   value      := number | name | "(" value ")" | "-" value | value operator value
//               | function "(" value { "," value } ")"
//   operator   := one of * / % (first), + -, < <= > >= == != (last); those of a kind from the left
//
// Thread safety: pure functions. Cost: linear in the text; no recursion.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kernels/schema.h"

namespace weft::kernels {

inline constexpr size_t kMaxExpressionBytes = 1024;
// Open parentheses and operators that wait for their right side.
inline constexpr size_t kMaxExpressionDepth = 64;

struct ExpressionFunction {
  absl::string_view name;
  uint32_t arity;  // 1 to 3
  enum class Operands : uint8_t { kAny, kFloats } operands;
};
absl::Span<const ExpressionFunction> ExpressionFunctions();

struct ExpressionStep {
  enum class Kind : uint8_t {
    kName,      // Expression::names[index]
    kNumber,    // Expression::numbers[index]
    kFunction,  // ExpressionFunctions()[index]
    kNegate,
    kMultiply,
    kDivide,
    kRemainder,
    kAdd,
    kSubtract,
    kLess,
    kLessEqual,
    kGreater,
    kGreaterEqual,
    kEqual,
    kNotEqual,
  };
  Kind kind = Kind::kName;
  uint32_t index = 0;
  std::array<uint32_t, 3> operands = {};  // earlier steps
};

struct Expression {
  std::string target;
  std::vector<std::string> names;  // on the right side, each once, in the order of their first use
  std::vector<Number> numbers;     // i64 where written without point and exponent, else double
  std::vector<ExpressionStep> steps;  // the last one is the value
};

// Errors: INVALID_ARGUMENT, with the place and what to do.
absl::StatusOr<Expression> ParseExpression(absl::string_view text);

}  // namespace weft::kernels
