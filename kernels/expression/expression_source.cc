#include "kernels/expression/expression_source.h"

#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "base/status_macros.h"
#include "kernels/scalar.h"

namespace weft::kernels {
namespace {

using Kind = ExpressionStep::Kind;

// In CUDA C++; empty: expressions do not take it.
absl::string_view CudaTypeOf(DType dtype) {
  switch (dtype) {
    case DType::kF16:
    case DType::kBF16:
      return "";
    case DType::kF32:
      return "float";
    case DType::kF64:
      return "double";
    case DType::kI8:
      return "signed char";
    case DType::kU8:
      return "unsigned char";
    case DType::kI16:
      return "short";
    case DType::kU16:
      return "unsigned short";
    case DType::kI32:
      return "int";
    case DType::kU32:
      return "unsigned int";
    case DType::kI64:
      return "long long";
    case DType::kU64:
      return "unsigned long long";
  }
  return "";
}

absl::Status CheckType(absl::string_view name, DType dtype, DType compute) {
  if (CudaTypeOf(dtype).empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, " is ", NameOf(dtype),
        ", which expressions do not take; cast it to f32 first (built-in kernel cast)"));
  }
  if (IsFloat(dtype) && !IsFloat(compute)) {
    return absl::InvalidArgumentError(absl::StrCat(name, " is ", NameOf(dtype),
                                                   ", and integers are written; write floats, and ",
                                                   "cast them afterwards (built-in kernel cast)"));
  }
  return absl::OkStatus();
}

// What a step computes, with $a, $b and $c for its operands, $T for the compute type, $U for the
// unsigned integer of its size and $f for the suffix of C's functions.
absl::string_view FloatTemplate(Kind kind) {
  switch (kind) {
    case Kind::kNegate:
      return "-$a";
    case Kind::kMultiply:
      return "$a * $b";
    case Kind::kDivide:
      return "$a / $b";
    case Kind::kRemainder:
      return "fmod$f($a, $b)";
    case Kind::kAdd:
      return "$a + $b";
    default:
      return "$a - $b";
  }
}
absl::string_view IntegerTemplate(Kind kind, bool is_signed) {
  switch (kind) {
    case Kind::kNegate:
      return "($T)(($U)0 - ($U)$a)";
    case Kind::kMultiply:
      return "($T)(($U)$a * ($U)$b)";
    case Kind::kDivide:  // by -1: as a negation, which wraps
      return is_signed ? "$b == 0 ? ($T)0 : $b == ($T)-1 ? ($T)(($U)0 - ($U)$a) : $a / $b"
                       : "$b == 0 ? ($T)0 : $a / $b";
    case Kind::kRemainder:
      return is_signed ? "$b == 0 || $b == ($T)-1 ? ($T)0 : $a % $b" : "$b == 0 ? ($T)0 : $a % $b";
    case Kind::kAdd:
      return "($T)(($U)$a + ($U)$b)";
    default:
      return "($T)(($U)$a - ($U)$b)";
  }
}
absl::string_view ComparisonTemplate(Kind kind) {
  switch (kind) {
    case Kind::kLess:
      return "($T)($a < $b)";
    case Kind::kLessEqual:
      return "($T)($a <= $b)";
    case Kind::kGreater:
      return "($T)($a > $b)";
    case Kind::kGreaterEqual:
      return "($T)($a >= $b)";
    case Kind::kEqual:
      return "($T)($a == $b)";
    default:
      return "($T)($a != $b)";
  }
}
// NaN where an operand is NaN, as in the built-in kernels; comparisons of integers with themselves go.
std::string CallTemplate(const ExpressionFunction& function, DType compute) {
  if (function.name == "where") return "$a != ($T)0 ? $b : $c";
  if (function.name == "min") return "$a != $a ? $a : $b != $b ? $b : $b < $a ? $b : $a";
  if (function.name == "max") return "$a != $a ? $a : $b != $b ? $b : $a < $b ? $b : $a";
  if (function.name == "clamp") return "$a < $b ? ($c < $b ? $c : $b) : $c < $a ? $c : $a";
  if (function.name == "abs") {
    if (IsFloat(compute)) return "fabs$f($a)";
    return IsSigned(compute) ? "$a < 0 ? ($T)(($U)0 - ($U)$a) : $a" : "$a";
  }
  const absl::string_view operands[] = {"$a", "$a, $b", "$a, $b, $c"};
  return absl::StrCat(function.name, "$f(", operands[function.arity - 1], ")");
}

class SourceWriter {
 public:
  SourceWriter(const Expression& expression, DType target,
               const std::vector<ExpressionOperand>& operands)
      : expression_(expression),
        target_(target),
        compute_(ComputeType(target)),
        operands_(operands) {}

