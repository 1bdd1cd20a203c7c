#include "kernels/schema.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace weft::kernels {
namespace {

std::string JoinAlternatives(const std::vector<DType>& dtypes) {
  std::string text;
  for (size_t i = 0; i < dtypes.size(); ++i) {
    if (i > 0) absl::StrAppend(&text, i + 1 == dtypes.size() ? " or " : ", ");
    absl::StrAppend(&text, NameOf(dtypes[i]));
  }
  return text;
}

}  // namespace

absl::string_view NameOf(Access access) {
  switch (access) {
    case Access::kRead:
      return "read";
    case Access::kWrite:
      return "write";
    case Access::kReadWrite:
      return "read_write";
  }
  return "unknown";
}

std::optional<uint32_t> KernelSchema::FindArgument(absl::string_view argument_name) const {
  for (uint32_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].name == argument_name) return i;
  }
  return std::nullopt;
}

std::string Describe(const KernelSchema& schema, const DTypeRule& rule) {
  const auto source = [&] { return schema.arguments[rule.argument].name; };
  switch (rule.kind) {
    case DTypeRule::Kind::kOneOf:
      return JoinAlternatives(rule.allowed);
    case DTypeRule::Kind::kSameAs:
      return absl::StrCat("same as ", source());
    case DTypeRule::Kind::kSumOf:
      return absl::StrCat("sum type of ", source());
    case DTypeRule::Kind::kComputeOf:
      return absl::StrCat("compute type of ", source());
  }
  return "";
}

std::string Describe(const KernelSchema& schema, const ScalarDefault& rule) {
  const auto source = [&] { return schema.arguments[rule.argument].name; };
  switch (rule.kind) {
    case ScalarDefault::Kind::kRequired:
      return "";
    case ScalarDefault::Kind::kConstant:
      return Describe(rule.constant);
    case ScalarDefault::Kind::kElementCount:
      return absl::StrCat("count(", source(), ")");
    case ScalarDefault::Kind::kDimension:
      return absl::StrCat("dim(", source(), ", ", rule.dimension, ")",
                          rule.transposed_by.has_value()
                              ? absl::StrCat(", or ", 1 - rule.dimension, " by ",
                                             schema.arguments[*rule.transposed_by].name)
                              : "");
    case ScalarDefault::Kind::kLeadingCount:
      return absl::StrCat("leading(", source(), ", ", rule.dimension, ")");
  }
  return "";
}

std::string Describe(const KernelSchema& schema, const Product& product) {
  if (product.empty()) return "1";
  return absl::StrJoin(product, " × ", [&schema](std::string* out, const Factor& factor) {
    if (factor.argument.has_value()) {
      out->append(schema.arguments[*factor.argument].name);
      if (factor.take == Factor::Take::kHalf) out->append("/2+1");
      if (factor.take == Factor::Take::kPlusOne) out->append("+1");
    } else {
      absl::StrAppend(out, factor.constant);
    }
  });
}

std::string Describe(const Number& number) {
  return std::visit([](auto value) { return absl::StrCat(value); }, number);
}

}  // namespace weft::kernels
