#include "kernels/expression/expression.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "kernels/nearest_name.h"

namespace weft::kernels {
namespace {

using Step = ExpressionStep;
using Kind = ExpressionStep::Kind;
using Operands = ExpressionFunction::Operands;

constexpr ExpressionFunction kFunctions[] = {
    {"abs", 1, Operands::kAny},      {"min", 2, Operands::kAny},
    {"max", 2, Operands::kAny},      {"clamp", 3, Operands::kAny},
    {"where", 3, Operands::kAny},    {"sqrt", 1, Operands::kFloats},
    {"exp", 1, Operands::kFloats},   {"exp2", 1, Operands::kFloats},
    {"expm1", 1, Operands::kFloats}, {"log", 1, Operands::kFloats},
    {"log2", 1, Operands::kFloats},  {"log10", 1, Operands::kFloats},
    {"log1p", 1, Operands::kFloats}, {"sin", 1, Operands::kFloats},
    {"cos", 1, Operands::kFloats},   {"tan", 1, Operands::kFloats},
    {"asin", 1, Operands::kFloats},  {"acos", 1, Operands::kFloats},
    {"atan", 1, Operands::kFloats},  {"atan2", 2, Operands::kFloats},
    {"sinh", 1, Operands::kFloats},  {"cosh", 1, Operands::kFloats},
    {"tanh", 1, Operands::kFloats},  {"erf", 1, Operands::kFloats},
    {"pow", 2, Operands::kFloats},   {"hypot", 2, Operands::kFloats},
    {"fma", 3, Operands::kFloats},   {"floor", 1, Operands::kFloats},
    {"ceil", 1, Operands::kFloats},  {"trunc", 1, Operands::kFloats},
    {"round", 1, Operands::kFloats},
};

struct BinaryOperator {
  absl::string_view text;  // longer ones first
  Kind kind;
  uint32_t precedence;
};
constexpr BinaryOperator kOperators[] = {
    {"<=", Kind::kLessEqual, 1}, {">=", Kind::kGreaterEqual, 1}, {"==", Kind::kEqual, 1},
    {"!=", Kind::kNotEqual, 1},  {"<", Kind::kLess, 1},          {">", Kind::kGreater, 1},
    {"+", Kind::kAdd, 2},        {"-", Kind::kSubtract, 2},      {"*", Kind::kMultiply, 3},
    {"/", Kind::kDivide, 3},     {"%", Kind::kRemainder, 3},
};
constexpr uint32_t kNegatePrecedence = 4;

bool StartsName(char c) { return absl::ascii_isalpha(c) || c == '_'; }
bool ContinuesName(char c) { return absl::ascii_isalnum(c) || c == '_'; }

// What waits on the stack for its right side, or its closing parenthesis.
struct Waiting {
  uint32_t precedence = 0;  // 0: an open parenthesis
  Kind kind = Kind::kNegate;
  std::optional<uint32_t> function;  // of a parenthesis
  uint32_t arguments = 1;
  size_t place = 0;
};

class Parser {
 public:
  explicit Parser(absl::string_view text) : text_(text) {}

  absl::StatusOr<Expression> Run() {
    WEFT_RETURN_IF_ERROR(ReadTarget());
    while (true) {
      SkipSpace();
      if (waiting_.size() > kMaxExpressionDepth) {
        return Fault("it is nested deeper than ", kMaxExpressionDepth,
                     " levels; take it apart into several nodes");
      }
      if (at_ == text_.size()) break;
      WEFT_RETURN_IF_ERROR(wants_operand_ ? ReadOperand() : ReadOperator());
    }
    if (wants_operand_) return Fault("it ends where a value is wanted");
    ReduceTo(1);
    if (!waiting_.empty()) {
      at_ = waiting_.back().place;
      return Fault("this parenthesis is not closed");
    }
    return std::move(expression_);
  }

