// Expressions: what their texts mean, what is refused, and the code made of them.
#include "kernels/expression/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/expression/expression_source.h"
#include "tests/testing/status_matchers.h"

namespace weft::kernels {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using weft::testing::StatusIs;
using Kind = ExpressionStep::Kind;

// The value of the expression where its names have these values; few functions.
double ValueOf(const Expression& expression, const std::vector<double>& names) {
  std::vector<double> values;
  for (const ExpressionStep& step : expression.steps) {
    const auto at = [&](size_t i) { return values[step.operands[i]]; };
    const auto number = [&] {
      const Number& written = expression.numbers[step.index];
      const auto* integer = std::get_if<int64_t>(&written);
      return integer != nullptr ? static_cast<double>(*integer) : std::get<double>(written);
    };
    switch (step.kind) {
      case Kind::kName:
        values.push_back(names[step.index]);
        break;
      case Kind::kNumber:
        values.push_back(number());
        break;
      case Kind::kNegate:
        values.push_back(-at(0));
        break;
      case Kind::kMultiply:
        values.push_back(at(0) * at(1));
        break;
      case Kind::kDivide:
        values.push_back(at(0) / at(1));
        break;
      case Kind::kAdd:
        values.push_back(at(0) + at(1));
        break;
      case Kind::kSubtract:
        values.push_back(at(0) - at(1));
        break;
      case Kind::kLess:
        values.push_back(at(0) < at(1) ? 1 : 0);
        break;
      case Kind::kGreaterEqual:
        values.push_back(at(0) >= at(1) ? 1 : 0);
        break;
      case Kind::kFunction:
        values.push_back(ExpressionFunctions()[step.index].name == "pow" ? std::pow(at(0), at(1))
                                                                         : std::sin(at(0)));
        break;
      default:
        values.push_back(std::nan(""));
    }
  }
  return values.back();
}

double Computed(absl::string_view text, const std::vector<double>& names = {}) {
  const absl::StatusOr<Expression> parsed = ParseExpression(text);
  EXPECT_OK(parsed);
  return parsed.ok() ? ValueOf(*parsed, names) : std::nan("");
}

TEST(ExpressionTest, OperatorsBindAsInC) {
  EXPECT_EQ(Computed("y = 1 + 2 * 3 - 4"), 3);
  EXPECT_EQ(Computed("y = 2 - 3 - 4"), -5);
  EXPECT_EQ(Computed("y = 16 / 4 / 2"), 2);
  EXPECT_EQ(Computed("y = (1 + 2) * 3"), 9);
  EXPECT_EQ(Computed("y = -2 * -3"), 6);
  EXPECT_EQ(Computed("y = - - 2 - -(1)"), 3);
  EXPECT_EQ(Computed("y = 1 + 1 < 3 - 0.5"), 1);
  EXPECT_EQ(Computed("y=2*-pow(1+1,3)+1e1"), -6);
}

TEST(ExpressionTest, NamesAreListedOnceInTheirOrder) {
  ASSERT_OK_AND_ASSIGN(const Expression parsed, ParseExpression("y = b * sin(a_1) + b - y"));
  EXPECT_EQ(parsed.target, "y");
  EXPECT_THAT(parsed.names, ElementsAre("b", "a_1", "y"));
  EXPECT_EQ(ValueOf(parsed, {2, 0, 5}), -3);
}

TEST(ExpressionTest, WholeNumbersStayWhole) {
  ASSERT_OK_AND_ASSIGN(const Expression parsed, ParseExpression("y = 9007199254740993 + .5 + 2e0"));
  EXPECT_THAT(parsed.numbers,
              ElementsAre(Number(int64_t{9007199254740993}), Number(0.5), Number(2.0)));
}

TEST(ExpressionTest, FaultsNameTheirPlace) {
  const auto fault = [](absl::string_view text) {
    return std::string(ParseExpression(text).status().message());
  };
  EXPECT_THAT(fault(""), HasSubstr("at character 1"));
  EXPECT_THAT(fault("1 = x"), HasSubstr("name of what is written"));
  EXPECT_THAT(fault("y + x"), HasSubstr("at character 3: \"=\" is missing"));
  EXPECT_THAT(fault("y == x"), HasSubstr("\"=\" is missing"));
  EXPECT_THAT(fault("y = "), HasSubstr("ends where a value is wanted"));
  EXPECT_THAT(fault("y = x +"), HasSubstr("ends where a value is wanted"));
  EXPECT_THAT(fault("y = (x"), HasSubstr("at character 5: this parenthesis is not closed"));
  EXPECT_THAT(fault("y = x)"), HasSubstr("no \"(\" for this"));
  EXPECT_THAT(fault("y = x z"), HasSubstr("\"z\" is no operator"));
  EXPECT_THAT(fault("y = x, z"), HasSubstr("comma"));
  EXPECT_THAT(fault("y = (x, z)"), HasSubstr("comma"));
  EXPECT_THAT(fault("y = sinn(x)"), AllOf(HasSubstr("no function sinn"), HasSubstr("\"sin\"")));
  EXPECT_THAT(fault("y = min(x)"), HasSubstr("takes 2 arguments, and 1 are given"));
  EXPECT_THAT(fault("y = sin()"), HasSubstr("a value is wanted"));
  EXPECT_THAT(fault("y = 2x"), HasSubstr("no number"));
  EXPECT_THAT(fault("y = 0x10"), HasSubstr("no number"));
  EXPECT_THAT(fault("y = 1e999"), HasSubstr("no number"));
  EXPECT_THAT(fault("y = 99999999999999999999"), HasSubstr("no number"));
  EXPECT_THAT(fault("y = x; asm(\"trap\")"), HasSubstr("is no operator"));
  EXPECT_THAT(fault(std::string("y = x\0", 6)), HasSubstr("is no operator"));
  EXPECT_THAT(fault("y = x = z"), HasSubstr("is no operator"));
}

TEST(ExpressionTest, LengthAndDepthHaveLimits) {
  const auto text = [](size_t depth) {
    return absl::StrCat("y = ", std::string(depth, '('), "x", std::string(depth, ')'));
  };
  EXPECT_OK(ParseExpression(text(kMaxExpressionDepth)));
  EXPECT_THAT(ParseExpression(text(kMaxExpressionDepth + 1)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("deeper than 64")));
  EXPECT_THAT(ParseExpression(absl::StrCat("y = ", std::string(500, '-'), "x")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("deeper than 64")));
  EXPECT_THAT(ParseExpression(absl::StrCat("y = x", std::string(kMaxExpressionBytes, ' '))),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("the limit is 1024")));
}

