// What the schemas of prim.* take, and what they refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/bind.h"
#include "kernels/library/prim_schemas.h"
#include "kernels/registry.h"

namespace weft::kernels {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// `size_bytes` without a shape.
GivenBuffer Bytes(DType dtype, uint64_t size_bytes) { return {dtype, {}, size_bytes, 0, {}}; }

BindResult BindPrim(absl::string_view name, std::vector<GivenArgument> given) {
  return Bind(*Registry::Library().Find(name), given);
}

auto RefusalOf(const std::string& field, const std::string& text) {
  return Contains(AllOf(Field(&FieldViolation::field, field),
                        Field(&FieldViolation::description, HasSubstr(text))));
}

TEST(PrimBindTest, EverySchemaSaysWhereItsArgumentsAre) {
  for (const KernelSchema& schema : PrimSchemas()) {
    const PrimLayout layout = PrimLayoutOf(schema);
    const auto& arguments = schema.arguments;
    EXPECT_EQ(layout.n, arguments.size() - 1) << schema.name;
    EXPECT_EQ(arguments[layout.n].name, "n");
    EXPECT_TRUE(Reads(arguments[layout.keys_in].buffer()->access)) << schema.name;
    EXPECT_TRUE(Writes(arguments[layout.keys_out].buffer()->access)) << schema.name;
    const auto name_at = [&](std::optional<uint32_t> at, const char* name) {
      return at.has_value() ? *schema.FindArgument(name) == *at
                            : !schema.FindArgument(name).has_value();
    };
    EXPECT_TRUE(name_at(layout.count_out, "count")) << schema.name;
    EXPECT_TRUE(name_at(layout.order, "order")) << schema.name;
    EXPECT_TRUE(name_at(layout.mode, "mode")) << schema.name;
    EXPECT_TRUE(name_at(layout.operation, "operation")) << schema.name;
    EXPECT_TRUE(name_at(layout.lower, "lower")) << schema.name;
  }
}

TEST(PrimBindTest, ASortsWorkspaceHoldsItsKeysTwice) {
  const BindResult bound =
      BindPrim("prim.sort", {{"src", Bytes(DType::kF64, 8000)}, {"dst", Bytes(DType::kF64, 8000)}});
  ASSERT_THAT(bound.violations, IsEmpty());
  EXPECT_EQ(bound.call.I64(3), 1000);
  EXPECT_GE(bound.call.workspace_bytes, 2 * 8000u + (1u << 20));
}

TEST(PrimBindTest, MoreElementsThanTheLibraryCountsAreRefused) {
  const uint64_t bytes = uint64_t{4} << 31;
  EXPECT_THAT(BindPrim("prim.sort",
                       {{"src", Bytes(DType::kU32, bytes)}, {"dst", Bytes(DType::kU32, bytes)}})
                  .violations,
              RefusalOf("n", "above the largest"));
  EXPECT_THAT(BindPrim("prim.histogram", {{"src", Bytes(DType::kU8, 8)},
                                          {"counts", Bytes(DType::kU32, 8)},
                                          {"lower", Number(0.0)},
                                          {"upper", Number(1.0)},
                                          {"bins", Number(int64_t{65537})}})
                  .violations,
              RefusalOf("bins", "above the largest"));
}

TEST(PrimBindTest, ResultsNeedRoomForAllElements) {
  EXPECT_THAT(BindPrim("prim.unique", {{"src", Bytes(DType::kI32, 40)},
                                       {"dst", Bytes(DType::kI32, 36)},
                                       {"count", Bytes(DType::kI64, 8)}})
                  .violations,
              RefusalOf("dst", "has 36 bytes"));
  EXPECT_THAT(BindPrim("prim.run_length_encode", {{"src", Bytes(DType::kI32, 40)},
                                                  {"runs", Bytes(DType::kI32, 40)},
                                                  {"lengths", Bytes(DType::kI64, 80)},
                                                  {"count", Bytes(DType::kI64, 4)}})
                  .violations,
              AllOf(RefusalOf("lengths", "i32"), RefusalOf("count", "has 4 bytes")));
}

TEST(PrimBindTest, SourcesAreNotWrittenOver) {
  GivenBuffer src = Bytes(DType::kI32, 40);
  src.storage = 1;
  EXPECT_THAT(BindPrim("prim.sort", {{"src", src}, {"dst", src}}).violations,
              RefusalOf("dst", "needs them apart"));
}

}  // namespace
}  // namespace weft::kernels
