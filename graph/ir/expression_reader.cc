#include "graph/ir/expression_reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/ir/limits.h"
#include "kernels/scalar.h"
#include "weft/v1/job.pb.h"

namespace weft::ir {
namespace {

using kernels::ExpressionOperand;

constexpr char kArguments[] = "expression.args";
constexpr uint32_t kThreads = 256;
// A thread computes four elements, or more where there are more than these blocks hold.
constexpr uint64_t kMaxBlocks = 65536;

uint64_t ElementsOf(const ReadView& view) {
  return view.view.range.size / kernels::SizeOf(view.dtype);
}

kernels::PhaseLaunch LaunchFor(const std::string& entry, uint64_t count) {
  const uint64_t blocks = std::clamp<uint64_t>(count / (uint64_t{4} * kThreads) + 1, 1, kMaxBlocks);
  return {entry, {static_cast<uint32_t>(blocks), 1, 1}, {kThreads, 1, 1}, 0};
}

}  // namespace

void ExpressionReader::Refuse(int argument, const std::string& description) {
  const std::string& name = node_.args(argument).name();
  violations_.Add(KernelRefuses(place_, absl::StrCat(kArguments, "[", argument, "]"),
                                absl::StrCat("argument ", Quote(name)), description));
}

bool ExpressionReader::MatchArguments() {
  const std::vector<std::string>& names = expression_.names;
  arguments_.assign(names.size(), -1);
  bool good = true;
  for (int i = 0; i < node_.args_size(); ++i) {
    const std::string& name = node_.args(i).name();
    const auto found = std::find(names.begin(), names.end(), name);
    const bool is_target = name == expression_.target;
    if (found == names.end() && !is_target) {
      Refuse(i, "does not occur in the expression; take it out");
      good = false;
      continue;
    }
    int& argument = is_target ? target_argument_ : arguments_[found - names.begin()];
    if (argument >= 0) {
      Refuse(i, "is given twice; leave one out");
      good = false;
    }
    argument = i;
    if (is_target && found != names.end()) arguments_[found - names.begin()] = i;
  }
  if (target_argument_ < 0) {
    violations_.Add(ExpressionNameMissing(place_, expression_.target));
    good = false;
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (arguments_[i] >= 0 || names[i] == expression_.target) continue;
    violations_.Add(ExpressionNameMissing(place_, names[i]));
    good = false;
  }
  return good;
}

bool ExpressionReader::ReadElements(int argument, const ViewReader& views, ReadView& read) {
  const v1::Argument& given = node_.args(argument);
  const ViewPlace place = {place_, kArguments, argument, given.name()};
  std::optional<ReadView> found = views.Read(place, given.view());
  if (!found.has_value()) return false;
  const uint32_t element = kernels::SizeOf(found->dtype);
  if (found->shape.empty()) {
    violations_.Add(
        PartialElement(place, found->view.range.size, kernels::NameOf(found->dtype), element));
    return false;
  }
  if (found->view.range.offset % element != 0) {
    Refuse(argument, absl::StrCat("starts at byte ", found->view.range.offset,
                                  ", which is not a multiple of ", element, ", the size of ",
                                  kernels::NameOf(found->dtype)));
    return false;
  }
  read = *std::move(found);
  return true;
}

bool ExpressionReader::ReadTarget(const ViewReader& views) {
  if (node_.args(target_argument_).value_case() != v1::Argument::kView) {
    Refuse(target_argument_, "is written, and must be a view");
    return false;
  }
  if (!ReadElements(target_argument_, views, target_)) return false;
  count_ = ElementsOf(target_);
  op_.parameters.emplace_back(PointerParameter{0});
  views_.push_back({target_.view, Access::kWrite});
  return true;
}

bool ExpressionReader::ReadOperandView(uint32_t index, const ViewReader& views) {
  const int argument = arguments_[index];
  ReadView read;
  if (!ReadElements(argument, views, read)) return false;
  const uint64_t count = ElementsOf(read);
  if (count != count_ && count != 1) {
    Refuse(argument, absl::StrCat("has ", count, " elements, but ", expression_.target, " has ",
                                  count_, "; give as many, or one for all"));
    return false;
  }
  const bool one_buffer =
      graph_.buffer(read.view.buffer).storage == graph_.buffer(target_.view.buffer).storage;
  const bool is_target = read.view.range == target_.view.range;
  if (one_buffer && !is_target && read.view.range.overlaps(target_.view.range)) {
    Refuse(argument, absl::StrCat("shares some of its bytes with ", expression_.target,
                                  "; give the two apart, or exactly the same"));
    return false;
  }
  operands_.push_back(
      {count == count_ ? ExpressionOperand::Kind::kElements : ExpressionOperand::Kind::kOneElement,
       read.dtype});
  op_.parameters.emplace_back(PointerParameter{static_cast<uint32_t>(views_.size())});
  views_.push_back({read.view, Access::kRead});
  return true;
}

bool ExpressionReader::ReadScalar(uint32_t index, const v1::Argument& argument) {
  const kernels::DType compute = kernels::ComputeType(target_.dtype);
  const kernels::Number number = argument.value_case() == v1::Argument::kF64
                                     ? kernels::Number(argument.f64())
                                     : kernels::Number(int64_t{argument.i64()});
  const std::optional<kernels::ScalarValue> value = kernels::ConvertNumber(number, compute);
  if (!value.has_value()) {
    Refuse(arguments_[index], absl::StrCat(kernels::Describe(number), " is not a value of type ",
                                           kernels::NameOf(compute), ", that of what is computed"));
    return false;
  }
  operands_.push_back({ExpressionOperand::Kind::kScalar, compute});
  op_.parameters.emplace_back(ScalarParameter{value->bits, kernels::SizeOf(compute)});
  return true;
}

bool ExpressionReader::ReadOperand(uint32_t index, const ViewReader& views) {
  const int argument = arguments_[index];
  const v1::Argument& given = node_.args(argument);
  switch (given.value_case()) {
    case v1::Argument::kView:
      return ReadOperandView(index, views);
    case v1::Argument::kI64:
    case v1::Argument::kF64:
      return ReadScalar(index, given);
    case v1::Argument::kText:
      Refuse(argument, "must be a view or a number, but a text is given");
      return false;
    case v1::Argument::VALUE_NOT_SET:
      break;
  }
  violations_.Add(
      NoArgumentValue(place_, absl::StrCat(kArguments, "[", argument, "]"), given.name()));
  return false;
}

bool ExpressionReader::AddKernel(ExpressionTable& table) {
  absl::StatusOr<std::string> body =
      kernels::ExpressionSource(expression_, target_.dtype, operands_);
  if (!body.ok()) {
    violations_.Add(ExpressionFault(place_, body.status().message()));
    return false;
  }
  std::optional<std::string> entry = table.Add(*body);
  if (!entry.has_value()) {
    violations_.Add(TooManyExpressions(place_, kMaxExpressions));
    return false;
  }
  op_.module = table.module();
  op_.entry = *std::move(entry);
  op_.launch = LaunchFor(op_.entry, count_);
  return true;
}

std::optional<UserKernelOp> ExpressionReader::Read(const ViewReader& views,
                                                   ExpressionTable& table) {
  absl::StatusOr<kernels::Expression> parsed = kernels::ParseExpression(node_.text());
  if (!parsed.ok()) {
    violations_.Add(ExpressionFault(place_, parsed.status().message()));
    return std::nullopt;
  }
  expression_ = *std::move(parsed);
  op_.origin = UserKernelOp::Origin::kExpression;
  if (!MatchArguments() || !ReadTarget(views)) return std::nullopt;
  bool good = true;
  for (uint32_t i = 0; i < expression_.names.size(); ++i) good = ReadOperand(i, views) && good;
  if (!good || !AddKernel(table)) return std::nullopt;
  op_.parameters.emplace_back(ScalarParameter{count_, sizeof(int64_t)});
  return std::move(op_);
}

}  // namespace weft::ir