absl::StatusOr<std::string> SourceOf(absl::string_view text, DType target,
                                     std::vector<ExpressionOperand> operands) {
  absl::StatusOr<Expression> parsed = ParseExpression(text);
  if (!parsed.ok()) return parsed.status();
  return ExpressionSource(*parsed, target, operands);
}
constexpr ExpressionOperand kFloatElements = {ExpressionOperand::Kind::kElements, DType::kF32};

TEST(ExpressionSourceTest, HoldsNoNameOfTheText) {
  ASSERT_OK_AND_ASSIGN(const std::string source,
                       SourceOf("evil = __trap * 2", DType::kF32, {kFloatElements}));
  EXPECT_THAT(source, AllOf(Not(HasSubstr("evil")), Not(HasSubstr("trap"))));
  EXPECT_THAT(source, HasSubstr("(float* y, const float* x0, long long n)"));
}

TEST(ExpressionSourceTest, OneElementAndScalarsAreTheSameForAll) {
  ASSERT_OK_AND_ASSIGN(const std::string source,
                       SourceOf("y = a + b", DType::kU8,
                                {{ExpressionOperand::Kind::kOneElement, DType::kI64},
                                 {ExpressionOperand::Kind::kScalar, DType::kI32}}));
  EXPECT_THAT(source, AllOf(HasSubstr("(int)x0[0]"), HasSubstr("int x1, long long n"),
                            HasSubstr("y[i] = (unsigned char)t2")));
}

TEST(ExpressionSourceTest, TypesThatDoNotFitAreRefused) {
  const auto refused = [](absl::string_view text) {
    return StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(std::string(text)));
  };
  EXPECT_THAT(SourceOf("y = x", DType::kI32, {kFloatElements}), refused("integers are written"));
  EXPECT_THAT(SourceOf("y = x", DType::kF16, {kFloatElements}), refused("do not take"));
  EXPECT_THAT(SourceOf("y = x", DType::kF32, {{ExpressionOperand::Kind::kElements, DType::kBF16}}),
              refused("do not take"));
  EXPECT_THAT(SourceOf("y = sin(1)", DType::kI32, {}), refused("function of floats"));
  EXPECT_THAT(SourceOf("y = 1.5", DType::kI32, {}), refused("no"));
  EXPECT_THAT(SourceOf("y = 3000000000", DType::kI32, {}), refused("not a value of type i32"));
  EXPECT_THAT(SourceOf("y = 1e200", DType::kF32, {}), refused("not a value of type f32"));
}

}  // namespace
}  // namespace weft::kernels
