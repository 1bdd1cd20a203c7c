// The image of the built-in kernels holds every entry point that a schema may launch, with the
// parameters that the schema packs.
#include <string>
#include <vector>

#include "kernels/launch_shape.h"
#include "kernels/parameters.h"
#include "kernels/registry.h"
#include "tests/kernels/device.h"
#include "tests/testing/status_matchers.h"

namespace weft::kernels::testing {
namespace {

TEST(ImageTest, HasEverySymbolOfEverySchema) {
  ASSERT_OK_AND_ASSIGN(Device * device, DeviceUnderTest());
  for (const KernelSchema& schema : Registry::Builtin().schemas()) {
    for (const std::string& symbol : AllSymbols(schema)) {
      EXPECT_OK(device->module().GetFunction(symbol)) << symbol;
    }
  }
}

// The dtypes of all arguments when every choice of the schema falls on its first dtype.
BoundCall FirstChoice(const KernelSchema& schema) {
  BoundCall call;
  call.arguments.resize(schema.arguments.size());
  const auto rule_of = [&](size_t i) -> const DTypeRule& {
    const ArgumentSchema& argument = schema.arguments[i];
    return argument.buffer() != nullptr ? argument.buffer()->dtype : argument.scalar()->dtype;
  };
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    const DTypeRule& rule = rule_of(i);
    if (rule.kind == DTypeRule::Kind::kOneOf) call.arguments[i].dtype = rule.allowed[0];
  }
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    const DTypeRule& rule = rule_of(i);
    const DType source = call.arguments[rule.argument].dtype;
    if (rule.kind == DTypeRule::Kind::kSameAs) call.arguments[i].dtype = source;
    if (rule.kind == DTypeRule::Kind::kComputeOf) call.arguments[i].dtype = ComputeType(source);
    if (rule.kind == DTypeRule::Kind::kSumOf) call.arguments[i].dtype = SumType(source);
  }
  return call;
}

TEST(ImageTest, EntryPointsTakeTheParametersThatTheSchemaPacks) {
  ASSERT_OK_AND_ASSIGN(Device * device, DeviceUnderTest());
  for (const KernelSchema& schema : Registry::Builtin().schemas()) {
    const BoundCall call = FirstChoice(schema);
    const std::vector<ParameterSlot> wanted = ParameterLayout(schema, call);
    for (const PhaseSchema& phase : schema.phases) {
      const std::string symbol = SymbolOf(schema, phase, call.arguments);
      ASSERT_OK_AND_ASSIGN(const cuda::Function function, device->module().GetFunction(symbol));
      const absl::StatusOr<std::vector<cuda::ParamInfo>> params = function.Params();
      if (absl::IsUnimplemented(params.status())) GTEST_SKIP() << params.status();
      ASSERT_OK(params);
      ASSERT_EQ(params->size(), wanted.size()) << symbol;
      for (size_t i = 0; i < wanted.size(); ++i) {
        EXPECT_EQ((*params)[i].offset, wanted[i].offset) << symbol << " parameter " << i;
        EXPECT_EQ((*params)[i].size, wanted[i].size) << symbol << " parameter " << i;
      }
    }
  }
}

}  // namespace
}  // namespace weft::kernels::testing