 private:
  template <typename... Parts>
  absl::Status Fault(const Parts&... parts) const {
    return absl::InvalidArgumentError(absl::StrCat("at character ", at_ + 1, ": ", parts...));
  }
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void SkipSpace() {
    while (at_ < text_.size() && absl::ascii_isspace(text_[at_])) ++at_;
  }
  absl::string_view TakeName() {
    const size_t begin = at_;
    while (at_ < text_.size() && ContinuesName(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  absl::Status ReadTarget() {
    SkipSpace();
    if (!StartsName(Peek())) return Fault("give the name of what is written, as in \"y = x + 1\"");
    expression_.target = std::string(TakeName());
    SkipSpace();
    if (Peek() != '=' || text_.substr(at_, 2) == "==") return Fault("\"=\" is missing");
    ++at_;
    return absl::OkStatus();
  }

  void Push(Kind kind, uint32_t index, uint32_t operand_count) {
    Step step = {kind, index, {}};
    for (uint32_t i = operand_count; i-- > 0;) {
      step.operands[i] = values_.back();
      values_.pop_back();
    }
    expression_.steps.push_back(step);
    values_.push_back(static_cast<uint32_t>(expression_.steps.size() - 1));
  }

  // Carries out what waits with at least this precedence, down to an open parenthesis.
  void ReduceTo(uint32_t precedence) {
    while (!waiting_.empty() && waiting_.back().precedence >= precedence) {
      const Kind kind = waiting_.back().kind;
      waiting_.pop_back();
      Push(kind, 0, kind == Kind::kNegate ? 1 : 2);
    }
  }

  absl::Status ReadOperand() {
    const char c = Peek();
    if (absl::ascii_isdigit(c) || c == '.') return ReadNumber();
    if (StartsName(c)) return ReadNameOrCall();
    if (c == '(') {
      waiting_.push_back({0, Kind::kNegate, std::nullopt, 1, at_++});
      return absl::OkStatus();
    }
    if (c == '-') {
      waiting_.push_back({kNegatePrecedence, Kind::kNegate, std::nullopt, 1, at_++});
      return absl::OkStatus();
    }
    return Fault("a value is wanted: a number, a name, a function or \"(\"");
  }

  absl::Status ReadNumber() {
    const size_t begin = at_;
    const auto skip_digits = [this] {
      const size_t first = at_;
      while (absl::ascii_isdigit(Peek())) ++at_;
      return at_ - first;
    };
    size_t digits = skip_digits();
    bool is_integer = true;
    if (Peek() == '.') {
      is_integer = false;
      ++at_;
      digits += skip_digits();
    }
    bool good = digits > 0;
    if (Peek() == 'e' || Peek() == 'E') {
      is_integer = false;
      ++at_;
      if (Peek() == '+' || Peek() == '-') ++at_;
      good = skip_digits() > 0 && good;
    }
    const absl::string_view number = text_.substr(begin, at_ - begin);
    int64_t integer = 0;
    double real = 0;
    if (is_integer) {
      good = absl::SimpleAtoi(number, &integer);
    } else {
      good = good && absl::SimpleAtod(number, &real) && std::isfinite(real);
    }
    if (!good || ContinuesName(Peek()) || Peek() == '.') {
      at_ = begin;
      return Fault("this is no number; write it as 12, 1.5 or 2e-3, within 64 bits");
    }
    expression_.numbers.push_back(is_integer ? Number(integer) : Number(real));
    Push(Kind::kNumber, static_cast<uint32_t>(expression_.numbers.size() - 1), 0);
    wants_operand_ = false;
    return absl::OkStatus();
  }

  absl::Status ReadNameOrCall() {
    const size_t begin = at_;
    const absl::string_view name = TakeName();
    SkipSpace();
    if (Peek() == '(') return OpenCall(name, begin);
    std::vector<std::string>& names = expression_.names;
    const auto found = std::find(names.begin(), names.end(), name);
    const auto index = static_cast<uint32_t>(found - names.begin());
    if (found == names.end()) names.emplace_back(name);
    Push(Kind::kName, index, 0);
    wants_operand_ = false;
    return absl::OkStatus();
  }

  absl::Status OpenCall(absl::string_view name, size_t begin) {
    const ExpressionFunction* const found =
        std::find_if(std::begin(kFunctions), std::end(kFunctions),
                     [name](const ExpressionFunction& function) { return function.name == name; });
    if (found == std::end(kFunctions)) {
      std::vector<absl::string_view> names;
      for (const ExpressionFunction& function : kFunctions) names.push_back(function.name);
      at_ = begin;
      return Fault("there is no function ", name, ".", DidYouMean(NearestName(name, names)));
    }
    waiting_.push_back({0, Kind::kNegate, static_cast<uint32_t>(found - kFunctions), 1, begin});
    ++at_;
    return absl::OkStatus();
  }

  absl::Status ReadOperator() {
    if (Peek() == ')') return Close();
    if (Peek() == ',') return NextArgument();
    for (const BinaryOperator& binary : kOperators) {
      if (text_.substr(at_, binary.text.size()) != binary.text) continue;
      ReduceTo(binary.precedence);
      waiting_.push_back({binary.precedence, binary.kind, std::nullopt, 1, at_});
      at_ += binary.text.size();
      wants_operand_ = true;
      return absl::OkStatus();
    }
    return Fault("\"", absl::CHexEscape(text_.substr(at_, 1)),
                 "\" is no operator; they are + - * / % < <= > >= == !=");
  }

  absl::Status NextArgument() {
    ReduceTo(1);
    if (waiting_.empty() || !waiting_.back().function.has_value()) {
      return Fault("a comma stands between the arguments of a function alone");
    }
    ++waiting_.back().arguments;
    ++at_;
    wants_operand_ = true;
    return absl::OkStatus();
  }

  absl::Status Close() {
    ReduceTo(1);
    if (waiting_.empty()) return Fault("there is no \"(\" for this \")\"");
    const Waiting open = waiting_.back();
    waiting_.pop_back();
    if (open.function.has_value()) {
      const ExpressionFunction& function = kFunctions[*open.function];
      if (open.arguments != function.arity) {
        at_ = open.place;
        return Fault(function.name, " takes ", function.arity, " arguments, and ", open.arguments,
                     " are given");
      }
      Push(Kind::kFunction, *open.function, function.arity);
    }
    ++at_;
    return absl::OkStatus();
  }

  const absl::string_view text_;
  size_t at_ = 0;
  bool wants_operand_ = true;
  std::vector<Waiting> waiting_;
  std::vector<uint32_t> values_;  // steps whose results are not used yet
  Expression expression_;
};

}  // namespace

absl::Span<const ExpressionFunction> ExpressionFunctions() { return kFunctions; }

absl::StatusOr<Expression> ParseExpression(absl::string_view text) {
  if (text.size() > kMaxExpressionBytes) {
    return absl::InvalidArgumentError(absl::StrCat("it has ", text.size(), " bytes; the limit is ",
                                                   kMaxExpressionBytes,
                                                   ": take it apart into several nodes"));
  }
  return Parser(text).Run();
}

}  // namespace weft::kernels