  absl::StatusOr<std::string> Write() {
    WEFT_RETURN_IF_ERROR(CheckType(expression_.target, target_, compute_));
    WEFT_RETURN_IF_ERROR(WriteParameters());
    for (uint32_t i = 0; i < expression_.steps.size(); ++i) {
      WEFT_ASSIGN_OR_RETURN(const std::string value, ValueOf(expression_.steps[i]));
      absl::StrAppend(&text_, "    const ", CudaTypeOf(compute_), " t", i, " = ", value, ";\n");
    }
    absl::StrAppend(&text_, "    y[i] = (", CudaTypeOf(target_), ")t", expression_.steps.size() - 1,
                    ";\n  }\n}\n");
    return std::move(text_);
  }

 private:
  absl::Status WriteParameters() {
    text_ = absl::StrCat("(", CudaTypeOf(target_), "* y");
    for (size_t i = 0; i < operands_.size(); ++i) {
      const ExpressionOperand& operand = operands_[i];
      if (operand.kind == ExpressionOperand::Kind::kScalar) {
        absl::StrAppend(&text_, ", ", CudaTypeOf(compute_), " x", i);
        continue;
      }
      WEFT_RETURN_IF_ERROR(CheckType(expression_.names[i], operand.dtype, compute_));
      absl::StrAppend(&text_, ", const ", CudaTypeOf(operand.dtype), "* x", i);
    }
    absl::StrAppend(&text_,
                    ", long long n) {\n"
                    "  const long long step = (long long)gridDim.x * blockDim.x;\n"
                    "  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; "
                    "i += step) {\n");
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> ValueOf(const ExpressionStep& step) {
    switch (step.kind) {
      case Kind::kName:
        return NameValue(step.index);
      case Kind::kNumber:
        return NumberValue(expression_.numbers[step.index]);
      case Kind::kFunction:
        return CallValue(step);
      case Kind::kNegate:
      case Kind::kMultiply:
      case Kind::kDivide:
      case Kind::kRemainder:
      case Kind::kAdd:
      case Kind::kSubtract:
        return Filled(IsFloat(compute_) ? FloatTemplate(step.kind)
                                        : IntegerTemplate(step.kind, IsSigned(compute_)),
                      step);
      default:
        return Filled(ComparisonTemplate(step.kind), step);
    }
  }

  std::string NameValue(uint32_t index) const {
    switch (operands_[index].kind) {
      case ExpressionOperand::Kind::kScalar:
        return absl::StrCat("x", index);
      case ExpressionOperand::Kind::kOneElement:
        return absl::StrCat("(", CudaTypeOf(compute_), ")x", index, "[0]");
      case ExpressionOperand::Kind::kElements:
        break;
    }
    return absl::StrCat("(", CudaTypeOf(compute_), ")x", index, "[i]");
  }

  absl::StatusOr<std::string> NumberValue(const Number& number) const {
    const std::optional<ScalarValue> value = ConvertNumber(number, compute_);
    const double real = value.has_value() ? value->AsDouble() : 0;
    if (!value.has_value() || real - real != 0) {
      return absl::InvalidArgumentError(absl::StrCat(Describe(number), " is not a value of type ",
                                                     NameOf(compute_),
                                                     ", that of what is written"));
    }
    // Numbers have no sign; the exponent makes it a floating-point one.
    if (IsFloat(compute_)) {
      return compute_ == DType::kF32 ? absl::StrFormat("%.9ef", real)
                                     : absl::StrFormat("%.17e", real);
    }
    return absl::StrCat("(", CudaTypeOf(compute_), ")", value->bits, "ULL");
  }

  absl::StatusOr<std::string> CallValue(const ExpressionStep& step) const {
    const ExpressionFunction& function = ExpressionFunctions()[step.index];
    if (function.operands == ExpressionFunction::Operands::kFloats && !IsFloat(compute_)) {
      return absl::InvalidArgumentError(absl::StrCat(
          function.name, " is a function of floats, and ", expression_.target, " is ",
          NameOf(target_), "; write floats, and cast them afterwards (built-in kernel cast)"));
    }
    return Filled(CallTemplate(function, compute_), step);
  }

  std::string Filled(absl::string_view text, const ExpressionStep& step) const {
    const auto operand = [&step](size_t i) { return absl::StrCat("t", step.operands[i]); };
    return absl::StrReplaceAll(
        text, {{"$a", operand(0)},
               {"$b", operand(1)},
               {"$c", operand(2)},
               {"$f", compute_ == DType::kF32 ? "f" : ""},
               {"$T", CudaTypeOf(compute_)},
               {"$U", SizeOf(compute_) == 8 ? "unsigned long long" : "unsigned int"}});
  }

  const Expression& expression_;
  const DType target_;
  const DType compute_;
  const std::vector<ExpressionOperand>& operands_;
  std::string text_;
};

}  // namespace

absl::StatusOr<std::string> ExpressionSource(const Expression& expression, DType target,
                                             const std::vector<ExpressionOperand>& operands) {
  return SourceWriter(expression, target, operands).Write();
}

}  // namespace weft::kernels
